"""What each release's ``ProducerStateManager`` does, as one record.

The record covers the manager and its helpers ``ProducerStateEntry`` (``ProducerIdEntry`` in 0.11), ``ProducerAppendInfo``
and ``VerificationStateEntry``, which only work together.
"""

from __future__ import annotations

from enum import Enum, unique
from typing import Any

from kafka_reference.behaviour import Behaviour, behaviour, holds, varies
from kafka_reference.broker.append_table import Verdict, Verdicts
from kafka_reference.java.long_maps import JavaMap, LongMap, Scala212Map, Scala213Map
from kafka_reference.releases import since

__all__ = ["BROKER_STATE", "ProducerMap", "ProducerStateBehaviour"]

BROKER_STATE = since("0.11.0.0")
_0_11 = since("0.11.0.0", until="0.11.0.x")

_OK, _OUT_OF_ORDER, _UNKNOWN_ID = Verdict.APPENDED, Verdict.OUT_OF_ORDER, Verdict.UNKNOWN_PRODUCER_ID
_DUPLICATE, _DUPLICATE_SEQUENCE = Verdict.DUPLICATE, Verdict.DUPLICATE_SEQUENCE
_FENCED, _INVALID_EPOCH = Verdict.FENCED, Verdict.INVALID_EPOCH
_UNREACHABLE = Verdict.UNREACHABLE


@unique
class ProducerMap(Enum):
    """The hash map that holds the producers; a snapshot lists them in its order."""

    SCALA_2_12 = Scala212Map
    SCALA_2_13 = Scala213Map
    JAVA = JavaMap

    def create(self) -> LongMap[Any]:
        """Return an empty map."""
        empty: LongMap[Any] = self.value()
        return empty

    def __str__(self) -> str:  # unreached: the text of a record, for ``kafka-conformance behaviour``
        return (
            "java.util.HashMap" if self is ProducerMap.JAVA else f"HashMap of Scala {self.name[6:].replace('_', '.')}"
        )


