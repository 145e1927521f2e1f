"""How long a paused follower stays in the in-sync replicas, by the controller's clock."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from kafka_conformance.replication.live.metadata_source import PartitionChange

__all__ = ["Shrink", "find_shrinks"]


@dataclass(frozen=True, slots=True)
class Shrink:
    """A follower that was paused, and left the in-sync replicas of a leader that had records for it."""

    event: int
    """The index of the settling in which it left."""
    broker: int
    """The follower."""
    shrink_ms: int
    """The time from its pause, in ms."""

    def fault(self, bounds_ms: tuple[int, int]) -> str:
        """Return what is wrong with the time, in a sentence; nothing if it is within bounds."""
        low, high = bounds_ms
        if low <= self.shrink_ms <= high:
            return ""
        left = f"broker {self.broker} left the in-sync replicas {self.shrink_ms} ms after its pause"
        return f"{left}: expected {low} to {high}"


def find_shrinks(event: int, paused_ms: Mapping[int, float], changes: Sequence[PartitionChange]) -> Iterator[Shrink]:
    """Yield the shrinks after pauses at these times, of a leader that ran on: its epoch is the same before and after."""
    for before, after in pairwise(changes):
        for broker in sorted(before.view.isr - after.view.isr):
            paused = paused_ms.get(broker)
            same_leader = (
                before.view.leader == after.view.leader and before.view.leader_epoch == after.view.leader_epoch
            )
            if paused is not None and after.time_ms >= paused and same_leader and after.view.leader not in paused_ms:
                yield Shrink(event, broker, round(after.time_ms - paused))
