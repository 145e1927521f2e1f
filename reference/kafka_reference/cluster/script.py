"""A history of one partition on three brokers: how it begins, and the events that happen, one after the other.

The brokers are 1, 2 and 3; the controller is a separate process that no event affects. The partition has a replica on each
of them, or on one or two. Requests and changes of settings are complete before the next event begins, with one exception: a
produce request with ``acks=all`` and ``wait=False`` that cannot be answered yet stays pending during the events that
follow. A :class:`Settle` waits for the effects of pausing, killing, continuing or restarting a broker.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from kafka_reference.arguments import checked

__all__ = [
    "Acks", "BrokerId", "ClusterScript", "Continue", "Elect", "Event", "Kill", "Pause", "Produce", "SetMinInsyncReplicas",
    "SetUncleanElection", "Settle", "Start",
]  # fmt: skip

BrokerId: TypeAlias = Literal[1, 2, 3]
Acks: TypeAlias = Literal[-1, 0, 1]


@checked
@dataclass(frozen=True, slots=True)
class Produce:
    """Send one batch to the leader."""

    acks: int
    """``acks`` of the request; Kafka accepts -1 (all), 0 and 1."""
    records: int = 1
    """The number of records of the batch, at least 1."""
    wait: bool = True
    """Wait for the response before the next event; otherwise the next :class:`Settle` waits for it."""


@checked
@dataclass(frozen=True, slots=True)
class Pause:
    """Stop a broker's process (SIGSTOP): it fetches and answers nothing, and its connections stay open."""

    broker: BrokerId


@checked
@dataclass(frozen=True, slots=True)
class Continue:
    """Let a paused broker's process run again (SIGCONT)."""

    broker: BrokerId


@checked
@dataclass(frozen=True, slots=True)
class Kill:
    """Kill a broker's process (SIGKILL). The controller fences it when its session ends."""

    broker: BrokerId


@checked
@dataclass(frozen=True, slots=True)
class Start:
    """Start a killed broker on the files that it left."""

    broker: BrokerId


@checked
@dataclass(frozen=True, slots=True)
class SetMinInsyncReplicas:
    """Change ``min.insync.replicas`` of the topic."""

    replicas: int


@checked
@dataclass(frozen=True, slots=True)
class SetUncleanElection:
    """Change ``unclean.leader.election.enable`` of the topic."""

    enabled: bool


@checked
@dataclass(frozen=True, slots=True)
class Elect:
    """Ask the controller to elect a leader."""

    election: Literal["preferred", "unclean"]


@dataclass(frozen=True, slots=True)
class Settle:
    """Wait until leader, in-sync replicas, logs and high watermarks have followed the events so far."""


Event: TypeAlias = (
    Produce | Pause | Continue | Kill | Start | SetMinInsyncReplicas | SetUncleanElection | Elect | Settle
)


@checked
@dataclass(frozen=True, slots=True)
class ClusterScript:
    """A partition, and what happens to it."""

    events: tuple[Event, ...]
    """The events, in order."""
    replicas: tuple[BrokerId, ...] = (1, 2, 3)
    """The assignment; the first is the preferred leader and leads at first. Events name brokers with a replica."""
    min_insync_replicas: int = 1
    """``min.insync.replicas`` of the topic at first; Kafka accepts more than there are replicas."""
    unclean_leader_election: bool = False
    """``unclean.leader.election.enable`` of the topic at first."""
