"""A history as a table: what happens, who leads, who is in sync, and the log of every replica."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from kafka_reference.cluster.observation import Answer, Elected, Produced, ReplicaState, Settled
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

__all__ = ["describe_event", "history_table"]

_HEADS = ("event", "response", "leader", "ISR", "broker 1", "broker 2", "broker 3")


def history_table(script: ClusterScript, answers: Sequence[Answer]) -> list[str]:
    """Return the lines of a table: a row for each event, and the state whenever the partition has settled.

    A log is its batches, offset and leader epoch of each; ``|`` is the high watermark of a broker that runs.
    """
    rows = [_HEADS, *_rows(script, answers)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(_HEADS))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def describe_event(event: Event) -> str:
    """Return an event as text."""
    match event:
        case Produce(acks, records, wait):
            number = "1 record" if records == 1 else f"{records} records"
            return f"produce {number}, acks={'all' if acks == -1 else acks}{'' if wait else ', not waited for'}"
        case Pause(broker):
            return f"pause broker {broker}"
        case Continue(broker):
            return f"continue broker {broker}"
        case Kill(broker):
            return f"kill broker {broker}"
        case Start(broker):
            return f"start broker {broker}"
        case SetMinInsyncReplicas(replicas):
            return f"set min.insync.replicas={replicas}"
        case SetUncleanElection(enabled):
            return f"set unclean.leader.election.enable={str(enabled).lower()}"
        case Elect(election):
            return f"{election} election"
        case Settle():
            return "settled"


def _rows(script: ClusterScript, answers: Sequence[Answer]) -> Iterator[tuple[str, ...]]:
    stopped: dict[int, str] = {}
    for event, answer in zip(script.events, answers, strict=True):
        match event:
            case Pause(broker):
                stopped[broker] = "paused"
            case Kill(broker):
                stopped[broker] = "killed"
            case Continue(broker) | Start(broker):
                stopped.pop(broker, None)
        match answer:
            case Settled():
                yield (describe_event(event), "", *_state(answer, stopped))
            case _:
                yield (describe_event(event), _response(answer), "", "", "", "", "")


def _response(answer: Answer) -> str:
    match answer:
        case Produced(None):
            return "none"
        case Produced("NONE", offset):
            return f"offset {offset}"
        case Elected("NONE"):
            return "elected"
        case Produced(error) | Elected(error):
            return str(error)
        case _:
            return ""


def _state(state: Settled, stopped: dict[int, str]) -> Iterator[str]:
    yield "none" if state.leader == -1 else f"{state.leader}, epoch {state.leader_epoch}"
    yield _brokers(state.isr) + (f", eligible {_brokers(state.elr)}" if state.elr else "")
    for number, replica in sorted(state.replicas.items()):
        yield _log(replica) + (f" ({stopped[number]})" if number in stopped else "")


def _brokers(brokers: Iterable[int]) -> str:
    return " ".join(map(str, sorted(brokers))) or "empty"


def _log(replica: ReplicaState) -> str:
    """Return ``0/0 1-2/3 |``: offsets and leader epoch of each batch, the high watermark between them."""
    cells = []
    for base, records, epoch in replica.batches:
        if replica.high_watermark == base:
            cells.append("|")
        cells.append(f"{base}{'' if records == 1 else f'-{base + records - 1}'}/{epoch}")
    if replica.high_watermark == replica.end_offset:
        cells.append("|")
    return " ".join(cells) or "-"
