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

# Long enough to be ended midway. Few rules: Java has nothing to do while questions are made.
LONG = ("verify", "--kafka", "all", "--rules", "murmur2,partition-for-key,producer-partition", "--examples", "500")


def _in_the_middle(process: subprocess.Popen[str], jvm: int) -> None:
    """Waits until the JVM has been at work for a while."""
    limit = time.monotonic() + 60
    while time.monotonic() < limit:
        ticks = Path(f"/proc/{jvm}/stat").read_text().rpartition(")")[2].split()
        if int(ticks[11]) + int(ticks[12]) > 4 * os.sysconf("SC_CLK_TCK"):
            return
        assert process.poll() is None, process.communicate()
        time.sleep(0.05)
    raise AssertionError("the JVM never got to work")


def _one_line(process: subprocess.Popen[str], within_s: float) -> str:
    _, err = process.communicate(timeout=within_s)
    lines = [line for line in err.splitlines() if line.startswith("kafka-conformance: ")]
    assert len(lines) == 1, err
    assert "Traceback" not in err
    return lines[0]


def test_a_jvm_that_is_killed_midway_ends_the_run(started: Start, jvm_of: JvmOf) -> None:
    process = started(*LONG)
    jvm = jvm_of(process)
    _in_the_middle(process, jvm)
    os.kill(jvm, signal.SIGKILL)
    assert "ended with code -9 in the middle of the run" in _one_line(process, 30)
    assert process.returncode == 2
    assert is_gone(jvm)


@pytest.mark.parametrize("asked", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("when", ["starting", "asking"])
def test_ctrl_c_and_terminate_end_the_run_and_its_jvm(
    started: Start, jvm_of: JvmOf, asked: signal.Signals, when: str
) -> None:
    process = started(*LONG)
    jvm = jvm_of(process)
    if when == "asking":
        _in_the_middle(process, jvm)
    process.send_signal(asked)
    assert "interrupted" in _one_line(process, 30)
    assert process.returncode == 2
    assert is_gone(jvm)


def test_a_jvm_does_not_outlive_a_run_that_was_killed(started: Start, jvm_of: JvmOf) -> None:
    process = started(*LONG)
    jvm = jvm_of(process)
    _in_the_middle(process, jvm)
    process.kill()
    assert is_gone(jvm)


def test_a_killed_run_resumes_with_its_seed(started: Start, tmp_path: Path) -> None:
    command = ("verify", "--kafka", "2.8.2,4.4.0", "--rules", "murmur2,sequence-increment,producer-partition",
               "--examples", "100", "--certificate", "made.json")  # fmt: skip
    process, partial = started(*command), tmp_path / "made.json.partial"
    limit = time.monotonic() + 100
    while not partial.exists():
        assert time.monotonic() < limit
        assert process.poll() is None, process.communicate()
        time.sleep(0.02)
    process.kill()
    head, *rows = map(json.loads, partial.read_text(encoding="utf-8").splitlines())
    resumed = started(*command)
    out, err = resumed.communicate(timeout=200)
    assert resumed.returncode == 0, err
    assert f"seed {head['seed']}," in out
    assert rows
    assert not partial.exists()
    assert len(json.loads((tmp_path / "made.json").read_text(encoding="utf-8"))["rows"]) == 6


def test_a_call_that_does_not_come_back_is_ended_at_its_limit() -> None:
    with Jvm(call_limit_s=1) as jvm:
        begun = time.monotonic()
        with pytest.raises(JvmLost, match="did not respond within 1 s"):
            jvm.call(lambda: jvm.view.java.lang.Thread.sleep(60_000))
        assert time.monotonic() - begun < 10
        assert is_gone(jvm.pid)
