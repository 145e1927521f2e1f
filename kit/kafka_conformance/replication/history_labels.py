"""The kinds of history: what every set of scripts has to contain."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import pairwise

from kafka_reference.cluster.history import ClusterMode, simulate
from kafka_reference.cluster.observation import Answer, Elected, Produced, Settled
from kafka_reference.cluster.script import (
    ClusterScript,
    Continue,
    Elect,
    Event,
    Kill,
    Pause,
    Produce,
    SetMinInsyncReplicas,
    SetUncleanElection,
    Start,
)

__all__ = ["CLUSTERS", "DISTINCT_CLUSTERS", "REQUIRED_LABELS", "labels"]

CLUSTERS: Sequence[tuple[str, ClusterMode]] = (
    ("3.9.2", "zookeeper"),
    ("3.9.2", "kraft"),
    ("4.3.1", "kraft"),
    ("4.4.0", "kraft"),
)
"""The clusters that histories are predicted for."""

DISTINCT_CLUSTERS = (*CLUSTERS[:2], CLUSTERS[-1])
"""Those that the reference distinguishes: 4.3.1 is as 4.4.0."""

_ERRORS = (
    "NONE",
    "NOT_ENOUGH_REPLICAS",
    "REQUEST_TIMED_OUT",
    "INVALID_REQUIRED_ACKS",
    "LEADER_NOT_AVAILABLE",
)
REQUIRED_LABELS = frozenset(
    {
        *(f"produce {error}" for error in _ERRORS),
        *(f"acks={acks}" for acks in ("0", "1", "all", "invalid")),
        *(f"min.insync.replicas={number}" for number in (1, 2, 3)),
        *(f"{fault} {role}" for fault in ("pause", "kill", "continue", "start") for role in ("a leader", "a follower")),
        *(f"preferred election {error}" for error in ("NONE", "ELECTION_NOT_NEEDED", "PREFERRED_LEADER_NOT_AVAILABLE")),
        *(f"unclean election {error}" for error in ("NONE", "ELECTION_NOT_NEEDED")),
        "minimum raised",
        "minimum lowered",
        "unclean elections switched on",
        "unclean elections switched off",
        "request waits until a follower leaves",
        "no in-sync replica runs",
        "leader changes",
        "leader changes uncleanly",
        "acknowledged records lost",
        "diverging records truncated",
        "appended below the minimum",
        "uncommitted records remain",
        "eligible replica leads",
        "releases differ",
    }
)
"""The kinds that a set of histories must contain.

An unclean election fails with ELIGIBLE_LEADERS_NOT_AVAILABLE only while no broker runs, so no client can request it.
"""


@cache
def labels(script: ClusterScript) -> frozenset[str]:
    """Return the kinds of a history. Raises UndeterminedHistory."""
    answers = {cluster: simulate(script, *cluster) for cluster in DISTINCT_CLUSTERS}
    found = {label for one in answers.values() for label in _labels(script, one)}
    if len({repr(one) for one in answers.values()}) > 1:
        found.add("releases differ")
    return frozenset(found)


def _labels(script: ClusterScript, answers: Sequence[Answer]) -> Iterator[str]:
    yield f"min.insync.replicas={script.min_insync_replicas}"
    yield from _setting_labels(script)
    former = set[int]()
    leader: int = script.replicas[0]
    for event, answer in zip(script.events, answers, strict=True):
        match event, answer:
            case Produce(acks, wait=wait), Produced(error):
                yield f"acks={ {-1: 'all', 0: '0', 1: '1'}.get(acks, 'invalid') }"
                yield f"produce {error or 'NONE'}"
                if not wait and error == "NONE":
                    yield "request waits until a follower leaves"
            case Elect(election), Elected(error):
                yield f"{election} election {error}"
            case _, Settled():
                leader = answer.leader
        yield from _fault_labels(event, leader, former)
    states = [answer for answer in answers if isinstance(answer, Settled)]
    for before, after in pairwise(states):
        yield from _change_labels(before, after)
    yield from _loss_labels(script, answers)


def _setting_labels(script: ClusterScript) -> Iterator[str]:
    minimum, unclean = script.min_insync_replicas, script.unclean_leader_election
    for event in script.events:
        match event:
            case SetMinInsyncReplicas(replicas) if replicas != minimum:
                yield "minimum raised" if replicas > minimum else "minimum lowered"
                minimum = replicas
            case SetUncleanElection(enabled) if enabled != unclean:
                yield f"unclean elections switched {'on' if enabled else 'off'}"
                unclean = enabled


def _fault_labels(event: Event, leader: int, former: set[int]) -> Iterator[str]:
    match event:
        case Pause(broker) | Kill(broker):
            if broker == leader:
                former.add(broker)
            yield f"{'pause' if isinstance(event, Pause) else 'kill'} a {'leader' if broker == leader else 'follower'}"
        case Continue(broker) | Start(broker):
            word = "continue" if isinstance(event, Continue) else "start"
            yield f"{word} a {'leader' if broker in former else 'follower'}"
            former.discard(broker)


def _change_labels(before: Settled, after: Settled) -> Iterator[str]:
    if after.leader == -1:
        yield "no in-sync replica runs"
    if after.leader not in (-1, before.leader) and before.leader != -1:
        yield "leader changes"
    if after.leader != -1 and after.leader not in before.isr | before.elr and after.leader != before.leader:
        yield "leader changes uncleanly"
    if after.leader in before.elr and after.leader_epoch > before.leader_epoch:
        yield "eligible replica leads"
    for broker, replica in after.replicas.items():
        if replica.batches[: len(before.replicas[broker].batches)] != before.replicas[broker].batches:
            yield "diverging records truncated"
    if after.leader == before.leader != -1:
        ends = before.replicas[after.leader].end_offset, after.replicas[after.leader].end_offset
        if ends[1] > ends[0] and after.readable == before.readable:
            yield "appended below the minimum"


def _loss_labels(script: ClusterScript, answers: Sequence[Answer]) -> Iterator[str]:
    """Yield whether acknowledged records are not in the leader's log in the end, or others there are not committed."""
    last = next((answer for answer in reversed(answers) if isinstance(answer, Settled)), None)
    if last is None or last.leader == -1:
        return
    log = last.replicas[last.leader]
    if log.end_offset > last.readable:
        yield "uncommitted records remain"
    epoch, kept = 0, {(base, count, epoch) for base, count, epoch in log.batches}
    for event, answer in zip(script.events, answers, strict=True):
        match event, answer:
            case Produce(records=records), Produced("NONE", int(base)):
                if (base, records, epoch) not in kept:
                    yield "acknowledged records lost"
            case _, Settled():
                epoch = answer.leader_epoch
