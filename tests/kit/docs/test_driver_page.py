"""The page that builds a driver: every step is run, and the kit says of it what is shown; the driver at its end is right."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

import pytest
from click.testing import CliRunner

from kafka_conformance.answerers.driver.answerer import DriverAnswerer
from kafka_conformance.answerers.driver.connection import Command, Limits
from kafka_conformance.answerers.driver.descendants import MARK
from kafka_conformance.answerers.driver.lines import DEEPEST, ask_line
from kafka_conformance.answerers.driver.process import LINE_LIMIT, SHOWN_LINES
from kafka_conformance.answerers.driver.protocol_errors import HINTS, one_line
from kafka_conformance.answerers.named_driver import named_driver
from kafka_conformance.answerers.reference import ReferenceAnswerer
from kafka_conformance.cli.main import app
from kafka_conformance.core.errors import TargetLost
from kafka_conformance.core.protocol import Lost, Outcome
from kafka_conformance.rules import RULES
from kafka_conformance.rules.murmur2.question import Murmur2Question
from kafka_reference.releases import parse_release

DOCS = Path(__file__).parents[3] / "kit" / "docs"
PAGE = (DOCS / "driver.md").read_text(encoding="utf-8")
STEPS = re.findall(r"```python\n(.*?)```\n\n```text\n(.*?)\n```", PAGE, re.DOTALL)
EXAMPLE = DOCS / "examples" / "driver.py"
NEWEST = parse_release("4.4.0")
ASKED = [Murmur2Question(key) for key in (None, "", "666f6f")]


def opened(command: Sequence[str], limits: Limits) -> DriverAnswerer:
    return DriverAnswerer(Command(tuple(command), show=lambda _: None), limits)


def message_of(command: Sequence[str], limits: Limits) -> str:
    """The first thing that the kit has to say of this driver; nothing if that answers."""
    try:
        with opened(command, limits) as driver:
            outcomes = driver.answer(RULES["murmur2"], NEWEST, ASKED)
    except TargetLost as lost:
        return str(lost)
    return next((one_line(one) for one in outcomes if isinstance(one, Lost)), "")


@pytest.mark.parametrize(("code", "shown"), STEPS, ids=range(1, len(STEPS) + 1))
def test_driver_page_step_gives_the_error_message_shown(
    code: str, shown: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PYTHONUNBUFFERED", raising=False)
    (tmp_path / "driver.py").write_text(code)
    hello_s = 0.5 if "sent no hello" in shown else 20
    batch_s = 0.5 if "did not answer" in shown else 20
    limits = Limits(hello_s, batch_s, ending_s=5 if "after its input was closed" in shown else 0.2, hangs=2)
    assert message_of([sys.executable, str(tmp_path / "driver.py")], limits).replace(" 0.5 s", " 30 s") == shown


def test_driver_page_has_an_error_message_for_each_of_10_or_more_steps() -> None:
    assert len(STEPS) == len(re.findall("```python", PAGE)) == len(re.findall("```text", PAGE)) >= 10


def questions(slug: str) -> list[Murmur2Question]:
    return [question for space in RULES[slug].spaces for question in islice(space.questions(), 5000)]  # type: ignore[misc]


def outcomes_of(command: Sequence[str], slug: str) -> tuple[list[Outcome], list[Outcome]]:
    asked = questions(slug)
    with opened(command, Limits()) as driver:
        actual = driver.answer(RULES[slug], NEWEST, asked)
        assert driver.finish() is None
    return actual, ReferenceAnswerer().answer(RULES[slug], NEWEST, asked)


@pytest.mark.parametrize("slug", ["murmur2", "partition-for-key"])
def test_python_driver_example_answers_as_the_reference(slug: str) -> None:
    actual, expected = outcomes_of([sys.executable, str(EXAMPLE)], slug)
    assert len(expected) > 50
    assert actual == expected


def test_python_driver_example_has_at_most_40_lines_and_only_stdlib_imports() -> None:
    text = EXAMPLE.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 40
    assert re.findall(r"^(?:import|from) (\w+)", text, re.MULTILINE) == ["json", "sys"]


@pytest.mark.skipif(shutil.which("node") is None, reason="there is no Node.js here")
def test_javascript_driver_on_the_page_answers_as_the_reference(tmp_path: Path) -> None:
    (code,) = re.findall(r"```javascript\n(.*?)```", PAGE, re.DOTALL)
    (tmp_path / "driver.mjs").write_text(code)
    actual, expected = outcomes_of(["node", str(tmp_path / "driver.mjs")], "murmur2")
    assert actual == expected


def test_driver_page_table_lists_all_protocol_errors_with_hints() -> None:
    assert dict(re.findall(r"^\| (\w+) \| (.*) \|$", PAGE, re.MULTILINE)) == {"error": "hint", **HINTS}


def test_driver_page_states_default_limits_of_the_gate() -> None:
    usual = Limits()
    assert (usual.hello_s, usual.batch_s, usual.restarts, usual.hangs) == (30, 30, 30, 4)
    assert (usual.all_restarts, usual.all_hangs, usual.restarting_s) == (60, 8, usual.batch_s / 4)
    assert usual.in_a_row == 4
    said = (
        "after four crashes in a row the remaining similar ones are skipped",
        "A rule has up to 30 restarts and four hangs;",
        "a gate has up to 60 restarts, eight hangs, and a quarter of `--timeout`",
        "The answers to a rule may take 16 MiB of memory, and 8 KiB more for each question.",
        f"and a value at most {DEEPEST} levels",
        f"The kit shows {SHOWN_LINES} lines of standard error in a gate.",
        f"`{MARK}`",
    )
    assert (usual.room, usual.room_each) == (16 * 2**20, 8 * 2**10)
    assert [each for each in said if each not in PAGE.replace("\n", " ")] == []
    assert f"at most {LINE_LIMIT:,} bytes" in PAGE


def test_question_line_on_the_driver_page_equals_protocol_bytes() -> None:
    (shown,) = re.findall(r"```json\n(.*?\n)```", PAGE, re.DOTALL)
    assert ask_line("q1", "murmur2", "4.4.0", Murmur2Question("666f6f")) == shown.encode()
    assert json.loads(shown)["question"] == {"key": "666f6f"}


def test_driver_toml_on_the_page_yields_start_and_build_commands(tmp_path: Path) -> None:
    (shown,) = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "driver.toml").write_text(shown)
    started, build = named_driver("mine:java", show=print, folder=tmp_path)
    assert started.words == ("./driver", "--java")
    assert [command.words[0] for command in build] == ["go"]


QUICK_START = PAGE[: PAGE.index("## Standard output is for the protocol")]
(QUICK_DRIVER,) = re.findall(r"```py\n(.*?)```", QUICK_START, re.DOTALL)


def without_numbers(text: str) -> str:
    return re.sub(r"[0-9][0-9,.]*", "0", text)


def test_quick_start_driver_of_at_most_20_lines_conforms_in_the_gate(tmp_path: Path) -> None:
    assert len([line for line in QUICK_DRIVER.splitlines() if line.strip()]) <= 20
    (tmp_path / "driver.py").write_text(QUICK_DRIVER, encoding="utf-8")
    for command in ("sample partition-for-key --json | python driver.py", "gate -- python driver.py"):
        assert f"$ kafka-conformance {command}\n" in QUICK_START
    kit = [sys.executable, "-m", "kafka_conformance"]
    driver = [sys.executable, "driver.py"]
    asked = subprocess.run([*kit, "sample", "partition-for-key", "--json"], capture_output=True, check=True, timeout=60)
    replies = subprocess.run(driver, input=asked.stdout, cwd=tmp_path, capture_output=True, check=True, timeout=60)
    assert len(replies.stdout.splitlines()) == 6
    gate = subprocess.run(
        [*kit, "gate", "--", *driver], cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False
    )
    assert gate.returncode == 0, gate.stdout + gate.stderr
    (shown,) = re.findall(r"^conforms: .*$", QUICK_START, re.MULTILINE)
    assert without_numbers(gate.stdout.splitlines()[-1]) == without_numbers(shown)


SAMPLES = re.findall(r"```\n\$ kafka-conformance (sample [^|\n]*)\n(.*?)\n```", QUICK_START, re.DOTALL)


@pytest.mark.parametrize(("command", "shown"), SAMPLES, ids=[command for command, _ in SAMPLES])
def test_driver_quick_start_shows_current_output_of_sample_command(command: str, shown: str) -> None:
    assert len(SAMPLES) == 3
    assert CliRunner().invoke(app, shlex.split(command)).output == f"{shown}\n"
