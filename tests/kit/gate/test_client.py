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
def test_client_gate_finding_has_severity_by_kind_and_a_command_to_reproduce(kind: str, severity: str) -> None:
    script = Script("a/one", "title")
    plan = client.ClientPlan([script], ["./adapter", "a b"], "4.4.0", 7, 60.0, Path(), options={"--to": "h:1"})
    event = client._differed(script, script, plan, kind, 1, {"found": ["record 3"]}, None, plan.again(script))
    assert (event.kind, event.severity) == (kind, severity)
    assert event.by == "gate client --to h:1 --run a/one --seed 7 -- ./adapter 'a b'"


def test_kinds_rated_high_severity_by_the_client_gate_are_existing_kinds_of_finding() -> None:
    assert {*promises.KINDS, *judge.KINDS} >= client._HIGH


def test_replay_command_of_shrunk_script_names_the_script_file_without_generate_option() -> None:
    plan = client.ClientPlan([], ["./a"], "4.4.0", 7, 60.0, Path(), options={"--to": "h:1", "--generate": "3"})
    again = plan.again(Script("generated/2", "title"), Path("t/one.toml"))
    assert again == "gate client --to h:1 --scripts t/one.toml --run generated/2 --seed 7 -- ./a"


def test_client_gate_claims_agreement_of_java_client_only_for_unchanged_shipped_scripts() -> None:
    plan = client.ClientPlan([], ["./a"], "4.4.0", 7, 60.0, Path())
    one = shipped()[0]
    smaller = msgspec.structs.replace(one, records=1)
    assert client._differed(one, one, plan, "lost", 1, {}, None, "").java == "Kafka's own client agrees"
    for script, smallest in ((one, smaller), (smaller, smaller)):
        event = client._differed(script, smallest, plan, "lost", 1, {}, None, "")
        assert event.java == "Kafka's own client was not run on this script"
