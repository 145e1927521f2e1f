"""The rule ``sticky-distribution``: where many records without a key go, with the producer's loop around the partitioner.

Whether the counts are those that the rule predicts over many seeds is another question, which the command ``skew`` asks.
"""

from __future__ import annotations

from kafka_conformance.core.rule import Area, Rule, Space
from kafka_conformance.rules.sticky_distribution.adapter import ask
from kafka_conformance.rules.sticky_distribution.domain import OPTIONAL_LABELS, domain, endless, nearest, plain
from kafka_conformance.rules.sticky_distribution.generators import every_small_question, questions
from kafka_conformance.rules.sticky_distribution.labels import REQUIRED_LABELS, labels, path
from kafka_conformance.rules.sticky_distribution.question import StickyDistributionQuestion
from kafka_reference.partitioning.behaviour import (
    BuiltInPartitionerBehaviour,
    DefaultPartitionerBehaviour,
    PartitionerBehaviour,
    RoundRobinPartitionerBehaviour,
    UniformStickyPartitionerBehaviour,
)
from kafka_reference.releases import since

__all__ = ["RULE"]

_QUESTIONS = questions()

RULE = Rule(
    slug="sticky-distribution",
    title="Many records without a key: how each era's partitioner spreads them",
    area=Area.PLACEMENT,
    releases=since("0.10.0.0"),
    question=StickyDistributionQuestion,
    ask=ask,
    strategy=lambda: _QUESTIONS,
    spaces=(
        Space(
            "four partitioners × five clusters × four batch sizes × five paces × queue sizes or none",
            every_small_question,
        ),
    ),
    labels=labels,
    path=path,
    required_labels=REQUIRED_LABELS,
    domain=domain,
    endless=endless,
    nearest=nearest,
    plain=plain,
    optional_labels=OPTIONAL_LABELS,
    java=((since("0.10.0.0"), "kafkaoracle.sticky_distribution.StickyDistributionRule"),),
    behaviours=(
        PartitionerBehaviour,
        DefaultPartitionerBehaviour,
        UniformStickyPartitionerBehaviour,
        RoundRobinPartitionerBehaviour,
        BuiltInPartitionerBehaviour,
    ),
    source="KafkaProducer.doSend and RecordAccumulator.append, around the real partitioners",
    harness=(
        "The loop of KafkaProducer.doSend and RecordAccumulator.append around Kafka's partitioner is the kit's, with "
        "batches reduced to counts: they are full at a number of records and drained at an age in records."
    ),
    links=(
        "https://issues.apache.org/jira/browse/KAFKA-10888",
        "https://issues.apache.org/jira/browse/KAFKA-9965",
        "https://cwiki.apache.org/confluence/display/KAFKA/KIP-480%3A+Sticky+Partitioner",
        "https://cwiki.apache.org/confluence/display/KAFKA/KIP-794%3A+Strictly+Uniform+Sticky+Partitioner",
    ),
)
