"""The rule ``default-partitioner``: DefaultPartitioner, the choice of every producer up to 3.2.x, removed in 4.0.0.

::

    {"seed": 7, "cluster": C, "steps": [
        {"op": "partition", "topic": "t", "key": null},          {"partition": n}
        {"op": "new_batch", "topic": "t", "previous": 2},        {}
        {"op": "cluster", "cluster": C}]}                        {}

A record with a key goes by its hash, in every release. Up to 2.3.x a record without a key goes round, starting at a draw;
since 2.4.0 it goes to the sticky partition of its topic. Before 2.4.0 the step ``new_batch`` does nothing.

Up to 0.10.2.x the round starts at a number from a ``java.util.Random`` of the class: the oracle replaces it by the next draw
of the seed.
"""

from __future__ import annotations

from functools import partial

from kafka_conformance.core.rule import Area, Rule, Space
from kafka_conformance.rules.common.endless import endless_cache
from kafka_conformance.rules.common.partitioner_adapter import ask_of, explain_by
from kafka_conformance.rules.common.partitioner_generators import sticky_questions, sticky_scripts
from kafka_conformance.rules.common.partitioner_labels import REQUIRED_LABELS, sticky_labels
from kafka_conformance.rules.common.partitioner_steps import PartitionStep, StickyQuestion
from kafka_conformance.rules.common.scripts import ClusterStep, stages
from kafka_conformance.rules.default_partitioner.domain import OPTIONAL_LABELS, domain, nearest, plain
from kafka_reference.partitioning.behaviour import DefaultPartitionerBehaviour, PartitionerBehaviour
from kafka_reference.partitioning.default import DefaultPartitioner
from kafka_reference.releases import since

__all__ = ["RULE"]

_QUESTIONS = sticky_questions()


def _path(question: StickyQuestion) -> str:
    """Return what releases differ in: a topic without partitions, and records without a key."""
    taken = [(step, now) for step, now in stages(question.cluster, question.steps) if not isinstance(step, ClusterStep)]
    if not all(now.partitions for _, now in taken):
        return "a topic without partitions"
    return "no key" if any(isinstance(step, PartitionStep) and step.key is None for step, _ in taken) else "keys only"


RULE = Rule(
    slug="default-partitioner",
    title="DefaultPartitioner: a round per topic, later the sticky partition",
    area=Area.PLACEMENT,
    releases=since("0.10.0.0", until="3.9.x"),
    question=StickyQuestion,
    ask=partial(ask_of, DefaultPartitioner),
    explain=partial(explain_by, DefaultPartitioner, True),
    strategy=lambda: _QUESTIONS,
    spaces=(Space("every script of up to 3 of 7 steps × five clusters", sticky_scripts),),
    labels=partial(sticky_labels, keys_matter=True),
    path=_path,
    required_labels=REQUIRED_LABELS,
    behaviours=(DefaultPartitionerBehaviour, PartitionerBehaviour),
    domain=domain,
    endless=endless_cache(partial(ask_of, DefaultPartitioner)),
    nearest=nearest,
    plain=plain,
    optional_labels=OPTIONAL_LABELS,
    java=((since("0.10.0.0", until="3.9.x"), "kafkaoracle.default_partitioner.DefaultPartitionerRule"),),
    source="DefaultPartitioner.partition and onNewBatch; since 2.4.0 StickyPartitionCache.nextPartition",
    harness=(
        "The draws are the question's: the seed of ThreadLocalRandom, and in 0.10 the start of the partitioner's "
        "counter, are set by reflection."
    ),
    links=(
        "https://cwiki.apache.org/confluence/display/KAFKA/KIP-480%3A+Sticky+Partitioner",
        "https://issues.apache.org/jira/browse/KAFKA-10888",
    ),
)
