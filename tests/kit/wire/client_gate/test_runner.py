"""Scripts run to their end: librdkafka's producer and its mock broker, with the proxy between them; adapters that fail."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from mock_broker import PARTITIONS, mock_broker

pytest.importorskip("kafka")
pytest.importorskip("confluent_kafka")

from kafka_conformance.core.errors import BadInput, BrokerLost, KitError
from kafka_conformance.wire.broker_gate.runner import BrokerTarget
from kafka_conformance.wire.client import parse_address
from kafka_conformance.wire.client_gate import runner
from kafka_conformance.wire.client_gate.runner import ScriptOutcome, ScriptVerdict, run_script
from kafka_conformance.wire.client_gate.script import Script, Settings
from kafka_conformance.wire.client_gate.workload import workload_of

ADAPTER = Path(__file__).parents[4] / "ci/adapters/confluent_kafka_adapter.py"
# The mock broker keeps no state of producers: it takes batches twice, and out of order.
SCRIPT = Script("lost/one", "one response is lost", Settings(in_flight=1, batch_size=200), PARTITIONS, warm_up=True,
                rounds=3, lose_response=(f"Produce={PARTITIONS + 2}",))  # fmt: skip
BEGINNING = f"import os, runpy; env = os.environ; adapter = lambda: runpy.run_path({str(ADAPTER)!r})\n"


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with mock_broker() as broker:
        yield broker.bootstrap


def run(address: str, folder: Path, program: str, script: Script = SCRIPT, limit_s: float = 30.0) -> ScriptOutcome:
    """Run a script with an adapter, which may call the right one as ``adapter()``."""
    workload, target = workload_of(script, 1), BrokerTarget(*parse_address(address), 10.0, f"gate-{folder.name}")
    command = [sys.executable, "-c", BEGINNING + program]
    try:
        with target.prepared([workload.case]):
            return run_script(script, workload, target, parse_address(address), command, folder, limit_s)
    finally:
        target.close()


def test_producer_that_retries_after_a_lost_response_gives_verdict_agrees_and_saved_files(
    address: str, tmp_path: Path
) -> None:
    outcome = run(address, tmp_path, "adapter()")
    assert (outcome.verdict, outcome.why, outcome.findings) == (ScriptVerdict.AGREES, "", ())
    assert outcome.requests > PARTITIONS
    assert sorted(path.name for path in tmp_path.iterdir()) == ["results.ndjson", "trace", "workload.ndjson"]
    assert len((tmp_path / "results.ndjson").read_text().splitlines()) == PARTITIONS + 60


ACKNOWLEDGES_WHAT_IT_NEVER_SENT = """
lines = open(env["WORKLOAD"]).readlines()
open(env["WORKLOAD"], "w").writelines(lines[:-2])
adapter()
open(env["RESULTS"], "a").write('{"record": 63}')
"""
SENDS_ANOTHER_VALUE = """
text = open(env["WORKLOAD"]).read()
open(env["WORKLOAD"], "w").write(text.replace('"value":"63 ', '"value":"99 '))
adapter()
"""
REPORTS_OTHER_OFFSETS = """
adapter()
text = open(env["RESULTS"]).read()
open(env["RESULTS"], "w").write(text.replace('"offset": 3}', '"offset": 4}'))
"""


@pytest.mark.parametrize(
    ("program", "kind"),
    [
        (ACKNOWLEDGES_WHAT_IT_NEVER_SENT, "lost"),
        (SENDS_ANOTHER_VALUE, "stored-altered"),
        (REPORTS_OTHER_OFFSETS, "stored-elsewhere"),
    ],
)
def test_client_results_that_contradict_the_stored_records_give_verdict_differs(
    address: str, tmp_path: Path, program: str, kind: str
) -> None:
    outcome = run(address, tmp_path, program)
    assert outcome.verdict is ScriptVerdict.DIFFERS
    assert kind in [one.kind for one in outcome.findings]


@pytest.mark.parametrize(
    ("program", "verdict", "why"),
    [
        ("print('no lz4 here'); raise SystemExit(77)", ScriptVerdict.NOT_APPLICABLE, "no lz4 here"),
        ("pass", ScriptVerdict.NOT_JUDGED, "the client sent nothing: it has to connect to the address in BOOTSTRAP"),
        ("adapter(); raise SystemExit('broken')", ScriptVerdict.NOT_JUDGED, "ended with exit code 1: broken"),
        ("adapter(); os.kill(os.getpid(), 9)", ScriptVerdict.NOT_JUDGED, "ended with exit code -9"),
        (
            "adapter(); open(env['RESULTS'], 'a').write('{')",
            ScriptVerdict.NOT_JUDGED,
            "RESULTS line 65 is not a valid result",
        ),
        ("adapter(); open(env['RESULTS'], 'w')", ScriptVerdict.NOT_JUDGED, "RESULTS has no line for record 0"),
    ],
)
def test_client_exit_77_is_not_applicable_and_failure_or_invalid_results_are_not_judged(
    address: str, tmp_path: Path, program: str, verdict: ScriptVerdict, why: str
) -> None:
    outcome = run(address, tmp_path, program)
    assert outcome.verdict is verdict
    assert why in outcome.why


def test_script_whose_fault_hits_no_request_is_not_judged(address: str, tmp_path: Path) -> None:
    script = Script("a", "b", rounds=1, records=1, refuse=("Produce=9:6",))
    outcome = run(address, tmp_path, "adapter()", script)
    assert (outcome.verdict, outcome.why) == (ScriptVerdict.NOT_JUDGED, "there was no such request: Produce=9")


def test_script_whose_version_limit_is_above_all_broker_versions_is_not_judged(address: str, tmp_path: Path) -> None:
    outcome = run(address, tmp_path, "adapter()", Script("a", "b", rounds=1, records=1, at_most=("Fetch=1000",)))
    why = "at-most had no effect: no broker was seen that offers more: Fetch=1000"
    assert (outcome.verdict, outcome.why) == (ScriptVerdict.NOT_JUDGED, why)


SENDS_A_VERSION_THAT_IS_NOT_OFFERED = """
adapter()
import contextlib
from kafka_conformance.wire.client import Connection, parse_address
connection = Connection(*parse_address(env["BOOTSTRAP"]), 5)
connection.versions()
with contextlib.suppress(Exception):
    connection.ask("EndTxn", 4, {"transactionalId": "t", "producerId": 1, "producerEpoch": 0, "committed": True})
