"""Standard streams that are closed, full or without a reader: the verdict stays, and a listing says that it is not whole."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import streams

from kafka_conformance.core.events import to_line

DRIVER = Path(__file__).parents[3] / "kit" / "docs" / "examples" / "driver.py"
KIT = f"'{sys.executable}' -m kafka_conformance"
GATE = f"{KIT} gate --rules murmur2 --examples 1 -- '{sys.executable}' "
NO_SPACE = "standard output cannot be written: No space left on device"
SAME = "; the exit code is still the verdict"


def _shell(line: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a line of bash, whose exit code is that of the first command of a pipe."""
    script = f"{line}\nexit ${{PIPESTATUS[0]}}"
    return subprocess.run(["bash", "-c", script], cwd=folder, capture_output=True, text=True, timeout=120, check=False)


@pytest.mark.parametrize(
    ("redirected", "warning"),
    [
        ("> /dev/full", NO_SPACE + SAME),
        (">&-", "standard output is closed" + SAME),
        ("| true", "standard output was closed before everything was printed" + SAME),
        ("2> /dev/full", ""),
        ("2>&-", ""),
        (">&- 2>&-", ""),
        ("<&-", ""),
    ],
)
def test_conforming_gate_exits_0_with_closed_or_full_streams_and_warns_of_lost_output(
    tmp_path: Path, redirected: str, warning: str
) -> None:
    right = _shell(f"{GATE} '{DRIVER}' {redirected}", tmp_path)
    assert right.returncode == 0, right.stderr
    if warning:
        assert right.stderr.splitlines()[-1] == f"kafka-conformance: warning: {warning}"
    assert "mistake" not in right.stderr + right.stdout


def test_gate_with_differences_exits_1_if_standard_output_is_full(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("def answerer(rule, release, question):\n    return {'hash': 7}\n")
    done = _shell(f"{KIT} gate --rules murmur2 --examples 1 python:mine:answerer > /dev/full", tmp_path)
    assert done.returncode == 1
    assert NO_SPACE + SAME in done.stderr


@pytest.mark.parametrize(
    ("line", "code", "error"),
    [
        ("rules > /dev/full", 2, f"kafka-conformance: {NO_SPACE}\n"),
        ("sample murmur2 --json > /dev/full", 2, f"kafka-conformance: {NO_SPACE}\n"),
        ("--help > /dev/full", 2, f"kafka-conformance: {NO_SPACE}\n"),
        ("schema >&-", 2, "kafka-conformance: standard output is closed\n"),
        ("rules | head -1", 0, ""),
        ("explain - <&-", 2, "kafka-conformance: standard input is closed\n"),
        ("report - <&-", 2, "kafka-conformance: standard input is closed\n"),
        ("answer <&-", 2, "kafka-conformance: standard input is closed\n"),
        ("answer 0> /dev/null", 2, "kafka-conformance: standard input cannot be read: Bad file descriptor\n"),
        ("rules 2>&- > /dev/full", 2, ""),
    ],
)
def test_command_with_full_or_closed_stream_exits_2_but_listing_piped_to_head_exits_0(
    tmp_path: Path, line: str, code: int, error: str
) -> None:
    done = _shell(f"{KIT} {line}", tmp_path)
    assert (done.returncode, done.stderr) == (code, error)


def test_report_on_ascii_console_prints_escapes_for_other_characters(tmp_path: Path) -> None:
    (tmp_path / "events").write_bytes(to_line(streams.began(streams.target("größe"))) + b"\n")
    done = _shell(f"PYTHONIOENCODING=ascii {KIT} report events --github", tmp_path)
    assert "gr\\xf6" in done.stdout
    assert done.stderr == ""


def test_answer_command_exits_2_if_the_reader_closed_the_pipe(tmp_path: Path) -> None:
    question = '{"id": "1", "rule": "murmur2", "release": "4.4.0", "question": {"key": "61"}}'
    done = _shell(f"{KIT} answer < <(yes '{question}') | head -1", tmp_path)
    assert done.returncode == 2, "some answers are not given"
    assert '"answer"' in done.stdout


def test_closed_standard_streams_leave_descriptors_0_to_2_reserved(tmp_path: Path) -> None:
    script = (
        "import os, sys; from kafka_conformance.core import streams; streams.install();"
        "file = open('opened', 'w'); os.write(2, b'%d' % file.fileno())"
    )
    done = _shell(f"'{sys.executable}' -c \"{script}\" <&- >&- 2> number", tmp_path)
    assert done.returncode == 0
    assert int((tmp_path / "number").read_text()) > 2
