"""``gate client``: librdkafka's producer against its mock broker, and options that cannot be."""

from __future__ import annotations

import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner, Result
from mock_broker import mock_broker
from processes import accept_interrupts, is_gone

pytest.importorskip("kafka")
pytest.importorskip("confluent_kafka")

from kafka_conformance.cli.commands.gate_client import selected_scripts
from kafka_conformance.cli.main import app
from kafka_conformance.core.errors import BadInput
from kafka_conformance.core.events import Differed, Ended, RuleEnded, from_lines
from kafka_conformance.wire.client_gate.cassette import read_cassette, write_cassette
from kafka_conformance.wire.client_gate.script import generated, shipped

ADAPTER = Path(__file__).parents[4] / "ci/adapters/confluent_kafka_adapter.py"
RECORDED = ADAPTER.with_name("kafka_python_adapter.py")
CASSETTES = Path(__file__).parents[2] / "wire/client_gate/cassettes"
LIAR = f"""
import os, runpy
runpy.run_path({str(ADAPTER)!r})
os.truncate(os.environ["RESULTS"], 0)
open(os.environ["RESULTS"], "a").write("".join('{{"record": %d, "error": "no"}}\\n' % at for at in range(120)))
"""
FORGETS = f"""
import os, runpy
runpy.run_path({str(ADAPTER)!r})
lines = open(os.environ["RESULTS"]).readlines()
if len(lines) > 10:
    lines = ['{{"record": 0, "error": "no"}}\\n', *(line for line in lines if '"record": 0,' not in line)]
    open(os.environ["RESULTS"], "w").writelines(lines)
"""
FAILS_ONCE = f"""
import os, runpy
if os.environ["CLIENT_ID"] == "produce/acks-1":
    raise SystemExit(3)
runpy.run_path({str(ADAPTER)!r})
"""
CONFUSED = f"""
import os, runpy
runpy.run_path({str(ADAPTER)!r})
open(os.environ["RESULTS"], "a").write('{{"record": %s, "error": "late"}}\\n')
"""


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with mock_broker() as broker:
        yield broker.bootstrap


def gate(*words: str) -> Result:
    return CliRunner().invoke(app, ["gate", "client", *words], standalone_mode=False, catch_exceptions=False)


def test_client_gate_of_conforming_client_exits_0_and_saves_a_trace_per_script(address: str, tmp_path: Path) -> None:
    events = tmp_path / "events.ndjson"
    ran = gate(
        "--to", address, "--run", "produce/plain", "--run", "compression/*", "--skip", "*/zstd", "--seed", "5",
        "--traces", str(tmp_path / "traces"), "--events", str(events), "--", sys.executable, str(ADAPTER),
    )  # fmt: skip
    assert ran.return_value == 0, ran.output
    assert "4 of 4 scripts agree" in ran.output
    assert "seed 5" in ran.output
    assert sorted(path.name for path in (tmp_path / "traces").iterdir()) == [
        "compression-gzip", "compression-lz4", "compression-snappy", "produce-plain",
    ]  # fmt: skip
    ended = [each for each in from_lines(events.read_bytes().splitlines()) if isinstance(each, RuleEnded)]
    assert {each.verdict for each in ended} == {"agrees"}


def test_client_gate_accepts_known_failures_and_exits_1_for_stale_entries_or_reported_rerun(
    address: str, tmp_path: Path
) -> None:
    events, known = tmp_path / "events.ndjson", tmp_path / "known.toml"
    words = ("--to", address, "--run", "produce/plain", "--known-failures", str(known))
    command = ("--", sys.executable, "-c", LIAR)
    ran = gate(*words, "--write-known-failures", "--events", str(events), *command)
    assert ran.return_value == 0, ran.output
    found = list(from_lines(events.read_bytes().splitlines()))
    (differed,) = [each for each in found if isinstance(each, Differed)]
    assert (differed.rule, differed.kind, differed.id) == ("client/produce/plain", "failed", "produce/plain")
    again = shlex.split(differed.by)
    assert again[2:7] == ["--to", address, "--run", "produce/plain", "--seed"]
    ran = gate(*again[2:])
    assert ran.return_value == 1, ran.output
    assert "replay" in ran.output
    assert isinstance(found[-1], Ended)
    assert found[-1].exit_code == 1
    ran = gate(*words, *command)
    assert ran.return_value == 0, ran.output
    assert "1 known failure" in ran.output
    ran = gate(*words, "--github", "--", sys.executable, str(ADAPTER))
    assert ran.return_value == 1, "an entry that no longer fails is an error"
    assert "::error" in ran.output
    assert "1 invalid entry in the file of known failures" in " ".join(ran.output.split())


