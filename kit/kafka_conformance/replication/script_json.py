"""Scripts as JSON: how users write histories, and how differing ones are kept."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import msgspec

from kafka_conformance.core.decoding import UNREADABLE
from kafka_conformance.core.errors import BadInput
from kafka_conformance.core.files import read_bytes
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

__all__ = ["load_script", "read_script", "write_script"]

_Broker = Literal[1, 2, 3]
_MOST_EVENTS, _MOST_RECORDS = 1000, 10_000
_MOST_INT32 = 2**31 - 1


class _Event(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One event: exactly one of the fields is set; ``records`` and ``wait`` go with ``produce``."""

    produce: Literal["all", 0, 1, -1, 2] | None = None
    records: int = 1
    wait: bool = True
    pause: _Broker | None = None
    resume: _Broker | None = msgspec.field(default=None, name="continue")
    kill: _Broker | None = None
    start: _Broker | None = None
    min_insync_replicas: int | None = msgspec.field(default=None, name="min.insync.replicas")
    unclean: bool | None = msgspec.field(default=None, name="unclean.leader.election.enable")
    elect: Literal["preferred", "unclean"] | None = None
    settle: Literal[True] | None = None


class _Script(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A script."""

    events: list[_Event]
    replicas: tuple[_Broker, ...] = (1, 2, 3)
    min_insync_replicas: int = msgspec.field(default=1, name="min.insync.replicas")
    unclean: bool = msgspec.field(default=False, name="unclean.leader.election.enable")


def load_script(file: Path) -> ClusterScript:
    """Read a script from a file. Raises BadInput, naming the file and the place."""
    data = read_bytes(file)
    try:
        return read_script(data)
    except BadInput as error:
        raise BadInput(f"script {file}: {error}") from error


def read_script(data: bytes | str) -> ClusterScript:
    """Parse a script and check that its events follow from each other. Raises BadInput."""
    try:
        read = msgspec.json.decode(data, type=_Script)
    except UNREADABLE as error:
        raise BadInput(
            f"{error}: expected events, replicas, min.insync.replicas, unclean.leader.election.enable"
        ) from error
    if not read.replicas or len(set(read.replicas)) < len(read.replicas):
        raise BadInput(f"replicas {list(read.replicas)}: expected one to three of the brokers 1, 2 and 3, each once")
    _check_minimum(read.min_insync_replicas, "min.insync.replicas")
    if not 0 < len(read.events) <= _MOST_EVENTS:
        raise BadInput(f"{len(read.events)} events: expected 1 to {_MOST_EVENTS}")
    events = tuple(_event(number, each) for number, each in enumerate(read.events))
    _check_faults(events, read.replicas)
    return ClusterScript(events, read.replicas, read.min_insync_replicas, read.unclean)


def write_script(script: ClusterScript) -> str:
    """Return a script as JSON with one event a line, as ``read_script`` parses it."""
    events = ",\n    ".join(msgspec.json.encode(_written(event)).decode() for event in script.events)
    head = {
        "replicas": script.replicas,
        "min.insync.replicas": script.min_insync_replicas,
        "unclean.leader.election.enable": script.unclean_leader_election,
    }
    fields = "".join(
        f"  {msgspec.json.encode(name).decode()}: {msgspec.json.encode(value).decode()},\n"
        for name, value in head.items()
    )
    return f'{{\n{fields}  "events": [\n    {events}\n  ]\n}}\n'


def _event(number: int, read: _Event) -> Event:
    """Return an event of a script. Raises BadInput unless it is exactly one."""
    made: list[Event] = []
    if read.produce is not None:
        if not 1 <= read.records <= _MOST_RECORDS:
            raise BadInput(f"event {number}: {read.records} records: expected 1 to {_MOST_RECORDS}")
        made.append(Produce(-1 if read.produce == "all" else read.produce, read.records, read.wait))
    elif read.records != 1 or not read.wait:
        raise BadInput(f"event {number}: records and wait belong to a produce event")
    faults = ((Pause, read.pause), (Continue, read.resume), (Kill, read.kill), (Start, read.start))
    made += [kind(broker) for kind, broker in faults if broker is not None]
    if read.min_insync_replicas is not None:
        _check_minimum(read.min_insync_replicas, f"event {number}: min.insync.replicas")
        made.append(SetMinInsyncReplicas(read.min_insync_replicas))
    if read.unclean is not None:
        made.append(SetUncleanElection(read.unclean))
    if read.elect is not None:
        made.append(Elect(read.elect))
    if read.settle is not None:
        made.append(Settle())
    if len(made) != 1:
        names = ", ".join(
            name for field in msgspec.structs.fields(_Event) if (name := field.encode_name) not in {"records", "wait"}
        )
        raise BadInput(f"event {number} is {len(made)} events: expected exactly one of {names}")
    return made[0]


def _written(event: Event) -> dict[str, Any]:
    match event:
        case Produce(acks, records, wait):
            return {"produce": "all" if acks == -1 else acks, "records": records, "wait": wait}
        case Pause(broker):
            return {"pause": broker}
        case Continue(broker):
            return {"continue": broker}
        case Kill(broker):
            return {"kill": broker}
        case Start(broker):
            return {"start": broker}
        case SetMinInsyncReplicas(replicas):
            return {"min.insync.replicas": replicas}
        case SetUncleanElection(enabled):
            return {"unclean.leader.election.enable": enabled}
        case Elect(election):
            return {"elect": election}
        case Settle():
            return {"settle": True}


def _check_minimum(replicas: int, name: str) -> None:
    if not 1 <= replicas <= _MOST_INT32:
        raise BadInput(f"{name} {replicas}: Kafka accepts 1 to {_MOST_INT32}, also more than there are replicas")


def _check_faults(events: tuple[Event, ...], replicas: tuple[int, ...]) -> None:
    """Raise BadInput for a broker without a replica, that is stopped twice, or returns without having stopped."""
    states: dict[int, str] = dict.fromkeys(replicas, "runs")
    allowed = {Pause: ("runs", "is paused"), Continue: ("is paused", "runs"), Start: ("is killed", "runs")}
    for number, event in enumerate(events):
        if isinstance(event, Pause | Continue | Kill | Start) and event.broker not in states:
            raise BadInput(f"event {number}: broker {event.broker} has no replica: expected one of {list(replicas)}")
        if isinstance(event, Kill):
            if states[event.broker] == "is killed":
                raise BadInput(f"event {number}: kill broker {event.broker}, which is killed already")
            states[event.broker] = "is killed"
        elif isinstance(event, Pause | Continue | Start):
            needed, after = allowed[type(event)]
            if states[event.broker] != needed:
                raise BadInput(
                    f"event {number}: {type(event).__name__.lower()} broker {event.broker}, which {states[event.broker]}"
                )
            states[event.broker] = after
        elif (
            isinstance(event, Produce | Elect | SetMinInsyncReplicas | SetUncleanElection)
            and "runs" not in states.values()
        ):
            raise BadInput(f"event {number}: a request while no broker runs")
