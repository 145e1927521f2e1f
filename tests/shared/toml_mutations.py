"""TOML files with lines moved, repeated and removed, and with values that readers trip over."""

from __future__ import annotations

from collections.abc import Sequence

from byte_mutations import mutate, steps
from hypothesis import strategies as st

__all__ = ["HOSTILE", "hostile_toml", "mutated_toml"]

_DEEP = (60, 300, 3_000)
HOSTILE = (
    '""', '"x"', "'x'", '"""x\n"""', "0", "-1", "1_000", "0x7f", "9223372036854775808", "9" * 5_000, "1e999", "nan", "-inf",
    "true", "2025-01-01", "2025-02-30", "9999-12-31T23:59:59-23:59", "0001-01-01T00:00:00+23:59", "07:32:00", "24:00:00",
    "[]", "{}", '[""]', "[[]]", "{a = 1}", "{a = {a = {}}}", '[{a = ""}]', '"\\u0000"', '"\\ud800"', '"\\U00110000"',
    '"\x00"', '"\u202e"', '"4.4.0"', '"since 4.4.0"', '"4.4.0 to 3.0.0"', '"up to x"', '"' + "x" * 50_000 + '"', "", "=",
    *("[" * deep + "]" * deep for deep in _DEEP), *("{a = " * deep + "1" + "}" * deep for deep in _DEEP), "[" * 2_000,
)  # fmt: skip
LINES = (
    "", "[x]", "[[x]]", "[x.y]", "[[x.y]]", "[]", "[[]]", "x = 1", "x.y = 1", "x.y.z = 1", "[x", "x", "= 1", "\ufeff", "\r",
    '"" = 1', "'\x7f' = 1", "# \x00", "x = {", '"""', "'''", "[[known]]", "[releases]", "[known]", "known = []", "known = 1",
    "releases = 1", "x" + ".x" * 400 + " = 1", "[" + "x." * 400 + "x]", "[releases.known]", "[[releases]]",
)  # fmt: skip


def hostile_toml(files: Sequence[str]) -> list[bytes]:
    """Each file with a hostile value for each of its first keys, and with a hostile line before and after it."""
    found = [b"\xff", b"\xed\xa0\x80", b"a = 1\x00"]
    for file in files:
        lines = file.split("\n")
        keys = [place for place, line in enumerate(lines) if "=" in line][:6]
        texts = [
            "\n".join([*lines[:place], f"{lines[place].partition('=')[0]}= {hostile}", *lines[place + 1 :]])
            for place in keys
            for hostile in HOSTILE[place % 2 :: 2]
        ]
        texts += [text for line in LINES for text in (f"{line}\n{file}", f"{file}\n{line}\n")]
        found += [text.encode("utf-8", "surrogatepass") for text in texts]
    return found


def mutated_toml(files: Sequence[str]) -> st.SearchStrategy[bytes]:
    """One of the files, changed."""
    documents = [file.encode() for file in files]

    def build(number: int, changes: list[tuple[int, int, int]], bytewise: list[tuple[int, int, int, int]]) -> bytes:
        lines = files[number].split("\n")
        for kind, at, value in changes:
            place = at % len(lines)
            line, hostile = lines[place], HOSTILE[value % len(HOSTILE)]
            lines[place : place + 1] = (
                [f"{line.partition('=')[0]}= {hostile}"],
                [line, line],
                [line, LINES[value % len(LINES)]],
                [LINES[value % len(LINES)]],
                [lines[value % len(lines)], line],
                [line, f"{LINES[value % len(LINES)]} = {hostile}"],
                [],
            )[kind]
            lines = lines or [""]
        return mutate("\n".join(lines).encode("utf-8", "surrogatepass"), bytewise, documents)

    change = st.tuples(st.integers(0, 6), st.integers(0, 2**16), st.integers(0, 2**16))
    bytewise = st.one_of(st.just([]), steps(3))
    return st.builds(build, st.integers(0, len(files) - 1), st.lists(change, max_size=4), bytewise)
