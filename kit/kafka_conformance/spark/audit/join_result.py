"""The result of a join audit: what a join of two topics would miss. ``audit.join`` defines its terms."""

from __future__ import annotations

import msgspec

from kafka_conformance.spark.audit.framing.joined import JoinFraming
from kafka_conformance.spark.audit.isolation import Reading
from kafka_conformance.spark.audit.result import Place

__all__ = ["KEPT", "Join", "JoinSide", "KeyInPartition", "MissedKey"]

KEPT = 1000
"""The maximum number of missed keys in the result."""


class JoinSide(msgspec.Struct, frozen=True):
    """One of the two topics. ``off_keys`` and ``off_records`` are off the rule; ``to_blame`` counts missed keys off it."""

    name: str
    partitions: int
    records: int
    keyless: int
    keys: int
    off_keys: int
    off_records: int
    affected: int
    to_blame: int


class KeyInPartition(msgspec.Struct, frozen=True):
    """The number of a key's records in a partition, and the first of them."""

    partition: int
    records: int
    first: Place


class MissedKey(msgspec.Struct, frozen=True):
    """A key (hex) that a join would miss, its partitions in each topic, and the expected partition in each."""

    key: str
    never: bool
    affected: int
    expected: tuple[int, int]
    a: tuple[KeyInPartition, ...]
    b: tuple[KeyInPartition, ...]


class Join(msgspec.Struct, frozen=True):
    """The result of a join audit. A pair is a record of one topic with a record of the other that has the same key."""

    a: JoinSide
    b: JoinSide
    rule: str
    keys_in_both: int
    keys_missed: int
    keys_never: int
    neither_to_blame: int
    """Missed keys that are where the rule puts them in both topics: the partition counts differ."""
    pairs: int
    pairs_missed: int
    missed: tuple[MissedKey, ...]
    kit: str
    took_s: float
    reading: tuple[Reading, Reading] | None = None
    """Which records of each topic were read, and how many offsets gave none."""
    framing: JoinFraming | None = None
    """What the join misses because the topics frame keys differently, with ``--key-format``."""
    notes: tuple[str, ...] = ()
    """Which records were selected, one line each."""

    @property
    def same_count(self) -> bool:
        """Whether the partition counts are equal; Kafka Streams rejects the join otherwise."""
        return self.a.partitions == self.b.partitions

    @property
    def whole(self) -> bool:
        """Whether a join misses nothing."""
        return self.same_count and not self.keys_missed and not (self.framing and self.framing.missed)
