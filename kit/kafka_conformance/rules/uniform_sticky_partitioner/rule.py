"""The rule ``uniform-sticky-partitioner``: UniformStickyPartitioner, 2.4.0 to 3.9.x, which sticks whatever the key.

The form is that of ``sticky_steps``. It is the sticky half of ``default-partitioner``, for records with a key as well,
and the same in every release that has it.
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
from kafka_conformance.rules.common.scripts import play
from kafka_conformance.rules.common.scripts_explain import Held, Take, Watched, explain_script
from kafka_reference.partitioning.cluster import Cluster
from kafka_reference.partitioning.default import UniformStickyPartitioner
from kafka_reference.releases import Release, since

__all__ = ["RULE"]


def _taker(partitioner: UniformStickyPartitioner) -> Take:
    def take(step: PartitionStep | NewBatchStep, cluster: Cluster) -> Answer:
        if isinstance(step, NewBatchStep):
            partitioner.on_new_batch(step.topic, cluster, step.previous)
            return {}
        key = None if step.key is None else bytes.fromhex(step.key)
        return {"partition": partitioner.partition(step.topic, key, cluster)}

    return take


def _ask(question: StickyQuestion, at: Release) -> Answer:
    return play(question.cluster, question.steps, _taker(UniformStickyPartitioner(at, question.draws())))


def _explain(question: StickyQuestion, at: Release, answers: Sequence[Any]) -> Iterator[Explained]:
    draws = question.draws()
    partitioner = UniformStickyPartitioner(at, draws)

    def held() -> Held:
        return {name: ("partition", number) for name, number in partitioner.held.items()}

    return explain_script(question, answers, Watched(_taker(partitioner), held, lambda: draws.used))


def _labels(question: StickyQuestion) -> Iterator[str]:
    return sticky_labels(question, keys_matter=False)


_QUESTIONS = sticky_questions()

RULE = Rule(
    slug="uniform-sticky-partitioner",
    title="UniformStickyPartitioner: the sticky partition, also for records with a key",
    area=Area.PLACEMENT,
    releases=since("2.4.0", until="3.9.99"),
    question=StickyQuestion,
    ask=_ask,
    explain=_explain,
    strategy=lambda: _QUESTIONS,
    spaces=(Space("every script of up to 3 of 7 steps × five clusters", sticky_scripts),),
    labels=_labels,
    path=lambda _: "sticky",
    required_labels=REQUIRED_LABELS,
    java=((since("2.4.0", until="3.9.99"), "kafkaoracle.uniform_sticky_partitioner.UniformStickyRule"),),
    source="UniformStickyPartitioner.partition and onNewBatch, which are StickyPartitionCache's",
    harness="The draws are the question's: the seed of ThreadLocalRandom is set by reflection.",
    links=(
        "https://cwiki.apache.org/confluence/display/KAFKA/KIP-480%3A+Sticky+Partitioner",
        "https://issues.apache.org/jira/browse/KAFKA-10888",
    ),
)
