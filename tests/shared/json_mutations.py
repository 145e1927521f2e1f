"""JSON documents with values that readers trip over: huge numbers, NaN, half surrogates, deep nesting, repeated fields."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from byte_mutations import mutate, steps
from hypothesis import strategies as st

__all__ = ["HOSTILE", "hostile_json", "mutated_json", "mutated_lines"]

_DEEP = (60, 110, 1_000, 20_000)
_EVERY = 24
HOSTILE: tuple[bytes, ...] = (
    b"null", b"true", b"false", b"0", b"-0", b"1", b"-1", b"2", b"0.5", b"1.0", b"1e2", b"01", b"+1", b".5", b"1.", b"0x1",
    b"127", b"128", b"32768", b"2147483647", b"2147483648", b"-2147483649", b"9007199254740993", b"9223372036854775807",
    b"9223372036854775808", b"-9223372036854775809", b"18446744073709551616", b"1e15", b"1e308", b"1e999", b"-1e999",
    b"1e-999", b"NaN", b"Infinity", b"-Infinity", b"9" * 400, b"9" * 5_000, b"-" + b"9" * 20_000, b'""', b'"x"',
    b'"\\u0000"', b'"\x00"', b'"\\ud800"', b'"\\udc00\\ud800"', b'"\\ud83d\\ude00"', b'"\xff"', b'"\xed\xa0\x80"',
    "\"\u202e\u2028'<\"".encode(), b'"\\n"', b'"4.4.0"', b'"9999999999.0.0"', b'"0.10.0"', b'"../../../etc/passwd"',
    b'"1970-01-01"', b'"0001-01-01T00:00:00+23:59"', b'"9999-12-31T23:59:59-23:59"', b'"' + b"x" * 100_000 + b'"',
    b"[]", b"{}", b"[null]", b"[[]]", b'{"":0}', b"[0,0]", b'["",""]', b"", b"}", b"]", b",", b'"',
    *(b"[" * deep + b"]" * deep for deep in _DEEP), *(b'{"a":' * deep + b"0" + b"}" * deep for deep in _DEEP),
    b"[" * 3_000, b'{"a":' * 3_000,
)  # fmt: skip
"""Values as they are written, some of them not JSON."""


class _Fields(list[tuple[Any, Any]]):
    """An object, whose fields may repeat."""


class _Raw(bytes):
    """A value as it is written."""


def mutated_json(documents: Sequence[bytes], names: Sequence[str] = (), most: int = 3) -> st.SearchStrategy[bytes]:
    """One of the documents with some places changed. ``names`` are fields that may be added too."""
    trees = [json.loads(document, object_pairs_hook=_Fields) for document in documents]
    known = [*names, *sorted({name for tree in trees for name in _names(tree)}), "", "\x00", "\ud800", "x" * 300]
    # Half of the changes are near the root: most of a document's places are deep within it.
    places = [([path for path in _places(tree) if len(path) < 3], _places(tree)) for tree in trees]

    def build(number: int, changes: list[tuple[int, int, int, int]], bytewise: list[Any]) -> bytes:
        tree = trees[number]
        for kind, place, value, name in changes:
            some = places[number][place % 2]
            path = some[place // 2 % len(some)]
            tree = _changed(tree, path, _CHANGES[kind](value, known[name % len(known)], trees))
        written = _written(tree)
        return mutate(written, bytewise, documents)

    change = st.tuples(
        st.integers(0, len(_CHANGES) - 1), st.integers(0, 2**16), st.integers(0, 2**16), st.integers(0, 2**16)
    )
    bytewise = st.one_of(st.just([]), st.just([]), steps(3))
    return st.builds(build, st.integers(0, len(trees) - 1), st.lists(change, max_size=most), bytewise)


def hostile_json(documents: Sequence[bytes]) -> list[bytes]:
    """Each hostile value by itself, and in place of each value near the root of each document."""
    found = [*HOSTILE, *(b"\xef\xbb\xbf" + document for document in documents)]
    for document in documents:
        tree = json.loads(document, object_pairs_hook=_Fields)
        near = [path for path in _places(tree) if 0 < len(path) < 3][:24]
        found += [
            _written(_changed(tree, path, _hostile(number, "", ())))
            for place, path in enumerate(near)
            for number in range(place % _EVERY, len(HOSTILE), _EVERY)
        ]
    return found


def mutated_lines(lines: Sequence[bytes], names: Sequence[str] = ()) -> st.SearchStrategy[bytes]:
    """A file of one JSON document a line: of these lines in this order, with some changed, left out, repeated or added."""
    line = st.one_of(mutated_json(lines, names), st.sampled_from(lines), st.binary(max_size=20))

    def build(changes: list[tuple[int, int, bytes]], end: bytes) -> bytes:
        every = list(lines)
        for kind, at, new in changes:
            place = at % (len(every) + 1)
            every[place : place + kind % 2 + kind % 3] = [new] * (1 + kind % 2)
        return b"\n".join(every) + end

    change = st.tuples(st.integers(0, 5), st.integers(0, 1000), line)
    return st.builds(build, st.lists(change, max_size=3), st.sampled_from([b"\n", b"", b"\r\n", b"\n\n", b"\x00"]))


Change = Callable[[Any], list[tuple[Any, Any]] | None]
"""Returns the fields or items in place of one, given its name and value; names are None in a list."""


def _hostile(value: int, _: str, __: Any) -> Any:
    return lambda key, _old: [(key, _Raw(HOSTILE[value % len(HOSTILE)]))]


def _removed(_: int, __: str, ___: Any) -> Any:
    return lambda _key, _old: []


def _twice(value: int, _: str, __: Any) -> Any:
    return lambda key, old: [(key, old)] * (2 + (value % 400 if value % 8 == 0 else 0))


def _renamed(_: int, name: str, __: Any) -> Any:
    return lambda key, old: [(key if key is None else name, old)]


def _added(value: int, name: str, _: Any) -> Any:
    new = _Raw(HOSTILE[value % len(HOSTILE)])
    return lambda key, old: [(key, old), (None if key is None else name, new)]


def _wrapped(_: int, name: str, __: Any) -> Any:
    return lambda key, old: [(key, _Fields([(name, old)]) if len(name) % 2 else [old])]


def _replaced(value: int, _: str, trees: Sequence[Any]) -> Any:
    tree = trees[value % len(trees)]
    places = _places(tree)
    return lambda key, _old: [(key, _at(tree, places[value % len(places)]))]


_CHANGES: tuple[Callable[[int, str, Any], Any], ...] = (
    _hostile, _hostile, _removed, _twice, _renamed, _added, _wrapped, _replaced,
)  # fmt: skip


def _names(tree: Any) -> set[str]:
    if isinstance(tree, _Fields):
        return {name for name, _ in tree} | {name for _, value in tree for name in _names(value)}
    return {name for value in tree for name in _names(value)} if isinstance(tree, list) else set()


def _places(tree: Any) -> list[tuple[int, ...]]:
    found: list[tuple[int, ...]] = [()]
    if isinstance(tree, list):
        values = [value for _, value in tree] if isinstance(tree, _Fields) else tree
        found += [(number, *rest) for number, value in enumerate(values) for rest in _places(value)]
    return found


def _at(tree: Any, path: tuple[int, ...]) -> Any:
    for number in path:
        tree = tree[number][1] if isinstance(tree, _Fields) else tree[number]
    return tree


def _changed(tree: Any, path: tuple[int, ...], change: Any) -> Any:
    """Return the tree with a change at the path, or unchanged if an earlier change has removed the place."""
    if not path:
        found = change(None, tree)
        return found[0][1] if found else _Raw(b"")
    if not isinstance(tree, list) or path[0] >= len(tree):
        return tree
    fields = isinstance(tree, _Fields)
    key, old = tree[path[0]] if fields else (None, tree[path[0]])
    new = [(key, _changed(old, path[1:], change))] if len(path) > 1 else change(key, old)
    pairs = [*tree[: path[0]], *(new if fields else [value for _, value in new]), *tree[path[0] + 1 :]]
    return _Fields(pairs) if fields else pairs


def _written(tree: Any) -> bytes:
    if isinstance(tree, _Raw):
        return bytes(tree)
    if isinstance(tree, _Fields):
        return b"{" + b",".join(json.dumps(name).encode() + b":" + _written(value) for name, value in tree) + b"}"
    if isinstance(tree, list):
        return b"[" + b",".join(map(_written, tree)) + b"]"
    return json.dumps(tree, ensure_ascii=False).encode("utf-8", "surrogatepass")
