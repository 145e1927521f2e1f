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

__all__ = [
    "KINDS",
    "LEFT_OUT",
    "UNJUDGED",
    "Answer",
    "Effect",
    "Findings",
    "Kind",
    "LogFinding",
    "Loss",
    "Severity",
    "Situation",
]  # fmt: skip

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


@unique
class Effect(StrEnum):
    """What a finding does to a broker's start, or to its clients afterwards."""

    STOPS = "stops the start"
    """The broker exits."""
    OFFLINE = "takes offline"
    """One of several log directories is not used: its partitions have no leader, or are empty in another directory."""
    SETS_ASIDE = "sets aside"
    """The partition is renamed to -stray, and an empty one is made in its place."""
    TRUNCATES = "truncates"
    """Records from here on are removed."""
    DELETES = "deletes"
    """The file is removed, and the start goes on."""
    DELETES_PARTITION = "deletes the partition"
    """The folder of the partition is removed, as before 3.7.0."""
    REBUILDS = "rebuilds"
    """The file is deleted and written again from the log: nothing is lost."""
    WRONG = "wrong afterwards"
    """The start does not change it: records cannot be read, or searches return wrong results."""
    NONE = ""


@unique
class Situation(StrEnum):
    """What a start does with a segment."""

    KEPT = "kept"
    """It opens the files and reads nothing."""
    ACTIVE = "active"
    """It reads the last batches: the last segment after a clean stop."""
    RECOVERED = "recovered"
    """It reads all batches, cuts the segment off at the first that is wrong, and writes the indexes again."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of finding: its name in reports, its usual severity, and what it means for the broker and its clients.

    ``effect`` is that on a start where the segment is kept or active, ``if_recovered`` where it is recovered.
    """

    name: str
    severity: Severity
    meaning: str
    effect: Effect = Effect.NONE
    if_recovered: Effect | None = None

    def effect_in(self, situation: Situation) -> Effect:
        """Return the effect in a situation."""
        return self.if_recovered if situation is Situation.RECOVERED and self.if_recovered is not None else self.effect


@unique
class Answer(StrEnum):
    """The answer to a question about what is lost."""

    YES = "yes"
    NO = "no"
    UNKNOWN = "unknown"


@dataclass(slots=True)
class Loss:
    """The records that a finding makes unreadable: offsets from ``first`` to ``last``, which is None if it is unknown.

    ``last`` is before ``first`` where no record is lost, but a snapshot of the producers. ``next_good`` is the next offset
    that can be read, None if none can. ``marker`` tells whether the end of a transaction is among them, ``state`` whether
    they are the only copy of what the broker knows of a producer. The fields are completed while the rest of the partition
    is read.
    """

    first: int
    last: int | None = None
    next_good: int | None = None
    marker: Answer = Answer.UNKNOWN
    state: Answer = Answer.UNKNOWN


@dataclass(frozen=True, slots=True)
class LogFinding:
    """One finding.

    ``file`` is relative to the inspected directory. ``position`` is in bytes from the start of the file, ``end`` that of
    the byte after the last one; ``offset`` is an offset of the partition. They are None where they have no meaning.
    ``what`` names the values. ``loss`` is None if no record is lost.
    """

    kind: str
    severity: Severity
    file: str
    position: int | None
    offset: int | None
    what: str
    effect: Effect = Effect.NONE
    end: int | None = None
    loss: Loss | None = None

    @property
    def removes_partition(self) -> bool:
        """Does a start set the partition of the file aside, or delete it?"""
        return self.effect in {Effect.SETS_ASIDE, Effect.DELETES_PARTITION}

    @property
    def meaning(self) -> str:
        """What findings of this kind mean for the broker and its clients."""
        return KINDS[self.kind].meaning


