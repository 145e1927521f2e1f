"""The result of an audit: the content of ``audit.json``, from which every report is made.

Offsets and timestamps are Kafka's; times are milliseconds since 1970, None where records have none. Keys are lower-case
hex. A *placement* maps a key to a partition; ``murmur2`` is Java's. It is named with its partition count:
``Placed("murmur2", 3)``. Two facts about a record are kept apart: the placements that *explain* it would put its key into
its partition (several may, by chance); the one it is *attributed* to is derived from neighbouring records where several
explain it. A record that no placement explains is *unexplained*; one that could be of two is attributed to neither.
"""

from __future__ import annotations

import msgspec

from kafka_conformance.audit.isolation import Reading
from kafka_conformance.audit.segments.result import SegmentEvidence

__all__ = [
    "EITHER",
    "KEYLESS",
    "NOTHING_FOREIGN",
    "UNEXPLAINED",
    "AttributedRun",
    "Audit",
    "Deleted",
    "Doubt",
    "Foreign",
    "FormPlace",
    "Framing",
    "Growth",
    "Interval",
    "Keyless",
    "LogicalKey",
    "PartitionLine",
    "Place",
    "Placed",
    "PlacementShare",
    "Skew",
    "SplitKey",
    "Splits",
    "Summed",
    "TimeSlot",
]  # fmt: skip

UNEXPLAINED, EITHER, KEYLESS = "unexplained", "either", "no key"
"""Used instead of a placement's text in counts of attributed records."""


class Placed(msgspec.Struct, frozen=True, order=True):
    """A placement and the partition count it was used with."""

    rule: str
    partitions: int

    def __str__(self) -> str:
        return f"{self.rule}@{self.partitions}"


class Place(msgspec.Struct, frozen=True, order=True):
    """One record; places sort by time. ``time_ms`` is -1 where the record has no timestamp."""

    time_ms: int
    partition: int
    offset: int


class Interval(msgspec.Struct, frozen=True):
    """The estimated ``share`` of keyed records that a producer wrote, and the bounds of it with 99 % confidence: 0 to 1."""

    share: float
    low: float
    high: float


class PlacementShare(msgspec.Struct, frozen=True):
    """One placement that is present in the topic.

    ``explains``: keyed records it would put into their partition; ``alone``: those of them that no other present placement
    explains; ``attributed``: those attributed to it, with the ``first`` and the ``last`` one. ``expected``: whether it is
    the placement that the user expects.
    """

    placed: Placed
    description: str
    explains: int
    alone: int
    attributed: int
    first: Place | None
    last: Place | None
    expected: bool = False
    estimated: Interval | None = None
    """Its share, in a mixture: the records that several placements explain counted in proportion."""
    alike: tuple[str, ...] = ()
    """Other rules that explain as many records of every block: no key of the topic tells them from this one."""


class AttributedRun(msgspec.Struct, frozen=True):
    """Consecutive records of a partition with the same attribution.

    ``placed`` holds one placement; several where producers alternated; none where the records are unexplained.
    """

    partition: int
    placed: tuple[Placed, ...]
    first_offset: int
    last_offset: int
    first_ms: int | None
    last_ms: int | None
    records: int


class Growth(msgspec.Struct, frozen=True):
    """An increase of the partition count, from ``before`` to ``after``, while this placement was in use.

    ``until`` is, by partition, the last offset placed with the old partition count.
    """

    rule: str
    before: int
    after: int
    until: dict[int, int]
    until_ms: int | None


class PartitionLine(msgspec.Struct, frozen=True):
    """One partition. ``attributed`` counts keyed records by ``str(Placed)``, EITHER or UNEXPLAINED."""

    partition: int
    first_offset: int
    end_offset: int
    records: int
    keyed: int
    keyless: int
    offending: int
    attributed: dict[str, int]


class TimeSlot(msgspec.Struct, frozen=True):
    """A slot of ``length_ms`` milliseconds, from ``begin_ms``."""

    begin_ms: int
    length_ms: int
    records: int
    attributed: dict[str, int]
    keyless: int


class SplitKey(msgspec.Struct, frozen=True):
    """A key with records in several partitions: its first record in each, earliest first."""

    key: str
    places: tuple[Place, ...]
    records: int


class Deleted(msgspec.Struct, frozen=True, order=True):
    """Offsets of a partition, from ``first`` up to and without ``end``, deleted while a run was to read them."""

    partition: int
    first: int
    end: int


class Doubt(msgspec.Struct, frozen=True):
    """Too few distinct keys to tell which placement wrote the topic.

    ``keys``: the distinct keys; ``fitting``: the rules that explain every record, one of
    those that no such key tells apart; ``needed``: the number of distinct keys it
    would take, None if no number is enough because the topic has one partition; ``chance``: the share of topics in which so
    many keys would still fit by chance.
    """

    keys: int
    fitting: tuple[str, ...]
    needed: int | None
    chance: float


