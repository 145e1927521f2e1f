"""The keys of a sweep, as blocks that can be made independently, and the reference's answers to them.

Java makes the keys (``oracle/spark/…/KeySpace.java``), where it also answers. Here other code makes them a second time:
for the reference, and to look whether those that Java answered are those that were meant.

=========  ============================================================================================================
every key  number 0 is the empty key, then those of one byte, of two, ...; of a length they are numbers, the first byte
           on top. A block is ``per_block`` numbers in a row, with one argument; all keys are asked with the first
           argument, then with the next.
random     a block is drawn from seed and block number, by SplittableRandom. A draw for each length: ``(draw >>> 8)``
           modulo ``(longest >> (draw & 7)) + 1``; then draws of eight bytes, little-endian, for all keys in a row.
           Block b has the argument ``first_argument + b mod arguments``.
=========  ============================================================================================================
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import msgspec

__all__ = ["KeySpace", "every_key", "keys_up_to", "random_keys"]

# All keys of up to two bytes: so the blocks of short keys are whole.
PER_BLOCK = 65_793
RANDOM_PER_BLOCK = 1_024
_GAMMA, _M1, _M2, _MASK = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB, (1 << 64) - 1


@dataclass(frozen=True)
class KeySpace:
    """Keys by number of block (see above). ``keys`` is how many for each argument, or at random in all."""

    every: bool
    keys: int
    per_block: int
    first_argument: int
    arguments: int
    seed: int
    longest: int

    @cached_property
    def blocks(self) -> int:
        """How many blocks there are."""
        return self._in_one_go * (self.arguments if self.every else 1)

    @cached_property
    def asked(self) -> int:
        """How many questions there are."""
        return self.keys * (self.arguments if self.every else 1)

    @property
    def _in_one_go(self) -> int:
        return -(-self.keys // self.per_block)

    @property
    def name(self) -> str:
        """A text that says what is asked."""
        counts = f" × partition counts {self.first_argument}-{self.first_argument + self.arguments - 1}"
        over = counts if self.arguments > 1 else ""
        if self.every:
            return f"every key of up to {_length(self.keys - 1)} bytes{over}"
        return f"random keys of up to {self.longest:,} bytes{over}"

    def as_json(self) -> str:
        """Return the space for Java."""
        names = "every", "keys", "per_block", "first_argument", "arguments", "seed", "longest"
        return msgspec.json.encode({name: getattr(self, name) for name in names}).decode()

    def argument(self, block: int) -> int:
        """The argument that a block is asked with."""
        place = block // self._in_one_go if self.every else block % self.arguments
        return self.first_argument + place

    def column(self, block: int) -> tuple[Any, Any]:
        """The keys of a block: NumPy offsets (int32) and data (uint8)."""
        first = (block % self._in_one_go if self.every else block) * self.per_block
        count = min(self.per_block, self.keys - first)
        return _every(first, count) if self.every else _random(self.seed, block, count, self.longest)


def keys_up_to(longest: int) -> int:
    """Return the number of keys of up to ``longest`` bytes."""
    return sum(256**length for length in range(longest + 1))


def every_key(longest: int, first_argument: int = 0, arguments: int = 1) -> KeySpace:
    """Every key of up to ``longest`` bytes, with each of the arguments."""
    return KeySpace(True, keys_up_to(longest), PER_BLOCK, first_argument, arguments, 0, longest)


def random_keys(keys: int, seed: int, longest: int, first_argument: int = 0, arguments: int = 1) -> KeySpace:
    """Random keys of 0 to ``longest`` bytes."""
    return KeySpace(False, keys, RANDOM_PER_BLOCK, first_argument, arguments, seed, longest)


def _length(number: int) -> int:
    """How long the key of this number is."""
    length = 0
    while number >= keys_up_to(length):
        length += 1
    return length


def _every(first: int, count: int) -> tuple[Any, Any]:
    import numpy as np

    length = _length(first)
    if length == _length(first + count - 1) and length in {4, 8}:
        numbers = np.arange(first - keys_up_to(length - 1), first - keys_up_to(length - 1) + count, dtype=f">u{length}")
        return _alike(count, length), numbers.view(np.uint8)
    offsets, data = [np.zeros(1, np.int32)], []
    for length in range(_length(first), _length(first + count - 1) + 1):
        shorter = keys_up_to(length - 1)
        begin, end = max(first, shorter), min(first + count, keys_up_to(length))
        width = 4 if length <= 4 else 8
        numbers = np.arange(begin - shorter, end - shorter, dtype=f"<u{width}").byteswap()
        data.append(numbers.view(np.uint8).reshape(-1, width)[:, width - length :].reshape(-1))
        offsets.append(offsets[-1][-1] + np.arange(1, end - begin + 1, dtype=np.int32) * np.int32(length))
    return np.concatenate(offsets).astype(np.int32, copy=False), np.concatenate(data)


@lru_cache(maxsize=4)
def _alike(count: int, length: int) -> Any:
    """Return the offsets of ``count`` keys of one length; nearly all blocks of short keys have the same."""
    import numpy as np

    return np.arange(0, (count + 1) * length, length, dtype=np.int32)


def _mixed(z: int) -> int:
    """SplittableRandom's draw of a state."""
    z = (z ^ z >> 30) * _M1 & _MASK
    z = (z ^ z >> 27) * _M2 & _MASK
    return z ^ z >> 31


def _random(seed: int, block: int, count: int, longest: int) -> tuple[Any, Any]:
    import numpy as np

    start = _mixed((seed ^ block * _GAMMA & _MASK) + _GAMMA & _MASK)
    drawn = _draws(np, start, 0, count)
    most = np.uint64(longest) >> (drawn & np.uint64(7))
    lengths = (drawn >> np.uint64(8)) % (most + np.uint64(1))
    offsets = np.zeros(count + 1, np.int32)
    np.cumsum(lengths, out=offsets[1:])
    total = int(offsets[-1])
    words = _draws(np, start, count, -(-total // 8))
    return offsets, words.astype("<u8", copy=False).view(np.uint8)[:total]


def _draws(np: Any, start: int, first: int, count: int) -> Any:
    """SplittableRandom's draws number ``first`` and following, from a seed."""
    z = np.uint64(start) + np.arange(first + 1, first + count + 1, dtype=np.uint64) * np.uint64(_GAMMA)
    z = (z ^ z >> np.uint64(30)) * np.uint64(_M1)
    z = (z ^ z >> np.uint64(27)) * np.uint64(_M2)
    return z ^ z >> np.uint64(31)