def test_client_gate_writes_junit_markdown_html_and_badge_reports(address: str, tmp_path: Path) -> None:
    made = {name: tmp_path / name.strip("-") for name in ("--junit", "--markdown", "--html", "--badge")}
    words = [word for name, path in made.items() for word in (name, str(path))]
    ran = gate("--to", address, "--run", "produce/acks-1", *words, "--no-github", "--", sys.executable, str(ADAPTER))
    assert ran.return_value == 0, ran.output
    assert all("client/produce/acks-1" in made[name].read_text() for name in ("--junit", "--markdown", "--html"))
    assert "1 of 1 rule asked conforms" in made["--badge"].read_text()


def test_client_gate_transcript_has_only_differing_scripts_with_those_of_java(tmp_path: Path) -> None:
    path = tmp_path / "new" / "t.md"
    scripts = ("--run", "refused/out-of-order", "--run", "produce/plain")
    words = ("--cassettes", str(CASSETTES), *scripts, "--transcript", str(path), "--no-github", "--")
    ran = gate(*words, sys.executable, str(RECORDED))
    assert ran.return_value == 1, ran.output
    assert "refused/out-of-order, Produce, partition 0: the first difference" in ran.output
    client, java = (
        next(line for line in ran.output.splitlines() if line.startswith(f"  {name} ")) for name in ("client", "Java")
    )
    assert "partition 0, new epoch: sequence 0, epoch 0" in client
    assert "Java 4.4.0  Produce 13: partition 0, again, new epoch: sequence 0, epoch 1" in java
    assert "produce/plain" not in path.read_text()
    assert "| | client | Java 4.4.0 |" in path.read_text()


def test_client_gate_transcript_names_scripts_without_one_of_java(address: str, tmp_path: Path) -> None:
    path = tmp_path / "t.html"
    words = ("--to", address, "--run", "produce/plain", "--transcript", str(path), "--no-github", "--")
    ran = gate(*words, sys.executable, "-c", LIAR)  # the mock gives each topic four partitions
    assert ran.return_value == 1, ran.output
    assert "produce/plain: Java's client 4.4.0 has no transcript of this script" in ran.output
    assert "has no transcript of this script" in path.read_text()
    ran = gate(*words, sys.executable, str(ADAPTER))
    assert ran.return_value == 0, ran.output
    assert "No script that was run differs." in path.read_text()


def test_client_gate_transcript_with_unknown_ending_is_refused_before_any_run(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"ends in \.md or \.html"):
        gate("--to", "127.0.0.1:1", "--transcript", str(tmp_path / "t.txt"), "--", sys.executable, "-c", "pass")


def test_client_gate_exits_2_if_client_exits_77_as_not_applicable_or_fails_without_sending(address: str) -> None:
    ran = gate("--to", address, "--run", "produce/plain", "--", sys.executable, "-c", "raise SystemExit(77)")
    assert ran.return_value == 2
    assert "nothing was judged; 1 more do not apply" in ran.output
    ran = gate("--to", address, "--run", "produce/plain", "--", sys.executable, "-c", "raise SystemExit(3)")
    assert ran.return_value == 2
    assert "the client sent nothing: it has to connect to the address in BOOTSTRAP" in ran.output


def test_client_gate_exits_2_if_one_of_two_scripts_could_not_be_judged(address: str) -> None:
    words = ("--to", address, "--run", "produce/plain", "--run", "produce/acks-1")
    ran = gate(*words, "--", sys.executable, "-c", FAILS_ONCE)
    assert ran.return_value == 2
    assert "1 of 1 scripts agree; 1 could not be judged" in " ".join(ran.output.split())


