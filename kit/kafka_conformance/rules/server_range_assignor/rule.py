"""The rule ``server-range-assignor``: the coordinator's RangeAssignor, of each topic a share for each of its members.

The question is a group with its last target assignment, and the topics of the cluster::

    {"topics": [{"name": "t", "id": "AAAAAAAAAAAAAAAAAAAAAg", "partitions": 3}],
     "members": [{"id": "a", "instance": null, "rack": null, "topics": ["t"], "assigned": [["t", 2]]},
                 {"id": "b", "topics": ["t"]}]}

The answer has every member, and its partitions sorted::

    {"assignment": {"a": [["t", 0], ["t", 1]], "b": [["t", 2]]}}

Since 3.9.0 a share is one range, whatever the member had before; up to 3.8.x members keep old partitions up to their share.
"""

from __future__ import annotations

from kafka_conformance.core.protocol import Answer
from kafka_conformance.core.rule import Area, Rule
from kafka_conformance.rules.common.server_assignors.adapter import ask_of
from kafka_conformance.rules.common.server_assignors.domain import OPTIONAL_LABELS, domain, nearest, plain
from kafka_conformance.rules.common.server_assignors.explain import explain, parts
from kafka_conformance.rules.common.server_assignors.generators import groups
from kafka_conformance.rules.common.server_assignors.labels import LABELS, group_labels, path
from kafka_conformance.rules.common.server_assignors.question import ServerAssignorQuestion
from kafka_conformance.rules.common.server_assignors.rule_parts import HARNESS, LINKS, SPACES
from kafka_reference.assignment.server import range as by_ranges
from kafka_reference.assignment.server.behaviour import (
    SERVER_RANGE,
    ServerRangeAssignorBehaviour,
    TargetAssignmentBuilderBehaviour,
)
from kafka_reference.releases import Release

__all__ = ["RULE"]


def _ask(question: ServerAssignorQuestion, release: Release) -> Answer:
    """Called through the module, so that a mutant can put a mistake into it."""
    behaviour = ServerRangeAssignorBehaviour.of(release)
    return ask_of(lambda group: by_ranges.assign_ranges(behaviour, group), question, release)


_QUESTIONS = groups()

RULE = Rule(
    slug="server-range-assignor",
    title="RangeAssignor of the group coordinator: of each topic a share for each of its members",
    area=Area.ASSIGNMENT,
    releases=SERVER_RANGE,
    question=ServerAssignorQuestion,
    ask=_ask,
    strategy=lambda: _QUESTIONS,
    spaces=SPACES,
    labels=group_labels,
    path=path,
    required_labels=LABELS,
    domain=domain,
    nearest=nearest,
    plain=plain,
    optional_labels=OPTIONAL_LABELS,
    explain=explain,
    parts=parts,
    java=((SERVER_RANGE, "kafkaoracle.server_range_assignor.ServerRangeAssignorRule"),),
    broker=True,
    source="org.apache.kafka.coordinator.group.assignor.RangeAssignor.assign",
    harness=HARNESS,
    behaviours=(ServerRangeAssignorBehaviour, TargetAssignmentBuilderBehaviour),
    # The order of a member's topics decides nothing: each topic is divided separately.
    unobservable=frozenset({"TargetAssignmentBuilderBehaviour.topics_by_name"}),
    links=(*LINKS, "https://issues.apache.org/jira/browse/KAFKA-16944"),
)
