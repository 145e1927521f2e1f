"""Hashes of a key that are not mutants: Kafka's hash over other bytes than the key's, and hashes of other clients.

The gate recognises them, and combines them with every known way from a hash to a partition (``keyed_candidates``).
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

from kafka_conformance.gate.diagnosis.xxhash import xxh32, xxh64
from kafka_conformance.rules.murmur2.mutants import HASHES
from kafka_conformance.rules.murmur2.ported_hash_mutants import PORTED_HASHES
from kafka_conformance.rules.mutants import MUTANTS
from kafka_reference.partitioning.murmur2 import SEED, M
from kafka_reference.partitioning.murmur2_fast import murmur2

__all__ = ["LAST_SCHEMA_ID", "KeyHash", "key_hashes", "of_schema", "other_hashes"]

LAST_SCHEMA_ID = 1000
"""Ids of a schema registry that are tried, from 1."""

_MASK = (1 << 64) - 1


@dataclass(frozen=True, slots=True)
class KeyHash:
    """A hash that a client takes for Kafka's: an int of any size for the bytes of a key."""

    slug: str
    description: str
    hashes: Callable[[bytes], int]
    references: tuple[str, ...] = ()


def _text(key: bytes) -> str:
    return key.decode("utf-8", "replace")


def _in_64_bits(key: bytes) -> int:
    """Return murmur2 with products and sums of 64 bits; only the result is cut to 32."""
    h, whole = SEED ^ len(key), len(key) & ~3
    for at in range(0, whole, 4):
        k = int.from_bytes(key[at : at + 4], "little") * M & _MASK
        h = h * M & _MASK ^ (k ^ k >> 24) * M & _MASK
    if tail := key[whole:]:
        h = (h ^ int.from_bytes(tail, "little")) * M & _MASK
    h = (h ^ h >> 13) * M & _MASK
    return (h ^ h >> 15) & 0xFFFFFFFF


def of_schema(number: int) -> Callable[[bytes], int]:
    """Return Kafka's hash of a key behind the prefix of a schema registry: 0, and the id of a schema in four bytes."""
    return lambda key: murmur2(b"\0" + number.to_bytes(4, "big") + key)


_OTHER_BYTES: tuple[tuple[str, str, Callable[[bytes], bytes], tuple[str, ...]], ...] = (
    ("hex-text", "hashes the hexadecimal text of the key", lambda key: key.hex().encode(), ()),
    ("base64-text", "hashes the base64 text of the key", base64.b64encode, ()),
    ("json-text", "hashes the key as JSON text, with its quotes",
     lambda key: json.dumps(_text(key), ensure_ascii=False).encode(), ()),
    ("utf-8-replaced", "hashes the key after decoding it as UTF-8, with U+FFFD for each invalid byte",
     lambda key: _text(key).encode(), ("https://github.com/SOHU-Co/kafka-node/issues/699",)),
    ("latin-1-as-utf-8", "hashes the key after decoding it as Latin-1 and encoding it as UTF-8",
     lambda key: key.decode("latin-1").encode(), ()),
    ("numbers-and-commas", "hashes the key's bytes as numbers joined by commas, as KafkaJS does with a Uint8Array",
     lambda key: ",".join(map(str, key)).encode(),
     ("https://github.com/tulios/kafkajs/blob/v2.2.4/src/producer/partitioners/default/murmur2.js",)),
)  # fmt: skip
_OTHER_HASHES = (
    KeyHash("murmur2-in-64-bits", "computes murmur2 in 64 bits, and cuts only the result to 32", _in_64_bits),
    KeyHash("xxhash32", "xxHash32, kafka-rust's default, instead of murmur2", xxh32,
            ("https://github.com/kafka-rust/kafka-rust/issues/145",)),
    KeyHash("xxhash64", "xxHash64 instead of murmur2", xxh64, ("https://github.com/Sixt/ja-micro/issues/13",)),
    KeyHash("sha-1", "SHA-1, pykafka's default, instead of murmur2",
            lambda key: int.from_bytes(hashlib.sha1(key, usedforsecurity=False).digest(), "big"),
            ("https://github.com/Parsely/pykafka/issues/423", "https://github.com/Parsely/pykafka/pull/429")),
)  # fmt: skip


def _after(change: Callable[[bytes], bytes], key: bytes) -> int:
    return murmur2(change(key))


def other_hashes() -> Iterator[KeyHash]:
    """Yield the hashes that are not mutants of ``murmur2``."""
    for slug, description, change, references in _OTHER_BYTES:
        yield KeyHash(slug, description, partial(_after, change), references)
    yield from _OTHER_HASHES


def key_hashes() -> Iterator[KeyHash]:
    """Yield all known hashes: the mutants of ``murmur2``, then the others."""
    hashes = {**HASHES, **PORTED_HASHES}
    for mutant in MUTANTS:
        if mutant.rule == "murmur2" and mutant.slug != "unsigned-hash":
            yield KeyHash(mutant.slug, mutant.description, hashes[mutant.slug][1], mutant.references)
    yield from other_hashes()
