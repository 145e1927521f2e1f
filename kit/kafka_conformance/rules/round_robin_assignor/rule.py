"""The rule ``round-robin-assignor``: RoundRobinAssignor, the partitions of all topics dealt out in turn.

The question is a group, and the topics of the cluster::

    {"topics": {"t": 3, "u": 1},
     "members": [{"id": "a", "instance": null, "rack": null, "topics": ["t", "u"], "owned": [], "generation": null},
                 {"id": "b", "topics": ["t"]}],
     "racks": null}

The answer has every member, and its partitions in Java's order::

    {"assignment": {"a": [["t", 0], ["t", 2], ["u", 0]], "b": [["t", 1]]}}

Partitions go out by the name of the topic and by number, to the members in a circle: in the order of their ids, since 2.4.0
those with a ``group.instance.id`` first. Who does not subscribe to the topic is skipped. ``rack``, ``racks``, ``owned`` and
``generation`` have no effect.
"""

from __future__ import annotations

from collections.abc import Iterator

from kafka_conformance.core.protocol import Answer
from kafka_conformance.core.rule import Area, Rule
from kafka_conformance.rules.common.assignors.adapter import ask_of
from kafka_conformance.rules.common.assignors.explain import explain, parts
from kafka_conformance.rules.common.assignors.generators import groups
from kafka_conformance.rules.common.assignors.labels import COMMON_LABELS, group_labels, group_path
from kafka_conformance.rules.common.assignors.question import AssignorQuestion
from kafka_conformance.rules.common.assignors.rule_parts import GROUP_SPACES, HARNESS
from kafka_conformance.rules.round_robin_assignor.domain import OPTIONAL_LABELS, domain, nearest, plain
from kafka_reference.assignment import round_robin
from kafka_reference.assignment.behaviour import RoundRobinAssignorBehaviour
from kafka_reference.releases import Release, since

__all__ = ["RULE"]


def _ask(question: AssignorQuestion, release: Release) -> Answer:
    """Called through the module, so that a mutant can put a mistake into it."""
    return ask_of(round_robin.round_robin_assignment, question, release)


def _labels(question: AssignorQuestion) -> Iterator[str]:
    yield from group_labels(question)
    if any(member.rack for member in question.members):
        yield "racks of members"


def _path(question: AssignorQuestion) -> str:
    """Where releases and clients part ways: at names, at static members, at subscriptions, at a second digit."""
    digits = ", more than 10 partitions" if any(count > 10 for count in question.topics.values()) else ""
    return (group_path(question) or "same subscriptions") + digits


_QUESTIONS = groups()

RULE = Rule(
    slug="round-robin-assignor",
    title="RoundRobinAssignor: the partitions of all topics, dealt out in turn",
    area=Area.ASSIGNMENT,
    releases=since("0.10.0.0"),
    question=AssignorQuestion,
    ask=_ask,
    strategy=lambda: _QUESTIONS,
    spaces=GROUP_SPACES,
    labels=_labels,
    path=_path,
    required_labels=COMMON_LABELS | {"racks of members"},
    domain=domain,
    nearest=nearest,
    plain=plain,
    optional_labels=OPTIONAL_LABELS,
    explain=explain,
    parts=parts,
    java=((since("0.10.0.0"), "kafkaoracle.round_robin_assignor.RoundRobinAssignorRule"),),
    source="RoundRobinAssignor.assign(Cluster, GroupSubscription), AbstractPartitionAssignor.MemberInfo",
    harness=HARNESS,
    behaviours=(RoundRobinAssignorBehaviour,),
    links=(
        "https://cwiki.apache.org/confluence/pages/viewpage.action?pageId=89070828",
        "https://issues.apache.org/jira/browse/KAFKA-8356",
    ),
)
