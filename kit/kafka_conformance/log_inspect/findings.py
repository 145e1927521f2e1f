"""Findings: what is wrong in a log directory, where, and what it means.

A finding has a *kind*, one of :data:`KINDS`, whose meaning and usual severity are written here once. A file may have
millions of findings of a kind; :class:`Findings` keeps the first of each kind and file and counts the others, so that
memory stays constant.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum, unique
from types import MappingProxyType

__all__ = ["KINDS", "LEFT_OUT", "UNJUDGED", "Finding", "Findings", "Kind", "Severity"]

KEPT = 20

UNJUDGED = ("unreadable", "record-unread")
"""Kinds of findings that tell of what was not judged: with one of them, nothing is sound."""

LEFT_OUT = (*UNJUDGED, "replaced-segment")
"""These, and what a running broker took away before it could be judged."""


@unique
class Severity(StrEnum):
    """How sure the inspection is that a rule of Kafka is broken."""

    BROKEN = "broken"
    """No broker writes this: a file was damaged, or a broker has a bug."""
    SUSPICIOUS = "suspicious"
    """A broker writes this in rare but legal cases, which the files cannot rule out."""
    NOTE = "note"
    """Legal; the reader of the report should know it."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of finding: its name in reports, its usual severity, and what it means for the broker and its clients."""

    name: str
    severity: Severity
    meaning: str


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding.

    ``file`` is relative to the inspected directory. ``position`` is in bytes from the start of the file, ``offset`` an
    offset of the partition; both are None where they have no meaning. ``what`` names the values.
    """

    kind: str
    severity: Severity
    file: str
    position: int | None
    offset: int | None
    what: str

    @property
    def meaning(self) -> str:
        """What findings of this kind mean for the broker and its clients."""
        return KINDS[self.kind].meaning


class Findings:
    """All findings of a run: the first :data:`KEPT` of each kind, severity and file, and the number of all."""

    def __init__(self) -> None:
        self._kept: list[Finding] = []
        self._counts: Counter[tuple[str, Severity, str]] = Counter()
        self._totals: Counter[Severity] = Counter()
        self._kinds: Counter[str] = Counter()
        self._since: Counter[tuple[str, Severity, str]] = Counter()
        self._kept_before = 0

    def add(
        self,
        kind: str,
        file: str,
        what: str,
        *,
        position: int | None = None,
        offset: int | None = None,
        severity: Severity | None = None,
    ) -> None:
        """Add a finding; ``severity`` is by default that of the kind. Raises KeyError for an unknown kind."""
        meant = severity or KINDS[kind].severity
        key = kind, meant, file
        for counts in (self._counts, self._since):
            counts[key] += 1
        self._totals[meant] += 1
        self._kinds[kind] += 1
        if self._counts[key] <= KEPT:
            self._kept.append(Finding(kind, meant, file, position, offset, what))

    def mark(self) -> None:
        """Begin what :meth:`withdraw` comes back to. The cost is that of the findings since, not of all."""
        self._since, self._kept_before = Counter(), len(self._kept)

    def withdraw(self) -> None:
        """Remove the findings that were added since the last :meth:`mark`."""
        del self._kept[self._kept_before :]
        for (kind, severity, file), count in self._since.items():
            self._counts[kind, severity, file] -= count
            self._totals[severity] -= count
            self._kinds[kind] -= count
        self.mark()

    def __iter__(self) -> Iterator[Finding]:
        return iter(self._kept)

    def __len__(self) -> int:
        return self._totals.total()

    def count(self, severity: Severity) -> int:
        """Return the number of findings of a severity, those that are not kept among them."""
        return self._totals[severity]

    def left_out(self) -> Mapping[str, int]:
        """Return how many findings tell of what was not judged, by kind (:data:`LEFT_OUT`)."""
        return {kind: self._kinds[kind] for kind in LEFT_OUT if self._kinds[kind]}

    def dropped(self) -> Mapping[tuple[str, Severity, str], int]:
        """Return the number of findings that are counted only, by kind, severity and file."""
        return {key: count - KEPT for key, count in self._counts.items() if count > KEPT}


_BROKEN, _SUSPICIOUS, _NOTE = Severity.BROKEN, Severity.SUSPICIOUS, Severity.NOTE

_LISTED = (
    # The batches of a .log file.
    Kind("crc-mismatch", _BROKEN, "Bytes of the batch changed after the broker wrote it. Consumers fail with a "
         "CorruptRecordException here, and followers cannot replicate past it; at an unclean start the broker cuts the "
         "log off at this batch. Restore the partition from another replica."),
    Kind("cut-batch", _BROKEN, "The file ends within a batch: the machine crashed while writing, the disk was full, or "
         "the file was cut. At an unclean start the broker removes the incomplete batch of the last segment; "
         "records of an earlier segment are lost."),
    Kind("foreign-bytes", _BROKEN, "These bytes are no record batch. The broker and consumers stop reading here; at an "
         "unclean start the broker removes everything after this position."),
    Kind("bad-header", _BROKEN, "The fields of the batch header contradict each other. Clients may fail on this batch."),
    Kind("offsets-overlap", _BROKEN, "An offset occurs twice, or goes back. Consumers read records twice or miss them, "
         "and searches by offset fail."),
    Kind("offset-gap", _SUSPICIOUS, "Offsets are missing. Legal where compaction removed records, here or on the leader "
         "that this replica copied from; in a topic that is never compacted, records are lost."),
    Kind("offset-before-segment", _BROKEN, "A batch lies in a segment that is named after a higher offset: a search for "
         "its records opens another file and does not find them."),
    Kind("offset-past-segment", _BROKEN, "An offset is more than 2^31-1 after the segment's name: index entries "
         "cannot hold it, and the broker fails to index or clean the segment."),
    Kind("segments-overlap", _BROKEN, "The segment has offsets at or after the first offset of the next one: a segment "
         "was restored twice, or a compaction was not finished. Consumers read records twice."),
    Kind("segment-too-large", _BROKEN, "Positions in a segment have 32 bits: the broker does not open a .log file of more "
         "than 2,147,483,647 bytes. It was not inspected."),
    Kind("leader-epoch-back", _BROKEN, "The leader epoch is lower than that of an earlier batch: a batch of a replaced "
         "leader survived, or the field was changed (no checksum covers it). Followers may truncate at the wrong offset."),
    Kind("zero-tail", _NOTE, "The file ends in zeros, as log.preallocate=true leaves them until the segment is rolled."),
    Kind("old-format", _NOTE, "The segment has messages of a format before v2 (Kafka before 0.11). Checked: structure, "
         "checksums and offsets of whole messages; not what compressed messages contain."),
    # The records of a batch, with --records.
    Kind("bad-records", _BROKEN, "The checksum is right, but the records cannot be decoded: the producer wrote an "
         "invalid batch, or the broker stored it without a check. Consumers fail at this batch."),
    Kind("record-count", _BROKEN, "The number of records differs from the header: consumers fail at this batch."),
    Kind("record-offset", _BROKEN, "Offsets of records do not ascend within the batch, or leave its range."),
    Kind("record-timestamp", _BROKEN, "The header's largest timestamp is lower than a record's: searches by time miss it."),
    Kind("record-unread", _SUSPICIOUS, "The records were not decoded, because the codec is unknown, the batch too large, as "
         "it is or decompressed, or its format before v2. They are not judged: the exit code is 2, unless something else is "
         "broken."),
    # Producers and transactions.
    Kind("bad-marker", _BROKEN, "The control batch of a producer has no marker that ends a transaction. The broker reads "
         "every marker when it recovers the log, and fails; so do consumers with isolation.level=read_committed."),
    Kind("sequence-gap", _BROKEN, "Sequence numbers of an idempotent producer skip or repeat. Either a batch is missing "
         "or duplicated here, or a broker accepted it in the wrong order."),
    Kind("producer-epoch-back", _BROKEN, "A batch of a fenced producer follows one of its successor: two instances with "
         "one transactional id wrote at the same time, and transactions may be mixed."),
    Kind("aborted-transaction-not-indexed", _BROKEN, "An aborted transaction is not in the transaction index: consumers "
         "with isolation.level=read_committed read its records."),
    Kind("transaction-index-wrong", _BROKEN, "An entry of the transaction index contradicts the log: consumers with "
         "isolation.level=read_committed drop committed records or read aborted ones."),
    # Indexes.
    Kind("index-missing", _BROKEN, "The segment has no index file. The broker rebuilds it at its next start, which takes "
         "longer; until then searches in this segment fail."),
    Kind("index-size", _BROKEN, "The size of the index is no multiple of its entries' size: the file was cut or appended "
         "to. The broker rebuilds the index at its next start. It does not open one of more than 2,147,483,647 bytes."),
    Kind("index-not-ascending", _BROKEN, "Entries of the offset index do not ascend. The broker's binary search fails: "
         "consumers get wrong positions, and records seem to be missing."),
    Kind("index-past-end", _BROKEN, "An entry of the offset index points past the end of the .log file. A fetch that uses "
         "it finds nothing, and the consumer stands still."),
    Kind("index-wrong-position", _BROKEN, "An entry of the offset index points into the middle of a batch: the broker reads "
         "the bytes there as a batch header."),
    Kind("index-wrong-offset", _BROKEN, "An entry of the offset index has the wrong offset for its position: a search "
         "starts after the batch it looks for, and the consumer skips records."),
    Kind("index-zero-tail", _BROKEN, "A segment that is no longer written has an index that ends in zeros. After a restart "
         "the broker takes the zeros for entries, and its binary search fails."),
    Kind("time-index-back", _BROKEN, "Entries of the time index go back. Searches by time (offsetsForTimes, a consumer's "
         "start at a date) and retention by time give wrong results."),
    Kind("time-index-past-end", _BROKEN, "An entry of the time index has an offset that the segment does not have."),
    Kind("time-index-wrong", _BROKEN, "An entry of the time index contradicts the timestamps in the log. Searches by time "
         "skip records, or retention by time keeps or deletes the segment wrongly."),
    # Snapshots, epochs, checkpoints.
    Kind("snapshot-missing", _BROKEN, "The producer snapshot of a segment is missing. After an unclean stop the broker "
         "must read older segments to know its producers; if these are deleted, it accepts duplicates."),
    Kind("snapshot-corrupt", _BROKEN, "The producer snapshot cannot be read. The broker deletes it at its next start and "
         "reads the log again, from an older snapshot."),
    Kind("snapshot-wrong", _BROKEN, "The producer snapshot contradicts the log: after a restart the broker rejects batches "
         "of this producer, or accepts duplicates."),
    Kind("leader-epochs-corrupt", _BROKEN, "The leader epoch checkpoint cannot be read, or its lines do not ascend. The "
         "broker does not open the partition, or truncates at the wrong offset after a change of leader."),
    Kind("leader-epochs-wrong", _BROKEN, "The leader epoch checkpoint contradicts the log. Followers ask it where to "
         "truncate: after a change of leader they keep records that they should drop, or the reverse."),
    Kind("leader-epochs-missing", _SUSPICIOUS, "There is no leader epoch checkpoint, or it is empty, though batches "
         "have leader epochs. The broker reads the log to write a new one, or truncates by the high watermark."),
    Kind("checkpoint-corrupt", _BROKEN, "A checkpoint file cannot be read. The broker takes the log directory offline."),
    Kind("checkpoint-past-end", _SUSPICIOUS, "A checkpoint has an offset after the end of the log: records that were once "
         "here are gone. Legal after an unclean stop without flush; else the log was cut."),
    Kind("partition-metadata-corrupt", _BROKEN, "partition.metadata cannot be read. The broker does not open the "
         "partition."),
    # What else is there.
    Kind("bad-name", _BROKEN, "The name has no offset or partition number that the broker can read: it does not open the "
         "partition, or the log directory."),
    Kind("no-segments", _SUSPICIOUS, "The partition has no segment. The broker creates an empty one at its next start."),
    Kind("no-partitions", _NOTE, "The directory has no partition: only its checkpoints were inspected. A "
         "broker leaves a new directory so until a partition is placed in it."),
    Kind("unreadable", _SUSPICIOUS, "The file cannot be read: permissions, an error of the disk, a link to nothing, a FIFO "
         "or a device. It is not judged: the exit code is 2, unless something else is broken."),
    Kind("leftover", _NOTE, "The broker leaves such files or folders behind for a while: deleted segments, or "
         "what a compaction or move of the partition had not finished. It removes or completes them."),
    Kind("replaced-segment", _NOTE, "A broker compacted or deleted this segment during the inspection: what was found in it "
         "is left out. Inspect the partition again, or stop the broker."),
    Kind("unknown-file", _NOTE, "Kafka writes no such file. It was not inspected."),
    Kind("active-segment", _NOTE, "The last segment is the one that a broker writes to. It was judged as of its size when "
         "the inspection reached it; zeros at the end of its indexes are preallocated space."),
    Kind("not-flushed", _NOTE, "There is no .kafka_cleanshutdown: a broker is running here, or did not stop in order. It "
         "will recover the last segments at its next start."),
)  # fmt: skip

KINDS: Mapping[str, Kind] = MappingProxyType({kind.name: kind for kind in _LISTED})
"""All kinds of findings by name."""
