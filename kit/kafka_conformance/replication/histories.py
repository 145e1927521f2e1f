"""Histories to play on a real cluster: scripts of several topics that undergo the same faults, from a seed.

Only scripts whose outcome is determined in every cluster are generated. Left out, since chance decides them:

- the leader and an in-sync follower that stop together: whose session ends first decides who leads in between;
- two in-sync replicas that stop together where the first of them still left enough (``min.insync.replicas`` = 2): it does
  not become an eligible leader replica, and which one that is depends on who is missed first;
- a broker that stops while others fetch records or metadata, and a request to a leader that has just stopped;
- an election while the controller still takes a stopped broker for alive;
- a request while a broker comes back, or after an election or a setting that allows one, before the cluster has settled;
- a restart within the broker's session, which Kafka refuses until the session has ended;
- requests while no broker runs.

Who of two followers is elected is determined: the first in the order of the replicas among those in the ISR.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import count
from random import Random

from kafka_conformance.replication.fault_sequences import SEQUENCES, FaultSequence, Slot
from kafka_conformance.replication.history_labels import DISTINCT_CLUSTERS, REQUIRED_LABELS, labels
from kafka_reference.cluster.history import ClusterHistory
from kafka_reference.cluster.script import (
    ClusterScript,
    Continue,
    Elect,
    Event,
    Kill,
    Pause,
    Produce,
    SetMinInsyncReplicas,
    Settle,
    SetUncleanElection,
    Start,
)
from kafka_reference.cluster.undetermined import UndeterminedHistory

__all__ = ["SCRIPTS_PER_SEQUENCE", "HistoryGroup", "generate_histories"]

SCRIPTS_PER_SEQUENCE = 6
_DRAFTS = 14
_MOST_REQUESTS = 3
_FAULTS = (Pause, Continue, Kill, Start, Settle)


@dataclass(frozen=True, slots=True)
class HistoryGroup:
    """Scripts with the same faults in the same order, for as many topics of one cluster."""

    title: str
    """What happens to the brokers."""
    scripts: tuple[ClusterScript, ...]
    """The scripts; without their requests and settings they are equal."""


@cache
def generate_histories(seed: int) -> tuple[HistoryGroup, ...]:
    """Return the groups of ``seed``, with every required kind: drafts are drawn again until none is missing."""
    for attempt in count():
        groups, found = _choose(Random(f"{seed} {attempt}"))  # noqa: S311 - no secret
        if found >= REQUIRED_LABELS:
            return groups
    raise AssertionError("count never ends")


def _choose(random: Random) -> tuple[tuple[HistoryGroup, ...], set[str]]:
    """Return of each sequence of faults the drafts that add most kinds of history, and the kinds of all of them."""
    groups, found = [], set[str]()
    for sequence in SEQUENCES:
        drafts = {script: labels(script) for script in _drafts(sequence, random)}
        chosen: list[ClusterScript] = []
        while len(chosen) < SCRIPTS_PER_SEQUENCE:
            best = max(drafts, key=lambda script: (len(drafts[script] - found), len(drafts[script])))
            found |= drafts.pop(best)
            chosen.append(best)
        groups.append(HistoryGroup(sequence.title, tuple(chosen)))
    return tuple(groups), found


def _drafts(sequence: FaultSequence, random: Random) -> Iterator[ClusterScript]:
    made = 0
    while made < _DRAFTS:
        if (script := _draft(sequence, random)) is not None:
            made += 1
            yield script


def _draft(sequence: FaultSequence, random: Random) -> ClusterScript | None:
    """Return a script with requests in the slots; None if its faults leave the outcome to chance."""
    replicas = [1, 2, 3]
    if random.random() < 0.5:
        random.shuffle(replicas)
    script = ClusterScript(
        events=(),
        replicas=(replicas[0], replicas[1], replicas[2]),  # type: ignore[arg-type]
        min_insync_replicas=random.choice((1, 1, 2, 2, 3)),
        unclean_leader_election=random.random() < 0.25,
    )
    events: list[Event] = []
    for step in sequence.steps:
        if isinstance(step, Slot):
            events += _requests(random) if _some_broker_runs(events) else ()
        else:
            events.append(step)
    return _determined(script, events)


def _some_broker_runs(events: Sequence[Event]) -> bool:
    stopped = set[int]()
    for event in events:
        match event:
            case Pause(broker) | Kill(broker):
                stopped.add(broker)
            case Continue(broker) | Start(broker):
                stopped.discard(broker)
    return len(stopped) < 3


def _requests(random: Random) -> list[Event]:
    return [_request(random) for _ in range(random.randint(0, _MOST_REQUESTS))]


def _request(random: Random) -> Event:
    draw = random.random()
    if draw < 0.60:
        acks = random.choice((-1, -1, -1, 1, 1, 0, 2))
        return Produce(acks, records=random.randint(1, 3), wait=acks != -1 or random.random() < 0.5)
    if draw < 0.74:
        return SetMinInsyncReplicas(random.randint(1, 3))
    if draw < 0.83:
        return SetUncleanElection(random.random() < 0.5)
    return Elect(random.choice(("preferred", "unclean")))


def _determined(script: ClusterScript, events: list[Event]) -> ClusterScript | None:
    """Return the script with the requests removed that leave its outcome to chance; None if its faults alone do."""
    while (failed := _find_undetermined(replace(script, events=tuple(events)))) is not None:
        culprit = failed
        while isinstance(events[culprit], _FAULTS):
            if culprit == 0 or isinstance(events[culprit - 1], Settle):
                return None
            culprit -= 1
        del events[culprit]
    return replace(script, events=tuple(events))


def _find_undetermined(script: ClusterScript) -> int | None:
    """Return the index of an event whose outcome is left to chance: the first in the newest cluster that has one."""
    for cluster in reversed(DISTINCT_CLUSTERS):
        history = ClusterHistory(script, *cluster)
        for index, event in enumerate(script.events):
            try:
                history.happen(event)
            except UndeterminedHistory:
                return index
    return None
