"""The page of ``trace``: its kinds of findings, its options and its example are those of the commands."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import click
import pytest

pytest.importorskip("kafka")

from kafka_conformance.cli.main import app
from kafka_conformance.wire.recording.judge import KINDS

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "kit/docs/trace.md").read_text(encoding="utf-8")


def test_trace_page_lists_all_kinds_of_finding_with_command_text() -> None:
    assert dict(re.findall(r"^\| `([a-z-]+)` \| (.*) \|$", PAGE, re.MULTILINE)) == dict(KINDS)


def test_trace_page_shows_current_output_of_the_command() -> None:
    command = [sys.executable, "-m", "kafka_conformance", "trace", "kit/docs/examples/kafkajs.trace"]
    done = subprocess.run(
        command, cwd=ROOT, env={**os.environ, "NO_COLOR": "1"}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert f"```text\n{done.stdout}```" in PAGE


def test_trace_page_names_all_options_of_the_record_command() -> None:
    command = app.get_command(click.Context(app), "record")
    assert command is not None
    for option in command.params:
        assert not isinstance(option, click.Option) or any(f"`{name}" in PAGE for name in option.opts)
