"""The gate of clients: how bad its findings are."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("kafka")

from kafka_conformance.gate import client
from kafka_conformance.wire.client_gate import promises
from kafka_conformance.wire.client_gate.script import Script
from kafka_conformance.wire.recording import judge


@pytest.mark.parametrize(("kind", "severity"), [("key-elsewhere", "critical"), ("lost", "high"), ("failed", "medium")])
def test_finding_of_a_client_has_the_severity_of_the_kind(kind: str, severity: str) -> None:
    script = Script("a/one", "title")
    plan = client.ClientPlan([script], ["./adapter", "a b"], "4.4.0", 7, 60.0, Path(), options=["--to", "h:1"])
    event = client._differed(script, script, plan, kind, 1, {"found": ["record 3"]}, None, plan.again(script))
    assert (event.kind, event.severity) == (kind, severity)
    assert event.by == "gate client --to h:1 --run a/one --seed 7 -- ./adapter 'a b'"


def test_every_kind_of_high_severity_is_a_kind_of_finding() -> None:
    assert {*promises.KINDS, *judge.KINDS} >= client._HIGH


def test_command_of_a_smaller_script_names_the_file_and_generates_none() -> None:
    plan = client.ClientPlan([], ["./a"], "4.4.0", 7, 60.0, Path(), options=["--to", "h:1", "--generate", "3"])
    again = plan.again(Script("generated/2", "title"), "--scripts", "t/one.toml")
    assert again == "gate client --to h:1 --scripts t/one.toml --run generated/2 --seed 7 -- ./a"
