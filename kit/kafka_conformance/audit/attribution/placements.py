"""List the known placements, the mappings from key to partition: Java's first, then the most frequent ones.

A *placement* is a hash of the key and a *fold*, the mapping from hash to partition. Names and descriptions are the gate's:
each but the first is a mutant of ``partition-for-key`` or of ``murmur2``.

Left out are mutants that no topic can distinguish from one of these:

=====================================  ===========================================================================
mutant                                 why
=====================================  ===========================================================================
``sign-negate``                        equals ``sign-abs`` except for the hash 0x80000000
``sign-kept``                          a record is either where Java puts it, or has a negative partition
``unsigned-hash``                      with Java's fold it is Java's placement
``fnv-1a``, ``kafka-node``,            with Java's fold: ``sarama-reference-hash``, ``kafka-node-keyed``,
``murmur2-by-doubles``,                ``kafkajs-legacy`` and ``string-hash-code-masked``
``string-hash-code``
=====================================  ===========================================================================

A set of placements is a uint32: bit i stands for ``PLACEMENTS[i]``.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from kafka_conformance.audit.attribution.candidates import find_candidate, registered
from kafka_conformance.audit.attribution.relatives import RELATIVES
from kafka_conformance.core.errors import BadInput
from kafka_conformance.rules.murmur2.mutants import HASHES
from kafka_conformance.rules.murmur2.ported_hash_mutants import PORTED_HASHES
from kafka_conformance.rules.partition_for_key.hashed_partition_mutants import MUTANTS
from kafka_conformance.rules.partition_for_key.mutants import FOLDS
from kafka_reference.partitioning.key_hashes import HASHES as HASHES_OF_KEYS
from kafka_reference.partitioning.places import ANY, DRAWS_EMPTY

__all__ = ["ANY", "CONSTANT", "JAVA", "PLACEMENTS", "STRUCTURED", "Placement", "find_placement", "number", "rank"]

JAVA = "murmur2"


@dataclass(frozen=True, slots=True)
class Placement:
    """A way to place keys. ``hash`` is one of ``hash_columns.HASH_NAMES``, ``fold`` one of ``explanation.FOLD_NAMES``.

    Both are empty if keys are placed by what they say (:mod:`.structured`), or by a function of the user's
    (:mod:`.candidates`).
    """

    slug: str
    description: str
    hash: str = ""
    fold: str = ""
    draws_empty: bool = False
    """Whether an empty key counts as null, so that its partition is drawn at random: any explains it."""


_DESCRIPTIONS: dict[str, str] = {
    **{slug: description for slug, (description, _) in (HASHES | PORTED_HASHES | FOLDS).items()},
    **{mutant.slug: mutant.description for mutant in MUTANTS},
    JAVA: "Java's own: murmur2, its sign masked",
}

_WAYS: tuple[tuple[str, str, str], ...] = (
    (JAVA, "murmur2", "masked"),
    ("librdkafka-consistent", "crc32", "unsigned"),
    ("sarama-hash", "fnv-1a", "sign-abs"),
    ("sarama-reference-hash", "fnv-1a", "masked"),
    ("fnv-1a-unsigned", "fnv-1a", "unsigned"),
    ("sarama-crc32", "crc32", "sign-abs"),
    ("kafkajs-legacy", "murmur2-by-doubles", "masked"),
    ("sign-abs", "murmur2", "sign-abs"),
    ("unsigned", "murmur2", "unsigned"),
    ("seed-left-out", "seed-left-out", "masked"),
    ("signed-tail", "signed-tail", "masked"),
    ("characters-for-bytes", "characters-for-bytes", "masked"),
    ("length-in-characters", "length-in-characters", "masked"),
    ("crc32", "crc32", "masked"),
    ("murmur3", "murmur3", "masked"),
    ("murmur3-no-seed", "murmur3-no-seed", "masked"),
    ("murmur2-64a", "murmur2-64a", "masked"),
    ("string-hash-code-masked", "string-hash-code", "masked"),
    ("arrays-hash-code", "arrays-hash-code", "masked"),
    ("scala-producer", "arrays-hash-code", "abs-but-lowest"),
    ("kafka-node-keyed", "kafka-node", "masked"),
    ("murmur3-unsigned", "murmur3-of-low-bytes", "unsigned"),
    ("sinek-murmur2", "seed-left-out-of-low-bytes", "unsigned"),
    ("sign-inverted", "murmur2", "sign-inverted"),
    ("shift", "murmur2", "shift"),
    ("float-arithmetic", "murmur2", "float-arithmetic"),
    ("tail-not-fallen-through", "tail-not-fallen-through", "masked"),
    ("first-byte-only", "first-byte-only", "masked"),
    ("big-endian", "big-endian", "masked"),
    ("one-bit", "one-bit", "masked"),
)

PLACEMENTS: tuple[Placement, ...] = tuple(
    Placement(slug, _DESCRIPTIONS[slug], hash_, fold, slug in DRAWS_EMPTY) for slug, hash_, fold in _WAYS
)
"""The likely ones first: of two that explain as many records, the earlier one is chosen."""

STRUCTURED: tuple[Placement, ...] = tuple(
    Placement(slug, f"{HASHES_OF_KEYS[slug].description}, modulo the partition count")
    for slug in (
        "text-integer", "int32-big-endian", "int32-little-endian", "int64-big-endian", "int64-little-endian",
        "first-byte", "last-byte",
    )
)  # fmt: skip
"""Placements by what a key says, with the current partition count only. They are in no set of placements."""

CONSTANT = "constant-"
"""With the number of a partition behind it: the placement of every key there."""


@lru_cache(maxsize=1)
def _numbers() -> dict[str, int]:
    return {each.slug: bit for bit, each in enumerate(PLACEMENTS)}


def number(slug: str) -> int:
    """Return the bit of a placement in a set. Raises BadInput for an unknown slug."""
    if slug not in _numbers():
        raise BadInput(f"unknown placement {slug!r}: expected one of {', '.join(_numbers())}")
    return _numbers()[slug]


def find_placement(slug: str) -> Placement:
    """Return the placement with this slug, structured ones and candidates included. Raises BadInput for an unknown slug."""
    if slug in RELATIVES:
        return Placement(slug, RELATIVES[slug].description)
    if find_candidate(slug):
        return Placement(slug, f"the function {slug} of --candidate")
    if slug.startswith(CONSTANT) and slug.removeprefix(CONSTANT).isdigit():
        return Placement(slug, "one partition for every key")
    if slug == ANY:
        return Placement(slug, "partitions in turn or at random, whatever the key: kafka-go's RoundRobin")
    return next((each for each in STRUCTURED if each.slug == slug), None) or PLACEMENTS[number(slug)]


def rank(slug: str) -> int:
    """Return the number by which placements are preferred among equals: structured ones come late, candidates last."""
    if slug in _numbers():
        return number(slug)
    if find_candidate(slug):
        return len(PLACEMENTS) + len(STRUCTURED) + 1 + [each.name for each in registered()].index(slug)
    return len(PLACEMENTS) + next((at for at, each in enumerate(STRUCTURED) if each.slug == slug), len(STRUCTURED))
