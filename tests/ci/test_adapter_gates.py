"""The gates of the clients in ``ci/adapters``: what is recorded, and that each deviation has a cause."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import adapter_gates
import adapter_results
import pytest
from adapter_gates import result_of
from adapter_results import STATES, Cause, Client, Deviation, Result, cause_of, read_clients, read_results
from click.testing import CliRunner
from client_gates import ROOT, read_driver

from kafka_conformance.core.events import Differed, Ended, ProtocolError, RuleEnded
from kafka_conformance.gate.reports.outline import outline
from kafka_conformance.wire.client_gate.script import shipped

CLIENTS = {each.name: each for each in read_clients()}
CLIENT = Client("c", ["run"], version="1", causes=[Cause(["lost/*"], ["lost"], "send() forgets")])
LOST = Deviation("lost/response", "lost", "high", "record 3", "It is gone.")


def test_recorded_gate_results_have_every_client_in_the_order_of_the_clients_file() -> None:
    assert [each.client for each in read_results()] == list(CLIENTS)


@pytest.mark.parametrize("result", read_results(), ids=lambda each: str(each.client))
def test_client_gate_record_has_pinned_version_and_deviation_or_reason_per_script_unless_agreed(result: Result) -> None:
    client = CLIENTS[result.client]
    driver = read_driver(ROOT / adapter_gates.DRIVERS / client.driver) if client.driver else None
    assert (result.version, result.release) == (driver.version if driver else client.version, client.kafka)
    assert list(result.verdicts) == [script.id for script in shipped()]
    assert set(result.verdicts.values()) <= {*STATES}
    differing = {script for script, verdict in result.verdicts.items() if verdict == "differs"}
    assert {one.script for one in result.deviations} == differing
    reasons = {
        script for script, verdict in result.verdicts.items() if verdict in {"unsupported", "errored", "harmless"}
    }
    assert set(result.reasons) == reasons


@pytest.mark.parametrize("result", read_results(), ids=lambda each: str(each.client))
def test_every_recorded_client_deviation_has_a_cause_and_every_listed_cause_has_a_deviation(result: Result) -> None:
    client = CLIENTS[result.client]
    assert [one for one in result.deviations if not cause_of(client, one)] == []
    used = {cause_of(client, one) for one in result.deviations}
    assert {each.cause for each in client.causes} == used


def test_recorded_verdict_of_java_client_is_agrees_in_every_client_gate_script() -> None:
    (java,) = [each for each in read_results() if each.client == "java"]
    assert set(java.verdicts.values()) == {"agrees"}


def test_twelve_recorded_clients_agree_differ_or_differ_harmlessly_in_twelve_or_more_scripts() -> None:
    judged = [
        sum(verdict in {"agrees", "differs", "harmless"} for verdict in each.verdicts.values())
        for each in read_results()
    ]
    assert sum(count >= 12 for count in judged) >= 12


def ended(script: str, verdict: Any, **fields: Any) -> RuleEnded:
    judged = int(verdict != "unsupported")
    counts = int(verdict == "agrees"), int(verdict == "differs"), 0, int(verdict == "errored"), 1 - judged
    return RuleEnded(f"client/{script}", "4.4.0", "exact", verdict, judged, *counts, judged, 0, 0, 0.0, **fields)


def test_client_gate_events_become_verdicts_reasons_and_deviations_or_raise_without_an_end() -> None:
    what = {"found": ["gate-kafka-conformance-1a2b-lost-response-0: producer 7001 epoch 0"]}
    differed = Differed(
        "client/b", "4.4.0", "b", "frozen", "lost", 1, {}, {}, what, "", "", severity="high", effect="e"
    )
    events = [
        ended("a", "agrees"), differed, ended("b", "differs"), ended("c", "agrees", harmless={"order": 1}),
        ended("d", "unsupported", reasons={"no lz4": 1}),
        ProtocolError("client/e", "4.4.0", "could not judge", "it failed", "hint"), ended("e", "errored"),
        Ended(1, "", 4, 2, 1, 0, 1, 1, 0.0),
    ]  # fmt: skip
    found = result_of(CLIENT, "1", outline(events))
    assert found.verdicts == {"a": "agrees", "b": "differs", "c": "harmless", "d": "unsupported", "e": "errored"}
    assert found.reasons == {"c": "order", "d": "no lz4", "e": "it failed"}
    assert found.deviations == [Deviation("b", "lost", "high", "topic-0: producer N epoch 0", "e")]
    with pytest.raises(ValueError, match="did not end"):
        result_of(CLIENT, "1", outline([]))


def test_adapter_gates_command_exits_2_and_keeps_the_record_of_client_with_failed_gate(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    old = Result("c", "1", "4.4.0", {"lost/response": "differs"}, {}, [LOST])
    monkeypatch.setattr(adapter_results, "RECORD", tmp_path / "record.ndjson")
    written: list[str] = []
    monkeypatch.setattr(adapter_gates, "write_pages", lambda: written.append("pages"))
    monkeypatch.setattr(adapter_gates, "read_clients", lambda: [CLIENT])
    monkeypatch.setattr(adapter_gates, "_gate_all", lambda *_, **__: iter([("c", old)]))
    ran = CliRunner().invoke(adapter_gates.main, ["c"], catch_exceptions=False)
    assert (ran.exit_code, read_results()) == (0, [old])
    monkeypatch.setattr(adapter_gates, "_gate_all", lambda *_, **__: iter([("c", None)]))
    ran = CliRunner().invoke(adapter_gates.main, [], catch_exceptions=False)
    assert (ran.exit_code, read_results()) == (2, [old])
    assert written == ["pages"] * 2


def test_gate_of_selected_scripts_prints_deviations_with_causes_and_records_nothing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    found = Result("c", "1", "4.4.0", {"lost/response": "differs", "a": "unsupported"}, {"a": "no lz4"}, [LOST])
    monkeypatch.setattr(adapter_results, "RECORD", tmp_path / "record.ndjson")
    monkeypatch.setattr(adapter_gates, "read_clients", lambda: [CLIENT])
    monkeypatch.setattr(adapter_gates, "_gate_all", lambda *_, **__: iter([("c", found)]))
    ran = CliRunner().invoke(adapter_gates.main, ["--run", "lost/*", "c"], catch_exceptions=False)
    assert ran.output.splitlines() == [
        "c: lost/response: lost: record 3; cause: send() forgets", "c: a: not applicable: no lz4",
    ]  # fmt: skip
    assert not (tmp_path / "record.ndjson").exists()


def test_client_gate_command_with_unknown_client_exits_2_and_names_the_client() -> None:
    ran = CliRunner().invoke(adapter_gates.main, ["nobody"])
    assert ran.exit_code == 2
    assert "unknown client 'nobody'" in ran.output
