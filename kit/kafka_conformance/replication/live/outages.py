"""When brokers did not run, and what the controller did about brokers that did: signs of a machine that is too slow.

A broker that gets no processor for seconds leaves the in-sync replicas, or loses its session, as if it had been paused. The
history is then another one than the script's.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from kafka_conformance.replication.live.metadata_source import PartitionChange

__all__ = ["Outages"]


@dataclass(slots=True)
class Outages:
    """The times, in ms, from which and until which each broker did not run."""

    slack_ms: int
    """How long after its return a broker may still be treated as missing."""
    _ended: dict[int, list[tuple[float, float]]] = field(default_factory=dict)
    _open: dict[int, float] = field(default_factory=dict)

    def begin(self, broker: int, now_ms: float) -> None:
        """Note that a broker stops; one that is killed while it is paused stopped earlier."""
        self._open.setdefault(broker, now_ms)

    def end(self, broker: int, now_ms: float) -> None:
        """Note that a broker runs again."""
        self._ended.setdefault(broker, []).append((self._open.pop(broker), now_ms))

    def covers(self, broker: int, time_ms: float) -> bool:
        """Return whether a broker did not run at a time, or had just returned."""
        spans = [
            *self._ended.get(broker, ()),
            *((begun, float("inf")) for at, begun in self._open.items() if at == broker),
        ]
        return any(begun <= time_ms <= end + self.slack_ms for begun, end in spans)

    def lost_sessions(self, fences: Sequence[tuple[int, int]]) -> Iterator[str]:
        """Yield the ends of sessions, each a time and a broker, of brokers that ran."""
        for time_ms, broker in fences:
            if not self.covers(broker, time_ms):
                yield f"the session of broker {broker} ended, which ran"

    def lagging(self, changes: Sequence[PartitionChange]) -> Iterator[str]:
        """Yield the removals of followers that ran by their leader."""
        for before, after in pairwise(changes):
            if before.view.leader_epoch != after.view.leader_epoch:
                continue
            for broker in sorted(before.view.isr - after.view.isr):
                if not self.covers(broker, after.time_ms):
                    yield f"broker {broker} left the in-sync replicas, and ran"
