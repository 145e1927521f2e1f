"""What changed in the producer's partitioning from release to release, one record per Java class."""

from __future__ import annotations

from kafka_reference.behaviour import Behaviour, behaviour, holds
from kafka_reference.releases import since

__all__ = [
    "BuiltInPartitionerBehaviour",
    "DefaultPartitionerBehaviour",
    "PartitionerBehaviour",
    "ProducerPartitionBehaviour",
    "RoundRobinPartitionerBehaviour",
    "UniformStickyPartitionerBehaviour",
]


@behaviour("KafkaProducer.partition", releases=since("0.9.0.0"))
class ProducerPartitionBehaviour(Behaviour):
    """How ``KafkaProducer`` chooses a partition before it appends a record."""

    explicit_partition_must_exist: bool = holds(
        since("0.9.0.0", until="0.10.0.x"),
        "A partition named in the record that the topic does not have is an IllegalArgumentException.",
        "KAFKA-4254",
    )
    negative_partition_refused: bool = holds(
        since("0.10.1.0"),
        "The constructor of ProducerRecord throws IllegalArgumentException for a negative partition.",
        "KAFKA-4254",
    )
    negative_choice_refused: bool = holds(
        since("3.2.0"),
        "A negative partition returned by the partitioner is an IllegalArgumentException.",
        "KAFKA-7572",
    )
    keyless_left_to_accumulator: bool = holds(
        since("3.3.0"),
        "Without partitioner.class, a record without a key (or with partitioner.ignore.keys) gets no partition here: "
        "the accumulator chooses one when it appends.",
        "KAFKA-10888 (KIP-794)",
    )


@behaviour("Partitioner", releases=since("0.9.0.0"))
class PartitionerBehaviour(Behaviour):
    """The interface that ``partitioner.class`` implements, and how the producer calls it."""

    has_on_new_batch: bool = holds(
        since("2.4.0", until="3.9.x"),
        "Before a record starts a batch, the producer calls onNewBatch and then partition() a second time.",
        "KAFKA-8601 (KIP-480), removed by KAFKA-18295",
    )


@behaviour("DefaultPartitioner", releases=since("0.9.0.0", until="3.9.x"))
class DefaultPartitionerBehaviour(Behaviour):
    """``DefaultPartitioner``, removed in 4.0.0 (KAFKA-18262)."""

    npe_on_topic_without_partitions: bool = holds(
        since("0.9.0.0", until="0.10.2.x"),
        "A topic without partitions is a NullPointerException, before any counter moves; later an ArithmeticException.",
    )
    counter_per_topic: bool = holds(
        since("0.10.2.0"),
        "Each topic has its own round-robin counter, so that one topic does not make another skip partitions.",
        "KAFKA-4402",
    )
    sticks_without_key: bool = holds(
        since("2.4.0"),
        "Records without a key stay at one partition until a batch of it is full, instead of going round.",
        "KAFKA-8601 (KIP-480)",
    )


@behaviour("UniformStickyPartitioner", releases=since("2.4.0", until="3.9.x"))
class UniformStickyPartitionerBehaviour(Behaviour):
    """``UniformStickyPartitioner``: the same in every release that has it; removed in 4.0.0 (KAFKA-18262)."""


@behaviour("RoundRobinPartitioner", releases=since("2.4.0"))
class RoundRobinPartitionerBehaviour(Behaviour):
    """``RoundRobinPartitioner``."""

    new_batch_keeps_partition: bool = holds(
        since("3.9.2"),
        "The call of partition() that follows onNewBatch returns the same partition again; the counter does not move.",
        "KAFKA-17632",
    )


@behaviour("BuiltInPartitioner", releases=since("3.3.0"))
class BuiltInPartitionerBehaviour(Behaviour):
    """``BuiltInPartitioner``, the choice for records without a key (KIP-794)."""

    batch_size_below_1_refused: bool = holds(
        since("3.3.2"),
        "A batch size below 1 is an IllegalArgumentException; before, every report switched and send() hung.",
        "KAFKA-14303",
    )
    rack_aware: bool = holds(
        since("4.4.0"),
        "With partitioner.rack.aware, partitions whose leader is in client.rack are preferred.",
        "KIP-1123",
    )
