"""What the classes behind an idempotent producer do, by release: one record for each Java class that changed."""

from __future__ import annotations

import enum

from kafka_reference.behaviour import Behaviour, behaviour, holds, varies
from kafka_reference.releases import since

__all__ = [
    "BatchEndBehaviour",
    "ErrorsBehaviour",
    "InFlightOrder",
    "NetworkClientBehaviour",
    "NodeBehaviour",
    "PartitionRestart",
    "SenderBehaviour",
    "TransactionManagerBehaviour",
    "UnknownPartition",
]


class InFlightOrder(enum.Enum):
    """How the batches of a partition in flight are held: see ``sequence_order``."""

    HEAP = "a heap by the int32 difference of sequences"
    SEQUENCE = "a set by sequence"
    IDENTITY = "a set by sequence, in which a batch equals only itself"
    PRODUCER = "a set by producer id, epoch and sequence"


class PartitionRestart(enum.Enum):
    """When a partition of an older id or epoch begins at sequence 0 again."""

    NEVER = "never: a producer that loses its id forgets its partitions"
    ACKNOWLEDGED = "when its last batch in flight is acknowledged"
    DRAINED = "when it is drained with nothing in flight"


class UnknownPartition(enum.Enum):
    """What happens when a batch of a forgotten partition is acknowledged, split, or restarts its partition."""

    CREATED = "the partition is known again"
    CANNOT_RESTART = "the partition is known again, but a restart of its sequences throws NullPointerException"
    REFUSED = "IllegalStateException"


@behaviour("org.apache.kafka.clients.producer.internals.Sender")
class SenderBehaviour(Behaviour):
    """What changed in ``Sender``."""

    waits_for_producer_id: bool = holds(
        since("0.11.0.0", until="2.4.x"),
        "A round without a producer id waits until it has one; since 2.5.0 the round ends with the request.",
        "KIP-360",
    )
    backs_off_after_producer_id: bool = holds(
        since("0.11.0.0", until="0.11.0.x"), "A round that waited for a producer id waits retry.backoff.ms more."
    )
    keeps_start_time: bool = holds(
        since("0.10.0.0", until="2.2.0"),
        "Batches are drained and expire by the time at which the round began, however long it waited for an id.",
    )
    handles_response_in_map_order: bool = holds(
        since("0.10.0.0", until="0.10.1.x"),
        "The partitions of a response are handled in the order of a hash map; later in the broker's order.",
    )
    splits_large_batches: bool = holds(
        since("0.11.0.0"), "A batch of several records that is too large for the broker is split.", "KIP-126"
    )
    done_batch_is_not_split: bool = holds(
        since("2.1.0"), "A batch that has ended is not split when the broker finds it too large.", "KIP-91"
    )
    split_batch_stays_in_flight: bool = holds(
        since("2.1.0", until="2.3.0"),
        "A batch that was split stays in the sender's list of batches in flight, and expires there.",
        "KAFKA-8325",
    )
    delivery_timeout_ends_retries: bool = holds(
        since("2.1.0"), "A batch that has ended, or is older than delivery.timeout.ms, is not sent again.", "KIP-91"
    )
    expires_in_flight_batches: bool = holds(
        since("2.1.0"), "Batches in flight expire by delivery.timeout.ms; before, only batches in the queues.", "KIP-91"
    )
    abort_clears_in_flight_batches: bool = holds(
        since("3.9.2", until="3.9.x") | since("4.0.2", until="4.0.x") | since("4.1.2"),
        "An aborted batch leaves the sender's list of batches in flight; otherwise, since 2.1.0, it throws "
        "IllegalStateException when it expires there.",
        "KAFKA-19012",
    )
    expired_partition_breaks_iteration: bool = holds(
        since("2.1.0", until="2.1.0"),
        "If the last batch in flight of a partition expires and another partition follows, the round ends with "
        "ConcurrentModificationException, and the batches found so far never end.",
    )
    expiry_resets_producer: bool = holds(
        since("0.11.0.0", until="0.11.0.x"),
        "An expired batch that had been sent resets the producer, and the round sends nothing.",
    )
    duplicate_completes: bool = holds(
        since("1.0.0"), "DUPLICATE_SEQUENCE_NUMBER completes the batch, without an offset.", "KAFKA-5494"
    )
    drops_stale_retry: bool = holds(
        since("0.11.0.0", until="2.4.x"),
        "A batch of another id or epoch is not sent again: it fails with OutOfOrderSequenceException.",
        "KIP-360",
    )
    releases_at_every_end: bool = holds(
        since("0.10.0.0", until="0.11.0.x"),
        "A batch gives back its memory at every end, and the second time throws IllegalStateException.",
    )
    ends_failed_batch_first: bool = holds(
        since("3.6.0"),
        "A batch that fails ends before the manager handles it: only the first failure is handled, and what the manager "
        "throws is swallowed.",
    )


