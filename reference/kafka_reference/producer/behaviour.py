"""What ``KafkaProducer`` does, by release."""

from __future__ import annotations

from kafka_reference.behaviour import Behaviour, behaviour, holds
from kafka_reference.releases import since

__all__ = ["KafkaProducerBehaviour"]


@behaviour("org.apache.kafka.clients.producer.KafkaProducer")
class KafkaProducerBehaviour(Behaviour):
    """What changed in ``doSend``, ``flush`` and the constructor of ``KafkaProducer``; defaults: ``producer_config``."""

    waits_for_named_partition: bool = holds(
        since("0.10.1.0"),
        "A record that names a partition the topic does not have waits for max.block.ms; before, it is refused at once.",
        "KAFKA-4254",
    )
    announces_new_batch: bool = holds(
        since("2.4.0", until="3.9.x"),
        "Before a new batch, onNewBatch is called and the partitioner chooses again.",
        "KIP-480",
    )
    has_default_partitioner: bool = holds(
        since("0.10.0.0", until="3.2.x"),
        "A producer without partitioner.class has DefaultPartitioner; since 3.3.0 the accumulator chooses.",
        "KIP-794",
    )
    throws_after_fatal_error: bool = holds(
        since("3.1.1"),
        "send throws, with the record in its batch, once the idempotent producer has failed.",
        "KAFKA-13782",
    )
    flush_awaits_pieces: bool = holds(
        since("3.9.2", until="3.9.x") | since("4.0.2", until="4.0.x") | since("4.1.1"),
        "flush also waits for the pieces of a batch that was split.",
        "KAFKA-19012",
    )
