"""Valid files with some bytes changed: flipped, cut, repeated, joined with another, numbers replaced by extreme ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from hypothesis import strategies as st

__all__ = ["EXTREMES", "arbitrary_or_mutated", "mutate", "mutated", "steps"]

EXTREMES = (0, 1, -1, 2, 127, -128, 255, 2**15 - 1, -(2**15), 2**16 - 1, 2**31 - 1, 2**31 - 12, -(2**31), 2**32 - 1,
            2**63 - 1, -(2**63), 2**64 - 1)  # fmt: skip
"""Numbers that lengths, counts and offsets are replaced by, each cut to the width of the field."""

Step = tuple[int, int, int, int]
"""A kind of change, a position, and two numbers that the kind uses."""

_MOST_REPEATS, _LONGEST = 64, 2**20


def _flip(data: bytearray, at: int, number: int, _: int) -> bytes:
    data[at] ^= 1 << number % 8
    return data


def _put(data: bytearray, at: int, number: int, _: int) -> bytes:
    data[at] = (0, 1, 0x7F, 0x80, 0xFF, 0x0A, 0x22, 0x5C)[number % 8] if number % 2 else number % 256
    return data


def _cut(data: bytearray, at: int, _: int, __: int) -> bytes:
    return data[:at]


def _delete(data: bytearray, at: int, number: int, _: int) -> bytes:
    return data[:at] + data[at + 1 + number % 64 :]


def _repeat(data: bytearray, at: int, number: int, other: int) -> bytes:
    part = data[at : at + 1 + number % 256]
    return (data[:at] + part * (1 + other % _MOST_REPEATS) + data[at:])[:_LONGEST]


def _extreme(data: bytearray, at: int, number: int, other: int) -> bytes:
    width = (1, 2, 4, 8)[other % 4]
    value = EXTREMES[number % len(EXTREMES)] & (1 << 8 * width) - 1
    data[at : at + width] = value.to_bytes(width, "little" if other & 4 else "big")
    return data


def _zero(data: bytearray, at: int, number: int, _: int) -> bytes:
    size = min(1 + number % 256, len(data) - at)
    data[at : at + size] = bytes(size)
    return data


def _insert(data: bytearray, at: int, number: int, other: int) -> bytes:
    return data[:at] + number.to_bytes(2, "big") + bytes([other % 256]) + data[at:]


def _move(data: bytearray, at: int, number: int, other: int) -> bytes:
    size = 1 + number % 64
    part, rest = data[at : at + size], data[:at] + data[at + size :]
    to = other % (len(rest) + 1)
    return rest[:to] + part + rest[to:]


_KINDS: tuple[Callable[[bytearray, int, int, int], bytes], ...] = (
    _flip, _put, _extreme, _cut, _delete, _repeat, _zero, _insert, _move,
)  # fmt: skip
_SPLICE = len(_KINDS)
_number = st.integers(0, 2**16 - 1)


def steps(most: int = 6) -> st.SearchStrategy[list[Step]]:
    """Lists of changes."""
    return st.lists(st.tuples(st.integers(0, _SPLICE), _number, _number, _number), max_size=most)


def mutate(data: bytes, changes: Sequence[Step], others: Sequence[bytes] = ()) -> bytes:
    """Make the changes in turn; a splice takes the rest of one of the ``others``."""
    changed = bytes(data)
    for kind, position, number, other in changes:
        at = position % max(1, len(changed))
        if kind == _SPLICE:
            rest = others[number % len(others)] if others else b""
            changed = changed[:at] + rest[other % (len(rest) + 1) :]
        elif changed:
            changed = bytes(_KINDS[kind](bytearray(changed), at, number, other))
    return changed


def mutated(
    files: Sequence[bytes], repair: Callable[[bytes], bytes] = bytes, most: int = 6
) -> st.SearchStrategy[bytes]:
    """One of the files, changed; ``repair`` makes a checksum right again, for half of the inputs."""

    def build(number: int, changes: list[Step], repaired: bool) -> bytes:
        changed = mutate(files[number], changes, files)
        return repair(changed) if repaired else changed

    return st.builds(build, st.integers(0, len(files) - 1), steps(most), st.booleans())


def arbitrary_or_mutated(files: Sequence[bytes], repair: Callable[[bytes], bytes] = bytes) -> st.SearchStrategy[bytes]:
    """Arbitrary bytes, or one of the files, changed; mostly these."""
    return st.one_of(st.binary(max_size=300), *[mutated(files, repair)] * 3)
