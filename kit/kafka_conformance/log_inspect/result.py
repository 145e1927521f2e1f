"""What an inspection returns: a summary of every partition, and the findings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from kafka_conformance.core.sanitize import harmless

__all__ = [
    "FindingRow",
    "Inspection",
    "OffsetRange",
    "PartitionSummary",
    "RetentionHold",
    "SegmentSummary",
    "StartVerdict",
]


class SegmentSummary(msgspec.Struct, frozen=True, kw_only=True):
    """A segment. Timestamps are in ms, the smallest that of a batch's first record, -1 if there is none.

    ``start`` is what a start does with it: ``kept``, ``active`` or ``recovered``
    (:class:`kafka_conformance.log_inspect.findings.Situation`).
    """

    base_offset: int
    bytes: int
    batches: int
    records: int
    smallest_timestamp: int
    largest_timestamp: int
    start: str


class RetentionHold(msgspec.Struct, frozen=True, kw_only=True):
    """A segment that keeps all later ones from ``retention.ms``, since its largest timestamp, in ms, is later than theirs.

    ``segments`` is the number of later ones, ``until`` the largest timestamp: all of them stay until ``retention.ms`` after
    it. ``longer_ms`` is how much longer that is than by the timestamps of the later ones.
    """

    base_offset: int
    segments: int
    until: int
    longer_ms: int


class PartitionSummary(msgspec.Struct, frozen=True, kw_only=True):
    """A partition: offsets from ``start`` to before ``end``, sizes in bytes; numbers of records are those of the headers.

    ``end_after_start`` is the end as a broker has it after its start; 0 for a partition that it sets aside or
    whose log directory it takes offline. ``directory`` is
    the log directory, empty if one was inspected alone.
    """

    name: str
    segments: int
    bytes: int
    batches: int
    records: int
    start: int
    end: int
    producers: int
    transactions: int
    compacted: bool
    broken: int
    suspicious: int
    end_after_start: int
    smallest_timestamp: int
    largest_timestamp: int
    by_segment: Sequence[SegmentSummary]
    directory: str = ""
    retention_held_by: RetentionHold | None = None

    @property
    def path(self) -> str:
        """The folder as reports show it: with several log directories after its directory."""
        return f"{self.directory}/{self.name}" if self.directory else self.name


class OffsetRange(msgspec.Struct, frozen=True):
    """Offsets from ``first`` to ``last``, both included; ``last`` is None if it is unknown."""

    first: int
    last: int | None


class FindingRow(msgspec.Struct, frozen=True, kw_only=True):
    """A finding: see :class:`kafka_conformance.log_inspect.findings.LogFinding`. ``more`` like it are only counted.

    The bytes are those from ``position`` to before ``end_position``; without them it is the whole file. ``lost`` are the
    offsets that cannot be read, None if all can; ``next_good_offset`` can be read after them, None if none can.
    ``transaction_marker`` answers whether the end of a transaction is among them, ``only_producer_state`` whether the only
    copy of what a broker knows of a producer is: yes, no, unknown, or empty if nothing is lost. ``next_step`` is what to do.
    ``directory`` is the log directory, empty if one was inspected alone.
    """

    kind: str
    severity: str
    file: str
    position: int | None
    offset: int | None
    what: str
    meaning: str
    next_step: str = ""
    end_position: int | None = None
    lost: OffsetRange | None = None
    next_good_offset: int | None = None
    transaction_marker: str = ""
    only_producer_state: str = ""
    more: int = 0
    effect: str = ""
    directory: str = ""

    @property
    def path(self) -> str:
        """The file as reports show it: with several log directories after its directory."""
        return f"{harmless(self.directory)}/{self.file}" if self.directory else self.file

    @property
    def folder(self) -> str:
        """The folder of the partition, or the file in the log directory."""
        name = self.file.partition("/")[0]
        return f"{harmless(self.directory)}/{name}" if self.directory else name


class StartVerdict(msgspec.Struct, frozen=True, kw_only=True):
    """What a start of a broker of the release ``kafka`` would do.

    ``starts`` is ``yes``, ``no``, ``cannot tell``, or ``not asked`` without a log directory. ``stopped_by``,
    ``changes`` and ``wrong`` answer the three questions, a line for each kind of finding and partition. ``read`` is what a
    start reads and was checked, ``not_checked`` what it reads and was not.
    """

    kafka: str
    starts: str
    stopped_by: Sequence[str]
    changes: Sequence[str]
    wrong: Sequence[str]
    read: Sequence[str]
    not_checked: Sequence[str]


class Inspection(msgspec.Struct, frozen=True, kw_only=True):
    """An inspection of ``directory``, several joined by commas.

    ``verdict``: sound, broken, or not judged, if files or records could not be read.

    ``records_decoded`` tells whether records were to be decoded too. ``left_out`` counts what was not judged, by the kind of
    finding that tells of it: ``unreadable``, ``record-unread``, and ``replaced-segment``, which a running broker replaced.
    """

    kit: str
    directory: str
    records_decoded: bool
    verdict: str
    broken: int
    suspicious: int
    left_out: Mapping[str, int]
    partitions: Sequence[PartitionSummary]
    findings: Sequence[FindingRow]
    start: StartVerdict
    took_s: float

    @property
    def bytes(self) -> int:
        """The size of all ``.log`` files in bytes."""
        return sum(partition.bytes for partition in self.partitions)
