"""The rule ``cooperative-sticky-assignor``, CooperativeStickyAssignor: a sticky assignment without what others still own.

The question is a group with what each member owned, and the topics of the cluster::

    {"topics": {"t": 3},
     "members": [{"id": "a", "rack": null, "topics": ["t"], "owned": [["t", 2], ["t", 1], ["t", 0]], "generation": 5},
                 {"id": "b", "topics": ["t"]}],
     "racks": null}

The answer has every member, and its partitions in Java's order. No member gets partition 2 until member a has given it up::

    {"assignment": {"a": [["t", 0], ["t", 1]], "b": []}}

The leader of the group assigns as with StickyAssignor, then withholds each partition that another member still owns: no
member gets it in this rebalance. ``owned`` are the owned partitions of the subscription; ``generation`` has an effect since
2.8.1, in user data, and since 3.4.0 in the subscription. A member that owns partitions and has no generation is one of a
release before 2.8.1. Since 3.5.0 members get partitions with a replica in their ``rack``, where shares allow it.
"""

from __future__ import annotations

from kafka_conformance.core.protocol import Answer
from kafka_conformance.core.rule import Area, Rule
from kafka_conformance.rules.common.assignors.adapter import ask_of
from kafka_conformance.rules.common.assignors.domain import domain, nearest
from kafka_conformance.rules.common.assignors.explain import explain, parts
from kafka_conformance.rules.common.assignors.question import AssignorQuestion
from kafka_conformance.rules.common.assignors.rule_parts import HARNESS
from kafka_conformance.rules.common.sticky.domain import OPTIONAL_LABELS, plain
from kafka_conformance.rules.common.sticky.generators import sticky_groups
from kafka_conformance.rules.common.sticky.labels import STICKY_LABELS, sticky_labels, sticky_path
from kafka_conformance.rules.common.sticky.spaces import STICKY_SPACES
from kafka_reference.assignment import sticky
from kafka_reference.assignment.sticky_behaviour import CooperativeStickyAssignorBehaviour, StickyAssignorBehaviour
from kafka_reference.releases import Release, since

__all__ = ["RULE"]


def _ask(question: AssignorQuestion, release: Release) -> Answer:
    """Called through the module, so that a mutant can put a mistake into it."""
    return ask_of(sticky.cooperative_sticky_assignment, question, release)


_QUESTIONS = sticky_groups()

RULE = Rule(
    slug="cooperative-sticky-assignor",
    title="CooperativeStickyAssignor: a sticky assignment without what others still own",
    area=Area.ASSIGNMENT,
    releases=since("2.4.0"),
    question=AssignorQuestion,
    ask=_ask,
    strategy=lambda: _QUESTIONS,
    spaces=STICKY_SPACES,
    labels=sticky_labels,
    path=sticky_path,
    required_labels=STICKY_LABELS,
    domain=domain,
    nearest=nearest,
    plain=plain,
    optional_labels=OPTIONAL_LABELS,
    explain=explain,
    parts=parts,
    java=((since("2.4.0"), "kafkaoracle.cooperative_sticky_assignor.CooperativeStickyAssignorRule"),),
    source="CooperativeStickyAssignor, AbstractStickyAssignor",
    harness=HARNESS
    + " Of a member without a generation that owns partitions, the generation is cut off the user data.",
    behaviours=(CooperativeStickyAssignorBehaviour, StickyAssignorBehaviour),
    # User data hold nothing but the generation.
    shows_with={
        "StickyAssignorBehaviour.user_data_is_read_once": "CooperativeStickyAssignorBehaviour.reads_generation",
    },
    links=(
        "https://cwiki.apache.org/confluence/display/KAFKA/KIP-429%3A+Kafka+Consumer+Incremental+Rebalance+Protocol",
        "https://cwiki.apache.org/confluence/display/KAFKA/KIP-881%3A+Rack-aware+Partition+Assignment+for+Kafka+Consumers",
        "https://issues.apache.org/jira/browse/KAFKA-9987",
        "https://issues.apache.org/jira/browse/KAFKA-12984",
        "https://issues.apache.org/jira/browse/KAFKA-14639",
        "https://issues.apache.org/jira/browse/KAFKA-15170",
    ),
)
