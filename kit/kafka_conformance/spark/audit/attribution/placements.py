"""Which ways from a key to a partition an audit knows: Java's first, then the ones most often met.

A *placement* is a hash of the key and a *fold*, what makes a partition of a hash. Their words are the gate's own: each but
the first is a mutant of ``partition-for-key`` or of ``murmur2``, by its slug and its story.

Left out is what no topic could tell from one of these:

=====================================  ===========================================================================
mutant                                 why
=====================================  ===========================================================================
``sign-negate``                        ``sign-abs`` but for the one hash 0x80000000
``sign-kept``                          a record is either where Java puts it, or at a negative partition: nowhere
``unsigned-hash``                      folded as Java does it, Java's placement
``fnv-1a``, ``kafka-node``,            folded as Java does it, ``sarama-reference-hash``, ``kafka-node-keyed``,
``murmur2-by-doubles``,                ``kafkajs-legacy`` and ``string-hash-code-masked``
``string-hash-code``
=====================================  ===========================================================================

A set of placements is a uint32: bit i stands for ``PLACEMENTS[i]``.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from kafka_conformance.core.errors import BadInput
from kafka_conformance.rules.murmur2.mutants import HASHES
from kafka_conformance.rules.murmur2.ported_hash_mutants import PORTED_HASHES
from kafka_conformance.rules.partition_for_key.hashed_partition_mutants import MUTANTS
from kafka_conformance.rules.partition_for_key.mutants import FOLDS

__all__ = ["JAVA", "PLACEMENTS", "Placement", "number", "of"]

JAVA = "murmur2"


@dataclass(frozen=True, slots=True)
class Placement:
    """``hash`` and ``fold`` are rows of ``hash_columns.HASH_NAMES`` and ``FOLD_NAMES``."""

    slug: str
    story: str
    hash: str
    fold: str


_STORIES: dict[str, str] = {
    **{slug: story for slug, (story, _) in (HASHES | PORTED_HASHES | FOLDS).items()},
    **{mutant.slug: mutant.story for mutant in MUTANTS},
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

PLACEMENTS: tuple[Placement, ...] = tuple(Placement(slug, _STORIES[slug], hash_, fold) for slug, hash_, fold in _WAYS)
"""The likely ones first: of two that explain as much, the earlier one is held to be it."""


@lru_cache(maxsize=1)
def _numbers() -> dict[str, int]:
    return {placement.slug: at for at, placement in enumerate(PLACEMENTS)}


def number(slug: str) -> int:
    """The bit of a placement. Raises BadInput for one that is not known."""
    if slug not in _numbers():
        raise BadInput(f"no placement is called {slug!r}; there are: {', '.join(_numbers())}")
    return _numbers()[slug]


def of(slug: str) -> Placement:
    """The placement that is called so. Raises BadInput for one that is not known."""
    return PLACEMENTS[number(slug)]
