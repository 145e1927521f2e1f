"""However a run ends, it says so in one line, exits with 2, and leaves nothing running."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from processes import is_gone

from kafka_conformance.core.errors import JvmLost
from kafka_conformance.oracle.jvm import Jvm

Start = Callable[..., "subprocess.Popen[str]"]
JvmOf = Callable[["subprocess.Popen[str]"], int]

# Long enough to be ended midway: in each release, a jar is loaded and the Java half compiled.
LONG = ("verify", "--kafka", "all", "--rules", "murmur2", "--examples", "20", "--certificate", "made.json")


def _in_the_middle(process: subprocess.Popen[str], folder: Path) -> Path:
    """Waits until the first release is verified; returns the file of the rows so far."""
    limit, partial = time.monotonic() + 100, folder / "made.json.partial"
    while not partial.exists():
        assert time.monotonic() < limit, "Java never answered"
        assert process.poll() is None, process.communicate()
        time.sleep(0.02)
    return partial


def _one_line(process: subprocess.Popen[str], within_s: float) -> str:
    _, err = process.communicate(timeout=within_s)
    lines = [line for line in err.splitlines() if line.startswith("kafka-conformance: ")]
    assert len(lines) == 1, err
    assert "Traceback" not in err
    return lines[0]


def test_killed_jvm_ends_verify_with_exit_code_2_and_one_line(started: Start, jvm_of: JvmOf, tmp_path: Path) -> None:
    process = started(*LONG)
    jvm = jvm_of(process)
    _in_the_middle(process, tmp_path)
    os.kill(jvm, signal.SIGKILL)
    assert "ended with code -9 in the middle of the run" in _one_line(process, 30)
    assert process.returncode == 2
    assert is_gone(jvm)


# Both signals go the same way: tests/kit/core/test_interrupts.py.
@pytest.mark.parametrize(("asked", "when"), [(signal.SIGINT, "asking"), (signal.SIGTERM, "starting")])
def test_sigint_or_sigterm_ends_verify_and_the_jvm_with_exit_code_2_and_one_line(
    started: Start, jvm_of: JvmOf, tmp_path: Path, asked: signal.Signals, when: str
) -> None:
    process = started(*LONG)
    jvm = jvm_of(process)
    if when == "asking":
        _in_the_middle(process, tmp_path)
    process.send_signal(asked)
    assert "interrupted" in _one_line(process, 30)
    assert process.returncode == 2
    assert is_gone(jvm)


def test_killed_verify_leaves_no_jvm_and_resumes_with_the_same_seed(
    started: Start, jvm_of: JvmOf, tmp_path: Path
) -> None:
    command = ("verify", "--kafka", "2.8.2,4.4.0", "--rules", "murmur2,sequence-increment,producer-partition",
               "--examples", "100", "--certificate", "made.json")  # fmt: skip
    process = started(*command)
    jvm = jvm_of(process)
    partial = _in_the_middle(process, tmp_path)
    process.kill()
    assert is_gone(jvm)
    head, *rows = map(json.loads, partial.read_text(encoding="utf-8").splitlines())
    resumed = started(*command)
    out, err = resumed.communicate(timeout=200)
    assert resumed.returncode == 0, err
    assert f"seed {head['seed']}," in out
    assert rows
    assert not partial.exists()
    assert len(json.loads((tmp_path / "made.json").read_text(encoding="utf-8"))["rows"]) == 6


def test_java_call_without_response_raises_jvm_lost_at_the_time_limit() -> None:
    with Jvm(call_limit_s=1) as jvm:
        begun = time.monotonic()
        with pytest.raises(JvmLost, match="did not respond within 1 s"):
            jvm.call(lambda: jvm.view.java.lang.Thread.sleep(60_000))
        assert time.monotonic() - begun < 10
        assert is_gone(jvm.pid)
