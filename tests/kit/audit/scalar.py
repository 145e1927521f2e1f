"""The truth of the audit's tests: the gate's scalar hashes and folds, one key at a time, by the audit's names."""

from __future__ import annotations

from collections.abc import Callable

from kafka_conformance.mutants.folds import FOLDS
from kafka_conformance.mutants.hashed_partitions import HASHED_PARTITION_MUTANTS, masked
from kafka_conformance.mutants.hashes import HASHES
from kafka_conformance.mutants.ported_hashes import PORTED_HASHES, low_bytes
from kafka_conformance.rules.partition_for_key import PartitionForKeyQuestion
from kafka_reference.murmur2 import murmur2
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

_CLIENTS = {mutant.slug: mutant.ask for mutant in HASHED_PARTITION_MUTANTS}


def place(slug: str, key: bytes, count: int) -> int:
    """Where the placement of this slug puts a key, by the gate's mutant of the same slug."""
    if slug in _CLIENTS:
        return _CLIENTS[slug](PartitionForKeyQuestion(key.hex(), count), NEWEST)["partition"]
    if slug in FOLDS:
        return FOLDS[slug][1](murmur2(key), count)
    return masked(SCALAR_HASHES[slug](key), count)
