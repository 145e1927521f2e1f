"""The pytest plugin: a right answerer passes, a wrong one fails with what a person needs, options are heard."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner

from kafka_conformance.answerers.reference import ReferenceAnswerer
from kafka_conformance.cli.main import app
from kafka_conformance.core.errors import BadInput
from kafka_conformance.core.protocol import Answered
from kafka_conformance.pytest_plugin import assert_conforms
from kafka_conformance.rules import RULES
from kafka_conformance.rules.eras import newest_of_eras
from kafka_reference import murmur2, parse_release

pytest_plugins = ["pytester"]

# Where the package is installed pytest finds the plugin by itself, and would refuse it a second time.
_PLUGIN = () if entry_points(group="pytest11", name="kafka-conformance") else ("-p", "kafka_conformance.pytest_plugin")


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def _right(rule: str, _: str, question: dict[str, Any]) -> dict[str, Any] | None:
    if rule != "murmur2":
        return None
    if question["key"] is None:
        return {"raises": "NullPointerException"}
    return {"hash": murmur2(bytes.fromhex(question["key"]))}


def _wrong(rule: str, kafka: str, question: dict[str, Any]) -> dict[str, Any] | None:
    answer = _right(rule, kafka, question)
    return {"hash": answer["hash"] & 0x7FFFFFFF} if answer and "hash" in answer else answer


_ASKED = """
import hashlib, sys
from kafka_conformance.pytest_plugin import assert_conforms
from kafka_reference import murmur2

if sys.argv[1:]:
    import constants
asked = hashlib.sha256()

def answer(rule, kafka, question):
    asked.update(repr(question).encode())
    key = question["key"]
    return {"raises": "NullPointerException"} if key is None else {"hash": murmur2(bytes.fromhex(key))}

assert_conforms(answer, "murmur2", examples=300, seed=1)
print(asked.hexdigest())
"""


def test_loaded_module_with_constants_does_not_change_the_questions_of_a_seed(tmp_path: Path) -> None:
    constants = [bytes([number, 255 - number]) * (number % 7 + 1) for number in range(200)]
    (tmp_path / "constants.py").write_text(f"ALL = {constants!r}\n")
    (tmp_path / "asked.py").write_text(_ASKED)
    alone, beside = (
        subprocess.run(
            [sys.executable, "asked.py", *more], check=True, capture_output=True, text=True, timeout=100
        ).stdout
        for more in ((), ("loaded",))
    )
    assert len(alone) == 65
    assert alone == beside


def test_assert_conforms_passes_for_a_correct_implementation() -> None:
    assert_conforms(_right, "murmur2", examples=20, seed=1)


def test_assert_conforms_fails_with_the_difference_for_a_wrong_implementation() -> None:
    with pytest.raises(pytest.fail.Exception, match="another hash"):
        assert_conforms(_wrong, "murmur2", examples=20, seed=1)


def test_assert_conforms_with_kafka_eras_fails_if_only_answers_for_an_older_release_are_wrong() -> None:
    rule = RULES["round-robin-partitioner"]
    *_, older, newest = newest_of_eras(rule)

    def behind(_: str, release: str, question: dict[str, Any]) -> dict[str, Any] | None:
        takes = newest if release == str(older) else parse_release(release)
        (outcome,) = ReferenceAnswerer().answer(rule, takes, [msgspec.convert(question, rule.question)])
        return outcome.answer if isinstance(outcome, Answered) else None

    assert_conforms(behind, rule.slug, examples=1, seed=1)
    with pytest.raises(pytest.fail.Exception, match=f"era ([0-9.]+ to )?{older}"):
        assert_conforms(behind, rule.slug, kafka="eras", examples=1, seed=1)


def test_failed_assert_conforms_saves_a_failure_that_replay_repeats(pytester: pytest.Pytester) -> None:
    (pytester.mkdir("tests") / "test_mine.py").write_text(
        "def answerer(rule, kafka, question):\n    return {'hash': 7}\n\n\n"
        "def test_mine(assert_conforms):\n    assert_conforms(answerer, 'murmur2')\n"
    )
    done = pytester.runpytest_inprocess(*_PLUGIN, "--kafka-seed", "7", "--kafka-examples", "9")
    done.assert_outcomes(failed=1)
    (command, *_) = re.findall(r"replay +kafka-conformance (replay .+)", done.stdout.str())
    assert (pytester.path / command.split()[1]).is_file()
    again = CliRunner().invoke(app, shlex.split(command), standalone_mode=False)
    assert again.return_value == 1, again.output
    assert '{"hash":7}' in again.output


def test_unreadable_known_failures_file_stops_the_pytest_session(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("def test_nothing():\n    pass\n")
    done = pytester.runpytest_inprocess(*_PLUGIN, "--kafka-known-failures", "absent.toml")
    assert done.ret == pytest.ExitCode.USAGE_ERROR
    done.stderr.fnmatch_lines(["*--kafka-known-failures: absent.toml cannot be read*"])


def test_assert_conforms_fails_if_the_implementation_lacks_the_rule() -> None:
    with pytest.raises(pytest.fail.Exception, match="nothing was judged"):
        assert_conforms(_right, "sequence-increment", examples=5, seed=1)


def test_assert_conforms_without_a_rule_or_with_an_unknown_rule_raises_bad_input() -> None:
    with pytest.raises(BadInput, match="no rule"):
        assert_conforms(_right)
    with pytest.raises(BadInput, match="unknown rule 'murmur3'"):
        assert_conforms(_right, "murmur3")


def test_assert_conforms_fixture_uses_command_line_options(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        from kafka_reference import murmur2

        def answerer(rule, kafka, question):
            if question["key"] is None:
                return {"raises": "NullPointerException"}
            return {"hash": murmur2(bytes.fromhex(question["key"])) & 0x7FFFFFFF}

        def test_mine(assert_conforms):
            assert_conforms(answerer, "murmur2")
        """
    )
    done = pytester.runpytest_inprocess(*_PLUGIN, "--kafka-seed", "7", "--kafka-examples", "9")
    done.assert_outcomes(failed=1)
    done.stdout.fnmatch_lines(["*seed 7, 9 examples*"])


def test_kafka_broker_fixture_starts_one_broker_per_session_and_ends_the_broker(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    from contextlib import contextmanager

    from kafka_conformance.brokers import broker

    said: list[Any] = []

    @contextmanager
    def running(kafka: str, *, engine: str) -> Any:
        said.append((kafka, engine))
        yield "it"
        said.append("ended")

    monkeypatch.setattr(broker, "running_broker", running)
    pytester.makepyfile(
        "def test_one(kafka_broker): assert kafka_broker == 'it'\ndef test_two(kafka_broker): assert kafka_broker == 'it'\n"
    )
    done = pytester.runpytest_inprocess(*_PLUGIN, "--kafka-broker", "3.9.1", "--kafka-broker-engine", "jars")
    done.assert_outcomes(passed=2)
    assert said == [("3.9.1", "jars"), "ended"]


def test_kafka_broker_fixture_errors_with_reason_if_no_broker_can_start(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("def test_one(kafka_broker): pass\n")
    done = pytester.runpytest_inprocess(*_PLUGIN, "--kafka-broker", "2.3.1", "--kafka-broker-engine", "jars")
    done.assert_outcomes(errors=1)
    done.stdout.fnmatch_lines(["*no broker for kafka_broker: the broker of 2.3.1 is too old*"])
