"""The rule ``round-robin-partitioner``: RoundRobinPartitioner, since 2.4.0, a counter per topic, whatever the key."""

from __future__ import annotations

from functools import partial

from kafka_conformance.core.rule import Area, Rule, Space
from kafka_conformance.rules.round_robin_partitioner.adapter import ask_of, explain
from kafka_conformance.rules.round_robin_partitioner.domain import OPTIONAL_LABELS, domain, nearest, plain
from kafka_conformance.rules.round_robin_partitioner.generators import every_small_script, questions
from kafka_conformance.rules.round_robin_partitioner.labels import REQUIRED_LABELS, labels, path
from kafka_conformance.rules.round_robin_partitioner.question import RoundRobinQuestion
from kafka_reference.partitioning.behaviour import PartitionerBehaviour, RoundRobinPartitionerBehaviour
from kafka_reference.partitioning.round_robin import RoundRobinPartitioner
from kafka_reference.releases import since

__all__ = ["RULE"]

_QUESTIONS = questions()

RULE = Rule(
    slug="round-robin-partitioner",
    title="RoundRobinPartitioner: one after the other",
    area=Area.PLACEMENT,
    releases=since("2.4.0"),
    question=RoundRobinQuestion,
    ask=partial(ask_of, RoundRobinPartitioner),
    explain=explain,
    strategy=lambda: _QUESTIONS,
    spaces=(Space("every script of up to 4 of 5 steps × five clusters", every_small_script),),
    labels=labels,
    path=path,
    required_labels=REQUIRED_LABELS,
    domain=domain,
    nearest=nearest,
    plain=plain,
    optional_labels=OPTIONAL_LABELS,
    java=((since("2.4.0"), "kafkaoracle.round_robin_partitioner.RoundRobinRule"),),
    behaviours=(RoundRobinPartitionerBehaviour, PartitionerBehaviour),
    source="RoundRobinPartitioner.partition, and onNewBatch where there is one",
    harness="None; the step new_batch does nothing in a release without Partitioner.onNewBatch.",
    links=(
        "https://issues.apache.org/jira/browse/KAFKA-9965",
        "https://issues.apache.org/jira/browse/KAFKA-13303",
        "https://issues.apache.org/jira/browse/KAFKA-17632",
    ),
)
