"""The rule ``sticky-assignor``, StickyAssignor: a balanced assignment in which partitions stay where they are.

The question is a group with what each member owned, and the topics of the cluster::

    {"topics": {"t": 3},
     "members": [{"id": "a", "rack": null, "topics": ["t"], "owned": [["t", 2], ["t", 1], ["t", 0]], "generation": 5},
                 {"id": "b", "topics": ["t"]}],
     "racks": null}

The answer has every member, and its partitions in Java's order; what a member owned comes first::

    {"assignment": {"a": [["t", 0], ["t", 1]], "b": [["t", 2]]}}

The leader of the group assigns. Members keep what they own as far as their shares allow; since 2.5.1, groups whose
subscriptions are equal share by quotas, others are balanced by moving partitions. ``owned`` and ``generation`` travel in the
user data of StickyAssignor, since 3.4.0 also in the subscription. A member that owns partitions and has no generation is one
of a release before 2.3.0. Since 3.5.0 members get partitions with a replica in their ``rack``, where shares allow it.
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
from kafka_reference.assignment.sticky_behaviour import StickyAssignorBehaviour
from kafka_reference.releases import Release, since

__all__ = ["RULE"]


def _ask(question: AssignorQuestion, release: Release) -> Answer:
    """Called through the module, so that a mutant can put a mistake into it."""
    return ask_of(sticky.sticky_assignment, question, release)


_QUESTIONS = sticky_groups()

RULE = Rule(
    slug="sticky-assignor",
    title="StickyAssignor: a balanced assignment in which partitions stay where they are",
    area=Area.ASSIGNMENT,
    releases=since("0.11.0.0"),
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
    java=((since("0.11.0.0"), "kafkaoracle.sticky_assignor.StickyAssignorRule"),),
    source="StickyAssignor, AbstractStickyAssignor",
    harness=HARNESS
    + " Of a member without a generation that owns partitions, the generation is cut off the user data.",
    behaviours=(StickyAssignorBehaviour,),
    # StickyAssignor withholds nothing.
    unobservable=frozenset(
        {
            "StickyAssignorBehaviour.returned_partition_is_no_transfer",
            "StickyAssignorBehaviour.withholds_mismatched_racks",
        }
    ),
    links=(
        "https://cwiki.apache.org/confluence/display/KAFKA/KIP-54+-+Sticky+Partition+Assignment+Strategy",
        "https://cwiki.apache.org/confluence/display/KAFKA/KIP-881%3A+Rack-aware+Partition+Assignment+for+Kafka+Consumers",
        "https://issues.apache.org/jira/browse/KAFKA-9987",
        "https://issues.apache.org/jira/browse/KAFKA-12984",
        "https://issues.apache.org/jira/browse/KAFKA-14639",
        "https://issues.apache.org/jira/browse/KAFKA-15170",
    ),
)
