"""``record`` and ``trace``: a producer of librdkafka and its mock broker, with the proxy between them."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner
from mock_broker import mock_broker
from processes import is_gone
from traces import Conversation, batch

pytest.importorskip("kafka")
pytest.importorskip("confluent_kafka")

from kafka_conformance.cli.main import app
from kafka_conformance.core.errors import BadInput

PRODUCER = """
import os, sys
from confluent_kafka import Producer
done = []
producer = Producer({"bootstrap.servers": os.environ["BOOTSTRAP"], "enable.idempotence": True, "log_level": 0,
                     "partitioner": "murmur2_random", "batch.num.messages": 10})
for number in range(60):
    producer.produce("orders", b"value", b"key-%d" % number, on_delivery=lambda error, _: done.append(error is None))
producer.flush(30)
sys.exit(0 if done.count(True) == 60 else 9)
"""


def kit(*words: str, timeout_s: float = 60) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "kafka_conformance", *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=timeout_s, check=False)


@pytest.mark.parametrize(
    "faults", [(), ("--lose-response", "Produce=2"), ("--lose-request", "Produce=3"), ("--refuse", "Produce=2:6")]
)
def test_recorded_librdkafka_producer_retries_only_after_faults_without_findings_and_places_as_java(
    tmp_path: Path, faults: tuple[str, ...]
) -> None:
    path = tmp_path / "a.trace"
    with mock_broker() as broker:
        made = kit(
            "record", "--to", broker.bootstrap, "--trace", str(path), *faults, "--", sys.executable, "-c", PRODUCER
        )
    assert made.returncode == 0
    assert made.stdout.startswith("127.0.0.1:")
    assert "no such request" not in made.stderr
    done = kit("trace", str(path), "--json")
    document = json.loads(done.stdout)
    assert (done.returncode, document["findings"]) == (0, [])
    assert (document["totals"]["repeated"] > 0) == bool(faults)
    assert document["placed"]["orders"]["keyed"] == document["placed"]["orders"]["as_java"] == 60


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (("--to", "x"), "--to x: expected HOST:PORT"),
        (("--to", "h:70000"), "expected HOST:PORT"),
        (("--to", "h:1", "--lose-request", "Produce"), "expected an API and a number"),
        (("--to", "h:1", "--lose-request", "Prodce=1"), "did you mean Produce"),
        (("--to", "h:1", "--lose-response", "Produce=0"), "counted from 1"),
        (
            ("--to", "h:1", "--lose-response", "Fetch=1", "--lose-request", "Fetch=1"),
            "only one thing can happen to each",
        ),
        (("--to", "h:1", "--refuse", "Produce=1"), "expected an error code"),
        (("--to", "h:1", "--refuse", "Produce=1:x"), "expected an error code"),
        (("--to", "h:1", "--refuse", "CreateTopics=1:5"), "has no error for the whole request"),
        (("--to", "h:1", "--lose-request", "Produce=1:5"), "is for --refuse"),
        (("--to", "h:1", "--at-most", "Produce=x"), "expected an API and a number"),
        (("--to", "h:1", "--ca", "x.pem"), "are for --tls"),
        (("--to", "h:1", "--tls", "--ca", "absent.pem"), "cannot be read as certificates"),
    ],
)
def test_record_command_with_bad_option_is_refused_before_a_port_is_opened(
    tmp_path: Path, words: tuple[str, ...], hint: str
) -> None:
    made = kit("record", "--trace", str(tmp_path / "a.trace"), *words)
    assert (made.returncode, made.stdout) == (2, "")
    assert hint in made.stderr
    assert len(made.stderr.splitlines()) == 1
    assert not (tmp_path / "a.trace").exists()


def test_record_exits_2_if_the_command_cannot_start_times_out_fails_or_sends_nothing(tmp_path: Path) -> None:
    start = ("record", "--to", "127.0.0.1:1", "--trace", str(tmp_path / "a.trace"))
    made = kit(*start, "--", str(tmp_path / "absent"))
    assert (made.returncode, "cannot be started" in made.stderr) == (2, True)
    made = kit(*start, "--timeout", "0.5", "--", "sleep", "60")
    assert (made.returncode, "did not end within 0.5 s" in made.stderr) == (2, True)
    made = kit(*start, "--lose-request", "Fetch=1", "--", "sh", "-c", "exit 3")
    assert made.returncode == 2
    assert "no such request: Fetch=1" in made.stderr
    assert "sh ended with exit code 3" in made.stderr
    made = kit(*start, "--", "true")
    assert made.returncode == 2
    assert "no frame was recorded: true has to use the address in BOOTSTRAP" in made.stderr


def test_existing_trace_is_kept_if_the_recorded_command_cannot_start(tmp_path: Path) -> None:
    path = Conversation().write(tmp_path / "a.trace")
    before = path.read_bytes()
    assert kit("record", "--to", "127.0.0.1:1", "--trace", str(path), "--", "no-such-program").returncode == 2
    assert path.read_bytes() == before


def test_record_command_ends_background_processes_that_the_command_left_running(tmp_path: Path) -> None:
    script = f"sleep 60 & echo $! > {tmp_path}/pid"
    kit("record", "--to", "127.0.0.1:1", "--trace", str(tmp_path / "a.trace"), "--", "sh", "-c", script)
    assert is_gone(int((tmp_path / "pid").read_text()))


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGTERM])
@pytest.mark.parametrize("ignores", ["", "trap '' TERM; "])
def test_sighup_or_sigterm_ends_recording_and_command_with_exit_code_2(
    tmp_path: Path, number: signal.Signals, ignores: str
) -> None:
    script = f"{ignores}echo $$ > {tmp_path}/pid; exec sleep 60"
    start = ("record", "--to", "127.0.0.1:1", "--trace", str(tmp_path / "a.trace"), "--", "sh", "-c", script)
    command = [sys.executable, "-m", "kafka_conformance", *start]
    running = subprocess.Popen(
        command, stderr=subprocess.PIPE, text=True, preexec_fn=lambda: signal.signal(number, signal.SIG_DFL)
    )
    limit = time.monotonic() + 30
    while not (tmp_path / "pid").exists() and time.monotonic() < limit:
        time.sleep(0.05)
    time.sleep(0.2)
    running.send_signal(number)
    assert "sh was interrupted: its recording is not complete" in running.communicate(timeout=30)[1]
    assert running.returncode == 2
    assert is_gone(int((tmp_path / "pid").read_text()))


def test_record_command_on_a_port_in_use_exits_with_2(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        made = kit("record", "--to", "127.0.0.1:1", "--trace", str(tmp_path / "a.trace"), "--listen", port)
    assert (made.returncode, made.stdout) == (2, "")
    assert f"127.0.0.1:{port} cannot be listened on: address already in use" in made.stderr.lower()


def test_record_command_to_a_full_device_exits_with_2() -> None:
    made = kit("record", "--to", "127.0.0.1:1", "--trace", "/dev/full", "--", "true")
    assert made.returncode == 2
    assert "cannot be written: No space left on device" in made.stderr


def test_trace_command_of_producer_that_reuses_a_sequence_exits_with_1(tmp_path: Path) -> None:
    talk = Conversation()
    talk.give_id()
    talk.produced(talk.produce(batch(0, 2)), fate="lose-response")
    talk.close()
    talk.produced(talk.produce(batch(0, 3), connection=2), connection=2)
    path = talk.write(tmp_path / "a.trace")
    done = kit("trace", str(path), "--frames")
    assert done.returncode == 1
    assert "sequence-reused: 1 time. Two different batches" in done.stdout
    assert "sequence 0: 3 records" in done.stdout
    assert "[lose-response]" in done.stdout
    assert done.stdout.splitlines()[-1].startswith(
        "DIFFERS: 1 finding; 3 requests; 3 responses; 5 records in 2 batches"
    )
    only = kit("trace", str(path), "--frames", "--api", "Produce", "--connection", "2")
    assert len([line for line in only.stdout.splitlines() if " s    " in line]) == 2


def test_trace_command_exits_2_for_trace_without_record_batches_and_reports_truncated_trace(tmp_path: Path) -> None:
    talk = Conversation()
    talk.ask("Metadata", {})
    path = talk.write(tmp_path / "a.trace")
    done = kit("trace", str(path))
    assert (done.returncode, done.stdout.startswith("nothing to judge: no batch")) == (2, True)
    path.write_bytes(path.read_bytes()[:-2])
    assert "is cut off: its last line, 2, has no end" in kit("trace", str(path)).stderr


def test_trace_of_recording_without_a_frame_names_the_address_to_use(tmp_path: Path) -> None:
    done = kit("trace", str(Conversation().write(tmp_path / "a.trace")))
    assert done.returncode == 2
    assert "the recording has no frame; the program has to use the address that record prints" in done.stdout


def test_record_command_warns_if_an_at_most_version_limit_had_no_effect_and_exits_0(tmp_path: Path) -> None:
    start = ("record", "--trace", str(tmp_path / "a.trace"), "--at-most", "Produce=7", "--at-most", "Fetch=1000")
    with mock_broker() as broker:
        made = kit(*start, "--to", broker.bootstrap, "--", sys.executable, "-c", PRODUCER)
    assert made.returncode == 0, made.stderr
    assert "warning: --at-most had no effect: no broker was seen that offers more: Fetch=1000" in made.stderr


def test_trace_command_counts_refused_batches_and_exits_with_0(tmp_path: Path) -> None:
    talk = Conversation()
    talk.produced(talk.produce(batch(-1, producer=-1)), error=3)
    done = kit("trace", str(talk.write(tmp_path / "a.trace")), "--frames")
    assert "orders-0 error 3 UNKNOWN_TOPIC_OR_PARTITION" in done.stdout
    assert (done.returncode, "1 record in 1 batches (0 repeated, 1 refused)" in done.stdout) == (0, True)


@pytest.mark.parametrize(
    ("words", "hint"),
    [(("--api", "Produce"), "give one of them too"), (("--frames", "--api", "Prodce"), "did you mean Produce")],
)
def test_trace_command_api_filter_without_frames_or_with_unknown_api_is_refused(
    tmp_path: Path, words: tuple[str, ...], hint: str
) -> None:
    path = Conversation().write(tmp_path / "a.trace")
    with pytest.raises(BadInput, match=hint):
        CliRunner().invoke(app, ["trace", str(path), *words], standalone_mode=False, catch_exceptions=False)
