"""The rule ``uniform-sticky-partitioner``: UniformStickyPartitioner, 2.4.0 to 3.9.x, which sticks whatever the key.

::

    {"seed": 7, "cluster": C, "steps": [
        {"op": "partition", "topic": "t", "key": null},          {"partition": n}
        {"op": "new_batch", "topic": "t", "previous": 2},        {}
        {"op": "cluster", "cluster": C}]}                        {}

The rule is the sticky cache of ``default-partitioner``, for records with a key as well. It is the same in every release that
has it.
"""

from __future__ import annotations

from functools import partial

from kafka_conformance.core.rule import Area, Rule, Space
from kafka_conformance.rules.common.endless import endless_cache
from kafka_conformance.rules.common.partitioner_adapter import ask_of, explain_by
from kafka_conformance.rules.common.partitioner_generators import sticky_questions, sticky_scripts
from kafka_conformance.rules.common.partitioner_labels import REQUIRED_LABELS, sticky_labels
from kafka_conformance.rules.common.partitioner_steps import StickyQuestion
from kafka_conformance.rules.uniform_sticky_partitioner.domain import OPTIONAL_LABELS, domain, nearest, plain
from kafka_reference.partitioning.behaviour import PartitionerBehaviour, UniformStickyPartitionerBehaviour
from kafka_reference.partitioning.default import UniformStickyPartitioner
from kafka_reference.releases import since

__all__ = ["RULE"]

_QUESTIONS = sticky_questions()

RULE = Rule(
    slug="uniform-sticky-partitioner",
    title="UniformStickyPartitioner: the sticky partition, also for records with a key",
    area=Area.PLACEMENT,
    releases=since("2.4.0", until="3.9.x"),
    question=StickyQuestion,
    ask=partial(ask_of, UniformStickyPartitioner),
    explain=partial(explain_by, UniformStickyPartitioner, False),
    strategy=lambda: _QUESTIONS,
    spaces=(Space("every script of up to 3 of 7 steps × five clusters", sticky_scripts),),
    labels=partial(sticky_labels, keys_matter=False),
    path=lambda _: "sticky",
    required_labels=REQUIRED_LABELS,
    behaviours=(UniformStickyPartitionerBehaviour, PartitionerBehaviour),
    domain=domain,
    endless=endless_cache(partial(ask_of, UniformStickyPartitioner)),
    nearest=nearest,
    plain=plain,
    optional_labels=OPTIONAL_LABELS,
    java=((since("2.4.0", until="3.9.x"), "kafkaoracle.uniform_sticky_partitioner.UniformStickyRule"),),
    source="UniformStickyPartitioner.partition and onNewBatch, which are StickyPartitionCache's",
    harness="The draws are the question's: the seed of ThreadLocalRandom is set by reflection.",
    links=(
        "https://cwiki.apache.org/confluence/display/KAFKA/KIP-480%3A+Sticky+Partitioner",
        "https://issues.apache.org/jira/browse/KAFKA-10888",
    ),
)