class Findings:
    """All findings of a run: the first :data:`KEPT` of each kind, severity and file, and the number of all."""

    def __init__(self) -> None:
        self.situation = Situation.KEPT
        """What a start does with the segment that is being inspected."""
        self._kept: list[LogFinding] = []
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
        size: int | None = None,
        severity: Severity | None = None,
        effect: Effect | None = None,
        loss: Loss | None = None,
    ) -> LogFinding | None:
        """Add a finding and return it, or None if it is only counted. Raises KeyError for an unknown kind.

        ``size`` is the number of bytes at ``position``. ``severity`` and ``effect`` are the kind's by default.
        """
        meant = severity or KINDS[kind].severity
        key = kind, meant, file
        for counts in (self._counts, self._since):
            counts[key] += 1
        self._totals[meant] += 1
        self._kinds[kind] += 1
        if self._counts[key] > KEPT:
            return None
        end = None if position is None or size is None else position + size
        found = LogFinding(kind, meant, file, position, offset, what,
                        KINDS[kind].effect_in(self.situation) if effect is None else effect, end, loss)  # fmt: skip
        self._kept.append(found)
        return found

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

    def __iter__(self) -> Iterator[LogFinding]:
        return iter(self._kept)

    def __len__(self) -> int:
        return self._totals.total()

    def count(self, severity: Severity) -> int:
        """Return the number of findings of a severity, those that are not kept among them."""
        return self._totals[severity]

    def by_folder(self) -> Mapping[tuple[str, Severity], int]:
        """Return the number of findings on each folder and the files in it, by severity."""
        found: Counter[tuple[str, Severity]] = Counter()
        for (_, severity, file), count in self._counts.items():
            found[file.partition("/")[0], severity] += count
        return found

    def left_out(self) -> Mapping[str, int]:
        """Return how many findings tell of what was not judged, by kind (:data:`LEFT_OUT`)."""
        return {kind: self._kinds[kind] for kind in LEFT_OUT if self._kinds[kind]}

    def dropped(self) -> Mapping[tuple[str, Severity, str], int]:
        """Return the number of findings that are counted only, by kind, severity and file."""
        return {key: count - KEPT for key, count in self._counts.items() if count > KEPT}


_BROKEN, _SUSPICIOUS, _NOTE = Severity.BROKEN, Severity.SUSPICIOUS, Severity.NOTE
_STOPS, _ASIDE, _TRUNCATES, _REBUILDS, _WRONG = (
    Effect.STOPS, Effect.SETS_ASIDE, Effect.TRUNCATES, Effect.REBUILDS, Effect.WRONG
)  # fmt: skip