@pytest.mark.parametrize(
    ("record", "why"),
    [(120, "a line for record 120, which WORKLOAD does not have"), (0, "record 0 as acknowledged and as failed")],
)
def test_client_gate_exits_2_if_results_name_unknown_record_or_one_both_acknowledged_and_failed(
    address: str, record: int, why: str
) -> None:
    ran = gate("--to", address, "--run", "produce/plain", "--", sys.executable, "-c", CONFUSED % record)
    assert ran.return_value == 2
    assert why in " ".join(ran.output.split())


def test_client_gate_exits_1_if_broker_without_producer_state_stores_a_retried_batch_twice(address: str) -> None:
    """librdkafka's mock: generated scripts lose responses, and their batches are sent again."""
    words = ("--to", address, "--run", "generated/*", "--generate", "2", "--seed", "5", "--timeout", "20")
    ran = gate(*words, "--", sys.executable, str(ADAPTER))
    assert ran.return_value == 1
    assert "client/generated/2 in broker" in ran.output
    assert "stored-twice" in ran.output


def test_client_gate_shrinks_a_failing_script_to_a_file_whose_rerun_command_exits_1(
    address: str, tmp_path: Path
) -> None:
    events = tmp_path / "events.ndjson"
    words = ("--to", address, "--run", "produce/plain", "--seed", "5", "--events", str(events))
    ran = gate(*words, "--shrink", "2", "--traces", str(tmp_path / "t"), "--", sys.executable, "-c", FORGETS)
    assert ran.return_value == 1, ran.output
    found = list(from_lines(events.read_bytes().splitlines()))
    (differed,) = [each for each in found if isinstance(each, Differed)]
    assert differed.actual["smallest"] == ["of 2 more runs"]
    assert "--scripts" in differed.by
    assert differed.question["rounds"] == 1
    assert "records" not in differed.question, "20 is the default; the second run, with one record, does not differ"
    ran = gate(*shlex.split(differed.by)[2:])
    assert ran.return_value == 1, ran.output


def test_client_gate_shrink_option_without_traces_folder_raises_bad_input() -> None:
    with pytest.raises(BadInput, match="--shrink needs --traces FOLDER"):
        gate("--shrink", "3", "--", "true")


def test_client_gate_replays_cassettes_without_broker_and_exits_2_for_unrecorded_requests() -> None:
    words = ("--cassettes", str(CASSETTES), "--run", "produce/acks-1")
    ran = gate(*words, "--", sys.executable, str(RECORDED))
    assert ran.return_value == 0, ran.output
    assert "1 of 1 scripts agree" in ran.output
    ran = gate(*words, "--run", "produce/large-values", "--", sys.executable, str(ADAPTER))
    assert ran.return_value == 2
    output = " ".join(ran.output.split())
    assert "off script: ApiVersions v3 was not recorded" in output
    assert "there is no cassette: record one with --record-cassettes" in output
    assert f"gate client --cassettes {CASSETTES} --run produce/acks-1 -- " in output


def test_script_with_requests_missing_in_the_cassette_is_rerun_on_the_broker_of_to_option(address: str) -> None:
    words = ("--cassettes", str(CASSETTES), "--to", address, "--run", "produce/plain")
    ran = gate(*words, "--", sys.executable, str(ADAPTER))
    assert ran.return_value == 0, ran.output
    assert "1 of 1 scripts agree" in ran.output