"""


@pytest.mark.parametrize(
    ("program", "verdict", "why", "found"),
    [
        ("print('no lz4 here'); raise SystemExit(77)", ScriptVerdict.NOT_APPLICABLE, "no lz4 here", []),
        (
            "pass",
            ScriptVerdict.NOT_JUDGED,
            "the client sent nothing: it has to connect to the address in BOOTSTRAP",
            [],
        ),
        ("adapter()", ScriptVerdict.NOT_JUDGED, "t-0 cannot be read: a damaged batch", []),
        (SENDS_A_VERSION_THAT_IS_NOT_OFFERED, ScriptVerdict.DIFFERS, "", ["version-not-offered"]),
    ],
)
def test_unreadable_topic_is_not_judged_unless_client_exits_77_or_requests_show_a_finding(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, program: str, verdict: ScriptVerdict, why: str,
    found: list[str],
) -> None:  # fmt: skip
    def fails(*_: object) -> None:
        raise KitError("t-0 cannot be read: a damaged batch")

    monkeypatch.setattr(runner, "read_log", fails)
    outcome = run(address, tmp_path, program)
    assert (outcome.verdict, outcome.why, [one.kind for one in outcome.findings]) == (verdict, why, found)


def test_broker_that_is_lost_while_a_topic_is_read_ends_the_gate(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def is_lost(*_: object) -> None:
        raise BrokerLost("no answer to Fetch")

    monkeypatch.setattr(runner, "read_log", is_lost)
    with pytest.raises(BrokerLost, match="no answer to Fetch"):
        run(address, tmp_path, SENDS_A_VERSION_THAT_IS_NOT_OFFERED)


def test_client_still_running_at_the_deadline_gives_verdict_differs_with_finding_no_end(
    address: str, tmp_path: Path
) -> None:
    program = "import sys; sys.stdout.write('x' * 10**6); sys.stdout.flush(); adapter(); import time; time.sleep(60)"
    outcome = run(address, tmp_path, program, limit_s=4.0)
    assert outcome.verdict is ScriptVerdict.DIFFERS
    assert [(one.kind, one.what) for one in outcome.findings] == [("no-end", "64 of 64 records have a line in RESULTS")]


@pytest.mark.parametrize(("records", "verdict"), [(1, ScriptVerdict.NOT_APPLICABLE), (9, ScriptVerdict.DIFFERS)])
def test_unsplit_too_large_batch_gives_verdict_differs_or_not_applicable_if_of_one_record(
    address: str, tmp_path: Path, records: int, verdict: ScriptVerdict
) -> None:
    settings, refuse = Settings(linger_ms=500), (f"Produce={PARTITIONS + 1}:10",)
    script = Script("a/b", "c", settings, PARTITIONS, warm_up=True, rounds=1, records=records, keys=1, refuse=refuse)
    outcome = run(address, tmp_path, "adapter()", script)
    assert outcome.verdict is verdict
    assert outcome.why.startswith("the batch that was refused as too large has one record") == (records == 1)


SENDS_IN_ANOTHER_ORDER = """
lines = open(env["WORKLOAD"]).readlines()
lines[-3], lines[-2] = lines[-2], lines[-3]
open(env["WORKLOAD"], "w").writelines(lines)
adapter()
open(env["RESULTS"], "a").write('{"order": %s}')
"""


@pytest.mark.parametrize(("order", "verdict"), [("true", ScriptVerdict.DIFFERS), ("false", ScriptVerdict.AGREES)])
def test_reordered_records_are_harmless_if_results_declare_no_order_and_differ_otherwise(
    address: str, tmp_path: Path, order: str, verdict: ScriptVerdict
) -> None:
    script = Script("a/b", "one request in flight", Settings(in_flight=1), PARTITIONS, rounds=1, records=9, keys=1)
    outcome = run(address, tmp_path, SENDS_IN_ANOTHER_ORDER % order, script)
    assert outcome.verdict is verdict
    assert bool(outcome.harmless) == (verdict is ScriptVerdict.AGREES)


LEAVES_A_CHILD = (
    "import subprocess, sys; adapter(); subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])"
)


def test_runner_does_not_wait_for_a_child_process_that_keeps_the_output_of_the_client_open(
    address: str, tmp_path: Path
) -> None:
    begun = time.monotonic()
    outcome = run(address, tmp_path, f"print('one', flush=True); {LEAVES_A_CHILD}", limit_s=20.0)
    assert (outcome.verdict, outcome.findings) == (ScriptVerdict.AGREES, ())
    assert time.monotonic() - begun < 15
    outcome = run(address, tmp_path / "2", f"{LEAVES_A_CHILD}; raise SystemExit('the last line')", limit_s=20.0)
    assert outcome.why == "the adapter ended with exit code 1: the last line"


def test_command_that_cannot_be_started_is_refused(address: str, tmp_path: Path) -> None:
    workload, target = workload_of(SCRIPT, 1), BrokerTarget(*parse_address(address), 10.0, "gate-absent")
    with target.prepared([workload.case]), pytest.raises(BadInput, match="cannot be started"):
        run_script(SCRIPT, workload, target, parse_address(address), [str(tmp_path)], tmp_path, 5.0)
    target.close()
