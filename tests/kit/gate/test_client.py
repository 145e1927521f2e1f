"""The gate of clients: how bad its findings are."""

from __future__ import annotations

import pytest

pytest.importorskip("kafka")

from kafka_conformance.gate import client
from kafka_conformance.wire.client_gate import promises
from kafka_conformance.wire.client_gate.script import Script
from kafka_conformance.wire.recording import judge


@pytest.mark.parametrize(("kind", "severity"), [("key-elsewhere", "critical"), ("lost", "high"), ("failed", "medium")])
def test_finding_of_a_client_has_the_severity_of_the_kind(kind: str, severity: str) -> None:
    event = client._differed(Script("a/one", "title"), "4.4.0", kind, 1, {"found": ["record 3"]}, None)
    assert (event.kind, event.severity) == (kind, severity)


def test_every_kind_of_high_severity_is_a_kind_of_finding() -> None:
    assert {*promises.KINDS, *judge.KINDS} >= client._HIGH