HANGS = """
import os, sys, time
open(os.path.join(sys.argv[1], str(os.getpid())), "w").close()
time.sleep(600)
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_sigint_or_sigterm_during_cassette_replay_exits_2_and_kills_all_hanging_clients(
    number: int, tmp_path: Path
) -> None:
    words = ("--cassettes", str(CASSETTES), "--run", "produce/*", "--run", "consume/*")
    command = [sys.executable, "-m", "kafka_conformance", "gate", "client", *words, "--"]
    process = subprocess.Popen(
        [*command, sys.executable, "-c", HANGS, str(tmp_path)],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, preexec_fn=accept_interrupts,
    )  # fmt: skip
    try:
        limit = time.monotonic() + 60
        while len(list(tmp_path.iterdir())) < 2:
            assert time.monotonic() < limit
            assert process.poll() is None
            time.sleep(0.05)
        process.send_signal(number)
        output, _ = process.communicate(timeout=30)
    finally:
        process.kill()
    assert process.returncode == 2
    assert output.splitlines()[-1] == "kafka-conformance: interrupted: nothing was judged to the end"
    assert "Traceback" not in output
    started = list(map(int, (path.name for path in tmp_path.iterdir())))
    assert 2 <= len(started) < 7, "what has not begun when the signal comes is not begun"
    assert all(map(is_gone, started))


def test_client_gate_records_cassettes_only_for_scripts_that_could_be_judged(address: str, tmp_path: Path) -> None:
    words = ("--to", address, "--run", "produce/plain", "--run", "produce/acks-1", "--record-cassettes", str(tmp_path))
    ran = gate(*words, "--seed", "5", "--", sys.executable, "-c", FAILS_ONCE)
    assert ran.return_value == 2
    assert [path.name for path in tmp_path.rglob("*.gz")] == ["plain.ndjson.gz"]
    found = read_cassette(tmp_path / "produce/plain.ndjson.gz")
    assert found is not None
    assert (found.head.broker, found.head.seed, found.head.verdict) == (f"broker {address}", 5, "agrees")
    assert len(found.head.log or []) == 120
    assert {frame.sender for frame in found.frames} == {"client", "broker"}


def test_damaged_cassette_and_cassettes_of_several_brokers_are_refused(tmp_path: Path) -> None:
    copied = tmp_path / "produce/plain.ndjson.gz"
    copied.parent.mkdir()
    copied.write_bytes((CASSETTES / "produce/plain.ndjson.gz").read_bytes()[:-1])
    words = ("--cassettes", str(tmp_path), "--run", "produce/plain", "--run", "produce/acks-1", "--", "true")
    with pytest.raises(BadInput, match="is not a whole cassette"):
        gate(*words)
    for name, broker in (("plain", "4.4.0"), ("acks-1", "4.1.0")):
        found = read_cassette(CASSETTES / f"produce/{name}.ndjson.gz")
        assert found is not None
        head = msgspec.structs.replace(found.head, broker=broker)
        write_cassette(tmp_path / f"produce/{name}.ndjson.gz", head, found.frames)
    with pytest.raises(BadInput, match=r"the cassettes are of several brokers: 4\.1\.0, 4\.4\.0"):
        gate(*words)


def test_client_gate_list_option_prints_every_script_without_a_client_command() -> None:
    ran = gate("--list")
    assert (ran.return_value, len(ran.output.splitlines())) == (0, len(shipped()))


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (("--run", "produce/plan", "--", "true"), "no script matches 'produce/plan': did you mean"),
        (("--run", "produce/plain", "--skip", "produce/*", "--", "true"), "no script is left to run"),
        ((), "no COMMAND: name the program"),
        (("--", "/no/such/program"), "there is no such program"),
        (("--to", "127.0.0.1:1", "--kafka", "4.4.0", "--", "true"), "give one of them"),
        (("--to", "localhost", "--", "true"), "is not an address"),
        (("--write-known-failures", "--", "true"), "needs --known-failures FILE"),
    ],
)
def test_client_gate_with_bad_option_or_missing_command_raises_bad_input(words: tuple[str, ...], hint: str) -> None:
    with pytest.raises(BadInput, match=hint):
        gate(*words)


def test_known_failure_limited_to_a_release_is_refused_for_broker_of_unknown_release(tmp_path: Path) -> None:
    known = tmp_path / "known.toml"
    known.write_text(
        '[[known]]\nrule = "client/a"\npattern = "*"\nreason = "b"\nexpires = 2999-01-01\nrelease = "4.4.0"\n'
    )
    with pytest.raises(BadInput, match="is not known"):
        gate("--to", "127.0.0.1:1", "--known-failures", str(known), "--", "true")


def test_selected_scripts_match_a_run_pattern_and_no_skip_pattern() -> None:
    found = selected_scripts(shipped(), ["consume/*"], ["*/aborted"])
    assert found
    assert all(script.id.startswith("consume/") and script.id != "consume/aborted" for script in found)


def test_all_generated_scripts_run_with_selected_ones_unless_a_pattern_names_one_by_id() -> None:
    scripts = [*shipped(), *generated(3, 7)]
    drawn = [script.id for script in scripts[-3:]]
    names = [script.id for script in selected_scripts(scripts, ["produce/plain"], [], drawn)]
    assert names == ["produce/plain", *drawn]
    assert [script.id for script in selected_scripts(scripts, [drawn[1]], [], drawn)] == [drawn[1]]
