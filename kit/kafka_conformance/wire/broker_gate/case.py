"""Cases: requests to send on one connection, and the answers that Kafka's own brokers gave.

A case is one line of JSON. Texts in its requests that begin with ``$`` are filled in when they are sent: ``$topic`` is
the case's own topic, ``$topic.other`` a further one, ``$id`` and ``$id.other`` their ids, ``$name.x`` a name for a group or
a transaction that no other case has, ``$t+5`` a time in ms shortly before the run. ``bind`` takes further ones from an
answer::

    {"api": "InitProducerId", "version": 4, "request": {"transactionTimeoutMs": 60000}, "bind": {"pid": "producerId"}}

Then ``$pid`` is that producer id, in requests that follow and in the answers that are compared. Batches are written as
fields (:mod:`~kafka_conformance.wire.broker_gate.batches`).
"""

from __future__ import annotations

from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from kafka_conformance.core.decoding import UNREADABLE
from kafka_conformance.core.errors import BadInput
from kafka_conformance.core.files import read_bytes, write_whole

__all__ = [
    "FILE",
    "BrokerCase",
    "CaseTopic",
    "Frozen",
    "Provenance",
    "Recorded",
    "Step",
    "Until",
    "frozen",
    "read",
    "write",
]


class CaseTopic(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """A topic that a case needs, made before it: the end of its name, partition count, settings."""

    name: str = ""
    partitions: int = 1
    settings: dict[str, str] = {}


class Until(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a request is repeated for: the value at a path of the answer, ``topics.0.partitions.0.offset``.

    A broker writes the markers of a transaction after it has answered EndTxn. If the value does not come within the limit,
    the last answer counts.
    """

    path: str
    value: Any


class Step(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """One request.

    ``is_answered`` is false for a request without response. A request is repeated while its answer is an error that passes,
    as a coordinator that is loading, or until ``until`` holds.
    """

    api: str
    version: int
    request: dict[str, Any]
    bind: dict[str, str] = {}
    until: Until | None = None
    is_answered: bool = True


class Recorded(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The normalised answers to the steps of a case, and the releases that gave them."""

    releases: tuple[str, ...]
    answers: list[Any]


class BrokerCase(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """A case: its id, what it shows, the topics and requests, and what Kafka answers."""

    id: str
    title: str
    steps: list[Step]
    topics: list[CaseTopic] = []
    expected: list[Recorded] = []

    @property
    def names_topic_ids(self) -> bool:
        """Whether a request has the id of a topic."""
        return b'"$id' in msgspec.json.encode(self.steps)

    def answers_of(self, release: str) -> list[Any] | None:
        """Return what this release answered; None if it lacks an API or a version that the case needs."""
        return next((each.answers for each in self.expected if release in each.releases), None)


class Provenance(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The sha256 of the broker's jar of each release, oldest first, and the seed of the generated cases."""

    jars: dict[str, str]
    seed: int


class Frozen(msgspec.Struct, frozen=True):
    """The cases that ship, in the order of their ids."""

    provenance: Provenance
    cases: tuple[BrokerCase, ...]


_Line = TypeVar("_Line", Provenance, BrokerCase)
FILE = Path(str(resources.files(__package__))) / "cases.ndjson"
"""The cases that ship with the package."""


@cache
def frozen() -> Frozen:
    """Return the cases that ship with the package. Raises BadInput if the file is damaged."""
    return read(FILE)


def read(path: Path) -> Frozen:
    """Read a file of cases. Raises BadInput, with the line that cannot be read."""
    lines = read_bytes(path).splitlines()
    head, *rest = lines or [b""]
    provenance = _decoded(path, 1, head, Provenance)
    return Frozen(provenance, tuple(_decoded(path, number, line, BrokerCase) for number, line in enumerate(rest, 2)))


def _decoded(path: Path, number: int, line: bytes, kind: type[_Line]) -> _Line:
    try:
        return msgspec.json.decode(line, type=kind)
    except UNREADABLE as error:
        raise BadInput(f"{path}, line {number}, is not a case of the gate of brokers: {error}") from error


def write(frozen: Frozen, path: Path = FILE) -> None:
    """Write a file of cases, whole or not at all. Raises KitError."""
    lines = [frozen.provenance, *frozen.cases]
    write_whole(path, b"".join(msgspec.json.encode(line) + b"\n" for line in lines))
