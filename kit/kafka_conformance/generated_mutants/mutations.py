"""All mutations of a module of the reference.

Left out is what decides no answer: types, docstrings and other texts, what is raised with an error, assertions, ``__all__``,
the sizes of caches, how records are stored, the check of arguments, the sentences of behaviour records.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from types import CodeType

from kafka_conformance.generated_mutants.operators import Change, changes_of
from kafka_conformance.generated_mutants.release_moves import moves_of
from kafka_conformance.verify.reachable_code import is_check
from kafka_reference.releases import Release

__all__ = ["Module", "Mutation"]

_SHOWN = 70


@dataclass(frozen=True, slots=True, eq=False)
class Mutation:
    """One mistake in a module."""

    module: str
    """The module's dotted name."""
    definition: str
    """The statement at the top of the module, by the names that it binds."""
    place: str
    """The class or function: ``Class.method``; the definition itself outside of both."""
    in_function: bool
    """Whether it is in a function, and not in what is executed on import."""
    line: int
    """The line."""
    operator: str
    """What kind of mistake it is."""
    text: str
    """The code before and after: ``a < b → a <= b``."""
    change: Change
    """The change of the syntax tree."""
    moved: Release | None = None
    """The release that enters or leaves a span."""
    number: int = 0
    """Counts mutations of the same text in the same place."""

    @property
    def key(self) -> str:
        """Its name, which does not change with lines added above it."""
        again = f" #{self.number + 1}" if self.number else ""
        return f"{self.module}:{self.place}: {self.text}{again}"


class Module:
    """A module's syntax tree and its mutations."""

    def __init__(self, name: str, source: str, releases: Sequence[Release]) -> None:
        self.name = name
        self._tree = ast.parse(source)
        self._releases = releases
        self.mutations = tuple(self._numbered())

    def compile(self, mutation: Mutation) -> CodeType:
        """Return the module's code with one of its mutations."""
        with _changed(mutation.change):
            return compile(self._tree, f"<{self.name} with a mistake>", "exec", dont_inherit=True)

    def _numbered(self) -> Iterator[Mutation]:
        seen = Counter[str]()
        for found in self._found():
            number, seen[found.key] = seen[found.key], seen[found.key] + 1
            yield replace(found, number=number)

    def _found(self) -> Iterator[Mutation]:
        for statement in self._tree.body:
            names = ",".join(_bound(statement))
            if not names or names == "__all__":
                continue
            for node, place, in_function in _walk(statement, "", in_function=False):
                where = (self.name, names, place or names, in_function)
                line = getattr(node, "lineno", statement.lineno)
                for operator, change in changes_of(node, in_function=in_function):
                    dropped = _dropped(change)
                    at = line if dropped is None else dropped.lineno
                    yield Mutation(*where, at, operator, _text(node, change), change)
                for move in moves_of(node, self._releases):
                    change = (move.node, {"value": move.text})
                    yield Mutation(*where, line, "release", _text(node, change), change, move.moved)


@contextmanager
def _changed(change: Change) -> Iterator[None]:
    node, values = change
    before = {name: getattr(node, name) for name in values}
    for name, value in values.items():
        setattr(node, name, value)
    try:
        yield
    finally:
        for name, value in before.items():
            setattr(node, name, value)


def _bound(statement: ast.stmt) -> tuple[str, ...]:
    match statement:
        case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
            return (name,)
        case ast.Assign(targets=targets):
            names = [one for target in targets for one in (target.elts if isinstance(target, ast.Tuple) else [target])]
            return tuple(one.id for one in names if isinstance(one, ast.Name))
        case ast.AnnAssign(target=ast.Name(id=name), annotation=annotation):
            return () if "TypeAlias" in ast.dump(annotation) else (name,)
    return ()


def _walk(node: ast.AST, place: str, *, in_function: bool) -> Iterator[tuple[ast.AST, str, bool]]:
    """Yield the nodes whose changes may decide an answer, each with the class and function it is in."""
    if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
        place = place if in_function else f"{place}.{node.name}" if place else node.name
        in_function = in_function or not isinstance(node, ast.ClassDef)
    yield node, place, in_function
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns") or isinstance(node, ast.Raise | ast.Assert | ast.JoinedStr):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST) and not _decides_nothing(child):
                yield from _walk(child, place, in_function=in_function)


def _decides_nothing(node: ast.AST) -> bool:
    """Return whether a node is the size of a cache, how a record is stored, or the check of arguments."""
    if isinstance(node, ast.keyword):
        return node.arg in {"frozen", "slots", "repr", "kw_only"}
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "lru_cache":
        return True
    return isinstance(node, ast.expr) and is_check(node)


def _dropped(change: Change) -> ast.stmt | None:
    """Return the statement that a change drops."""
    node, values = change
    for name, value in values.items():
        old = getattr(node, name)
        if isinstance(old, list) and old and isinstance(old[0], ast.stmt):
            found: ast.stmt = next(one for one, other in zip(old, value, strict=True) if one is not other)
            return found
    return None


def _text(node: ast.AST, change: Change) -> str:
    """Return the code before and after the change: of the one statement that is dropped, else of the node."""
    if dropped := _dropped(change):
        return f"{_short(ast.unparse(dropped))} → pass"
    before = ast.unparse(node)
    with _changed(change):
        after = ast.unparse(node)
    return _difference(before, after)


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _SHOWN else f"{line[:_SHOWN]}…"


def _difference(before: str, after: str) -> str:
    """Return both texts, without what they have in common far from the change."""
    before, after = " ".join(before.split()), " ".join(after.split())
    begin = next(
        (n for n, (a, b) in enumerate(zip(before, after, strict=False)) if a != b), min(len(before), len(after))
    )
    begin = max(0, begin - _SHOWN // 2)
    cut = "…" if begin else ""
    return f"{cut}{_short(before[begin:])} → {cut}{_short(after[begin:])}"
