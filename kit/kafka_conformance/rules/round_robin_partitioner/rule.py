"""The rule ``round-robin-partitioner``: RoundRobinPartitioner, from 2.4.0 on: a counter per topic, whatever the key.

::

    {"cluster": C, "steps": [
        {"op": "partition", "topic": "t"},                       a record is to be placed: {"partition": n}
        {"op": "new_batch", "topic": "t", "previous": 2},        it needs a new batch of that partition: {}
        {"op": "cluster", "cluster": C}]}                        the cluster is another one: {}

A ``partition`` step may carry a ``"key"``, which must not matter. A producer that starts a batch asks for a partition a
second time: that is a new batch and the next ``partition`` of the same topic. To 3.9.1 the counter moves on for it, in
3.9.2 it does not. From 4.0.0 on there is no ``onNewBatch`` and no producer asks twice: the step is taken by doing
nothing, as it was to 3.9.1.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

from hypothesis import strategies as st

from kafka_conformance.core.protocol import Answer, Hex, Question
from kafka_conformance.core.rule import Area, Rule, Space
from kafka_conformance.core.timeline import Explained
from kafka_conformance.rules.common.clusters import AskedCluster, clusters
from kafka_conformance.rules.common.partitioner_steps import NewBatchStep
from kafka_conformance.rules.common.scripts import (
    SMALL_CLUSTERS,
    ClusterStep,
    cluster_labels,
    every_script,
    play,
    renamed,
    spelled,
)
from kafka_conformance.rules.common.scripts_explain import Held, Take, Watched, explain_script
from kafka_reference.partitioning.cluster import Cluster
from kafka_reference.partitioning.round_robin import RoundRobinPartitioner
from kafka_reference.releases import Release, since

__all__ = ["RULE", "RoundRobinQuestion", "RoundRobinStep"]


class RoundRobinStep(Question, frozen=True, tag_field="op", tag="partition", omit_defaults=True):
    """A record is to be placed: its topic, and its serialized key if it has one."""

    topic: str
    key: Hex | None = None


class RoundRobinQuestion(Question, frozen=True):
    """A script; nothing here is random."""

    cluster: AskedCluster
    steps: tuple[RoundRobinStep | NewBatchStep | ClusterStep, ...]


def _taker(partitioner: RoundRobinPartitioner) -> Take:
    def take(step: RoundRobinStep | NewBatchStep, cluster: Cluster) -> Answer:
        if isinstance(step, NewBatchStep):
            if partitioner.has_on_new_batch:
                partitioner.on_new_batch(step.topic, cluster, step.previous)
            return {}
        return {"partition": partitioner.partition(step.topic, cluster)}

    return take


def _ask(question: RoundRobinQuestion, at: Release) -> Answer:
    return play(question.cluster, question.steps, _taker(RoundRobinPartitioner(at)))


def _explain(question: RoundRobinQuestion, at: Release, answers: Sequence[Any]) -> Iterator[Explained]:
    partitioner = RoundRobinPartitioner(at)

    def held() -> Held:
        found: Held = {name: ("next number", number) for name, number in partitioner.counters.items()}
        if partitioner.remembered is not None:
            found[f"announced for {partitioner.remembered[0]}"] = "partition", partitioner.remembered[1]
        return found

    return explain_script(question, answers, Watched(_taker(partitioner), held))


def _placed(question: RoundRobinQuestion) -> Iterator[tuple[RoundRobinStep, str | None]]:
    """Each record, and the topic for which a batch was announced since the record before it, if any."""
    announced = None
    for step in question.steps:
        if isinstance(step, NewBatchStep):
            announced = step.topic
        elif isinstance(step, RoundRobinStep):
            yield step, announced
            announced = None


def _labels(question: RoundRobinQuestion) -> Iterator[str]:
    yield from cluster_labels(question.cluster, question.steps)
    for step, announced in _placed(question):
        if announced is None:
            yield "asked once"
        else:
            yield "asked again" if announced == step.topic else "a batch of another topic"
        if step.key is not None:
            yield "keyed"
    if len({step.topic for step, _ in _placed(question)}) > 1:
        yield "several topics"


def _path(question: RoundRobinQuestion) -> str:
    return "asked again" if any(announced == step.topic for step, announced in _placed(question)) else "asked once"


def _scripts() -> Iterator[RoundRobinQuestion]:
    alphabet: tuple[Any, ...] = (
        RoundRobinStep("t"),
        NewBatchStep("t", 2),
        RoundRobinStep("u", "666f6f"),
        NewBatchStep("u", 0),
        ClusterStep(SMALL_CLUSTERS[3]),
    )
    for cluster, steps in product(SMALL_CLUSTERS, every_script(alphabet, 4)):
        yield RoundRobinQuestion(cluster, steps)


# A byte names one of these; the first are the simplest. Repeats are weights.
_T, _U = RoundRobinStep("t"), RoundRobinStep("u")
_ALPHABET: tuple[RoundRobinStep | NewBatchStep | str, ...] = (
    _T, NewBatchStep("t", 0), _U, _T, NewBatchStep("t", 1), _T, _U, NewBatchStep("u", 0), _T, NewBatchStep("t", 5), _T,
    RoundRobinStep("t", "666f6f"), RoundRobinStep("u", ""), NewBatchStep("t", -1), NewBatchStep("t", 2**31 - 1),
    NewBatchStep("v", 0), "leaderless", "one led", "half led", "all led", "empty", "reversed", "grown", "any",
)  # fmt: skip
_LETTERS = st.binary(min_size=1, max_size=24)
_CLUSTERS = clusters()


@st.composite
def _questions(draw: st.DrawFn) -> RoundRobinQuestion:
    cluster = draw(_CLUSTERS)
    return RoundRobinQuestion(cluster, tuple(renamed(spelled(draw, cluster, _ALPHABET, _LETTERS))))


_QUESTIONS = _questions()

RULE = Rule(
    slug="round-robin-partitioner",
    title="RoundRobinPartitioner: one after the other",
    area=Area.PLACEMENT,
    releases=since("2.4.0"),
    question=RoundRobinQuestion,
    ask=_ask,
    explain=_explain,
    strategy=lambda: _QUESTIONS,
    spaces=(Space("every script of up to 4 of 5 steps × five clusters", _scripts),),
    labels=_labels,
    path=_path,
    required_labels=frozenset(
        {"no partitions", "no leader", "some led", "all led", "the cluster changes", "several topics", "keyed"}
        | {"asked once", "asked again", "a batch of another topic"}
    ),
    java=((since("2.4.0"), "kafkaoracle.round_robin_partitioner.RoundRobinRule"),),
    source="RoundRobinPartitioner.partition, and onNewBatch where there is one",
    harness="None, but that the step new_batch does nothing in a release without Partitioner.onNewBatch.",
    links=(
        "https://issues.apache.org/jira/browse/KAFKA-9965",
        "https://issues.apache.org/jira/browse/KAFKA-13303",
        "https://issues.apache.org/jira/browse/KAFKA-17632",
    ),
)
