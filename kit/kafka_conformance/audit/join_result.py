"""The result of a join audit: what a partition-by-partition join of two topics would miss.

Kafka Streams and other consumers that join *co-partitioned* topics match records within a partition number only. They
reject topics with different partition counts, and trust those with equal ones. So the actual partitions of records count:

* Two records of a key, one in each topic, *meet* if they are in partitions of the same number. A key is *missed* if some
  pair of its records does not meet: in both topics together it is in more than one partition.
* A missed key *never* meets if no pair does; otherwise it meets *partly*, which is worse, because results look right.
* A record is *affected* if the other topic has its key in a partition with another number.
* A topic is *off the rule* for a key if it has a record of it outside the partition that the expected placement (Java's by
  default) chooses. That tells which topic to repair. If neither is off the rule, the partition counts differ.

Records without a key are never joined.
"""

from __future__ import annotations

import msgspec

from kafka_conformance.audit.isolation import Reading
from kafka_conformance.audit.result import FormPlace, Place

__all__ = ["KEPT", "Join", "JoinFraming", "JoinSide", "KeyInPartition", "MissedKey", "MissedLogicalKey"]

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


class MissedLogicalKey(msgspec.Struct, frozen=True):
    """A logical key (hex) with pairs of records that are missed by their frames; ``never``: no pair of its records meets.

    ``a`` and ``b`` are its records in each topic, by form and partition.
    """

    key: str
    never: bool
    pairs_missed: int
    a: tuple[FormPlace, ...]
    b: tuple[FormPlace, ...]


class JoinFraming(msgspec.Struct, frozen=True):
    """What a join misses because of frames. ``framed`` and ``unframed`` count whole keys with and without the format.

    Of ``keys`` logical keys that the topics hold in different forms, ``missed`` have pairs that a join misses, ``never`` of
    them none that meets. ``pairs`` are pairs of records in different forms, ``pairs_missed`` those in different partitions.
    """

    format: str
    framed: int
    unframed: int
    keys: int
    missed: int
    never: int
    pairs: int
    pairs_missed: int
    worst: tuple[MissedLogicalKey, ...]


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
