"""The gate of clients: how bad its findings are."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

pytest.importorskip("kafka")

from kafka_conformance.gate import client
from kafka_conformance.wire.client_gate import promises
from kafka_conformance.wire.client_gate.script import Script, shipped
from kafka_conformance.wire.recording import judge


@pytest.mark.parametrize(("kind", "severity"), [("key-elsewhere", "critical"), ("lost", "high"), ("failed", "medium")])
def test_finding_of_a_client_has_the_severity_of_the_kind(kind: str, severity: str) -> None:
    script = Script("a/one", "title")
    plan = client.ClientPlan([script], ["./adapter", "a b"], "4.4.0", 7, 60.0, Path(), options={"--to": "h:1"})
    event = client._differed(script, script, plan, kind, 1, {"found": ["record 3"]}, None, plan.again(script))
    assert (event.kind, event.severity) == (kind, severity)
    assert event.by == "gate client --to h:1 --run a/one --seed 7 -- ./adapter 'a b'"


def test_every_kind_of_high_severity_is_a_kind_of_finding() -> None:
    assert {*promises.KINDS, *judge.KINDS} >= client._HIGH


def test_command_of_a_smaller_script_names_the_file_and_generates_none() -> None:
    plan = client.ClientPlan([], ["./a"], "4.4.0", 7, 60.0, Path(), options={"--to": "h:1", "--generate": "3"})
    again = plan.again(Script("generated/2", "title"), Path("t/one.toml"))
    assert again == "gate client --to h:1 --scripts t/one.toml --run generated/2 --seed 7 -- ./a"


def test_agreement_of_java_is_claimed_for_shipped_scripts_alone() -> None:
    plan = client.ClientPlan([], ["./a"], "4.4.0", 7, 60.0, Path())
    one = shipped()[0]
    smaller = msgspec.structs.replace(one, records=1)
    assert client._differed(one, one, plan, "lost", 1, {}, None, "").java == "Kafka's own client agrees"
    for script, smallest in ((one, smaller), (smaller, smaller)):
        event = client._differed(script, smallest, plan, "lost", 1, {}, None, "")
        assert event.java == "Kafka's own client was not run on this script"
