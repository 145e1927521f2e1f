"""Keys for questions, chosen where ports go wrong and hand-written test vectors rarely go.

Every length from 0 to 64 with every left-over byte at 0x00, 0x7f, 0x80 and 0xff (:func:`every_tail`, asked whole); and,
generated, bytes of 0x80 and more anywhere, keys of up to 64 KiB, and keys with a given hash, such as 0x80000000, whose
absolute value is itself negative. The last kind is possible because murmur2 can be inverted over its last whole word: any
prefix of a whole number of words can be continued by the one word that gives the wanted hash.

The hash is a second implementation: questions generated or classified by the reference's own hash would change whenever
the reference is wrong, which is when they matter.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from hypothesis import strategies as st

__all__ = [
    "HASHES",
    "REQUIRED_LABELS",
    "every_tail",
    "key_labels",
    "key_with_hash",
    "keys",
    "small_keys",
    "unsigned_hash",
]

SEED, M, MASK = 0x9747B28C, 0x5BD1E995, 0xFFFFFFFF

# Hashes at which ports differ: the sign bit and its neighbours, and zero.
HASHES = (-(2**31), -(2**31) + 1, -1, 0, 1, 2**31 - 1)
_UNMIX = pow(M, -1, 1 << 32)
_LONGEST = 64 * 1024


def key_with_hash(prefix: bytes, hashed: int) -> bytes:
    """Return ``prefix``, a whole number of words, continued by the one word that gives the hash ``hashed``, an int32."""
    h = _over_words(prefix, len(prefix) + 4)
    end = hashed & MASK
    end = (end ^ end >> 15 ^ end >> 30) * _UNMIX & MASK  # undo the folds and the multiplication between them
    end ^= end >> 13 ^ end >> 26
    k = (end ^ h * M & MASK) * _UNMIX & MASK  # undo the last word: xor, multiply, fold, multiply
    k = (k ^ k >> 24) * _UNMIX & MASK
    return prefix + k.to_bytes(4, "little")


def _over_words(key: bytes, length: int) -> int:
    """Return the hash after the whole words of a key of ``length`` bytes."""
    h = SEED ^ length
    for at in range(0, len(key) & ~3, 4):
        k = int.from_bytes(key[at : at + 4], "little") * M & MASK
        h = (h * M ^ (k ^ k >> 24) * M) & MASK
    return h


def unsigned_hash(key: bytes) -> int:
    """Return the hash of a key as 32 bits without a sign."""
    h = _over_words(key, len(key))
    if tail := key[len(key) & ~3 :]:
        h = (h ^ int.from_bytes(tail, "little")) * M & MASK
    h = (h ^ h >> 13) * M & MASK
    return h ^ h >> 15


def every_tail() -> Iterator[bytes]:
    """Return keys of every length from 0 to 64, with every left-over byte at 0x00, 0x7f, 0x80 and 0xff."""
    for length in range(65):
        whole = bytes((length * 37 + at * 101) & 0xFF for at in range(length & ~3))
        for tail in product((0x00, 0x7F, 0x80, 0xFF), repeat=length & 3):
            yield whole + bytes(tail)


def small_keys() -> st.SearchStrategy[bytes]:
    """Return a strategy of short keys, for rules whose questions hold more than a key."""
    return st.one_of(st.binary(max_size=12), st.sampled_from([key_with_hash(b"", hashed) for hashed in HASHES]))


def keys() -> st.SearchStrategy[bytes]:
    """Return a strategy of all the kinds of keys described above."""
    lengths = st.one_of(st.integers(0, 64), st.sampled_from([255, 256, 257, 1023, 4096]), st.integers(0, _LONGEST))
    high_bytes = st.lists(st.integers(0x80, 0xFF), max_size=64).map(bytes)
    long = st.builds(
        lambda unit, length: (unit * (length // len(unit) + 1))[:length], st.binary(min_size=1, max_size=9), lengths
    )
    prefixes = st.binary(max_size=24).map(lambda prefix: prefix[: len(prefix) & ~3])
    wanted = st.one_of(st.sampled_from(HASHES), st.integers(-(2**31), 2**31 - 1))
    return st.one_of(
        st.binary(max_size=64), high_bytes, st.builds(key_with_hash, prefixes, wanted), st.deferred(lambda: long)
    )


def key_labels(key: bytes | None) -> Iterator[str]:
    """Return the kinds that a key belongs to."""
    if key is None:
        yield "null key"
        return
    if not key:
        yield "empty key"
    tail = len(key) & 3
    for place, byte in enumerate(key[len(key) - tail :], 1):
        if byte >= 0x80:
            yield f"left-over byte {place} of {tail} at 0x80 or more"
    yield "longer than 64 bytes" if len(key) > 64 else f"{len(key)} bytes"
    hashed = unsigned_hash(key)
    if hashed >> 31:
        yield "hash below zero"
    if hashed == 1 << 31:
        yield "hash 0x80000000"


REQUIRED_LABELS = frozenset(
    {"null key", "empty key", "hash below zero", "hash 0x80000000", *(f"{length} bytes" for length in range(65))}
    | {f"left-over byte {place} of {tail} at 0x80 or more" for tail in (1, 2, 3) for place in range(1, tail + 1)}
)
