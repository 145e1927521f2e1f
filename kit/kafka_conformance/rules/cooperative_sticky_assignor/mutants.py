"""Mistakes in CooperativeStickyAssignor: those of sticky assignment, and in what is withheld."""

from __future__ import annotations

from typing import Any

from kafka_conformance.core.protocol import Answer
from kafka_conformance.rules.common.sticky.mutants import KAFKA, StickyMutants
from kafka_conformance.rules.cooperative_sticky_assignor.rule import RULE
from kafka_reference.assignment import sticky
from kafka_reference.assignment.sticky_behaviour import CooperativeStickyAssignorBehaviour
from kafka_reference.releases import Release

__all__ = ["MUTANTS"]

_MAKE = StickyMutants(RULE.slug, "cooperative")
_ASSIGN, _TRANSFERRED = sticky._assign, sticky.transferred_partitions  # noqa: SLF001


def _nothing_withheld(group: Any, *, cooperative: bool) -> Any:
    return _ASSIGN(group, cooperative=cooperative)[0], {}


def _compared(group: Any, *, cooperative: bool) -> Any:
    return _ASSIGN(group, cooperative=cooperative)[0], None


def _all_new(group: Any, assignment: Any) -> Any:
    owned = {each for member in group.members for each in member.owned}
    return {
        each: member.id
        for member in group.members
        for each in assignment[member.id]
        if each not in member.owned and each not in owned
    } | _TRANSFERRED(group, assignment)


def _of_any_owner(group: Any, assignment: Any) -> Any:
    """A member does not yet get a partition that another member claims, even if it owned the partition as well."""
    return {
        each: member.id
        for member in group.members
        for each in assignment[member.id]
        if any(each in other.owned for other in group.members if other is not member)
    }


def _stays_with_owner(question: Any, release: Release) -> Answer:
    answer = RULE.ask(question, release)
    if "assignment" not in answer:
        return answer
    taken = {tuple(one) for owned in answer["assignment"].values() for one in owned}
    for member in question.members:
        back = [one for one in member.owned if one not in taken and one[1] < question.topics.get(one[0], 0)]
        answer["assignment"][member.id] += [list(one) for one in back]
        taken.update(back)
    return answer


_SARAMA = "https://github.com/IBM/sarama/pull/3671"

MUTANTS = (
    *_MAKE.all(),
    _MAKE.mutant("nothing-withheld", "partitions go to the new owner at once",
                 _MAKE.but(sticky, _assign=_nothing_withheld), "4.4.0", f"{KAFKA}6963", _SARAMA),
    _MAKE.mutant("all-new-withheld", "with different subscriptions, partitions that nobody owned are withheld",
                 _MAKE.but(sticky, transferred_partitions=_all_new), "4.4.0", f"{KAFKA}7130"),
    _MAKE.mutant("own-withheld", "with different subscriptions, a member waits for a partition that it owned, too",
                 _MAKE.but(sticky, transferred_partitions=_of_any_owner), "4.4.0"),
    _MAKE.mutant("withheld-stays", "what is withheld stays with its owner", _stays_with_owner, "4.4.0", f"{KAFKA}7130"),
    _MAKE.mutant("always-compared", "what is withheld follows from old and new owners alone",
                 _MAKE.but(sticky, _assign=_compared), "3.6.2", f"{KAFKA}8668"),
    _MAKE.mutant("returned-withheld", "a partition that returns to its owner is withheld (KAFKA-15170)",
                 _MAKE.behaving(returned_partition_is_no_transfer=False), "4.4.0", f"{KAFKA}13965"),
    _MAKE.mutant("mismatch-not-withheld", "a partition given up for its rack is not withheld (KAFKA-15170)",
                 _MAKE.behaving(withholds_mismatched_racks=False), "4.4.0", f"{KAFKA}13965"),
    _MAKE.mutant("generation-unread", "generations are not read (KAFKA-12984)",
                 _MAKE.behaving(CooperativeStickyAssignorBehaviour, reads_generation=False,
                                reads_generation_of_subscription=False), "4.4.0", f"{KAFKA}10985",
                 "https://github.com/confluentinc/librdkafka/pull/2939"),
)  # fmt: skip
