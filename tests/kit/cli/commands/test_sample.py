"""``sample``: sample questions with answers, as text or as the protocol's lines."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from kafka_conformance.cli.main import app
from kafka_conformance.core.errors import BadInput

DRIVER = Path(__file__).parents[4] / "kit" / "docs" / "examples" / "driver.py"


def sample(command: str) -> Result:
    return CliRunner().invoke(app, ["sample", *shlex.split(command)])


def lines(command: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in sample(command).output.splitlines()]


def test_sample_command_prints_questions_with_kind_and_answer() -> None:
    assert (
        sample("murmur2 --count 3 --kind 'null key'").output
        == """\
murmur2 in 4.4.0: the hash of a key

null key
  out of domain: a record without a key is not hashed
  question    {"key":null}
  answer      {"raises":"NullPointerException"}
"""
    )


def test_sample_command_prints_unsupported_for_partitioner_removed_in_the_release() -> None:
    printed = sample("sticky-distribution --kafka 4.4.0 --kind uniform-sticky --count 1").output
    assert "  unsupported " in printed


def test_sampled_questions_piped_to_a_driver_yield_the_sampled_answers() -> None:
    asked = sample("murmur2 --json --count 4").output
    driver = subprocess.run(
        [sys.executable, str(DRIVER)], input=asked, capture_output=True, text=True, timeout=60, check=True
    )
    replies = [json.loads(line) for line in driver.stdout.splitlines()]
    assert "hello" in replies[0]
    assert replies[1:] == lines("murmur2 --json --answers --count 4")
    assert len(replies) == 5


def test_sample_command_seed_and_kafka_options_select_questions_and_release() -> None:
    first, second = lines("murmur2 --json --count 1 --seed 5 --kafka 2.8.2")
    assert first == {"hello": {"protocol": 1}}
    assert (second["rule"], second["release"]) == ("murmur2", "2.8.2")
    assert second != lines("murmur2 --json --count 1 --seed 6 --kafka 2.8.2")[1]


def test_sample_command_marks_an_allowed_unproven_release() -> None:
    head = sample("murmur2 --kafka 3.9.9 --allow-unproven --count 1").output.splitlines()[0]
    assert head == "murmur2 in 3.9.9 (unproven): the hash of a key"


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("murmur", "unknown rule 'murmur': did you mean murmur2?"),
        ("qqq", "unknown rule 'qqq': expected one of builtin-partitioner, "),
        ("murmur2 --kind null", "murmur2 has no kind of question 'null': did you mean 'null key'?"),
        ("murmur2 --kafka all", "sample takes one release, not 80"),
        ("builtin-partitioner --kafka 3.0.0", "builtin-partitioner does not exist in 3.0.0: it exists since 3.3.0"),
        ("murmur2 --kafka 9.9.9", "release 9.9.9 is not proven"),
        ("murmur2 --answers", "--answers needs --json"),
    ],
)
def test_sample_command_refuses_unknown_rule_kind_or_release_and_answers_without_json(
    command: str, message: str
) -> None:
    error = sample(command).exception
    assert isinstance(error, BadInput)
    assert str(error).startswith(message)
    assert "\n" not in str(error)
