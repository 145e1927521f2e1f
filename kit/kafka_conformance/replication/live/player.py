"""Play histories on a real cluster: several scripts with the same faults together, each with its own topic.

Events are awaited, not slept for: a request has its response, a setting is applied by the brokers, a follower that returned
is in sync. Two things cannot be seen. A fetch that waits at the leader is answered to a stopped process, so the event after
a pause comes after the longest wait of a fetch. And a leader takes a follower that never fetched for one that lags, so the
first event comes after the followers' first fetch.

A settled state is the expected one once it has stayed so while the leader looked at the in-sync replicas; one that is not as
expected is the answer when it does not change any more.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from kafka_conformance.core.errors import BadInput, BrokerLost, TooSlow
from kafka_conformance.replication.live.cluster import LiveCluster
from kafka_conformance.replication.live.observation import Observation, observe
from kafka_conformance.replication.live.partition_client import MIN_ISR, UNCLEAN, PartitionClient
from kafka_conformance.replication.live.shrink import Shrink, find_shrinks
from kafka_conformance.replication.live.wire import await_true
from kafka_reference.cluster.observation import Answer, Produced, Unanswered
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

__all__ = ["Fault", "PlayedHistory", "faults_of", "play"]

Fault: TypeAlias = Pause | Continue | Kill | Start | Settle
_FAULTS: Final = (Pause, Continue, Kill, Start, Settle)

_POLL_S = 0.1
_LEAST_OBSERVATIONS = 3
_UNCHANGED_S = 8.0
_NOTHING = Unanswered()


@dataclass(slots=True)
class PlayedHistory:
    """A script and what was seen of it."""

    script: ClusterScript
    """The script."""
    answers: list[Answer] = field(default_factory=list)
    """An answer for each event."""
    disagreements: list[tuple[int, str]] = field(default_factory=list)
    """By event, what the parts of the cluster did not agree about when the partition had settled."""
    shrinks: list[Shrink] = field(default_factory=list)
    """How long paused followers stayed in sync."""


def faults_of(script: ClusterScript) -> tuple[Fault, ...]:
    """Return the faults and waits of a script, in order."""
    return tuple(event for event in script.events if isinstance(event, _FAULTS))


def play(
    cluster: LiveCluster,
    scripts: Sequence[ClusterScript],
    expected: Sequence[Sequence[Answer] | None],
    doing: Callable[[str], None] = lambda _: None,
) -> list[PlayedHistory]:
    """Play scripts that have the same faults, and return what was seen of each.

    ``expected`` has the expected answers of each script, None where there are none.
    Raises BadInput for a script that cannot be played, TooSlow, and BrokerLost if the cluster fails.
    """
    if len({faults_of(script) for script in scripts}) != 1:
        raise BadInput("the scripts have different faults: scripts that are played together have the same")
    player = _Player(cluster, doing)
    try:
        for script, answers in zip(scripts, expected, strict=True):
            player.add(script, answers)
        player.play()
    except (BadInput, BrokerLost):
        player.check_outages()  # the effects of a broker that was missed are not a fault of the script
        raise
    finally:
        player.close()
    return [track.played for track in player.tracks]


@dataclass(slots=True)
class _Track:
    """A script that is played, and its place."""

    client: PartitionClient
    expected: Sequence[Answer] | None
    played: PlayedHistory
    appended: bool = False

    @property
    def next(self) -> int:
        """The index of the next event."""
        return len(self.played.answers)

    def requests(self) -> Iterator[Event]:
        """The events up to the next fault; each is to be answered before the next is taken."""
        events = self.played.script.events
        while self.next < len(events) and not isinstance(events[self.next], _FAULTS):
            yield events[self.next]

    def matches(self, seen: Observation) -> bool:
        if seen.disagreements:
            return False
        return self.expected is None or self.expected[self.next] == seen.settled


class _Player:
    def __init__(self, cluster: LiveCluster, doing: Callable[[str], None]) -> None:
        self.cluster, self.tracks, self._doing = cluster, list[_Track](), doing
        self._fences_before = len(cluster.metadata.fences)
        self._quiet_at = 0.0
        self._returned = False
        self._paused_ms: dict[int, float] = {}

    def add(self, script: ClusterScript, expected: Sequence[Answer] | None) -> None:
        client = PartitionClient(self.cluster, self.cluster.new_topic())
        client.create(script)
        self.tracks.append(_Track(client, expected, PlayedHistory(script)))

    def play(self) -> None:
        faults = faults_of(self.tracks[0].played.script)
        time.sleep(self.cluster.timing.first_fetch_s)
        for number, fault in enumerate(faults):
            self._request()
            self._doing(f"{number + 1} of {len(faults)}: {_name(fault)}")
            self._undergo(fault)
        self._request()

    def close(self) -> None:
        for track in self.tracks:
            for sent in track.client.pending.values():
                sent.connection.close()

    def _undergo(self, fault: Fault) -> None:
        match fault:
            case Settle():
                self._settle()
                return
            case Pause(broker):
                self.cluster.pause(broker)
                self._quiet_at = time.monotonic() + self.cluster.timing.pause_effect_s
                self._paused_ms[broker] = time.time() * 1000
            case Kill(broker):
                self.cluster.kill(broker)
                self._paused_ms.pop(broker, None)
            case Continue(broker):
                self._check_session(broker)
                self.cluster.resume(broker)
                self._returned = True
            case Start(broker):
                self.cluster.start({broker})
                self._returned = True
        for track in self.tracks:
            track.played.answers.append(_NOTHING)

    def _check_session(self, broker: int) -> None:
        """Raise TooSlow if the session of a broker that was paused since the last settling has ended already."""
        self.cluster.metadata.read()
        if broker in self._paused_ms and self.cluster.metadata.fenced[broker]:
            raise TooSlow(
                f"the session of broker {broker} ended before it continued: the machine is too slow; play on one with"
                " fewer other tasks"
            )

    def _request(self) -> None:
        """Send the requests of all scripts up to the next fault."""
        if not any(True for track in self.tracks for _ in track.requests()):
            return
        time.sleep(max(0.0, self._quiet_at - time.monotonic()))
        if self._returned:
            for track in self.tracks:
                track.client.await_in_sync()
            self._returned = False
        for track in self.tracks:
            for event in track.requests():
                answer = self._answer(track, event)
                track.appended |= isinstance(event, Produce) and _is_appended(answer)
                track.played.answers.append(answer)

    def _answer(self, track: _Track, event: Event) -> Answer:
        match event:
            case Produce():
                return track.client.produce(track.next, event) or _NOTHING
            case SetMinInsyncReplicas(replicas):
                track.client.alter(MIN_ISR, str(replicas))
            case SetUncleanElection(enabled):
                track.client.alter(UNCLEAN, str(enabled).lower())
            case Elect(election):
                return track.client.elect(election)
        return _NOTHING

    def _settle(self) -> None:
        time.sleep(max(0.0, self._quiet_at - time.monotonic()))
        self.cluster.await_sessions()
        for track in self.tracks:
            for index, answer in track.client.await_responses().items():
                track.played.answers[index] = answer
        if self._returned:
            for track in self.tracks:
                track.client.await_in_sync()
        for track, seen in zip(self.tracks, self._await_settled(), strict=True):
            self._finish(track, seen)
        self.check_outages()
        self._returned = False
        self._paused_ms.clear()

    def check_outages(self) -> None:
        """Raise TooSlow if the controller missed a broker that ran."""
        metadata, outages = self.cluster.metadata, self.cluster.outages
        found = [*outages.lost_sessions(metadata.fences[self._fences_before :])]
        for track in self.tracks:
            found += outages.lagging(metadata.changes(track.client.topic))
        if found:
            raise TooSlow(f"{found[0]}: the machine is too slow; play on one with fewer other tasks")

    def _finish(self, track: _Track, seen: Observation) -> None:
        played = track.played
        played.disagreements += [(track.next, text) for text in seen.disagreements]
        changes = self.cluster.metadata.changes(track.client.topic)
        if track.appended:
            played.shrinks += find_shrinks(track.next, self._paused_ms, changes)
        if not track.matches(seen):
            track.expected = None  # what follows from another state is not expected either
        played.answers.append(seen.settled)
        track.appended = False

    def _await_settled(self) -> list[Observation]:
        """Return an observation of each script, as soon as all have settled or will not settle otherwise."""
        began, timing = time.monotonic(), self.cluster.timing
        stable = [_Stable() for _ in self.tracks]

        def settled() -> bool:
            for track, one in zip(self.tracks, stable, strict=True):
                one.add(observe(self.cluster, track.client.topic, track.played.script.replicas))
            now = time.monotonic()
            return all(
                one.has_held(timing.hold_s, now)
                if track.matches(one.seen)
                else one.has_held(_UNCHANGED_S, now) or now - began > timing.settle_limit_s
                for track, one in zip(self.tracks, stable, strict=True)
            )

        await_true(settled, 2 * timing.settle_limit_s, _POLL_S)
        return [one.seen for one in stable]


@dataclass(slots=True)
class _Stable:
    """Observations of a partition, and since when they are the same."""

    since: float = 0.0
    count: int = 0
    _seen: Observation | None = None

    @property
    def seen(self) -> Observation:
        """The last observation."""
        assert self._seen is not None  # noqa: S101  it is read after the first observation
        return self._seen

    def add(self, seen: Observation) -> None:
        if seen != self._seen:
            self._seen, self.since, self.count = seen, time.monotonic(), 0
        self.count += 1

    def has_held(self, limit_s: float, now: float) -> bool:
        return self.count >= _LEAST_OBSERVATIONS and now - self.since >= limit_s


def _is_appended(answer: Answer) -> bool:
    """Return whether a batch is in the leader's log: one that waits is, and one without response is taken to be."""
    return not isinstance(answer, Produced) or answer.error in {"NONE", None}


def _name(fault: Fault) -> str:
    return "settle" if isinstance(fault, Settle) else f"{type(fault).__name__.lower()} broker {fault.broker}"
