"""Mistakes in StickyAssignor: those of sticky assignment, and in what user data say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from kafka_conformance.rules.common.sticky.mutants import KAFKA, StickyMutants
from kafka_conformance.rules.sticky_assignor.rule import RULE
from kafka_reference.assignment import sticky_claims
from kafka_reference.assignment.members import Member, TopicPartition
from kafka_reference.assignment.sticky_claims import Claim
from kafka_reference.assignment.sticky_general import BalancedAssignment

__all__ = ["MUTANTS"]

_MAKE = StickyMutants(RULE.slug, "sticky")
_READ = sticky_claims.claim_in_user_data


def _ungrouped(member: Member, behaviour: Any) -> Claim:
    claim = _READ(member, behaviour)
    return Claim(member.owned, claim.generation, claim.subscription_generation, claim.sent)


_MOVE = BalancedAssignment._move  # noqa: SLF001


def _moved_for_good(balanced: BalancedAssignment, partitions: Sequence[TopicPartition]) -> bool:
    _MOVE(balanced, partitions)
    return False


MUTANTS = (
    *_MAKE.all(),
    _MAKE.mutant("data-ungrouped", "user data list partitions in the order of the assignment",
                 _MAKE.but(sticky_claims, claim_in_user_data=_ungrouped), "3.6.2"),
    _MAKE.mutant("topics-from-the-back", "user data list topics of a bucket in order",
                 _MAKE.behaving(user_data_lists_topics_from_the_front=False), "3.6.2"),
    _MAKE.mutant("unknown-topic-left-out", "a topic without metadata is left out (KAFKA-7962)",
                 _MAKE.behaving(unknown_topic_throws=False), "2.2.2", f"{KAFKA}6308"),
    _MAKE.mutant("no-partitions-no-error", "a group without partitions gets none",
                 _MAKE.behaving(no_partitions_throw=False), "2.2.2"),
    _MAKE.mutant("never-undone", "moves remain that make the balance no better",
                 _MAKE.but(BalancedAssignment, _move=_moved_for_good), "0.11.0.3", f"{KAFKA}1020"),
    _MAKE.mutant("empty-past-is-none", "an assignment without partitions is none",
                 _MAKE.claiming(lambda claim: replace(claim, sent=bool(claim.partitions))), "2.2.2"),
)  # fmt: skip
