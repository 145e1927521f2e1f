"""Behaviour records of the accumulator: what each release's RecordAccumulator, batches, memory and estimates do."""

from __future__ import annotations

from kafka_reference.behaviour import Behaviour, behaviour, holds
from kafka_reference.releases import since

__all__ = ["RecordAccumulatorBehaviour"]


@behaviour("org.apache.kafka.clients.producer.internals.RecordAccumulator")
class RecordAccumulatorBehaviour(Behaviour):
    """What changed in RecordAccumulator, the back-off of its retries included."""

    chooses_partition: bool = holds(
        since("3.3.0"),
        "The accumulator chooses the partition of a record that names none, keeps its queues by topic, and collects load "
        "statistics. Before, KafkaProducer chooses, and queues are kept by topic and partition.",
        "KIP-794",
    )
    closed_append_raises_kafka_exception: bool = holds(
        since("2.0.0"),
        "An append to a closed accumulator throws KafkaException. Before, it throws IllegalStateException.",
        "KAFKA-6292",
    )
    expires_by_delivery_timeout: bool = holds(
        since("2.1.0"),
        "A batch expires delivery.timeout.ms after it was made. Before, batches expire by request.timeout.ms.",
        "KIP-91",
    )
    completes_expired_batches: bool = holds(
        since("0.10.0.0", until="0.10.2.x"),
        "Expiry completes the batches it returns and gives their memory back. Later the Sender does.",
    )
    splits_batches: bool = holds(
        since("0.11.0.0"), "A batch that the broker finds too large is split and queued in pieces.", "KIP-126"
    )
    halves_split_pieces: bool = holds(
        since("4.2.0"),
        "A piece that is split again is cut to half its size, at least its largest record. Before, the piece of "
        "batch.size is made again.",
        "KAFKA-8350",
    )
    aborts_undrained_batches: bool = holds(
        since("0.11.0.0"), "Batches that were never drained can be aborted alone.", "KIP-98"
    )
    abort_undrained_by_sequence: bool = holds(
        since("1.0.0"),
        "Of an idempotent producer, undrained batches are those without a sequence. Before, those that are not closed.",
        "KAFKA-5494",
    )
    reenqueues_in_sequence: bool = holds(
        since("1.0.0"),
        "A batch of an idempotent producer is queued again in the order of sequences. Before, at the front.",
        "KAFKA-5494",
    )
    pieces_are_in_flight: bool = holds(
        since("1.0.0"), "The pieces of a split batch replace it among the batches in flight.", "KAFKA-5494"
    )
    keeps_memory_in_flight_on_abort: bool = holds(
        since("3.9.2", until="3.9.x") | since("4.0.2", until="4.0.x") | since("4.1.2"),
        "An aborted batch that is in flight keeps its memory until it is completed. Otherwise the memory is lent again at "
        "once.",
        "KAFKA-19012",
    )
    drain_index_per_node: bool = holds(
        since("3.3.0"),
        "Draining remembers for each node which partition comes first. Before, for all nodes together.",
        "KAFKA-13834",
    )
    drain_index_moves_first: bool = holds(
        since("2.1.0", until="3.2.x"),
        "The drain index moves on before a partition is visited, so the one without room loses its turn.",
        "KAFKA-7459",
    )
    npe_on_unknown_node: bool = holds(
        since("0.10.0.0", until="0.10.2.x"),
        "Draining for a node that is not in the cluster throws NullPointerException.",
    )
    skips_node_without_partitions: bool = holds(
        since("3.6.1"),
        "Draining for a node without partitions takes nothing. Before, it throws ArithmeticException.",
        "KAFKA-15415",
    )
    unknown_leaders_by_topic: bool = holds(
        since("0.10.1.0"),
        "ready names the topics whose leaders are unknown. Before, it reports only whether there are any, empty queues "
        "included.",
        "KAFKA-3802",
    )
    throttles_muted_partitions: bool = holds(
        since("2.0.0", until="2.5.x"), "A partition that is unmuted stays muted for the throttle time.", "KIP-219"
    )
    new_leader_ends_backoff: bool = holds(
        since("3.6.1"), "A batch whose partition has a new leader is sent again without backing off.", "KAFKA-15415"
    )
    exponential_backoff: bool = holds(
        since("3.7.0"),
        "The back-off doubles up to retry.backoff.max.ms, with jitter of 20 %. Before, it is constant.",
        "KIP-580",
    )
