"""What an audit says, whole: what the JSON holds, what every report is made from.

Offsets and timestamps are Kafka's; times are milliseconds since 1970, None where records carry none. Keys are lower-case
hex. A *placement* is a way from a key to a partition, ``murmur2`` Java's own, and with how many partitions it reckons:
``Placed("murmur2", 3)``. Two facts about a record are told apart throughout: which placements *explain* it, that is would
put its key where it is (several may, by chance), and to which one it is *attributed*, by its neighbours where it alone
does not say. What no one explains is *unexplained*; what could be of either of two is attributed to neither.
"""

from __future__ import annotations

import msgspec

__all__ = [
    "EITHER",
    "KEYLESS",
    "UNEXPLAINED",
    "Audit",
    "Growth",
    "Keyless",
    "PartitionLine",
    "Place",
    "Placed",
    "Run",
    "Share",
    "Skew",
    "SplitKey",
    "Splits",
    "Summed",
    "TimeSlot",
]  # fmt: skip

UNEXPLAINED, EITHER, KEYLESS = "unexplained", "either", "no key"
"""In place of a placement's text, where it is told whom records are attributed to."""


class Placed(msgspec.Struct, frozen=True, order=True):
    """A placement and the number of partitions it reckons with."""

    rule: str
    partitions: int

    def __str__(self) -> str:
        return f"{self.rule}@{self.partitions}"


class Place(msgspec.Struct, frozen=True, order=True):
    """One record: its time first, so that the earliest is the least. ``time_ms`` is -1 where it has none."""

    time_ms: int
    partition: int
    offset: int


class Share(msgspec.Struct, frozen=True):
    """One placement that is present in the topic.

    ``explains``: keyed records it would put where they are; ``alone``: those that no other placement that is present
    explains; ``attributed``: those it is held to have placed. ``first`` and ``last`` of the attributed. ``expected``: it is
    the one the user expects.
    """

    placed: Placed
    story: str
    explains: int
    alone: int
    attributed: int
    first: Place | None
    last: Place | None
    expected: bool = False


class Run(msgspec.Struct, frozen=True):
    """Neighbouring records of a partition of the same placement; of several in turn, if ``mixed`` names more than one.

    ``placed`` holds one for a run; several where producers took turns; none for what is unexplained.
    """

    partition: int
    placed: tuple[Placed, ...]
    first_offset: int
    last_offset: int
    first_ms: int | None
    last_ms: int | None
    records: int


class Growth(msgspec.Struct, frozen=True):
    """A topic that grew while this placement was used: by partition, the last offset still placed with the older count."""

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
    """So many milliseconds of the topic, from ``begin_ms``."""

    begin_ms: int
    length_ms: int
    records: int
    attributed: dict[str, int]
    keyless: int


class SplitKey(msgspec.Struct, frozen=True):
    """A key that lives on several partitions: where it was first met on each, earliest first."""

    key: str
    places: tuple[Place, ...]
    records: int


class Splits(msgspec.Struct, frozen=True):
    """All keys that live on several partitions: how many, of how many; since when; the earliest of them."""

    keys: int
    of_keys: int
    records: int
    since: Place | None
    earliest: tuple[SplitKey, ...]


class Keyless(msgspec.Struct, frozen=True):
    """Records without a key, by the pattern in which partitions follow each other over time.

    ``patterns`` counts records by: ``sticky runs``, ``round robin``, ``random``, ``one partition``, ``unclear``.
    """

    records: int
    patterns: dict[str, int]


class Skew(msgspec.Struct, frozen=True):
    """How unevenly records lie: the fullest partition over the mean, the emptiest over it, the coefficient of variation."""

    fullest: int
    fullest_over_mean: float
    emptiest: int
    emptiest_over_mean: float
    variation: float


class Summed(msgspec.Struct, frozen=True, kw_only=True):
    """What an audit found in the records themselves."""

    records: int
    keyed: int
    explained: int
    offending: int
    """Keyed records that ``expected`` would put elsewhere."""
    shares: tuple[Share, ...]
    runs: tuple[Run, ...]
    runs_in_all: int
    growth: tuple[Growth, ...]
    by_partition: tuple[PartitionLine, ...]
    over_time: tuple[TimeSlot, ...]
    splits: Splits
    keyless: Keyless
    skew: Skew
    notes: tuple[str, ...] = ()
    """What a reader has to know besides, a line each: no timestamps, offsets that were missing."""


class Audit(Summed, frozen=True, kw_only=True):
    """An audit of one topic or one export of it."""

    source: str
    partitions: int
    expected: Placed
    offending_records: str
    """The folder of Parquet files of the offending records; empty if there is none."""
    kit: str
    took_s: float
