"""The clients of ``ci/adapters/clients.toml``, and what their gates on the wire have shown: ``ci/adapter-results.ndjson``.

``ci/adapter_gates.py`` writes the record; the pages of the matrix are written from it, without a gate.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final

import msgspec
from client_gates import ROOT
from matrix_results import State

from kafka_conformance.core.events import Severity

__all__ = [
    "ADAPTERS", "STATES", "Cause", "Client", "Deviation", "Result", "cause_of", "read_clients", "read_results",
    "write_results",
]  # fmt: skip

ADAPTERS = Path("ci", "adapters")
RECORD = ROOT / "ci" / "adapter-results.ndjson"
STATES: Final[Mapping[str, State]] = {
    "agrees": "agrees", "differs": "differs", "harmless": "differs, harmless", "unsupported": "not applicable",
    "errored": "no answer",
}  # fmt: skip
"""The verdicts of a script, and the states in which the matrix has them."""


class Cause(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What causes deviations of this kind in these scripts, found by hand, in the source of the client or in a trace."""

    scripts: list[str]
    kinds: list[str]
    cause: str


class Client(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A client: the driver whose install it shares, or its name in the matrix and its version.

    Its builds and its command are run in the folder of the install.
    """

    name: str
    command: list[str]
    driver: str = ""
    title: str = ""
    version: str = ""
    kafka: str = "4.4.0"
    build: list[list[str]] = []
    causes: list[Cause] = []


class Deviation(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A finding in a script."""

    script: str
    kind: str
    severity: Severity
    what: str
    effect: str


class Result(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The verdict on each script, the reasons of those that are not judged, and what differs."""

    client: str
    version: str
    release: str
    verdicts: dict[str, str]
    reasons: dict[str, str]
    deviations: list[Deviation]


def read_clients() -> list[Client]:
    """Return the clients. Raises msgspec.ValidationError."""
    text = (ROOT / ADAPTERS / "clients.toml").read_text(encoding="utf-8")
    return msgspec.convert(msgspec.toml.decode(text)["client"], list[Client])


def read_results() -> list[Result]:
    """Return the recorded results."""
    return msgspec.json.Decoder(Result).decode_lines(RECORD.read_bytes()) if RECORD.exists() else []


def write_results(results: Sequence[Result]) -> None:
    """Record these results in place of those there."""
    RECORD.write_bytes(msgspec.json.Encoder().encode_lines(results))


def cause_of(client: Client, one: Deviation) -> str:
    """Return what causes a deviation, or an empty text if that was not looked at."""
    for each in client.causes:
        if one.kind in each.kinds and any(fnmatchcase(one.script, pattern) for pattern in each.scripts):
            return each.cause
    return ""
