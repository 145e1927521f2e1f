"""A played history on a terminal: a row for each event, with the observation and the reference's prediction."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from kafka_conformance.core.console import styled
from kafka_conformance.replication.history_table import describe_event
from kafka_conformance.replication.live.comparison import Difference
from kafka_conformance.replication.live.player import PlayedHistory
from kafka_conformance.reports.tables import PlainTable
from kafka_reference.cluster.observation import Answer, Elected, Produced, ReplicaState, Settled
from kafka_reference.cluster.script import ClusterScript

__all__ = ["answer_text", "print_timeline", "start_text"]

_NOTHING = "–"


def print_timeline(
    out: Console, played: PlayedHistory, expected: Sequence[Answer], differences: Sequence[Difference], release: str
) -> None:
    """Print all events, and below them what differs."""
    out.print(Text(start_text(played.script), style="dim"), soft_wrap=True)
    rows = []
    wrong = {one.event for one in differences}
    for number, (event, actual, wanted) in enumerate(zip(played.script.events, played.answers, expected, strict=True)):
        style = "bold red" if number in wrong else ""
        seen, predicted = answer_text(actual), answer_text(wanted)
        rows.append([
            Text(str(number), style="dim"),
            Text(describe_event(event)),
            Text(f"{seen} ◀" if number in wrong else seen, style=style),
            Text(
                "same" if predicted == seen and seen != _NOTHING else predicted,
                style="dim" if predicted == seen else "",
            ),
        ])  # fmt: skip
    out.print(PlainTable("", ("#", "event", f"Kafka {release}", "reference"), rows, right=(0,)))
    for one in played.shrinks:
        out.print(
            Text(
                f"event {one.event}: broker {one.broker} left the in-sync replicas {one.shrink_ms} ms after its pause",
                "dim",
            ),
            soft_wrap=True,
        )
    for difference in differences:
        out.print(styled(f"◀ event {difference.event}: {difference.what}", "bold red"), soft_wrap=True)


def start_text(script: ClusterScript) -> str:
    """Return how a script begins, in a line."""
    unclean = "on" if script.unclean_leader_election else "off"
    return (
        f"replicas {', '.join(map(str, script.replicas))}; min.insync.replicas={script.min_insync_replicas};"
        f" unclean leader election {unclean}"
    )


def answer_text(answer: Answer) -> str:
    """Return an answer in one line, a settled state in one for the partition and one for each replica."""
    match answer:
        case Produced(error, base_offset):
            return "no response" if error is None else f"{error}{'' if base_offset is None else f' at {base_offset}'}"
        case Elected(error):
            return error
        case Settled():
            return "\n".join(
                (_partition_text(answer), *map(_replica_text, *zip(*sorted(answer.replicas.items()), strict=True)))
            )
    return _NOTHING


def _partition_text(seen: Settled) -> str:
    leader = "no leader" if seen.leader < 0 else f"leader {seen.leader}"
    elr = f" ELR {_ids(seen.elr)}" if seen.elr else ""
    return f"{leader} epoch {seen.leader_epoch} ISR {_ids(seen.isr)}{elr}; {_count(seen.readable)} readable"


def _replica_text(broker: int, replica: ReplicaState) -> str:
    """Each batch is its offsets and, behind @, its leader epoch."""
    batches = " ".join(_batch_text(*batch) for batch in replica.batches) or "empty"
    mark = "" if replica.high_watermark is None else f" HW {replica.high_watermark}"
    return f"{broker}: {batches}{mark}"


def _batch_text(base: int, records: int, epoch: int) -> str:
    return f"{base}@{epoch}" if records == 1 else f"{base}-{base + records - 1}@{epoch}"


def _ids(brokers: frozenset[int]) -> str:
    return ",".join(map(str, sorted(brokers)))


def _count(records: int) -> str:
    return f"{records} record{'' if records == 1 else 's'}"
