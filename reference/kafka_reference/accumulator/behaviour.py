"""Behaviour records of the accumulator: what each release's RecordAccumulator, batches, memory and estimates do."""

from __future__ import annotations

import enum

from kafka_reference.behaviour import Behaviour, behaviour, holds, varies
from kafka_reference.releases import since

__all__ = [
    "BufferPoolBehaviour", "CompressionRatioEstimatorBehaviour", "DrainIndex", "MemoryRecordsBuilderBehaviour",
    "MetadataSnapshotBehaviour", "ProducerBatchBehaviour", "RecordAccumulatorBehaviour",
]  # fmt: skip

_0_10 = since("0.10.0.0", until="0.10.2.x")
_UP_TO_0_10_1 = since("0.10.0.0", until="0.10.1.x")


class DrainIndex(enum.Enum):
    """How draining remembers which partition comes first next time."""

    MOVES_LAST = "one index for all nodes, which moves on after a partition was visited"
    MOVES_FIRST = (
        "one index for all nodes, which moves on before a partition is visited: without room it loses its turn"
    )
    PER_NODE = "an index for each node"


@behaviour("RecordAccumulator")
class RecordAccumulatorBehaviour(Behaviour):
    """What changed in RecordAccumulator, the back-off of its retries included."""

    # Appending.
    chooses_partition: bool = holds(
        since("3.3.0"),
        "The accumulator chooses the partition of a record that names none, keeps its queues by topic, and collects load "
        "statistics. Before, KafkaProducer chooses, and queues are kept by topic and partition.",
        "KIP-794",
    )
    append_when_closed_raises_kafka_exception: bool = holds(
        since("2.0.0"),
        "An append to a closed accumulator throws KafkaException. Before, it throws IllegalStateException.",
    )
    keeps_full_batches_open: bool = holds(
        since("0.10.0.0", until="0.10.0.0"),
        "A batch without room for a record stays open, and takes a smaller one later.",
    )
    builds_full_batches: bool = holds(
        since("0.10.0.1", until="0.10.2.x"),
        "A batch without room for a record is built at once. Later it is closed for appends and built when drained.",
    )
    # Draining.
    drain_index: DrainIndex = varies(
        "Which partition comes first when a node is drained.",
        (since("2.1.0", until="3.2.x"), DrainIndex.MOVES_FIRST),
        (since("3.3.0"), DrainIndex.PER_NODE),
        otherwise=DrainIndex.MOVES_LAST,
        ticket="KAFKA-13834",
    )
    npe_on_unknown_node: bool = holds(
        _0_10, "Draining for a node that is not in the cluster throws NullPointerException."
    )
    skips_node_without_partitions: bool = holds(
        since("3.6.1"), "Draining for a node without partitions takes nothing. Before, it throws ArithmeticException."
    )
    # Retries.
    reenqueues_in_sequence: bool = holds(
        since("1.0.0"),
        "A batch of an idempotent producer is queued again in the order of sequences. Before, at the front.",
        "KAFKA-5494",
    )
    splits_batches: bool = holds(
        since("0.11.0.0"), "A batch that the broker finds too large is split and queued again in pieces.", "KIP-126"
    )
    pieces_are_in_flight: bool = holds(
        since("1.0.0"), "The pieces of a split batch replace it among the batches in flight.", "KAFKA-5494"
    )
    halves_split_pieces: bool = holds(
        since("4.2.0"),
        "A piece that is split again is cut to half its size, or to its largest record if that is larger. Before, to "
        "batch.size, which makes the same piece again.",
        "KAFKA-8350",
    )
    new_leader_ends_backoff: bool = holds(
        since("3.6.1"), "A batch whose partition has a new leader is sent again without backing off.", "KAFKA-15415"
    )
    exponential_backoff: bool = holds(
        since("3.7.0"),
        "The back-off doubles up to retry.backoff.max.ms, with a jitter of 20 %. Before, it is retry.backoff.ms.",
        "KIP-580",
    )
    # Readiness.
    names_topics_without_leaders: bool = holds(
        since("0.10.1.0"),
        "ready returns the topics that have a batch and no leader. Before, it returns only whether some partition has no "
        "leader, empty queues included.",
    )
    throttles_muted_partitions: bool = holds(
        since("2.0.0", until="2.5.x"), "A partition that is unmuted stays muted for the throttle time.", "KIP-219"
    )
    # Expiry and abort.
    expires_by_delivery_timeout: bool = holds(
        since("2.1.0"),
        "A batch expires delivery.timeout.ms after it was made. Before, batches expire by request.timeout.ms.",
        "KIP-91",
    )
    completes_expired_batches: bool = holds(
        _0_10,
        "Expiry builds and completes the batches it returns: their memory is free at once. Later the Sender does.",
    )
    aborts_undrained_batches: bool = holds(
        since("0.11.0.0"), "Batches that were never drained can be aborted alone.", "KIP-98"
    )
    abort_undrained_by_sequence: bool = holds(
        since("1.0.0"),
        "Batches of an idempotent producer count as undrained without a sequence. Otherwise, and before, until they are "
        "closed.",
        "KAFKA-5494",
    )
    keeps_memory_in_flight_on_abort: bool = holds(
        since("3.9.2", until="3.9.x") | since("4.0.2", until="4.0.x") | since("4.1.2"),
        "An aborted batch that is in flight keeps its memory until it is answered. Otherwise its memory is free at once.",
        "KAFKA-19012",
    )


