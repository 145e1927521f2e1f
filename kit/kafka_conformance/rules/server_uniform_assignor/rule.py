"""The rule ``server-uniform-assignor``: the coordinator's UniformAssignor, of all partitions an even share for each member.

The question is a group with its last target assignment, and the topics of the cluster::

    {"topics": [{"name": "t", "id": "AAAAAAAAAAAAAAAAAAAAAg", "partitions": 3}],
     "members": [{"id": "a", "instance": null, "rack": null, "topics": ["t"], "assigned": [["t", 2]]},
                 {"id": "b", "topics": ["t"]}]}

The answer has every member, and its partitions sorted::

    {"assignment": {"a": [["t", 2]], "b": [["t", 0], ["t", 1]]}}

Groups whose members all subscribe to the same topics, and other groups, have an algorithm each. Which partitions a member
loses, and which ones it gets, follows the order of Java's hash maps.
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
from kafka_reference.assignment.server import uniform
from kafka_reference.assignment.server.behaviour import (
    SERVER_UNIFORM,
    TargetAssignmentBuilderBehaviour,
    UniformAssignorBehaviour,
)
from kafka_reference.releases import Release

__all__ = ["RULE"]


def _ask(question: ServerAssignorQuestion, release: Release) -> Answer:
    """Called through the module, so that a mutant can put a mistake into it."""
    behaviour = UniformAssignorBehaviour.of(release)
    return ask_of(lambda group: uniform.assign_evenly(behaviour, group), question, release)


_QUESTIONS = groups()

RULE = Rule(
    slug="server-uniform-assignor",
    title="UniformAssignor of the group coordinator: of all partitions an even share for each member",
    area=Area.ASSIGNMENT,
    releases=SERVER_UNIFORM,
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
    java=((SERVER_UNIFORM, "kafkaoracle.server_uniform_assignor.ServerUniformAssignorRule"),),
    broker=True,
    source="org.apache.kafka.coordinator.group.assignor.UniformAssignor.assign and its builders",
    harness=HARNESS,
    behaviours=(UniformAssignorBehaviour, TargetAssignmentBuilderBehaviour),
    links=(
        *LINKS,
        "https://issues.apache.org/jira/browse/KAFKA-16864",
        "https://issues.apache.org/jira/browse/KAFKA-16930",
        "https://issues.apache.org/jira/browse/KAFKA-17710",
    ),
)
