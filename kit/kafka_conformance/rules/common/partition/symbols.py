"""Steps that depend on the state of the partition, from which scripts are spelled.

Each symbol is a function that gets the partition as the newest release has it, and returns a step or several.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import Any, TypeAlias

from kafka_conformance.rules.common.partition.history import PartitionHistory
from kafka_conformance.rules.common.partition.steps import (
    AppendStep,
    BrokerStep,
    EpochEndStep,
    FetchStep,
    FollowHighWatermarkStep,
    FollowStep,
    LeadStep,
    ReplicaBatch,
    ReplicateStep,
    RespondStep,
    TruncateStep,
)
from kafka_reference.errors import JavaException
from kafka_reference.replication.partition_state import Partition

__all__ = [
    "Symbol", "append", "as_follower", "broker", "caught_up", "end_of_epoch", "fetch_at", "fetch_own", "fixed", "follow",
    "follow_high_watermark", "lead", "lead_again", "replicate", "respond", "spell", "truncate",
]  # fmt: skip

Symbol: TypeAlias = Callable[[Partition], Any]
_EPOCHS = {2: 102, 3: 103}


def spell(history: PartitionHistory, symbols: Iterable[Symbol]) -> tuple[Any, ...]:
    """Return the steps of a script: each symbol sees what the steps before it have left of the partition."""
    steps: list[Any] = []
    for symbol in symbols:
        made = symbol(history.partition)
        for step in made if isinstance(made, tuple) else (made,):
            steps.append(step)
            with suppress(JavaException):  # the script goes on with what that left
                history.take(step)
    return tuple(steps)


def fixed(*steps: Any) -> Symbol:
    """Return a symbol of steps that do not depend on the partition."""

    def symbol(_: Partition) -> Any:
        return steps

    return symbol


def lead(in_sync: Sequence[int] = (1, 2, 3), replicas: Sequence[int] = (1, 2, 3), *, newer: int = 1) -> Symbol:
    """Lead with a leader epoch that is ``newer`` by this many."""
    return lambda partition: LeadStep(
        max(partition.leader_epoch + newer, 0), partition.partition_epoch + 1, tuple(in_sync), tuple(replicas)
    )


def lead_again(in_sync: Sequence[int], *, newer: int) -> Symbol:
    """Lead in the same leader epoch, with a partition epoch that is ``newer`` by this many."""
    return lambda partition: LeadStep(
        max(partition.leader_epoch, 0), max(partition.partition_epoch + newer, 0), tuple(in_sync)
    )


def follow(*, newer: int = 1, partition_epoch: int = 1) -> Symbol:
    """Follow broker 2."""
    return lambda partition: FollowStep(
        max(partition.leader_epoch + newer, 0), max(partition.partition_epoch + partition_epoch, 0)
    )


def append(records: int, acks: int = 1) -> Symbol:
    """Append a batch as the leader."""
    return fixed(AppendStep(records, acks))  # type: ignore[arg-type]


def _fetch(replica: int, offset: int, **fields: Any) -> FetchStep:
    return FetchStep(replica, max(offset, 0), **{"broker_epoch": _EPOCHS.get(replica, 104), **fields})


def caught_up(replica: int, back: int = 0, **fields: Any) -> Symbol:
    """A follower fetches from the leader's end, or some records before it."""
    return lambda partition: _fetch(replica, partition.log.end_offset - back, **fields)


def fetch_at(replica: int, back: int, **fields: Any) -> Symbol:
    """A follower fetches from the high watermark, or some records before it."""
    return lambda partition: _fetch(replica, partition.log.high_watermark - back, **fields)


def fetch_own(replica: int, more: int, *, tells_epoch: bool = False, newer_epoch: int = 0) -> Symbol:
    """A follower fetches from the offset of its last fetch, or some records behind it."""

    def step(partition: Partition) -> FetchStep:
        state = partition.followers.get(replica)
        offset = max(state.log_end_offset if state is not None else 0, 0) + more
        epoch = max(partition.leader_epoch + newer_epoch, 0)
        fields = {"leader_epoch": epoch, "last_epoch": epoch} if tells_epoch else {}
        return _fetch(replica, offset, **fields)

    return step


def respond(error: str = "", *, newer: int = 1) -> Symbol:
    """The controller answers the oldest request; a success has a partition epoch that is ``newer`` by this many."""
    return lambda partition: RespondStep(max(partition.partition_epoch + newer, 0), error)  # type: ignore[arg-type]


def broker(replica: int, *, newer: int = 0, **fields: bool) -> Symbol:
    """A broker is registered again."""
    return fixed(BrokerStep(replica, _EPOCHS[replica] + newer, **fields))


def replicate(*batches: tuple[int, int, int]) -> Symbol:
    """Append batches as a follower: each a gap before it, a number of records and how much newer its epoch is."""

    def step(partition: Partition) -> ReplicateStep:
        offset, made = partition.log.end_offset, []
        for gap, records, newer in batches:
            offset = max(offset + gap, 0)
            made.append(ReplicaBatch(offset, records, max(partition.leader_epoch + newer, 0)))
            offset += records
        return ReplicateStep(tuple(made))

    return step


def as_follower(symbol: Symbol) -> Symbol:
    """Take a symbol's steps as a follower: a leader follows first."""

    def steps(partition: Partition) -> Any:
        made = symbol(partition)
        return (follow()(partition), made) if partition.leader in {None, partition.broker} else made

    return steps


def follow_high_watermark(back: int) -> Symbol:
    """Take over a leader's high watermark that is some records before the end of the log."""
    return lambda partition: FollowHighWatermarkStep(max(partition.log.end_offset - back, -1))


def truncate(back: int) -> Symbol:
    """Truncate some records."""
    return lambda partition: TruncateStep(max(partition.log.end_offset - back, 0))


def end_of_epoch(older: int) -> Symbol:
    """Find the end of an epoch that is older than the current one by this many."""
    return lambda partition: EpochEndStep(max(partition.leader_epoch - older, -1))