class Foreign(msgspec.Struct, frozen=True):
    """The records of a sample that no present placement explains.

    ``share``: of the keyed records; ``rivals``: the rules that fit all their keys, which are too few to show more;
    ``crowded``: more rules fit than can be named; ``hidden``: the largest share of the keys that a rival puts where a
    present placement does, so that its records among these are not seen as foreign.
    """

    share: float = 0.0
    rivals: tuple[Placed, ...] = ()
    crowded: bool = False
    hidden: float = 0.0


NOTHING_FOREIGN = Foreign()


class Splits(msgspec.Struct, frozen=True):
    """All keys with records in several partitions.

    ``keys`` of ``of_keys`` are split, with ``records`` in all; ``since`` is the first record that split a key, ``earliest``
    the keys that were split first.
    """

    keys: int
    of_keys: int
    records: int
    since: Place | None
    earliest: tuple[SplitKey, ...]


class FormPlace(msgspec.Struct, frozen=True):
    """A logical key's records in one form and one partition: their number, and the first."""

    form: str
    place: Place
    records: int


class LogicalKey(msgspec.Struct, frozen=True):
    """A logical key (hex) with several forms in several partitions, the earliest place first."""

    key: str
    records: int
    places: tuple[FormPlace, ...]


class Framing(msgspec.Struct, frozen=True, kw_only=True):
    """The keys of a topic by ``--key-format``.

    ``framed`` and ``unframed`` count the keyed records with and without the format; ``forms`` those of the most frequent
    schema ids. Of ``keys`` logical keys, ``several`` occur in more than one form, and ``split`` of these in more than one
    partition, with ``records`` in all: a join misses them. ``since`` is the first record that split one.
    """

    format: str
    framed: int
    unframed: int
    forms: dict[str, int]
    keys: int
    several: int
    split: int
    records: int
    since: Place | None
    earliest: tuple[LogicalKey, ...]


class Keyless(msgspec.Struct, frozen=True):
    """Records without a key, by the pattern in which partitions follow each other over time.

    ``patterns`` counts records by: ``sticky runs``, ``round robin``, ``even batches``, ``random``,
    ``one partition``, ``unclear``.
    """

    records: int
    patterns: dict[str, int]


class Skew(msgspec.Struct, frozen=True):
    """How unevenly records are distributed: fullest and emptiest partition over the mean, coefficient of variation."""

    fullest: int
    fullest_over_mean: float
    emptiest: int
    emptiest_over_mean: float
    variation: float


class Summed(msgspec.Struct, frozen=True, kw_only=True):
    """The findings of an audit in the records themselves."""

    records: int
    keyed: int
    explained: int
    offending: int
    """Keyed records that ``expected`` would put elsewhere."""
    shares: tuple[PlacementShare, ...]
    runs: tuple[AttributedRun, ...]
    runs_in_all: int
    growth: tuple[Growth, ...]
    by_partition: tuple[PartitionLine, ...]
    over_time: tuple[TimeSlot, ...]
    splits: Splits
    keyless: Keyless
    skew: Skew
    doubt: Doubt | None = None
    """If set, the verdict is that the audit cannot tell, and no record is attributed to a placement."""
    framing: Framing | None = None
    """Keys that differ in their frame only, with ``--key-format``."""
    foreign: Interval | None = None
    """The share of producers of unknown placements, if records are unexplained: also what they put where another would."""
    mixed_counts: tuple[Growth, ...] = ()
    """Two partition counts that were in use at the same time: ``until`` is the last record with the smaller one."""
    key_view: str = "whole"
    """What of a key was placed, and is judged (``attribution.key_views``): ``key`` is this part of it in all results."""
    fitting_views: tuple[str, ...] = ()
    """With a doubt, the views with which the expected placement puts every key of the sample where it is."""
    undecided: tuple[str, ...] = ()
    """Rules of which any may have placed records that are unexplained, since no key of the sample shows which."""
    notes: tuple[str, ...] = ()
    """Further remarks, one line each: records without timestamps, missing offsets."""

    @property
    def conforms(self) -> bool:
        """Whether every key is where it is expected, and none lies in several partitions because of its frame."""
        return not self.offending and not (self.framing and self.framing.split)


class Audit(Summed, frozen=True, kw_only=True):
    """An audit of one topic, or of an export of it. ``took_s`` is in seconds."""

    source: str
    partitions: int
    expected: Placed
    offending_records: str
    """The folder of Parquet files of the offending records; empty if there is none."""
    kit: str
    took_s: float
    reading: Reading | None = None
    """Which records were read, and how many offsets gave none."""
    selection: str = ""
    """The options that selected the records to judge; empty for all."""
    deleted: tuple[Deleted, ...] = ()
    """Offsets that were deleted after the run had begun, and before they were read."""
    segments: SegmentEvidence | None = None
    """What segment files show of producers, with ``--segments``."""
