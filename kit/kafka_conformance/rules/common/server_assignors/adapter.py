"""Questions to a server-side assignor of the reference."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from kafka_conformance.core.protocol import Answer
from kafka_conformance.rules.common.server_assignors.question import ServerAssignorQuestion, members_of, topics_of
from kafka_reference.assignment.members import java_order
from kafka_reference.assignment.server.behaviour import TargetAssignmentBuilderBehaviour
from kafka_reference.assignment.server.group import Group, Targets, group_of
from kafka_reference.releases import Release

__all__ = ["ServerAssignor", "ask_of", "group_of"]

ServerAssignor: TypeAlias = Callable[[Group], Targets]
"""An assignor of one release."""


def ask_of(assignor: ServerAssignor, question: ServerAssignorQuestion, release: Release) -> Answer:
    """Return the answer of ``assignor``: the reference's own, or one with a mistake."""
    builder = TargetAssignmentBuilderBehaviour.of(release)
    homogeneous = None if question.subscription is None else question.subscription == "homogeneous"
    topics = topics_of(question)
    targets = assignor(group_of(builder, topics, members_of(question), homogeneous))
    names = {topic.id: topic.name for topic in topics}
    return {
        "assignment": {
            member.id: [
                list(partition)
                for partition in sorted(
                    (
                        (names[topic], number)
                        for topic, numbers in targets.get(member.id, {}).items()
                        for number in numbers
                    ),
                    key=lambda partition: (java_order(partition[0]), partition[1]),
                )
            ]
            for member in question.members
        }
    }