@behaviour("MetadataSnapshot")
class MetadataSnapshotBehaviour(Behaviour):
    """What the accumulator receives of the cluster: a Cluster up to 3.6.0, a MetadataSnapshot since 3.6.1."""

    partitions_in_hash_order: bool = holds(
        since("3.6.1"),
        "The partitions of a node and of a topic come in the order of a HashMap. Before, in the order of the metadata.",
        "KAFKA-15415",
    )
    has_leader_epochs: bool = holds(
        since("3.6.1"), "The accumulator receives the epochs of partition leaders.", "KAFKA-15415"
    )


@behaviour("BufferPool")
class BufferPoolBehaviour(Behaviour):
    """What changed in BufferPool."""

    refuses_when_closed: bool = holds(
        since("2.4.0"), "A closed pool throws KafkaException. Before, a pool cannot be closed and lends memory as ever."
    )
    exhausted_raises_buffer_exhausted: bool = holds(
        since("2.6.0"),
        "A pool without enough memory throws BufferExhaustedException once max.block.ms is over. Before, it throws "
        "TimeoutException.",
    )
    lends_chunks: bool = holds(
        since("4.4.0"),
        "With buffer.memory.allocation.strategy=incremental, a batch takes chunks of 16 KiB as it grows.",
    )


@behaviour("ProducerBatch")
class ProducerBatchBehaviour(Behaviour):
    """What changed in ProducerBatch, which is RecordBatch in 0.10."""

    closes_pieces: bool = holds(
        since("2.6.0"),
        "Every piece of a split batch is closed for appends. Before, the last piece takes further records if it has room.",
    )
    pieces_lose_headers: bool = holds(
        since("0.11.0.0", until="0.11.0.0"),
        "The records of a split batch lose their headers, whose room stays free.",
    )
    any_other_epoch_is_newer: bool = holds(
        since("3.6.1", until="3.6.1") | since("3.7.0", until="3.7.0"),
        "A partition has a new leader when its leader epoch is any other one: also a lower one, or none. Since 3.6.2 and "
        "3.7.1 only when it is higher.",
    )
    open_batch_shows_wrapper_only: bool = holds(
        _UP_TO_0_10_1,
        "The size of an open compressed batch is what its buffer holds: the 34 bytes of the wrapper. Later it is the "
        "estimate.",
    )


@behaviour("MemoryRecordsBuilder")
class MemoryRecordsBuilderBehaviour(Behaviour):
    """What changed in the sizes of records and batches; MemoryRecords and Compressor are its parts up to 0.10.1.x."""

    newest_magic: int = varies(
        "The version of the format that the producer writes.", (_0_10, 1), otherwise=2, ticket="KIP-98"
    )
    limit_is_batch_size: bool = holds(
        _0_10, "A batch takes records up to batch.size. Later, up to the size of its buffer."
    )
    bound_includes_wrapper: bool = holds(
        since("0.11.0.0"), "The upper bound of a compressed message includes its wrapper."
    )
    largest_record_is_bound: bool = holds(
        since("0.11.0.0"),
        "maxRecordSize is the largest upper bound of a record. Before, the largest message without offset and size.",
    )
    empty_batch_may_be_full: bool = holds(
        _UP_TO_0_10_1, "With batch.size 0 an empty batch is full, and takes its first record all the same."
    )
    estimates_in_64_bits: bool = holds(
        _UP_TO_0_10_1, "The estimate of a compressed batch is a long. Later it is an int, and wraps."
    )
    estimate_includes_header: bool = holds(
        since("1.0.0"),
        "The estimate of a compressed batch includes the header of the batch. Before, the header is left out.",
    )
    estimate_counts_declared_keys: bool = holds(
        since("1.0.0"),
        "The estimate of an uncompressed batch counts a header key that is malformed UTF-16 by its declared length. "
        "Before, by its written length.",
    )


@behaviour("CompressionRatioEstimator")
class CompressionRatioEstimatorBehaviour(Behaviour):
    """What changed in the expected compression ratio."""

    ratio_per_topic: bool = holds(
        since("0.11.0.0"),
        "The ratio is kept for each topic and codec, and a batch keeps the ratio it was made with. Before, it is kept for "
        "each codec, and every open batch uses the current one.",
        "KIP-126",
    )
    averages_ratios: bool = holds(
        _0_10, "The ratio is a moving average, 0.9 old and 0.1 observed. Later it moves by fixed steps."
    )
    observes_retries: bool = holds(
        since("0.11.0.0"), "A batch that is drained again is observed again. Before, each batch is observed once."
    )
    observes_wrapper: bool = holds(_UP_TO_0_10_1, "The wrapper counts among the compressed bytes of an observed batch.")
    falls_below_observed: bool = holds(
        since("0.11.0.0", until="2.4.x"),
        "The ratio falls by 0.005 after every batch that compressed better, even below what was observed.",
        "KAFKA-9700",
    )
