"""The rule ``default-partitioner``: DefaultPartitioner, the choice of every producer to 3.2.x, removed in 4.0.0.

The form is that of ``sticky_steps``. To 2.3.x a record without a key takes part in a round that starts at a draw; from
2.4.0 on it goes to the partition the topic sticks to. A record with a key goes by its hash, in every release.

To 0.10.2.x the start of the round comes from a ``java.util.Random`` of the class's own: the oracle puts in there what
the seed draws next, at the moment it is needed. Before 2.4.0 a new batch is ``{}`` and nothing more.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from kafka_conformance.core.protocol import Answer
from kafka_conformance.core.rule import Area, Rule, Space
from kafka_conformance.core.timeline import Explained
from kafka_conformance.rules.common.partitioner_steps import (
    REQUIRED_LABELS,
    NewBatchStep,
    PartitionStep,
    StickyQuestion,
    sticky_labels,
    sticky_questions,
    sticky_scripts,
)
from kafka_conformance.rules.common.scripts import ClusterStep, play, stages
from kafka_conformance.rules.common.scripts_explain import Held, Take, Watched, explain_script
from kafka_reference.partitioning.cluster import Cluster
from kafka_reference.partitioning.default import DefaultPartitioner
from kafka_reference.releases import Release, since

__all__ = ["RULE"]


def _taker(partitioner: DefaultPartitioner) -> Take:
    def take(step: PartitionStep | NewBatchStep, cluster: Cluster) -> Answer:
        if isinstance(step, NewBatchStep):
            if partitioner.has_on_new_batch:
                partitioner.on_new_batch(step.topic, cluster, step.previous)
            return {}
        key = None if step.key is None else bytes.fromhex(step.key)
        return {"partition": partitioner.partition(step.topic, key, cluster)}

    return take


def _ask(question: StickyQuestion, at: Release) -> Answer:
    return play(question.cluster, question.steps, _taker(DefaultPartitioner(at, question.draws())))


def _explain(question: StickyQuestion, at: Release, answers: Sequence[Any]) -> Iterator[Explained]:
    draws = question.draws()
    partitioner = DefaultPartitioner(at, draws)

    def held() -> Held:
        return {
            **{name: ("next number", number) for name, number in partitioner.counters.items()},
            **{name: ("partition", number) for name, number in partitioner.held.items()},
        }

    return explain_script(question, answers, Watched(_taker(partitioner), held, lambda: draws.used, keys_matter=True))


def _labels(question: StickyQuestion) -> Iterator[str]:
    return sticky_labels(question, keys_matter=True)


def _path(question: StickyQuestion) -> str:
    """Where releases part ways: at a topic without partitions, and at records without a key."""
    taken = [(step, now) for step, now in stages(question.cluster, question.steps) if not isinstance(step, ClusterStep)]
    if not all(now.partitions for _, now in taken):
        return "a topic without partitions"
    return "no key" if any(isinstance(step, PartitionStep) and step.key is None for step, _ in taken) else "keys only"


_QUESTIONS = sticky_questions()

RULE = Rule(
    slug="default-partitioner",
    title="DefaultPartitioner: a round per topic, later the sticky partition",
    area=Area.PLACEMENT,
    releases=since("0.10.0.0", until="3.9.99"),
    question=StickyQuestion,
    ask=_ask,
    explain=_explain,
    strategy=lambda: _QUESTIONS,
    spaces=(Space("every script of up to 3 of 7 steps × five clusters", sticky_scripts),),
    labels=_labels,
    path=_path,
    required_labels=REQUIRED_LABELS,
    java=((since("0.10.0.0", until="3.9.99"), "kafkaoracle.default_partitioner.DefaultPartitionerRule"),),
    source="DefaultPartitioner.partition and onNewBatch; from 2.4.0 StickyPartitionCache.nextPartition",
    harness=(
        "The draws are the question's: the seed of ThreadLocalRandom, and in 0.10 the start of the partitioner's "
        "counter, are set by reflection."
    ),
    links=(
        "https://cwiki.apache.org/confluence/display/KAFKA/KIP-480%3A+Sticky+Partitioner",
        "https://issues.apache.org/jira/browse/KAFKA-10888",
    ),
)
