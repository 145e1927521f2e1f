"""Hashes as ports wrote them down: murmur2 in a language that counts otherwise, or what was taken for it.

Each is rebuilt from the source it was in, which ``references`` has. What a language does of itself is the mistake:

==========================  =========================================================================================
port                        what it does
==========================  =========================================================================================
KafkaJS before 2.0          multiplies doubles, which keep 53 bits, and counts words up, so that a last one begun is
                            hashed as a word and once more as left-over bytes
kafka-python to July 2015   of three left-over bytes takes the third alone, of two the second, and multiplies for one
JavaScript's murmurhash     takes text: a byte is what is left of a character's code, and the length counts those
collectd's write_kafka      hands over the key's first byte, since it gave the size of a pointer to it
kafka-node                  multiplies by 31, as Java's strings do, cut to 31 bits at each step; 0 becomes 1
==========================  =========================================================================================
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mmh3

from kafka_conformance.core.mutant import Ask, Mutant
from kafka_conformance.core.protocol import Answer
from kafka_conformance.rules.murmur2.mutants import asked_bytes, signed
from kafka_reference.partitioning.murmur2 import SEED, M
from kafka_reference.partitioning.murmur2_fast import MASK, murmur2
from kafka_reference.releases import Release

__all__ = ["MUTANTS", "PORTED_HASHES", "kafka_node", "low_bytes"]


def _as_int32(number: float) -> int:
    """What JavaScript's bitwise operators see of a number."""
    return signed(int(number))


def _by_doubles(key: bytes) -> int:
    h: float = signed(SEED ^ len(key))
    padded = key + bytes(-len(key) % 4)
    for at in range(0, len(padded), 4):
        k: float = float(int.from_bytes(padded[at : at + 4], "little", signed=True)) * M
        k = _as_int32(k) ^ (_as_int32(k) & MASK) >> 24
        h = _as_int32(float(h) * M) ^ _as_int32(float(k) * M)
    if tail := key[len(key) & ~3 :]:
        h = float(_as_int32(h) ^ int.from_bytes(tail, "little")) * M
    h = _as_int32(h) ^ (_as_int32(h) & MASK) >> 13
    h = float(h) * M
    return _as_int32(h) ^ (_as_int32(h) & MASK) >> 15


def _one_left_over_byte(key: bytes) -> int:
    h = SEED ^ len(key)
    whole = len(key) & ~3
    for at in range(0, whole, 4):
        k = int.from_bytes(key[at : at + 4], "little") * M & MASK
        h = (h * M ^ (k ^ k >> 24) * M) & MASK
    if tail := key[whole:]:
        h ^= tail[-1] << 8 * (len(tail) - 1)
        h = h * M & MASK if len(tail) == 1 else h
    h = (h ^ h >> 13) * M & MASK
    return signed(h ^ h >> 15)


def low_bytes(key: bytes) -> bytes:
    """What JavaScript's murmurhash hashes: of each character of the text the low byte."""
    return _text(key)[1::2]


def _text(key: bytes) -> bytes:
    """The text that JavaScript makes of these bytes, two bytes for each of its characters, high one first."""
    return key.decode("utf-8", errors="replace").encode("utf-16-be")


def kafka_node(key: bytes) -> int:
    """Never below 1."""
    h, text = 0, _text(key)
    for at in range(0, len(text), 2):
        h = h * 31 + int.from_bytes(text[at : at + 2], "big") & 0x7FFFFFFF
    return h or 1


PORTED_HASHES: dict[str, tuple[str, Callable[[bytes], int]]] = {
    "murmur2-by-doubles": ("multiplied in doubles, a word begun taken for one: KafkaJS before 2.0", _by_doubles),
    "tail-not-fallen-through": ("of several left-over bytes the last alone is taken", _one_left_over_byte),
    "characters-for-bytes": ("of each character its low byte is hashed", lambda key: murmur2(low_bytes(key))),
    "first-byte-only": ("the key ends after its first byte", lambda key: murmur2(key[:1])),
    "murmur3-no-seed": ("murmur3 without a seed in place of murmur2", lambda key: mmh3.hash(key, 0)),
    "kafka-node": ("31 times, cut to 31 bits, in place of murmur2", kafka_node),
}


def _ask(wrong: Callable[[bytes], int]) -> Ask:
    def answer(question: Any, _: Release) -> Answer:
        return {"hash": wrong(asked_bytes(question))}

    return answer


MUTANTS = tuple(Mutant(slug, "murmur2", story, _ask(wrong)) for slug, (story, wrong) in PORTED_HASHES.items())