@behaviour("ProducerStateManager", BROKER_STATE)
class ProducerStateBehaviour(Behaviour):
    """The append table (columns: next, repeated, gap, nonzero start), then everything else that changed."""

    older_epoch: Verdicts = varies(
        "The error for a batch or a marker with an older epoch.",
        (since("0.11.0.0", until="2.6.x"), Verdicts(_FENCED, _FENCED, _FENCED, _FENCED)),
        (since("2.7.0"), Verdicts(_INVALID_EPOCH, _INVALID_EPOCH, _INVALID_EPOCH, _INVALID_EPOCH)),
        ticket="KAFKA-10687",
    )
    unknown_producer: Verdicts = varies(
        "The outcome for the first batch of a producer that the broker does not know.",
        (_0_11, Verdicts(_OK, _UNREACHABLE, _UNREACHABLE, _OUT_OF_ORDER)),
        (since("1.0.0", until="2.4.x"), Verdicts(_OK, _UNREACHABLE, _UNREACHABLE, _UNKNOWN_ID)),
        (since("2.5.0"), Verdicts(_OK, _UNREACHABLE, _UNREACHABLE, _OK)),
        ticket="KAFKA-5793, KIP-360",
    )
    newer_epoch: Verdicts = varies(
        "The outcome for the first batch under a newer epoch: it has to start at 0.",
        (since("0.11.0.0"), Verdicts(_OK, _UNREACHABLE, _UNREACHABLE, _OUT_OF_ORDER)),
    )
    current_epoch: Verdicts = varies(
        "The outcome for a batch under the current epoch.",
        (_0_11, Verdicts(_OK, _DUPLICATE, _OUT_OF_ORDER, _OUT_OF_ORDER)),
        (since("1.0.0", until="1.0.1"), Verdicts(_OK, _DUPLICATE_SEQUENCE, _OUT_OF_ORDER, _OUT_OF_ORDER)),
        (since("1.0.2", until="2.0.0"), Verdicts(_OK, _OUT_OF_ORDER, _OUT_OF_ORDER, _OUT_OF_ORDER)),
        (since("2.0.1", until="2.4.x"), Verdicts(_OK, _OUT_OF_ORDER, _OUT_OF_ORDER, _UNKNOWN_ID)),
        (since("2.5.0"), Verdicts(_OK, _OUT_OF_ORDER, _OUT_OF_ORDER, _OUT_OF_ORDER)),
        ticket="KAFKA-5494, KAFKA-7298, KIP-360",
    )
    started_in_request: Verdicts = varies(
        "The outcome for a later batch of the request that introduced its producer.",
        (_0_11, Verdicts(_OK, _DUPLICATE, _OUT_OF_ORDER, _OUT_OF_ORDER)),
        (since("1.0.0", until="1.0.1"), Verdicts(_OK, _DUPLICATE_SEQUENCE, _OUT_OF_ORDER, _OUT_OF_ORDER)),
        (since("1.0.2", until="2.0.0"), Verdicts(_OK, _OUT_OF_ORDER, _OUT_OF_ORDER, _OUT_OF_ORDER)),
        (since("2.0.1", until="2.4.x"), Verdicts(_OK, _OUT_OF_ORDER, _OUT_OF_ORDER, _UNKNOWN_ID)),
        (since("2.5.0"), Verdicts(_OK, _OK, _OK, _OK)),
        ticket="KAFKA-5494, KAFKA-7298, KIP-360",
    )

    remembered_batches: int = varies(
        "Batches remembered of each producer, to recognise duplicates.",
        (_0_11, 1),
        (since("1.0.0"), 5),
        ticket="KAFKA-5494",
    )
    marker_replaces_batch: bool = holds(
        _0_11, "An entry always holds one batch, and a marker takes the place of it.", "KAFKA-5494"
    )
    replicated_batches_checked: bool = holds(
        since("0.11.0.0", until="0.11.0.1"),
        "Batches that arrive by replication are checked like a client's. A batch without an epoch is not checked.",
    )
    stale_sequence_is_duplicate: bool = holds(
        since("1.0.0", until="1.0.1"),
        "A client's batch is a DuplicateSequenceException if it ends below the remembered batches, or equals one of them.",
    )
    refused_request_changes_entry: bool = holds(
        since("1.0.0", until="1.0.1"),
        "A batch changes the entry of a known producer at once, and for good if a later batch of the request is refused.",
    )
    snapshot_errors_escape: bool = holds(
        since("0.11.0.0", until="0.11.0.0"),
        "A file that is too short is a SchemaException, one of another version an IllegalArgumentException; loading throws "
        "both. Later both are CorruptSnapshotExceptions.",
    )
    overwriting_truncates_snapshot: bool = holds(
        since("0.11.0.0", until="2.0.x"), "A snapshot written over a longer file replaces the whole file."
    )
    batch_length_from_sequences: bool = holds(
        since("0.11.0.0", until="2.1.0"),
        "The length of a batch is the difference of its sequences, which is wrong if they wrap.",
        "KAFKA-7692",
    )
    own_transactions_hold_stable_offset: bool = holds(
        since("0.11.0.0", until="2.2.0"),
        "Other transactions of the producer that completes one count for the last stable offset.",
        "KAFKA-7866",
    )
    deleted_records_remove_producer: bool = holds(
        since("0.11.0.0", until="2.3.x"),
        "A producer is removed once all its records are below the log start offset.",
        "KAFKA-7190",
    )
    timestamp_of_last_batch: bool = holds(
        since("0.11.0.0", until="2.4.0"),
        "An entry has the timestamp of its last batch, so a marker does not postpone its expiration.",
        "KAFKA-9144",
    )
    replicated_markers_checked: bool = holds(
        since("0.11.0.0", until="2.4.0"),
        "Markers that arrive by replication are checked like those of the coordinator.",
        "KAFKA-9144",
    )
    snapshot_adds_missing_batch: bool = holds(
        since("0.11.0.0", until="2.4.0"),
        "An entry read from a snapshot has a batch even if it was written without one.",
        "KAFKA-9144",
    )
    empty_transactions_complete: bool = holds(
        since("0.11.0.0", until="2.7.x"),
        "A marker without an open transaction completes one that starts and ends at the marker.",
        "KAFKA-10702",
    )
    snapshot_folder_listed: bool = holds(
        since("0.11.0.0", until="2.7.x"),
        "The folder is listed whenever snapshots are looked up, so a file that was added later is found.",
        "KAFKA-9393",
    )
    log_start_deletes_snapshots: bool = holds(
        since("0.11.0.0", until="2.7.x"),
        "Snapshots below the log start offset are deleted when it rises.",
        "KAFKA-9393",
    )
    verifies_transactions: bool = holds(
        since("3.6.0"),
        "A transaction is verified with its coordinator first, and the lowest sequence that waits is noted.",
        "KIP-890, KAFKA-14920",
    )
    verification_notes_epoch_bump: bool = holds(
        since("4.0.0"),
        "A verification notes whether the client bumps its epoch with each transaction; a marker of the same epoch then "
        "leaves the verification in place.",
        "KIP-890",
    )
    epoch_bump_starts_at_zero: bool = holds(
        since("4.1.0"),
        "A client that bumps its epoch with each transaction has to start at 0 if no batch of it is remembered.",
        "KIP-890",
    )
    markers_need_bumped_epoch: bool = holds(
        since("4.2.0"),
        "A marker of transaction version 2 needs a newer epoch, unless it is a retry and no transaction is open.",
        "KAFKA-19446, KAFKA-19999",
    )
    marker_may_repeat_highest_epoch: bool = holds(
        since("4.3.0"), "A marker of transaction version 2 may have the current epoch if that is 32767.", "KAFKA-20090"
    )

    producer_map: ProducerMap = varies(
        "The hash map of producers, whose order is the order of entries in a snapshot.",
        (since("0.11.0.0", until="2.3.x"), ProducerMap.SCALA_2_12),
        (since("2.4.0", until="3.4.x"), ProducerMap.SCALA_2_13),
        (since("3.5.0"), ProducerMap.JAVA),
    )
