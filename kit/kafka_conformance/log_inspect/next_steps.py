"""What to do about each kind of finding, also where a partition has one replica: what is safe to delete, what is rebuilt.

A step is safe for the records: where a start would remove some, a copy is made first; a file is deleted only if a broker
writes it again from the log, or does without it.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from kafka_conformance.log_inspect.findings import Effect

__all__ = ["STEPS", "next_step"]

_DAMAGED = (
    "If another replica has these offsets: make it the leader, stop this broker, move the folder of the partition"
    " out of the log directory, start; the broker copies the partition again. With replication factor 1: keep the"
    " files, stop the broker cleanly (SIGTERM, never kill -9), and let consumers seek to the next good offset; a "
    "recovery after a kill cuts off all that follows, one after the .index was deleted the rest of the segment."
)
_CUT_OFF = (
    "Before the start copy the folder of the partition: the start removes these offsets and those after them in "
    "what it recovers. With replication factor 1 the copy is all that is left of them. If another replica has "
    "them, start: the broker fetches them again."
)
_REWRITE = (
    "Stop the broker, delete the .index of this segment, start: the broker reads the segment and writes .index, "
    ".timeindex and .txnindex again. Safe with replication factor 1 if the .log has no finding; else copy the "
    "folder first, since the broker cuts a damaged .log off where it reads it again."
)
_PRODUCER = (
    "Nothing in the files repairs it. Keep the segment and the logs of the clients; compare what the producer "
    "sent with what consumers read at these offsets, and with another replica if there is one."
)
_BATCH = (
    "Consumers that fail at it have to seek to the next good offset. If another replica has a sound batch, let "
    "this broker copy the partition again: make the other the leader, stop this one, move the folder out of the "
    "log directory, start."
)
_NOTHING = "Nothing needs to be done."
_COPY_FIRST = "Copy the folder of the partition before anything else. "
_ASIDE = "Copy the folder out of the log directory before the start, if its records are needed. "

STEPS: Mapping[str, str] = MappingProxyType(
    {
        "crc-mismatch": _DAMAGED,
        "cut-batch": _DAMAGED,
        "foreign-bytes": _DAMAGED,
        "bad-header": _BATCH,
        "offsets-overlap": (
            _COPY_FIRST
            + "A segment that was restored twice: move the copy out of the folder while the broker is stopped. Otherwise "
            "let the broker copy the partition from another replica; with replication factor 1 consumers have to drop "
            "what they read twice."
        ),
        "offset-gap": (
            "Name the topic's cleanup.policy with --cleanup-policy: with compact nothing is lost. With delete look for "
            "the missing offsets on another replica or in a copy; consumers go on at the next good offset by "
            "themselves."
        ),
        "offset-before-segment": (
            _COPY_FIRST
            + "Stop the broker and rename the .log to the offset of its first batch; delete its indexes, which the broker"
            " writes again."
        ),
        "offset-past-segment": (
            _COPY_FIRST
            + "Let the broker copy the partition from another replica; with replication factor 1 read the records with a "
            "consumer and produce them to a new topic."
        ),
        "segments-overlap": (
            _COPY_FIRST
            + "Stop the broker and move the segment that was restored twice out of the folder, with its indexes: the one "
            "of which another segment has all offsets."
        ),
        "segment-too-large": (
            _COPY_FIRST
            + "Cut the .log at the end of a batch below the limit and put the rest into a segment that is named after its"
            " first offset, without indexes: the broker writes them."
        ),
        "leader-epoch-back": (
            "Compare this replica with the leader by its batches (kafka-dump-log on both). If another replica is right,"
            " let this one copy the partition again; with replication factor 1 nothing truncates by it."
        ),
        "zero-tail": (_NOTHING + " Do not cut the file while a broker runs."),
        "time-in-the-future": (
            "Correct the client, or set message.timestamp.type=LogAppendTime for new records. The stored ones keep "
            "their times: delete them with retention.bytes or kafka-delete-records."
        ),
        "time-before-2000": (
            "Correct the client, or set message.timestamp.type=LogAppendTime for new records. Raise retention.ms if the"
            " stored ones are needed."
        ),
        "old-format": (_NOTHING + " Brokers since 4.0.0 read it, and write no new ones."),
        "bad-records": _BATCH,
        "record-count": _BATCH,
        "record-offset": _BATCH,
        "record-timestamp": ("Search for these records by offset, or with `log find --time T --scan`."),
        "record-unread": "Read the batch with a consumer of a client that has the codec and the memory.",
        "bad-marker": (
            _COPY_FIRST
            + "Stop this broker cleanly (SIGTERM, never kill -9): a recovery after a kill reads every marker and exits here."
            " Let it copy the partition from another replica; with replication factor 1 consumers with "
            "isolation.level=read_uncommitted read on."
        ),
        "sequence-gap": _PRODUCER,
        "producer-epoch-back": _PRODUCER,
        "aborted-transaction-not-indexed": _REWRITE,
        "transaction-index-wrong": _REWRITE,
        "index-missing": _REWRITE,
        "index-size": _REWRITE,
        "index-not-ascending": _REWRITE,
        "index-past-end": _REWRITE,
        "index-wrong-position": _REWRITE,
        "index-wrong-offset": _REWRITE,
        "index-zero-tail": _REWRITE,
        "time-index-back": _REWRITE,
        "time-index-past-end": _REWRITE,
        "time-index-wrong": _REWRITE,
        "time-index-short": _REWRITE,
        "snapshot-missing": (
            "Start the broker: it writes the snapshot again from an older one and the log. Where the report says that "
            "the only copy of a producer's state was in it, such a producer has to be restarted, or its records may be "
            "stored twice."
        ),
        "snapshot-corrupt": (
            "Start the broker: it deletes the file and reads the log again from an older snapshot. Deleting it is safe "
            "where the report says that another copy of each producer's state is left; else keep a copy of the file."
        ),
        "snapshot-wrong": (
            "Stop the broker and delete this snapshot: the broker reads the log again from an older one. Safe if an "
            "older snapshot is sound or the log begins with offset 0."
        ),
        "leader-epochs-corrupt": (
            "Stop the broker and delete the file: without it a broker begins an empty one, and followers truncate by "
            "the high watermark until the next leader epoch. With replication factor 1 nothing truncates by it."
        ),
        "leader-epochs-wrong": (
            "Stop the broker and correct the lines by the epochs of the batches, or delete the file; with replication "
            "factor 1 nothing truncates by it."
        ),
        "leader-epochs-missing": (
            "Delete no more files, and start: with replication factor 1 nothing truncates by it. Else keep this broker "
            "from leading until the next leader epoch."
        ),
        "checkpoint-corrupt": (
            "Stop the broker and delete the file. Without recovery-point-offset-checkpoint and log-start-offset-"
            "checkpoint a broker takes both for the beginning of each log; without replication-offset-checkpoint the "
            "high watermark is that until the replicas agree; the cleaner begins again without its own. No record is "
            "lost."
        ),
        "checkpoint-past-end": (
            "If it is the log-start-offset-checkpoint, remove the line of the partition while the broker is stopped, "
            "and correct the count in the second line: else the start deletes all segments. For other checkpoints look "
            "for the missing records on another replica."
        ),
        "partition-metadata-corrupt": (
            "Write the file: a line 'version: 0' and a line 'topic_id: ' with the id of the topic, as the topic's other"
            " partitions or kafka-topics --describe have it. Do not delete it: a start sets a partition without it "
            "aside."
        ),
        "meta-properties-missing": (
            "Copy the file of another log directory of the same node, without its directory.id, or write version=1, "
            "node.id and cluster.id: kafka-storage format writes it, and refuses a directory that has one."
        ),
        "meta-properties-corrupt": (
            "Write version=1, the node.id and cluster.id of its other log directories or nodes, and leave directory.id "
            "out. No record depends on the file."
        ),
        "node-or-cluster-differs": (
            "Take the directory out of log.dirs, or write the node.id and cluster.id of the others into its "
            "meta.properties if its partitions are this node's."
        ),
        "directory-id-twice": (
            "Remove the line directory.id from the meta.properties of the copy: the broker writes a new one."
        ),
        "folder-not-a-partition": (
            "Move it out of the log directory: a copy of a partition belongs elsewhere, and lost+found is that of a "
            "file system, whose root should not be a log directory."
        ),
        "folders-of-one-partition": (
            "Compare where they end, and move the -future folder, or the shorter one, out of the log directories."
        ),
        "partition-metadata-missing": (
            _ASIDE
            + "Write the file: a line 'version: 0' and a line 'topic_id: ' with the id of the topic, as the topic's other"
            " partitions have it. If the start was made already, stop the broker, move the new empty folder away and "
            "rename the -stray folder back, with the file."
        ),
        "topic-ids-differ": (
            _ASIDE
            + "Compare the ids with kafka-topics --describe. A folder with another id is of a topic that was deleted; "
            "write the right id only if the file alone was copied."
        ),
        "partition-not-in-metadata": (
            _ASIDE + "A -stray folder stays until someone removes it; a broker before 3.7.0 deletes it."
        ),
        "segment-gone": (
            "Restore the .log from a copy or from another replica before the start: the broker deletes the indexes that"
            " are left. With replication factor 1 consumers go on at the next good offset."
        ),
        "log-end-wrong": (
            "Stop the broker and delete the .index of this segment before the start: the broker then reads the whole "
            "segment. A start without this writes new records over the hidden offsets."
        ),
        "log-end-unreadable": (
            "Delete .kafka_cleanshutdown: the broker then recovers the last segments and cuts off what is not a batch. "
            "If other partitions have a damaged batch, copy these first, since it cuts them off too."
        ),
        "quorum-state-corrupt": (
            "On a broker, delete the file: the broker learns the leader again. On a controller the file keeps it from "
            "voting twice in an epoch: delete it only if the other controllers have a leader, or if it is the only one."
        ),
        "bootstrap-corrupt": (
            "Delete the file: a node that has the cluster's metadata starts without it. Before the first start of a "
            "cluster, format the directory again instead."
        ),
        "quorum-state-missing": _NOTHING,
        "metadata-log-missing": (
            "Restore __cluster_metadata-0 from a copy before the start if the node is the only controller; a node that "
            "is not a controller fetches it again. Name server.properties in place of DATA to tell which node this is, "
            "and in which directory its metadata is."
        ),
        "metadata-snapshot-missing": (
            "On a broker delete the folder __cluster_metadata-0: it fetches the metadata again. On the only controller "
            "restore a snapshot from a copy."
        ),
        "metadata-snapshot-corrupt": (
            "On a broker delete the folder __cluster_metadata-0: it fetches the metadata again. On a controller delete "
            "the snapshot only if the log begins with offset 0."
        ),
        "bad-name": "Move the file or folder out of the log directory: no broker has written it.",
        "no-segments": "If records are expected here, restore the segments before the start; else start.",
        "no-partitions": _NOTHING,
        "unreadable": (
            "Run the command as the broker's user, or check the disk; copy what can be read before anything else."
        ),
        "leftover": (_NOTHING + " Delete a -stray folder only once its records are not needed."),
        "replaced-segment": "Inspect the partition again, or stop the broker.",
        "unknown-file": "Move it elsewhere if it is yours; a broker ignores it.",
        "active-segment": _NOTHING,
        "not-flushed": (
            "If a broker runs here, nothing. Else the next start recovers the last segments; copy partitions that have "
            "a damaged batch first."
        ),
    }
)
"""The next step by kind of finding."""

_IF_CUT_OFF = MappingProxyType(dict.fromkeys(("crc-mismatch", "cut-batch", "foreign-bytes"), _CUT_OFF))
_IF_REBUILT = MappingProxyType(
    {
        kind: "Start the broker: it reads the segment and writes its indexes again. Nothing is lost."
        for kind, step in STEPS.items()
        if step == _REWRITE
    }
)


def next_step(kind: str, effect: Effect) -> str:
    """Return what to do about a finding with an effect on the start."""
    by_effect = {Effect.TRUNCATES: _IF_CUT_OFF, Effect.REBUILDS: _IF_REBUILT}.get(effect, STEPS)
    return by_effect.get(kind, STEPS[kind])
