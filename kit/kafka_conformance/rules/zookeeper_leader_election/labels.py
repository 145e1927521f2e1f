"""The kinds of questions of ``zookeeper-leader-election``."""

from __future__ import annotations

from collections.abc import Iterator

from kafka_conformance.rules.zookeeper_leader_election.question import ZookeeperLeaderElectionQuestion

__all__ = ["REQUIRED_LABELS", "labels", "path"]

REQUIRED_LABELS = frozenset(
    {f"election {kind}" for kind in ("offline", "reassign", "preferred", "shutdown")}
    | {"no replica", "nobody in sync", "nobody live", "several candidates", "one candidate", "no candidate"}
    | {"unclean leader", "unclean not allowed", "the preferred replica may lead", "the preferred replica may not lead"}
    | {"the only candidate shuts down", "shutting down and in sync", "live and shutting down", "dead in the ISR"}
    | {"replicas removed", "the first candidate is removed", "recovering", "recovery not supported", "no state"}
    | {"the ISR in another order"}
)


def labels(question: ZookeeperLeaderElectionQuestion) -> Iterator[str]:
    """Yield the kinds that a question belongs to."""
    yield f"election {question.election}"
    if not question.assignment:
        yield "no replica"
    if not question.isr:
        yield "nobody in sync"
    if not question.live:
        yield "nobody live"
    candidates = [one for one in question.assignment if one in question.isr and one in question.live]
    yield ("no candidate", "one candidate")[len(candidates)] if len(candidates) < 2 else "several candidates"
    if not candidates and question.election == "offline" and set(question.assignment) & set(question.live):
        yield "unclean leader" if question.unclean else "unclean not allowed"
    if question.assignment:
        yield f"the preferred replica may {'' if question.assignment[0] in candidates else 'not '}lead"
    if len(candidates) == 1 and candidates[0] in question.shutting_down:
        yield "the only candidate shuts down"
    if set(question.shutting_down) & set(question.isr):
        yield "shutting down and in sync"
    if set(question.shutting_down) & set(question.live):
        yield "live and shutting down"
    yield from _state_labels(question, candidates)


def _state_labels(question: ZookeeperLeaderElectionQuestion, candidates: list[int]) -> Iterator[str]:
    if set(question.isr) - set(question.live):
        yield "dead in the ISR"
    if question.removing:
        yield "replicas removed"
    if candidates and candidates[0] in question.removing:
        yield "the first candidate is removed"
    if question.recovery == "recovering":
        yield "recovering"
    if not question.recovery_supported:
        yield "recovery not supported"
    if not question.known:
        yield "no state"
    order = [one for one in question.assignment if one in question.isr]
    if order != [one for one in question.isr if one in order]:
        yield "the ISR in another order"


def path(question: ZookeeperLeaderElectionQuestion) -> str:
    """Return the kind of election."""
    return question.election