@behaviour("org.apache.kafka.clients.producer.internals.TransactionManager")
class TransactionManagerBehaviour(Behaviour):
    """What changed in ``TransactionManager`` without a transactional id, and in ``TxnPartitionMap``."""

    exists: bool = holds(since("0.11.0.0"), "A producer can be idempotent.", "KIP-98")
    tracks_in_flight_batches: bool = holds(
        since("1.0.0"),
        "Several batches may be in flight: sequences count when drained, and batches in flight are known.",
        "KAFKA-5494",
    )
    next_sequence_wraps: bool = holds(
        since("2.1.1"), "The next sequence after 2^31-1 is 0; before, it is -2^31.", "KAFKA-7693"
    )
    in_flight_order: InFlightOrder = varies(
        "How the batches of a partition in flight are held.",
        (since("1.0.0", until="2.2.x"), InFlightOrder.HEAP),
        (since("3.0.2", until="3.0.x"), InFlightOrder.IDENTITY),
        (since("3.1.1"), InFlightOrder.PRODUCER),
        otherwise=InFlightOrder.SEQUENCE,
        ticket="KAFKA-13794",
    )
    compares_ids_only: bool = holds(
        since("0.11.0.0", until="2.2.x"),
        "A sequence error is about this producer if the id is the same; later, if the epoch is too.",
    )
    unknown_partition: UnknownPartition = varies(
        "What happens to a partition that the producer has forgotten.",
        (since("1.0.0", until="2.2.x"), UnknownPartition.CANNOT_RESTART),
        (since("2.3.0"), UnknownPartition.REFUSED),
        otherwise=UnknownPartition.CREATED,
        ticket="KAFKA-7736",
    )
    ignores_stale_batches: bool = holds(
        since("2.3.0", until="2.4.x"), "The end of a batch of another id or epoch changes nothing: it stays in flight."
    )
    bumps_epoch: bool = holds(
        since("2.5.0"),
        "A sequence error that cannot be resolved begins another epoch; before, it resets the producer.",
        "KIP-360",
    )
    partition_restart: PartitionRestart = varies(
        "When a partition of an older id or epoch begins at sequence 0 again.",
        (since("2.5.0", until="2.7.0"), PartitionRestart.ACKNOWLEDGED),
        (since("2.7.1"), PartitionRestart.DRAINED),
        otherwise=PartitionRestart.NEVER,
        ticket="KAFKA-12152",
    )
    resolved_partition_breaks_iteration: bool = holds(
        since("1.0.0", until="1.0.x"),
        "If a partition is resolved and another unresolved one follows, the round ends with "
        "ConcurrentModificationException.",
    )
    knows_end_of_unresolved: bool = holds(
        since("2.5.0"), "An unresolved partition knows the sequence that follows its unresolved batches.", "KIP-360"
    )
    stale_failure_does_not_bump: bool = holds(
        since("2.5.0", until="2.7.0"), "The failure of a batch of another id or epoch begins no other epoch."
    )
    unsupported_version_is_fatal: bool = holds(
        since("0.11.0.1"), "UNSUPPORTED_VERSION stops an idempotent producer; before, only its batch fails."
    )
    fatal_error_does_not_bump: bool = holds(since("2.6.0"), "After a fatal error no other epoch begins.")
    retries_id_only_while_loading: bool = holds(
        since("2.5.0", until="3.3.1"),
        "Of the retriable errors of a request for an id, only COORDINATOR_LOAD_IN_PROGRESS is retried.",
        "KAFKA-14417",
    )
    unauthorized_is_abortable: bool = holds(
        since("3.6.0"),
        "A producer that is not authorized to get an id may ask again; before, that is fatal.",
        "KAFKA-13668",
    )
    late_id_throws_illegal_state: bool = holds(
        since("3.1.1"), "An id that arrives after a fatal error throws IllegalStateException; before, KafkaException."
    )


