"""Known mistakes of a controller on ZooKeeper: which replica may lead in each kind of election, and the ISR after it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from kafka_conformance.core.mutant import Mutant, replaced
from kafka_conformance.core.protocol import Answer
from kafka_conformance.rules.common.server_assignors.mutations import PULL, Mutations
from kafka_conformance.rules.zookeeper_leader_election.rule import RULE
from kafka_reference.elections import zookeeper_leader_election as elections
from kafka_reference.elections.zookeeper_behaviour import ZookeeperElectionBehaviour
from kafka_reference.elections.zookeeper_leader_election import ControllerContext, ElectionResult
from kafka_reference.releases import Release, parse_release

__all__ = ["MUTANTS"]

_RULE = Mutations(RULE)
_LAST = parse_release("3.9.2")
_CHOOSE, _ELECT, _NEXT_ISR = elections.choose_leader, elections.elect, elections.next_isr
_COUNT, _RECOVERY = f"{PULL}4838", f"{PULL}11733"


def _choosing(change: Callable[[str, Any, Any, Any, dict[str, Any]], tuple[Any, ...]]) -> Any:
    """Return the choice of a leader for changed arguments: election, assignment, ISR, live brokers."""

    def choose(election: Any, assignment: Any, isr: Any, live: Any, **more: Any) -> int | None:
        return _CHOOSE(*change(election, assignment, isr, live, more), **more)

    return choose


def _unclean(election: Any, assignment: Any, isr: Any, live: Any, more: dict[str, Any]) -> tuple[Any, ...]:
    more["unclean"] = True
    return election, assignment, isr, live


def _clean(election: Any, assignment: Any, isr: Any, live: Any, more: dict[str, Any]) -> tuple[Any, ...]:
    more["unclean"] = False
    return election, assignment, isr, live


def _shuts_down_too(election: Any, assignment: Any, isr: Any, live: Any, more: dict[str, Any]) -> tuple[Any, ...]:
    more["shutting_down"] = ()
    return election, assignment, isr, live


def _next_preferred(election: Any, assignment: Any, *others: Any) -> tuple[Any, ...]:
    isr, live, _ = others
    return "reassign" if election == "preferred" else election, assignment, isr, live


def _dead_too(election: Any, assignment: Any, isr: Any, live: Any, _: Any) -> tuple[Any, ...]:
    return election, assignment, isr, {*live, *isr}


def _isr_order(election: Any, assignment: Any, isr: Any, live: Any, _: Any) -> tuple[Any, ...]:
    order = (*(one for one in isr if one in assignment), *(one for one in assignment if one not in isr))
    return election, assignment if election == "preferred" else order, isr, live


def _last_first(election: Any, assignment: Any, isr: Any, live: Any, _: Any) -> tuple[Any, ...]:
    return election, assignment if election == "preferred" else assignment[::-1], isr, live


def _lowest_first(election: Any, assignment: Any, isr: Any, live: Any, _: Any) -> tuple[Any, ...]:
    return election, assignment if election == "preferred" else tuple(sorted(assignment)), isr, live


def _unclean_for_all(election: Any, assignment: Any, isr: Any, live: Any, **more: Any) -> int | None:
    leader = _CHOOSE(election, assignment, isr, live, **more)
    if leader is None and more.get("unclean") and election in ("reassign", "shutdown"):
        return next((one for one in assignment if one in live), None)
    return leader


def _dead_unclean(election: Any, assignment: Any, isr: Any, live: Any, **more: Any) -> int | None:
    leader = _CHOOSE(election, assignment, isr, live, **more)
    allowed = leader is None and election == "offline" and more.get("unclean") and assignment
    return assignment[0] if allowed else leader


def _isr_of_all(election: Any, context: ControllerContext, isr: Any, leader: int) -> Any:
    if election in ("reassign", "preferred"):
        return tuple(filter(context.is_online, isr))
    return _NEXT_ISR(election, context, isr, leader)


def _isr_with_dead(election: Any, context: ControllerContext, isr: Any, leader: int) -> Any:
    return isr if election == "offline" and leader in isr else _NEXT_ISR(election, context, isr, leader)


def _isr_and_unclean(election: Any, context: ControllerContext, isr: Any, leader: int) -> Any:
    if election == "offline" and leader not in isr:
        return (*isr, leader)
    return _NEXT_ISR(election, context, isr, leader)


def _isr_of_shutdown_with_dead(election: Any, context: ControllerContext, isr: Any, leader: int) -> Any:
    """A controlled shutdown also removes dead replicas."""
    left = _NEXT_ISR(election, context, isr, leader)
    return tuple(one for one in left if one in context.live) if election == "shutdown" else left


def _isr_with_shutdown(election: Any, context: ControllerContext, isr: Any, leader: int) -> Any:
    return isr if election == "shutdown" else _NEXT_ISR(election, context, isr, leader)


def _elected(change: Callable[[ElectionResult, Any], ElectionResult]) -> Any:
    def elect(behaviour: Any, election: Any, context: Any, state: Any, **more: Any) -> ElectionResult:
        result = _ELECT(behaviour, election, context, state, **more)
        return result if result.state is None else change(result, state)

    return elect


def _epoch_stays(result: ElectionResult, before: Any) -> ElectionResult:
    return replace(result, state=replace(result.state, leader_epoch=before.leader_epoch))  # type: ignore[type-var]


def _epoch_of_same_leader(result: ElectionResult, before: Any) -> ElectionResult:
    same = result.state is not None and result.state.leader == before.leader
    return _epoch_stays(result, before) if same else result


def _version_rises(result: ElectionResult, before: Any) -> ElectionResult:
    return replace(result, state=replace(result.state, version=before.version + 1))  # type: ignore[type-var]


def _always_recovered(result: ElectionResult, _: Any) -> ElectionResult:
    return replace(result, state=replace(result.state, recovery="recovered"))  # type: ignore[type-var]


def _keeps_recovery(result: ElectionResult, before: Any) -> ElectionResult:
    return replace(result, state=replace(result.state, recovery=before.recovery))  # type: ignore[type-var]


def _all_replicas_told(behaviour: Any, election: Any, context: Any, state: Any, **more: Any) -> ElectionResult:
    return replace(_ELECT(behaviour, election, context, state, **more), replicas=context.assignment)


def _counted(question: Any, release: Release) -> Answer:
    """Every unclean election is counted, also one that finds no leader."""
    answer = RULE.ask(question, release)
    tried = question.election == "offline" and question.unclean and not set(question.isr) & set(question.live)
    return {**answer, "counted": 1} if tried else answer


def _choice(slug: str, description: str, mistake: Any) -> Mutant:
    return Mutant(slug, RULE.slug, description, _RULE.replaced(elections, choose_leader=mistake), _LAST)


def _isr(slug: str, description: str, mistake: Any) -> Mutant:
    return Mutant(slug, RULE.slug, description, _RULE.replaced(elections, next_isr=mistake), _LAST)


def _result(slug: str, description: str, mistake: Any, *references: str) -> Mutant:
    return Mutant(slug, RULE.slug, description, _RULE.replaced(elections, elect=mistake), _LAST, references)


def _asked(slug: str, description: str, change: Callable[[Any], Any], *references: str) -> Mutant:
    return Mutant(slug, RULE.slug, description, _RULE.asked(change), _LAST, references)


def _behaving(slug: str, description: str, at: str, *references: str, **fields: Any) -> Mutant:
    ask = _RULE.behaving(ZookeeperElectionBehaviour, **fields)
    return Mutant(slug, RULE.slug, description, ask, parse_release(at), references)


MUTANTS = (
    _choice("zookeeper-always-unclean", "an offline election may be unclean in any case", _choosing(_unclean)),
    _choice("zookeeper-never-unclean", "no election is unclean", _choosing(_clean)),
    _choice("zookeeper-unclean-everywhere", "reassignment and shutdown may be unclean too", _unclean_for_all),
    _choice("zookeeper-unclean-dead", "an unclean election takes the first replica, dead or not", _dead_unclean),
    _choice("zookeeper-shutting-down-leads", "a broker that shuts down is elected", _choosing(_shuts_down_too)),
    _choice("zookeeper-next-preferred", "a preferred election goes on to other replicas", _choosing(_next_preferred)),
    _choice("zookeeper-dead-leads", "a dead replica in sync is elected", _choosing(_dead_too)),
    _choice("zookeeper-in-the-order-of-the-isr", "the first of the ISR leads", _choosing(_isr_order)),
    _choice("zookeeper-last-candidate", "the last candidate leads", _choosing(_last_first)),
    _choice("zookeeper-lowest-broker", "the candidate with the lowest id leads", _choosing(_lowest_first)),
    _isr("zookeeper-isr-of-the-online", "every election removes dead replicas from the ISR", _isr_of_all),
    _isr("zookeeper-isr-keeps-the-dead", "an offline election keeps dead replicas in the ISR", _isr_with_dead),
    _isr("zookeeper-isr-grows-by-unclean", "an unclean leader enters the ISR beside the others", _isr_and_unclean),
    _isr("zookeeper-shutdown-removes-the-dead", "a shutdown removes dead replicas too", _isr_of_shutdown_with_dead),
    _isr("zookeeper-isr-keeps-who-shuts-down", "a broker that shuts down stays in the ISR", _isr_with_shutdown),
    _result("zookeeper-epoch-stays", "the leader epoch does not rise", _elected(_epoch_stays)),
    _result(
        "zookeeper-epoch-of-the-same-leader", "the epoch rises for another leader only", _elected(_epoch_of_same_leader)
    ),
    _result("zookeeper-version-rises", "the election raises the version, not ZooKeeper", _elected(_version_rises)),
    _result("zookeeper-recovered", "every elected leader is recovered", _elected(_always_recovered), _RECOVERY),
    _result("zookeeper-recovery-stays", "an unclean leader is not recovering", _elected(_keeps_recovery), _RECOVERY),
    _result("zookeeper-all-are-told", "every replica is told, dead or not", _all_replicas_told),
    _asked(
        "zookeeper-removed-may-lead",
        "a reassignment elects a replica that it removes",
        lambda asked: replaced(asked, removing=()),
    ),
    _asked(
        "zookeeper-recovery-always",
        "a leader is recovering though the cluster's version has no such state",
        lambda asked: replaced(asked, recovery_supported=True),
        _RECOVERY,
    ),
    _asked(
        "zookeeper-unknown-partition",
        "a partition without a state gets a leader",
        lambda asked: replaced(asked, known=True),
    ),
    Mutant(
        "zookeeper-counts-attempts",
        RULE.slug,
        "an unclean election without a leader is counted",
        _counted,
        _LAST,
        (_COUNT,),
    ),
    _behaving(
        "zookeeper-does-not-count", "unclean elections are not counted", "2.0.1", _COUNT, counts_unclean_elections=False
    ),
    _behaving(
        "zookeeper-recovering-too-early",
        "in 3.1.x an unclean leader is recovering",
        "3.1.2",
        _RECOVERY,
        has_recovery_state=True,
    ),
)
