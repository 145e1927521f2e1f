"""The truth of the audit's tests: the gate's scalar hashes and folds by the audit's names, and topics written with them."""

from __future__ import annotations

import random
from collections.abc import Callable

import numpy as np
import pyarrow as pa

from kafka_conformance.audit.attribution.block import Block
from kafka_conformance.audit.attribution.explanation import KeyColumn, Partitions
from kafka_conformance.audit.attribution.placements import find_placement
from kafka_conformance.audit.attribution.relatives import RELATIVES
from kafka_conformance.audit.result import Placed
from kafka_conformance.rules.murmur2.mutants import HASHES
from kafka_conformance.rules.murmur2.ported_hash_mutants import PORTED_HASHES, low_bytes
from kafka_conformance.rules.partition_for_key.hashed_partition_mutants import MUTANTS, masked
from kafka_conformance.rules.partition_for_key.mutants import FOLDS
from kafka_conformance.rules.partition_for_key.question import PartitionForKeyQuestion
from kafka_reference.partitioning.murmur2_fast import murmur2
from kafka_reference.releases import NEWEST

SCALAR_HASHES: dict[str, Callable[[bytes], int]] = {
    **{slug: hash_ for slug, (_, hash_) in (HASHES | PORTED_HASHES).items()},
    "murmur2": murmur2,
    "murmur3-of-low-bytes": lambda key: PORTED_HASHES["murmur3-no-seed"][1](low_bytes(key)),
    "seed-left-out-of-low-bytes": lambda key: HASHES["seed-left-out"][1](low_bytes(key)),
}

SCALAR_FOLDS: dict[str, Callable[[int, int], int]] = {
    **{slug: fold for slug, (_, fold) in FOLDS.items()},
    "masked": masked,
    "abs-but-lowest": lambda h, n: 0 if h == -(2**31) else abs(h) % n,
}

_CLIENTS = {mutant.slug: mutant.ask for mutant in MUTANTS}


def place(slug: str, key: bytes, count: int) -> int:
    """Where the placement of this slug puts a key, by the gate's mutant of the same slug."""
    if slug in RELATIVES:
        return _relative(slug, key, count)
    if slug in _CLIENTS:
        return _CLIENTS[slug](PartitionForKeyQuestion(key.hex(), count), NEWEST)["partition"]
    if slug in FOLDS:
        return FOLDS[slug][1](murmur2(key), count)
    return masked(SCALAR_HASHES[slug](key), count)


def _relative(slug: str, key: bytes, count: int) -> int:
    """Where one of the audit's further rules puts a key, -1 if nowhere: with the gate's hash, where there is one."""
    rule = RELATIVES[slug]
    number = SCALAR_HASHES[rule.hash_name](key) if rule.hash_name in GATES else rule.hash(key)
    if number is None:
        return -1
    top = 1 << rule.bits
    number %= top
    signed = number - top if 2 * number >= top else number
    by_fold = {
        "masked": number % (top // 2),
        "abs": abs(signed),
        "abs-or-zero": 0 if 2 * signed == -top else abs(signed),
        "floor-mod": signed,
        "unsigned": number,
    }
    return by_fold[rule.fold] % count


GATES = "arrays-hash-code", "murmur2", "crc32", "fnv-1a", "murmur3-no-seed"
Producer = tuple[str, int]
"""A placement's slug, or ``random``, and the number of partitions it knows of."""


class Topic:
    """The records of one partition, of whom each of them is: the truth, by scalar rules alone."""

    def __init__(self, partition: int, partitions: int, seed: int = 1) -> None:
        self.partition, self.partitions = partition, partitions
        self._draws = random.Random(seed)
        self.keys: list[bytes] = []
        self.truth: list[Producer] = []

    def key(self) -> bytes:
        return b"customer-%010d" % self._draws.randrange(10**10)

    def write(self, records: int, *producers: Producer, shares: tuple[float, ...] | None = None) -> Topic:
        """Add records that landed in this partition, their producers taking turns at random."""
        for producer in self._draws.choices(producers, shares, k=records):
            self.keys.append(self._key_of(producer))
            self.truth.append(producer)
        return self

    def _key_of(self, producer: Producer) -> bytes:
        slug, count = producer
        if slug == "random":
            return self.key()
        hash_, fold = (
            SCALAR_HASHES[find_placement(slug).hash],
            SCALAR_FOLDS[find_placement(slug).fold],
        )  # as place, but quicker
        while True:
            key = self.key()
            if fold(hash_(key), count) == self.partition:
                return key

    def block(self) -> Block:
        size = len(self.keys)
        offsets = np.arange(size, dtype=np.int64) + 500
        return Block(self.partition, offsets, offsets * 7 + 1_700_000_000_000, pa.array(self.keys, pa.binary()))

    def column(self) -> KeyColumn:
        return column(self.keys, self.partition, self.partitions)


def column(keys: list[bytes], partition: Partitions, partitions: int) -> KeyColumn:
    offsets = np.cumsum([0, *map(len, keys)], dtype=np.int32)
    return KeyColumn(offsets, np.frombuffer(b"".join(keys), np.uint8), partition, partitions)


def names(members: tuple[Placed, ...]) -> list[str]:
    return [str(placed) for placed in members]