@behaviour("org.apache.kafka.clients.producer.internals.ProducerBatch")
class BatchEndBehaviour(Behaviour):
    """What changed in ``ProducerBatch.done``, before 0.11.0.0 ``RecordBatch.done``; the rest is the accumulator's."""

    ends_again: bool = holds(
        since("0.10.0.0", until="0.10.2.x"),
        "When a batch ends that has ended before, its records end again; later nothing changes.",
        "KAFKA-5429",
    )


@behaviour("org.apache.kafka.clients.NetworkClient")
class NetworkClientBehaviour(Behaviour):
    """What changed in ``NetworkClient`` and ``InFlightRequests``."""

    lost_requests_oldest_first: bool = holds(
        since("2.0.0"), "The requests of a lost connection end with the oldest first; before, with the newest."
    )
    reports_request_timeout: bool = holds(
        since("3.5.0"),
        "A request that took too long ends with a timeout; before, with a lost connection.",
        "KAFKA-14317",
    )


@behaviour("org.apache.kafka.common.Node")
class NodeBehaviour(Behaviour):
    """What changed in ``Node.hashCode``, by which nodes are ordered in hash sets."""

    hashes_fenced: bool = holds(since("4.0.0"), "The hash code includes whether the node is fenced.", "KIP-1073")


@behaviour("org.apache.kafka.common.protocol.Errors")
class ErrorsBehaviour(Behaviour):
    """What changed in ``Errors``, as far as a produce request or a request for an id can be answered by them."""

    has_idempotence_errors: bool = holds(
        since("0.11.0.0"), "Sequence, epoch, coordinator and transactional-id errors exist.", "KIP-98"
    )
    has_storage_error: bool = holds(since("1.0.0"), "KAFKA_STORAGE_ERROR exists.", "KIP-112")
    has_unknown_producer_id: bool = holds(since("1.0.0"), "UNKNOWN_PRODUCER_ID exists.", "KAFKA-5793")
    has_invalid_record: bool = holds(since("2.4.0"), "INVALID_RECORD exists.", "KIP-467")
    duplicate_sequence_is_retriable: bool = holds(
        since("0.11.0.0", until="0.11.0.x"),
        "DUPLICATE_SEQUENCE_NUMBER is a retriable DuplicateSequenceNumberException; later DuplicateSequenceException.",
    )
    not_leader_exception: str = varies(
        "The exception of NOT_LEADER_OR_FOLLOWER.",
        (since("0.10.0.0", until="2.5.x"), "NotLeaderForPartitionException"),
        otherwise="NotLeaderOrFollowerException",
        ticket="KAFKA-10223",
    )
    distinguishes_fenced: bool = holds(
        since("2.7.0"),
        "PRODUCER_FENCED is the fatal error; INVALID_PRODUCER_EPOCH is InvalidProducerEpochException and not fatal.",
        "KIP-588",
    )
