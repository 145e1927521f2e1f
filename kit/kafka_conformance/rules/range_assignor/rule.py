"""The rule ``range-assignor``: RangeAssignor, of each topic a range of partitions for each member.

The question is a group, and the topics of the cluster::

    {"topics": {"t": 3, "u": 3},
     "members": [{"id": "a", "instance": null, "rack": "r1", "topics": ["t", "u"], "owned": [], "generation": null},
                 {"id": "b", "rack": "r2", "topics": ["t"]}],
     "racks": {"t": [["r1", "r2"], ["r2"], null]}}

The answer has every member, and its partitions in Java's order::

    {"assignment": {"a": [["t", 0], ["u", 0], ["u", 1], ["u", 2]], "b": [["t", 1], ["t", 2]]}}

The leader of the group assigns: it orders members, since 2.4.0 those with a ``group.instance.id`` first, and gives each the
next partitions of a topic. Since 3.5.0 members with a ``client.rack`` first get partitions with a replica in their rack.
``owned`` and ``generation`` have no effect: the assignor has no memory.
"""

from __future__ import annotations

from collections.abc import Iterator

from kafka_conformance.core.protocol import Answer
from kafka_conformance.core.rule import Area, Rule
from kafka_conformance.rules.common.assignors.adapter import ask_of
from kafka_conformance.rules.common.assignors.explain import explain, parts
from kafka_conformance.rules.common.assignors.generators import groups
from kafka_conformance.rules.common.assignors.labels import (
    COMMON_LABELS,
    RACK_LABELS,
    group_labels,
    group_path,
    rack_labels,
)
from kafka_conformance.rules.common.assignors.question import AssignorQuestion
from kafka_conformance.rules.common.assignors.rule_parts import GROUP_SPACES, HARNESS, RACK_SPACE
from kafka_conformance.rules.range_assignor.domain import OPTIONAL_LABELS, domain, nearest, plain
from kafka_reference.assignment import range as by_ranges
from kafka_reference.assignment.behaviour import RangeAssignorBehaviour
from kafka_reference.releases import Release, since

__all__ = ["RULE"]


def _ask(question: AssignorQuestion, release: Release) -> Answer:
    """Called through the module, so that a mutant can put a mistake into it."""
    return ask_of(by_ranges.range_assignment, question, release)


def _labels(question: AssignorQuestion) -> Iterator[str]:
    yield from group_labels(question)
    yield from rack_labels(question)


def _path(question: AssignorQuestion) -> str:
    """Where releases and clients part ways: at racks, at a topic that a subscription names twice, at names and members."""
    if question.racks and any(member.rack for member in question.members):
        return "racks"
    twice = any(len(set(member.topics)) < len(member.topics) for member in question.members)
    return "a topic twice" if twice else group_path(question) or "same subscriptions"


_QUESTIONS = groups()

RULE = Rule(
    slug="range-assignor",
    title="RangeAssignor: of each topic a range of partitions for each member",
    area=Area.ASSIGNMENT,
    releases=since("0.10.0.0"),
    question=AssignorQuestion,
    ask=_ask,
    strategy=lambda: _QUESTIONS,
    spaces=(*GROUP_SPACES, RACK_SPACE),
    labels=_labels,
    path=_path,
    required_labels=COMMON_LABELS | RACK_LABELS,
    domain=domain,
    nearest=nearest,
    plain=plain,
    optional_labels=OPTIONAL_LABELS,
    explain=explain,
    parts=parts,
    java=((since("0.10.0.0"), "kafkaoracle.range_assignor.RangeAssignorRule"),),
    source="RangeAssignor.assign(Cluster, GroupSubscription), AbstractPartitionAssignor.MemberInfo",
    harness=HARNESS,
    behaviours=(RangeAssignorBehaviour,),
    links=(
        "https://cwiki.apache.org/confluence/display/KAFKA/KIP-881%3A+Rack-aware+Partition+Assignment+for+Kafka+Consumers",
        "https://issues.apache.org/jira/browse/KAFKA-8355",
        "https://issues.apache.org/jira/browse/KAFKA-14451",
        "https://issues.apache.org/jira/browse/KAFKA-14891",
    ),
)
