"""The rule ``producer-partition``: the partition that ``KafkaProducer`` itself chooses, before it appends a record."""

from __future__ import annotations

from collections.abc import Iterator

from kafka_conformance.core.protocol import Answer
from kafka_conformance.core.rule import Area, Rule, Space
from kafka_conformance.rules.common.clusters import to_reference
from kafka_conformance.rules.producer_partition.domain import OPTIONAL_LABELS, domain, nearest, plain
from kafka_conformance.rules.producer_partition.generators import QUESTIONS, every_combination
from kafka_conformance.rules.producer_partition.question import ProducerPartitionQuestion
from kafka_reference.partitioning.behaviour import DefaultPartitionerBehaviour, ProducerPartitionBehaviour
from kafka_reference.partitioning.producer import CustomPartitioner, choose_partition
from kafka_reference.releases import Release, since

__all__ = ["RULE"]


def _ask(question: ProducerPartitionQuestion, release: Release) -> Answer:
    record, config = question.record, question.config
    chosen = choose_partition(
        partition=record.partition,
        key=None if record.key is None else bytes.fromhex(record.key),
        cluster=to_reference(question.cluster),
        ignore_keys=config.ignore_keys,
        partitioner=None if config.partitioner is None else CustomPartitioner(config.partitioner.returns),
        draws=question.draws,
        version=release,
    )
    return {"partition": chosen}


def _labels(question: ProducerPartitionQuestion) -> Iterator[str]:
    """Return what decides the partition, and what is missing from the cluster."""
    record, config = question.record, question.config
    known = {partition.id for partition in question.cluster.partitions}
    if record.partition is not None:
        kind = "explicit" if record.partition in known else "explicit, not there"
        yield "explicit, negative" if record.partition < 0 else kind
    elif config.partitioner is not None:
        yield "plugged, negative" if config.partitioner.returns < 0 else "plugged"
    elif record.key is None:
        yield "no key"
    else:
        yield "keyed, ignore_keys" if config.ignore_keys else "empty key" if not record.key else "keyed"
    if not known:
        yield "no partitions"
    elif not any(partition.leader is not None for partition in question.cluster.partitions):
        yield "no leader"


RULE = Rule(
    slug="producer-partition",
    title="KafkaProducer's own choice, before appending",
    area=Area.PLACEMENT,
    releases=since("0.10.0.0"),
    question=ProducerPartitionQuestion,
    ask=_ask,
    strategy=lambda: QUESTIONS,
    spaces=(Space("explicit × key × ignore_keys × plugged × four clusters × three draws", every_combination),),
    labels=_labels,
    path=lambda question: next(_labels(question)),
    required_labels=frozenset(
        {"explicit", "explicit, negative", "explicit, not there", "plugged", "plugged, negative", "no key", "empty key"}
        | {"keyed", "keyed, ignore_keys", "no partitions", "no leader"}
    ),
    behaviours=(ProducerPartitionBehaviour, DefaultPartitionerBehaviour),
    domain=domain,
    nearest=nearest,
    plain=plain,
    optional_labels=OPTIONAL_LABELS,
    java=((since("0.10.0.0"), "kafkaoracle.producer_partition.ProducerPartitionRule"),),
    source="KafkaProducer.partition(ProducerRecord, byte[], byte[], Cluster)",
    harness=(
        "Only the private method partition of a closed KafkaProducer is called, with a serialized key; each question "
        "gives the producer a new default partitioner, and the draw or the start of the counter. There is no value, and "
        "the record has no headers and no timestamp."
    ),
    links=(
        "https://cwiki.apache.org/confluence/display/KAFKA/KIP-794",
        "https://issues.apache.org/jira/browse/KAFKA-7572",
    ),
)
