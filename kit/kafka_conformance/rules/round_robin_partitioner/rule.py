"""The rule ``round-robin-partitioner``: RoundRobinPartitioner, since 2.4.0, a counter per topic, whatever the key."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import product
from typing import Any

from kafka_conformance.core.protocol import Answer
from kafka_conformance.core.rule import Area, Rule, Space
from kafka_conformance.core.step import labels_of, play
from kafka_conformance.core.timeline import Explained
from kafka_conformance.rules.common.scripts import SMALL_CLUSTERS, cluster_labels, every_script
from kafka_conformance.rules.common.scripts_explain import Held, Watched, explain_script
from kafka_conformance.rules.round_robin_partitioner.domain import OPTIONAL_LABELS, domain, nearest, plain
from kafka_conformance.rules.round_robin_partitioner.steps import (
    AnyStep,
    ClusterChange,
    History,
    NewBatch,
    RoundRobinQuestion,
    RoundRobinStep,
    announced_topic,
    questions,
)
from kafka_reference.partitioning.behaviour import PartitionerBehaviour, RoundRobinPartitionerBehaviour
from kafka_reference.partitioning.round_robin import RoundRobinPartitioner
from kafka_reference.releases import Release, since

__all__ = ["RULE", "ask_of"]

_QUESTIONS = questions()
_REQUIRED_LABELS = frozenset(
    {"no partitions", "no leader", "some led", "all led", "the cluster changes", "several topics", "keyed"}
    | {"asked once", "asked again", "a batch of another topic"}
)


def ask_of(make: Callable[[Release], RoundRobinPartitioner], question: RoundRobinQuestion, release: Release) -> Answer:
    """Return the answer of a partitioner made by ``make``."""
    return play(History(make(release), question.cluster), question.steps)


def _every_small_script() -> Iterator[RoundRobinQuestion]:
    """Return every script of up to 4 of 5 steps, on five clusters."""
    steps: tuple[AnyStep, ...] = (
        RoundRobinStep("t"),
        NewBatch("t", 2),
        RoundRobinStep("u", "666f6f"),
        NewBatch("u", 0),
        ClusterChange(SMALL_CLUSTERS[3]),
    )
    for cluster, script in product(SMALL_CLUSTERS, every_script(steps, 4)):
        yield RoundRobinQuestion(cluster, script)


def _labels(question: RoundRobinQuestion) -> Iterator[str]:
    """Return the kinds of clusters and of calls in a question."""
    yield from cluster_labels(question.cluster, ())
    yield from labels_of(question.steps)


def _path(question: RoundRobinQuestion) -> str:
    """Return what releases differ in: whether the producer calls ``partition()`` a second time for a record."""
    again = (
        isinstance(step, RoundRobinStep) and announced_topic(question.steps[:place]) == step.topic
        for place, step in enumerate(question.steps)
    )
    return "asked again" if any(again) else "asked once"


def _explain(question: RoundRobinQuestion, release: Release, answers: Sequence[Any]) -> Iterator[Explained]:
    """Return the timeline of a question with the given answers."""
    history = History(RoundRobinPartitioner(release), question.cluster)

    def held() -> Held:
        found: Held = {name: ("next number", number) for name, number in history.partitioner.counters.items()}
        if history.partitioner.remembered is not None:
            found[f"announced for {history.partitioner.remembered[0]}"] = "partition", history.partitioner.remembered[1]
        return found

    return explain_script(question, answers, Watched(lambda step, _: step.take(history), held))


RULE = Rule(
    slug="round-robin-partitioner",
    title="RoundRobinPartitioner: one after the other",
    area=Area.PLACEMENT,
    releases=since("2.4.0"),
    question=RoundRobinQuestion,
    ask=partial(ask_of, RoundRobinPartitioner),
    explain=_explain,
    strategy=lambda: _QUESTIONS,
    spaces=(Space("every script of up to 4 of 5 steps × five clusters", _every_small_script),),
    labels=_labels,
    path=_path,
    required_labels=_REQUIRED_LABELS,
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