_LISTED = (
    # The batches of a .log file.
    Kind("crc-mismatch", _BROKEN, "Bytes of the batch changed after the broker wrote it. Consumers fail with a "
         "CorruptRecordException here, and followers cannot replicate past it; at an unclean start the broker cuts the "
         "log off at this batch.", _WRONG, _TRUNCATES),
    Kind("cut-batch", _BROKEN, "The file ends within a batch: the machine crashed while writing, the disk was full, or "
         "the file was cut. At an unclean start the broker removes the incomplete batch of the last segment; records of "
         "an earlier segment are lost.", _WRONG, _TRUNCATES),
    Kind("foreign-bytes", _BROKEN, "These bytes are not a record batch. The broker and consumers stop reading here; at an "
         "unclean start the broker removes everything after this position.", _WRONG, _TRUNCATES),
    Kind("bad-header", _BROKEN, "The fields of the batch header contradict each other. Clients may fail on this batch.",
         _WRONG),
    Kind("offsets-overlap", _BROKEN, "An offset occurs twice, or goes back. Consumers read records twice or miss them, "
         "and searches by offset fail.", _WRONG),
    Kind("offset-gap", _SUSPICIOUS, "Offsets are missing. Legal where compaction removed records, here or on the leader "
         "that this replica copied from; in a topic that is never compacted, records are lost.", _WRONG),
    Kind("offset-before-segment", _BROKEN, "A batch lies in a segment that is named after a higher offset: a search for "
         "its records opens another file and does not find them. A start that reads the segment fails at it, and the broker "
         "exits.", _WRONG, _STOPS),
    Kind("offset-past-segment", _BROKEN, "An offset is more than 2^31-1 after the segment's name: index entries cannot "
         "hold it, and the broker fails to index or clean the segment.", _WRONG),
    Kind("segments-overlap", _BROKEN, "The segment has offsets at or after the first offset of the next one: a segment "
         "was restored twice, or a compaction was not finished. Consumers read records twice.", _WRONG),
    Kind("segment-too-large", _BROKEN, "Positions in a segment have 32 bits: the broker does not open a .log file of "
         "more than 2,147,483,647 bytes. It was not inspected.", _STOPS),
    Kind("leader-epoch-back", _BROKEN, "The leader epoch is lower than that of an earlier batch: a batch of a replaced "
         "leader survived, or the field was changed (no checksum covers it). Followers may truncate at the wrong offset.",
         _WRONG),
    Kind("zero-tail", _NOTE, "The file ends in zeros, as log.preallocate=true leaves them until the segment is rolled."),
    Kind("time-in-the-future", _SUSPICIOUS, "The timestamp of a batch is more than a day in the future: a clock was "
         "wrong, or a client sends micro- or nanoseconds. retention.ms keeps this segment and all later ones until "
         "then.", _WRONG),
    Kind("time-before-2000", _SUSPICIOUS, "The timestamp of a batch is before 2000: a client sends seconds, or no time. "
         "Searches by time find it too early; retention.ms deletes a segment that has only such times as soon as it is "
         "closed.", _WRONG),
    Kind("old-format", _NOTE, "The segment has messages of a format before v2 (Kafka before 0.11). Checked: structure, "
         "checksums and offsets of whole messages; not what compressed messages contain."),
    # The records of a batch, with --records.
    Kind("bad-records", _BROKEN, "The checksum is right, but the records cannot be decoded: the producer wrote an "
         "invalid batch, or the broker stored it without a check. Consumers fail at this batch.", _WRONG),
    Kind("record-count", _BROKEN, "The number of records differs from the header: consumers fail at this batch.", _WRONG),
    Kind("record-offset", _BROKEN, "Offsets of records do not ascend within the batch, or leave its range.", _WRONG),
    Kind("record-timestamp", _BROKEN, "The header's largest timestamp is lower than a record's: searches by time miss "
         "it.", _WRONG),
    Kind("record-unread", _SUSPICIOUS, "The records were not decoded, because the codec is unknown, the batch too "
         "large, as it is or decompressed, or its format before v2. They are not judged: the exit code is 2, unless "
         "something else is broken."),
    # Producers and transactions.
    Kind("bad-marker", _BROKEN, "The control batch of a producer has no marker that ends a transaction. The broker "
         "reads every marker when it recovers the log, and fails; so do consumers with isolation.level=read_committed.",
         _WRONG, _STOPS),
    Kind("sequence-gap", _BROKEN, "Sequence numbers of an idempotent producer skip or repeat. Either a batch is missing "
         "or duplicated here, or a broker accepted it in the wrong order.", _WRONG),
    Kind("producer-epoch-back", _BROKEN, "A batch of a fenced producer follows one of its successor: two instances with "
         "one transactional id wrote at the same time, and transactions may be mixed.", _WRONG),
    Kind("aborted-transaction-not-indexed", _BROKEN, "An aborted transaction is not in the transaction index: consumers "
         "with isolation.level=read_committed read its records.", _WRONG, _REBUILDS),
    Kind("transaction-index-wrong", _BROKEN, "An entry of the transaction index contradicts the log: consumers with "
         "isolation.level=read_committed drop committed records or read aborted ones. A broker exits at an entry of a later "
         "version.", _WRONG, _REBUILDS),
    # Indexes.
    Kind("index-missing", _BROKEN, "The segment has no index file. A start that finds no .index reads the segment and "
         "writes both indexes again. A .timeindex that is missing alone is made empty after a clean stop: searches by "
         "time skip the segment's records.", _REBUILDS),
    Kind("index-size", _BROKEN, "The size of the index is not a multiple of its entries' size: the file was cut or "
         "appended to. The broker rebuilds the index at its next start. It does not open one of more than 2,147,483,647 "
         "bytes.", _WRONG, _REBUILDS),
    Kind("index-not-ascending", _BROKEN, "Entries of the offset index do not ascend. The broker's binary search fails: "
         "consumers get wrong positions, and records seem to be missing.", _WRONG, _REBUILDS),
    Kind("index-past-end", _BROKEN, "An entry of the offset index points past the end of the .log file. A fetch that "
         "uses it finds nothing, and the consumer stands still.", _WRONG, _REBUILDS),
    Kind("index-wrong-position", _BROKEN, "An entry of the offset index points into the middle of a batch: the broker "
         "reads the bytes there as a batch header.", _WRONG, _REBUILDS),
    Kind("index-wrong-offset", _BROKEN, "An entry of the offset index has the wrong offset for its position: a search "
         "starts after the batch it looks for, and the consumer skips records.", _WRONG, _REBUILDS),
    Kind("index-zero-tail", _BROKEN, "A segment that is no longer written has an index that ends in zeros. After a "
         "restart the broker takes the zeros for entries, and its binary search fails.", _WRONG, _REBUILDS),
    Kind("time-index-back", _BROKEN, "Entries of the time index go back. Searches by time (offsetsForTimes, a "
         "consumer's start at a date) and retention by time give wrong results.", _WRONG, _REBUILDS),
    Kind("time-index-past-end", _BROKEN, "An entry of the time index has an offset that the segment does not have.",
         _WRONG, _REBUILDS),
    Kind("time-index-wrong", _BROKEN, "An entry of the time index contradicts the timestamps in the log. Searches by "
         "time skip records, or retention by time keeps or deletes the wrong segments.", _WRONG, _REBUILDS),
    # Snapshots, epochs, checkpoints.
    Kind("snapshot-missing", _BROKEN, "The producer snapshot of a segment is missing. After an unclean stop the broker "
         "must read older segments to know its producers; if these are deleted, it accepts duplicates.", _REBUILDS),
    Kind("snapshot-corrupt", _BROKEN, "The producer snapshot cannot be read. The broker deletes it at its next start "
         "and reads the log again, from an older snapshot.", _REBUILDS),
    Kind("snapshot-wrong", _BROKEN, "The producer snapshot contradicts the log: after a restart the broker rejects "
         "batches of this producer, or accepts duplicates.", _WRONG),
    Kind("leader-epochs-corrupt", _BROKEN, "The leader epoch checkpoint cannot be read, or its lines do not ascend. The "
         "broker does not open the partition, or truncates at the wrong offset after a change of leader.", _STOPS),
    Kind("leader-epochs-wrong", _BROKEN, "The leader epoch checkpoint contradicts the log. Followers ask it where to "
         "truncate: after a change of leader they keep records that they should drop, or the reverse.", _WRONG),
    Kind("leader-epochs-missing", _SUSPICIOUS, "There is no leader epoch checkpoint, it is empty, or it begins after "
         "batches that have leader epochs. The broker reads the log to write a new one, truncates by the high watermark, or "
         "knows no epoch of these batches.", _WRONG),
    Kind("checkpoint-corrupt", _BROKEN, "A checkpoint file cannot be read. The broker takes the log directory "
         "offline, and exits if it has no other one or the cluster's metadata is in this one.", _STOPS),
    Kind("checkpoint-past-end", _SUSPICIOUS, "A checkpoint has an offset after the end of the log: records that were "
         "once here are gone. Legal after an unclean stop without flush; else the log was cut."),
    Kind("partition-metadata-corrupt", _BROKEN, "partition.metadata cannot be read. The broker does not open the "
         "partition.", _STOPS),
    # What a start reads before it loads the partitions.
    Kind("meta-properties-missing", _BROKEN, "A broker does not start on a log directory without meta.properties.", _STOPS),
    Kind("meta-properties-corrupt", _BROKEN, "A broker does not start with this meta.properties: after a crash it is "
         "often empty or zeros.", _STOPS),
    Kind("node-or-cluster-differs", _BROKEN, "The log directories of a node, and its server.properties, have one node.id "
         "and one cluster.id, or the broker does not start. A disk of another node or cluster was mounted, or a directory "
         "was formatted again.", _STOPS),
    Kind("directory-id-twice", _BROKEN, "Two log directories of a node have one directory.id: one is a copy of the "
         "other, or its meta.properties was copied. A broker does not start.", _STOPS),
    Kind("folder-not-a-partition", _BROKEN, "A broker does not start on a log directory with such a folder.", _STOPS),
    Kind("folders-of-one-partition", _BROKEN, "Two folders are one partition: in one log directory as an interrupted "
         "move between disks leaves them, or in two of a node. A broker does not start; one with ZooKeeper does with a "
         "partition and one -future copy of it, and uses the partition.", _STOPS),
    Kind("partition-metadata-missing", _BROKEN, "A broker sets a partition without partition.metadata aside: it renames "
         "the folder to -stray and makes an empty one; before 3.7.0 it keeps the "
         "partition. With replication factor 1 the records are gone for clients.", _ASIDE),
    Kind("topic-ids-differ", _BROKEN, "Partitions of one topic have different ids: the topic was deleted and made "
         "again, or the file was copied. A broker sets those aside whose id is not in the cluster's metadata; before 3.7.0 "
         "it deletes them.", _ASIDE),
    Kind("partition-not-in-metadata", _BROKEN, "The cluster's metadata does not have this partition on this node: the "
         "topic was deleted or made again, the partition was moved away, or the folder is a copy. A broker sets it "
         "aside: it renames the folder to -stray. Before 3.7.0 it deletes the folder a minute later.",
         _ASIDE),
    Kind("segment-gone", _BROKEN, "A segment has index files and no .log: its file was deleted or lost. A broker "
         "deletes the indexes and starts; the records are gone.", Effect.DELETES),
    Kind("log-end-wrong", _BROKEN, "After a clean stop a broker reads the end of the log from the last entry of the "
         "index, and checks nothing else. Here it stops earlier than the batches do: it hides records, and writes new "
         "ones over their offsets.", _WRONG),
    Kind("log-end-unreadable", _BROKEN, "After a clean stop a broker reads the last batches to find the end of the log, "
         "and fails at these bytes: it does not start.", _STOPS),
    Kind("time-index-short", _BROKEN, "The time index ends before the largest timestamp of its segment. Searches by "
         "time skip the records after its last entry, or end in a later segment; retention by time may delete the "
         "segment too early.", _WRONG, _REBUILDS),
    Kind("quorum-state-corrupt", _BROKEN, "quorum-state cannot be read: the node does not start.", _STOPS),
    Kind("bootstrap-corrupt", _BROKEN, "bootstrap.checkpoint cannot be read, or has no version of the metadata: the node "
         "does not start. kafka-storage format writes it, and a node reads it for a cluster without metadata.", _STOPS),
    Kind("quorum-state-missing", _NOTE, "There is no quorum-state: the node begins as one that has not voted."),
    Kind("metadata-log-missing", _BROKEN, "The cluster's metadata is in none of the inspected directories. A node that is "
         "not a controller fetches it again. The only controller starts without any topic, and a start renames every "
         "partition to -stray."),
    Kind("metadata-snapshot-missing", _BROKEN, "The log of the cluster's metadata begins after its first record, and no "
         "snapshot has what was before. The node does not start.", _STOPS),
    Kind("metadata-snapshot-corrupt", _BROKEN, "The newest snapshot of the cluster's metadata cannot be read: the node "
         "does not start.", _STOPS),
    # What else is there.
    Kind("bad-name", _BROKEN, "The name has no offset or partition number that the broker can read: it does not open "
         "the partition, or the log directory.", _STOPS),
    Kind("no-segments", _SUSPICIOUS, "The partition has no segment. The broker creates an empty one at its next start."),
    Kind("no-partitions", _NOTE, "The directory has no partition: only its checkpoints were inspected. A broker leaves "
         "a new directory so until a partition is placed in it."),
    Kind("unreadable", _SUSPICIOUS, "The file cannot be read: permissions, an error of the disk, a link to nothing, a "
         "FIFO or a device. It is not judged: the exit code is 2, unless something else is broken."),
    Kind("leftover", _NOTE, "The broker leaves such files or folders behind for a while: deleted segments, or what a "
         "compaction or move of the partition had not finished. It removes or completes them. A folder that ends in -stray "
         "stays."),
    Kind("replaced-segment", _NOTE, "A broker compacted or deleted this segment during the inspection: what was found "
         "in it is left out."),
    Kind("unknown-file", _NOTE, "Kafka writes no such file. It was not inspected."),
    Kind("active-segment", _NOTE, "The last segment is the one that a broker writes to. It was judged as of its size "
         "when the inspection reached it; zeros at the end of its indexes are preallocated space."),
    Kind("not-flushed", _NOTE, "There is no .kafka_cleanshutdown: a broker is running here, or did not stop cleanly. "
         "It will recover the last segments at its next start."),
)  # fmt: skip

KINDS: Mapping[str, Kind] = MappingProxyType({kind.name: kind for kind in _LISTED})
"""All kinds of findings by name."""
