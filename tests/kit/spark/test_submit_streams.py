"""Under spark-submit, which merges a program's streams, standard error is still apart from standard output."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace as Of

import pytest

from kafka_conformance.spark import submit_streams

PROGRAM = """
import sys
from kafka_conformance.cli import main as cli

def run(_):
    print("document", flush=True)
    print("progress", file=sys.stderr, flush=True)
    return 0

cli._run = run
cli.main()
"""
# As spark-submit does: one pipe for both streams of the program, copied to its own standard output.
SUBMIT = """
import subprocess, sys
started = subprocess.Popen([sys.executable, "-c", sys.argv[1]], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
sys.stdout.buffer.write(started.communicate()[0])
"""
needs_proc = pytest.mark.skipif(not Path("/proc/self/fdinfo").exists(), reason="this system has no /proc")


def submit(folder: Path, mode: str, environment: dict[str, str]) -> tuple[str, str]:
    """Run the program in a stand-in for spark-submit whose standard error is a file; return both streams."""
    with (folder / "err").open(mode) as err:
        ran = subprocess.run([sys.executable, "-c", SUBMIT, PROGRAM], stdout=subprocess.PIPE, stderr=err, text=True,
                             env=os.environ | environment, timeout=60, check=True)  # fmt: skip
    return ran.stdout, (folder / "err").read_text()


@needs_proc
def test_stderr_stays_separate_from_stdout_under_spark_submit(tmp_path: Path) -> None:
    assert submit(tmp_path, "a", {"PYSPARK_GATEWAY_PORT": "1"}) == ("document\n", "progress\n")


def test_stderr_merged_into_stdout_stays_merged_outside_spark_submit(tmp_path: Path) -> None:
    out, err = submit(tmp_path, "a", {"PYSPARK_GATEWAY_PORT": ""})
    assert sorted(out.split()) == ["document", "progress"]
    assert err == ""


@needs_proc
def test_separate_streams_under_spark_submit_are_left_unchanged() -> None:
    ran = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=60, check=True,
                         env=os.environ | {"PYSPARK_GATEWAY_PORT": "1"})  # fmt: skip
    assert (ran.stdout, ran.stderr) == ("document\n", "progress\n")


def test_stderr_goes_through_the_jvm_and_to_stdout_once_jvm_is_lost(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    written: list[str] = []
    stream = Of(print=written.append, flush=lambda: None)
    monkeypatch.setattr(submit_streams, "_error_of_jvm", lambda: stream)
    error = submit_streams._OfTheJvm(sys.stdout)
    print("progress", file=error)
    assert "".join(written) == "progress\n"

    def lost(_: str) -> None:
        raise ConnectionError

    stream.print = lost
    print("more", file=error)
    assert capsys.readouterr().out == "more\n"
