"""Hashes as ports have implemented them: murmur2 in a language with other arithmetic, or another hash in its place.

Each is rebuilt from the source that its references name:

==========================  =========================================================================================
port                        what it does
==========================  =========================================================================================
KafkaJS before 2.0          multiplies doubles, which keep 53 bits, and rounds the number of words up, so that a partial
                            word is hashed as a word and once more as left-over bytes
kafka-python to July 2015   of three left-over bytes uses the third alone, of two the second, and multiplies for one
JavaScript's murmurhash     hashes text: a byte is the low byte of a character's code, and the length counts characters
collectd's write_kafka      hashes the key's first byte alone, because of a wrong size of the key
kafka-node                  multiplies by 31, as Java's strings do, cut to 31 bits at each step; 0 becomes 1
==========================  =========================================================================================
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import starmap

import mmh3

from kafka_conformance.rules.murmur2.mutants import hash_mutant
from kafka_reference.java.int32 import INT_MAX, int32, uint32
from kafka_reference.partitioning.murmur2 import SEED, M
from kafka_reference.partitioning.murmur2_fast import murmur2

__all__ = ["MUTANTS", "PORTED_HASHES", "kafka_node", "low_bytes"]


def _as_int32(number: float) -> int:
    """Return a number as JavaScript's bitwise operators convert it."""
    return int32(int(number))


def _by_doubles(key: bytes) -> int:
    h: float = int32(SEED ^ len(key))
    padded = key + bytes(-len(key) % 4)
    for at in range(0, len(padded), 4):
        k: float = float(int.from_bytes(padded[at : at + 4], "little", signed=True)) * M
        k = _as_int32(k) ^ (uint32(_as_int32(k))) >> 24
        h = _as_int32(float(h) * M) ^ _as_int32(float(k) * M)
    if tail := key[len(key) & ~3 :]:
        h = float(_as_int32(h) ^ int.from_bytes(tail, "little")) * M
    h = _as_int32(h) ^ (uint32(_as_int32(h))) >> 13
    h = float(h) * M
    return _as_int32(h) ^ (uint32(_as_int32(h))) >> 15


def _one_left_over_byte(key: bytes) -> int:
    h = SEED ^ len(key)
    whole = len(key) - len(key) % 4
    for start in range(0, whole, 4):
        k = uint32(int.from_bytes(key[start : start + 4], "little") * M)
        h = uint32(h * M ^ (k ^ k >> 24) * M)
    if tail := key[whole:]:
        h ^= tail[-1] << 8 * (len(tail) - 1)
        h = uint32(h * M) if len(tail) == 1 else h
    h = uint32((h ^ h >> 13) * M)
    return int32(h ^ h >> 15)


def low_bytes(key: bytes) -> bytes:
    """Return the low byte of each character, which is what JavaScript's murmurhash hashes."""
    return _text(key)[1::2]


def _text(key: bytes) -> bytes:
    """Return the text that JavaScript decodes these bytes to, as UTF-16 big-endian."""
    return key.decode("utf-8", errors="replace").encode("utf-16-be")


def kafka_node(key: bytes) -> int:
    """Return kafka-node's hash, which is at least 1."""
    h, text = 0, _text(key)
    for at in range(0, len(text), 2):
        h = h * 31 + int.from_bytes(text[at : at + 2], "big") & INT_MAX
    return h or 1


_MISTAKES: tuple[tuple[str, str, Callable[[bytes], int], tuple[str, ...]], ...] = (
    ("murmur2-by-doubles", "multiplies in doubles and hashes a partial word twice: KafkaJS before 2.0", _by_doubles,
     ("https://github.com/tulios/kafkajs/issues/357", "https://github.com/tulios/kafkajs/pull/358")),
    ("tail-not-fallen-through", "of several left-over bytes, only the last counts", _one_left_over_byte,
     ("https://github.com/dpkp/kafka-python/pull/439",)),
    ("characters-for-bytes", "hashes the low byte of each character", lambda key: murmur2(low_bytes(key)),
     ("https://github.com/nodefluent/node-sinek/issues/40",)),
    ("first-byte-only", "hashes only the first byte of the key", lambda key: murmur2(key[:1]),
     ("https://github.com/collectd/collectd/pull/1765",)),
    ("murmur3-no-seed", "murmur3 without a seed instead of murmur2", lambda key: mmh3.hash(key, 0),
     ("https://github.com/nodefluent/node-sinek/issues/33",)),
    ("kafka-node", "a hash times 31, cut to 31 bits, instead of murmur2", kafka_node,
     ("https://github.com/SOHU-Co/kafka-node/blob/fcc8aefc7798f6e4b79d9b5c31f047c1933329e6/lib/partitioner.js",)),
)  # fmt: skip
PORTED_HASHES = {slug: (description, wrong) for slug, description, wrong, _ in _MISTAKES}
MUTANTS = tuple(starmap(hash_mutant, _MISTAKES))
