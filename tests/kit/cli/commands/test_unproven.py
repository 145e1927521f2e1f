"""A release without a row in the certificate: an error that names proven ones, or a mark on every report."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from kafka_conformance.cli.main import app
from kafka_conformance.core.errors import BadInput
from kafka_conformance.pytest_plugin import assert_conforms
from kafka_conformance.strategies import answered

_ANSWERER = """
from kafka_reference import murmur2

def answerer(rule, release, question):
    return {"hash": murmur2(bytes.fromhex(question["key"]))}

answerer.rules = ["murmur2"]
"""
_GATE = ["gate", "--examples", "5", "--seed", "1", "python:unproven_target:answerer"]
_DELIVERY = ["delivery", "--acks", "1"]
_EXPLAIN = ["explain", "question.json"]
_BEHAVIOUR = ["behaviour", "producer-sequences"]


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "unproven_target.py").write_text(_ANSWERER)
    (tmp_path / "question.json").write_text('{"rule": "murmur2", "question": {"key": "666f6f"}}')


def _run(*args: str) -> Result:
    return CliRunner().invoke(app, args, standalone_mode=False)


@pytest.mark.parametrize(
    "command", [_GATE, _DELIVERY, _EXPLAIN, _BEHAVIOUR], ids=["gate", "delivery", "explain", "behaviour"]
)
@pytest.mark.parametrize(
    ("version", "near"), [("3.9.9", "3.9.0, 3.9.1 or 3.9.2"), ("9.9.9", "4.4.0"), ("4.5.0", "4.4.0")]
)
def test_an_unproven_release_is_an_error_that_names_proven_ones(command: list[str], version: str, near: str) -> None:
    done = _run(*command, "--kafka", version)
    assert isinstance(done.exception, BadInput), done.output
    assert f"release {version} is not proven" in str(done.exception)
    assert f"did you mean {near}?" in str(done.exception)
    assert "--allow-unproven" in str(done.exception)


def test_a_file_that_names_one_is_an_error_too(tmp_path: Path) -> None:
    (tmp_path / "question.json").write_text('{"rule": "murmur2", "kafka": "3.9.9", "question": {"key": "666f6f"}}')
    assert isinstance(_run(*_EXPLAIN).exception, BadInput)


def test_every_report_of_a_gate_says_so_if_it_is_allowed(tmp_path: Path) -> None:
    files = [f"--{name}={name}.out" for name in ("badge", "html", "junit", "markdown", "events")]
    done = _run(*_GATE[:1], "--kafka", "3.9.1,3.9.9", "--allow-unproven", "--github", *files, *_GATE[1:])
    assert done.return_value == 0, done.output
    assert "conforms: unproven_target:answerer, Kafka 3.9.1 and 3.9.9 (unproven: 3.9.9)" in done.output
    assert "::notice title=kafka-conformance::conforms" in done.output
    for name in ("html", "junit", "markdown", "events", "badge"):
        assert "unproven" in (tmp_path / f"{name}.out").read_text().replace("unproven_target", ""), name
    said: dict[str, Any] = json.loads((tmp_path / "badge.out").read_text())
    assert said["color"] != "brightgreen"
    assert "release unproven" in said["message"]


def test_a_proven_one_has_no_mark(tmp_path: Path) -> None:
    done = _run(*_GATE[:1], "--kafka", "3.9.1", "--badge=badge.out", *_GATE[1:])
    assert "(unproven" not in done.output
    assert "unproven" not in (tmp_path / "badge.out").read_text()


def test_delivery_and_explain_say_so_if_it_is_allowed() -> None:
    assert "9.9.9 (unproven)" in _run(*_DELIVERY, "--kafka", "9.9.9", "--allow-unproven").output
    assert json.loads(_run(*_DELIVERY, "--kafka", "9.9.9", "--allow-unproven", "--json").output)["unproven"] is True
    assert "unproven" not in _run(*_DELIVERY, "--json").output
    assert "9.9.9 (unproven)" in _run(*_EXPLAIN, "--kafka", "9.9.9", "--allow-unproven").output
    assert "unproven" not in _run(*_EXPLAIN).output


def test_pytest_and_strategies_refuse_it_as_well() -> None:
    def answerer(_: str, __: str, question: dict[str, Any]) -> dict[str, Any]:
        return {"sequence": (question["sequence"] + question["by"]) & 0x7FFFFFFF}

    with pytest.raises(BadInput, match="not proven"):
        assert_conforms(answerer, "sequence-increment", kafka="3.9.9", examples=5, seed=1)
    assert_conforms(answerer, "sequence-increment", kafka="3.9.9", examples=5, seed=1, allow_unproven=True)
    with pytest.raises(BadInput, match="not proven"):
        answered("murmur2", kafka="3.9.9")


def test_the_behaviour_of_one_is_marked_if_it_is_allowed() -> None:
    done = _run(*_BEHAVIOUR, "--kafka", "9.9.9", "--allow-unproven")
    assert (done.return_value, done.output.splitlines()[0]) == (
        0, "9.9.9 is unproven: Java has not been asked whether it behaves like this",
    )  # fmt: skip
    listed = json.loads(_run(*_BEHAVIOUR, "--kafka", "9.9.9", "--allow-unproven", "--json").output)
    assert listed["unproven"] == ["9.9.9"]
