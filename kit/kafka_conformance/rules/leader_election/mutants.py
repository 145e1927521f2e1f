"""Known mistakes of a controller that elects leaders: order of candidates, who may lead, the ISR and recovery."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kafka_conformance.core.mutant import Mutant, replaced
from kafka_conformance.rules.common.server_assignors.mutations import PULL, Mutations
from kafka_conformance.rules.leader_election.rule import RULE
from kafka_reference.elections import leader_election
from kafka_reference.elections.leader_election import Candidates, Elected, Election, elect_leader
from kafka_reference.elections.partition_change import PartitionChangeBuilder
from kafka_reference.elections.partition_change_behaviour import PartitionChangeBehaviour
from kafka_reference.elections.partition_registration import PartitionChange
from kafka_reference.releases import NEWEST, Release, parse_release

__all__ = ["MUTANTS"]

_RULE = Mutations(RULE)
_ELR, _FENCED, _RECOVERY, _PREFERRED = f"{PULL}14593", f"{PULL}20200", f"{PULL}11733", f"{PULL}11893"
_OLD = parse_release("3.1.2")
_CLEAN, _ELECT = leader_election._clean_leader, PartitionChangeBuilder._elect  # noqa: SLF001


def _isr_order(_: Any, __: str, candidates: Candidates) -> int | None:
    return candidates.first((candidates.partition.leader, *candidates.isr), is_candidate=candidates.may_lead)


def _last_candidate(_: Any, __: str, candidates: Candidates) -> int | None:
    leader = candidates.partition.leader
    return candidates.first((leader, *reversed(candidates.replicas)), is_candidate=candidates.may_lead)


def _lowest_broker(_: Any, __: str, candidates: Candidates) -> int | None:
    leader = candidates.partition.leader
    return candidates.first((leader, *sorted(candidates.replicas)), is_candidate=candidates.may_lead)


def _only_preferred(behaviour: Any, election: Election, candidates: Candidates) -> int | None:
    if election == "preferred":
        return candidates.replicas[0] if candidates.may_lead(candidates.replicas[0]) else None
    return _CLEAN(behaviour, election, candidates)


def _isr_only(self: Candidates, replica: int) -> bool:
    return replica in self.isr and self.is_acceptable(replica)


def _isr_and_elr(self: Candidates, replica: int) -> bool:
    return replica in (*self.isr, *self.elr) and self.is_acceptable(replica)


def _fenced_too(self: Candidates, replica: int) -> bool:
    return replica in self.isr or (not self.isr and replica in self.elr)


def _unclean_first(behaviour: Any, election: Election, candidates: Candidates, *, unclean_allowed: bool) -> Elected:
    """The unclean election comes before that of the last known leader."""
    clean = _CLEAN(behaviour, election, candidates)
    unclean = candidates.first(candidates.replicas, is_candidate=candidates.is_acceptable)
    if clean is None and election == "unclean" and unclean is not None:
        return Elected(unclean, unclean=True)
    return elect_leader(behaviour, election, candidates, unclean_allowed=unclean_allowed)


def _unclean_always(behaviour: Any, _: str, candidates: Candidates, *, unclean_allowed: bool) -> Elected:
    return elect_leader(behaviour, "unclean", candidates, unclean_allowed=unclean_allowed)


def _first_of_several(_: Any, candidates: Candidates) -> bool:
    last_known = candidates.partition.last_known_elr
    allowed = candidates.last_leader_allowed and not candidates.elr and not candidates.isr and last_known
    return bool(allowed) and candidates.is_acceptable(last_known[0])


def _last_leader_beside_elr(_: Any, candidates: Candidates) -> bool:
    last_known = candidates.partition.last_known_elr
    if not candidates.last_leader_allowed or candidates.isr or len(last_known) != 1:
        return False
    return candidates.is_acceptable(last_known[0])


def _after_election(mistake: Callable[[PartitionChangeBuilder], None]) -> Any:
    def elect(self: PartitionChangeBuilder) -> None:
        _ELECT(self)
        if self.change.leader is not None:
            mistake(self)

    return elect


def _keep_isr(builder: PartitionChangeBuilder) -> None:
    builder.change.isr = None


def _stay_recovered(builder: PartitionChangeBuilder) -> None:
    builder.change.recovery = None


def _recover_again(builder: PartitionChangeBuilder) -> None:
    if builder.change.isr is not None:
        builder.change.recovery = "recovering"


def _recover_by_clean_election(builder: PartitionChangeBuilder) -> None:
    builder.change.recovery = "recovering"


def _stay_eligible(builder: PartitionChangeBuilder) -> None:
    leader = builder.change.leader
    if leader is not None and leader in builder.partition.elr and leader not in builder.elr:
        builder.elr = (*builder.elr, leader)


def _forget_isr_of_eligible(builder: PartitionChangeBuilder) -> None:
    if builder.change.leader in builder.partition.elr and builder.isr == (builder.change.leader,):
        builder.isr = ()


def _keep_leader(self: PartitionChangeBuilder) -> None:
    """Without a candidate the partition keeps its leader."""
    _ELECT(self)
    if self.change == PartitionChange(leader=-1):
        self.change.leader = None


def _behaving(slug: str, description: str, *references: str, release: Release = NEWEST, **fields: Any) -> Mutant:
    return Mutant(slug, RULE.slug, description, _RULE.behaving(PartitionChangeBehaviour, **fields), release, references)


def _electing(slug: str, description: str, *references: str, release: Release = NEWEST, **functions: Any) -> Mutant:
    return Mutant(slug, RULE.slug, description, _RULE.replaced(leader_election, **functions), release, references)


def _candidate(slug: str, description: str, mistake: Any, *references: str) -> Mutant:
    return Mutant(slug, RULE.slug, description, _RULE.replaced(Candidates, may_lead=mistake), references=references)


def _elected(slug: str, description: str, mistake: Any, *references: str) -> Mutant:
    return Mutant(
        slug, RULE.slug, description, _RULE.replaced(PartitionChangeBuilder, _elect=mistake), references=references
    )


def _asked(
    slug: str, description: str, change: Callable[[Any], Any], *references: str, release: Release = NEWEST
) -> Mutant:
    return Mutant(slug, RULE.slug, description, _RULE.asked(change), release, references)


MUTANTS = (
    _behaving(
        "election-moves-the-leader",
        "an election takes the first candidate, though the leader may stay",
        _PREFERRED,
        current_leader_has_no_precedence=True,
    ),
    _behaving(
        "election-keeps-a-fenced-leader",
        "a leader in the ISR stays, though it is not acceptable",
        _PREFERRED,
        leader_in_isr_stays=True,
    ),
    _behaving(
        "election-old-moves-a-fenced-leader",
        "up to 3.1.x a leader in the ISR is replaced if not acceptable",
        _PREFERRED,
        release=_OLD,
        leader_in_isr_stays=False,
    ),
    _behaving(
        "election-old-isr-of-unclean",
        "up to 3.1.x an unclean election sets the ISR, whatever was asked for",
        _PREFERRED,
        release=_OLD,
        target_isr_hides_unclean_isr=False,
    ),
    _electing(
        "election-in-the-order-of-the-isr",
        "the first of the ISR leads, not the first of the replicas",
        _clean_leader=_isr_order,
    ),
    _electing("election-last-candidate", "the last candidate leads", _clean_leader=_last_candidate),
    _electing("election-lowest-broker", "the candidate with the lowest id leads", _clean_leader=_lowest_broker),
    _electing(
        "election-preferred-or-none", "a preferred election elects no other replica", _clean_leader=_only_preferred
    ),
    _asked(
        "election-preferred-as-online",
        "a preferred election keeps a leader that may stay",
        lambda asked: replaced(asked, election="online") if asked.election == "preferred" else asked,
        _PREFERRED,
    ),
    _candidate("election-without-elr", "an eligible leader replica may not lead", _isr_only, _ELR),
    _candidate("election-elr-beside-isr", "eligible leader replicas may lead beside an ISR", _isr_and_elr, _ELR),
    _candidate("election-of-the-fenced", "a replica in sync leads, though it is not acceptable", _fenced_too),
    _electing("election-always-unclean", "every election may be unclean", elect_leader=_unclean_always),
    _asked(
        "election-never-unclean",
        "no election is unclean",
        lambda asked: replaced(asked, election="online") if asked.election == "unclean" else asked,
    ),
    _asked(
        "election-all-alive",
        "every replica is acceptable",
        lambda asked: replaced(asked, acceptable=asked.partition.replicas),
    ),
    _electing(
        "election-unclean-before-last-leader",
        "an unclean election does not prefer the last known leader",
        _ELR,
        elect_leader=_unclean_first,
    ),
    _behaving(
        "election-fenced-last-leader",
        "the last known leader is elected though it is not acceptable",
        _FENCED,
        elects_fenced_last_leader=True,
    ),
    _behaving(
        "election-last-leader-had-to-live",
        "in 4.0.x the last known leader has to be acceptable",
        _FENCED,
        release=parse_release("4.0.2"),
        elects_fenced_last_leader=False,
    ),
    _electing(
        "election-first-of-the-last-known",
        "the first of several last known replicas is elected",
        _ELR,
        _may_elect_last_leader=_first_of_several,
    ),
    _electing(
        "election-last-leader-beside-elr",
        "the last known leader is elected though others are eligible",
        _ELR,
        _may_elect_last_leader=_last_leader_beside_elr,
    ),
    _asked(
        "election-last-leader-always",
        "the last known leader is used though that is turned off",
        lambda asked: replaced(asked, last_leader_enabled=True),
        _ELR,
    ),
    _elected(
        "election-unclean-keeps-the-isr", "an unclean election leaves the ISR as it is", _after_election(_keep_isr)
    ),
    _elected(
        "election-unclean-recovered", "an unclean leader is not recovering", _after_election(_stay_recovered), _RECOVERY
    ),
    _elected(
        "election-recovers-again",
        "an unclean leader is recorded as recovering though it is",
        _after_election(_recover_again),
        _RECOVERY,
    ),
    _elected(
        "election-clean-recovers",
        "a clean leader is recovering",
        _after_election(_recover_by_clean_election),
        _RECOVERY,
    ),
    _elected(
        "election-leader-stays-eligible",
        "the elected replica stays an eligible one",
        _after_election(_stay_eligible),
        _ELR,
    ),
    _elected(
        "election-eligible-without-isr",
        "an eligible replica that leads does not enter the ISR",
        _after_election(_forget_isr_of_eligible),
        _ELR,
    ),
    _elected("election-nobody-keeps-the-leader", "without a candidate the leader stays", _keep_leader),
)
