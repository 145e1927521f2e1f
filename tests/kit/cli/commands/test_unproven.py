"""A release without a row in the certificate: an error that names proven ones, or a mark on every report."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from kafka_conformance.cli.commands import verify
from kafka_conformance.cli.main import app
from kafka_conformance.core.errors import BadInput
from kafka_conformance.pytest_plugin import assert_conforms
from kafka_conformance.rules import RULES
from kafka_conformance.rules.eras import eras
from kafka_conformance.strategies import answered
from kafka_reference import proven
from kafka_reference.certificate import certificate as shipped
from kafka_reference.releases import parse_release

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
def test_unproven_release_is_refused_with_a_suggestion_of_the_nearest_proven_releases(
    command: list[str], version: str, near: str
) -> None:
    done = _run(*command, "--kafka", version)
    assert isinstance(done.exception, BadInput), done.output
    assert f"release {version} is not proven" in str(done.exception)
    assert f"did you mean {near}?" in str(done.exception)
    assert "--allow-unproven" in str(done.exception)


def test_explain_of_file_with_unproven_release_is_refused(tmp_path: Path) -> None:
    (tmp_path / "question.json").write_text('{"rule": "murmur2", "kafka": "3.9.9", "question": {"key": "666f6f"}}')
    assert isinstance(_run(*_EXPLAIN).exception, BadInput)


def test_every_gate_report_marks_an_allowed_unproven_release(tmp_path: Path) -> None:
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


def test_gate_report_of_proven_release_has_no_unproven_mark(tmp_path: Path) -> None:
    done = _run(*_GATE[:1], "--kafka", "3.9.1", "--badge=badge.out", *_GATE[1:])
    assert "(unproven" not in done.output
    assert "unproven" not in (tmp_path / "badge.out").read_text()


def test_delivery_and_explain_mark_an_allowed_unproven_release() -> None:
    assert "9.9.9 (unproven)" in _run(*_DELIVERY, "--kafka", "9.9.9", "--allow-unproven").output
    assert json.loads(_run(*_DELIVERY, "--kafka", "9.9.9", "--allow-unproven", "--json").output)["unproven"] is True
    assert "unproven" not in _run(*_DELIVERY, "--json").output
    assert "9.9.9 (unproven)" in _run(*_EXPLAIN, "--kafka", "9.9.9", "--allow-unproven").output
    assert "unproven" not in _run(*_EXPLAIN).output


def test_pytest_plugin_refuses_unproven_release_unless_allowed_and_strategies_refuse_by_default() -> None:
    def answerer(_: str, __: str, question: dict[str, Any]) -> dict[str, Any]:
        return {"sequence": (question["sequence"] + question["by"]) & 0x7FFFFFFF}

    with pytest.raises(BadInput, match="not proven"):
        assert_conforms(answerer, "sequence-increment", kafka="3.9.9", examples=5, seed=1)
    assert_conforms(answerer, "sequence-increment", kafka="3.9.9", examples=5, seed=1, allow_unproven=True)
    with pytest.raises(BadInput, match="not proven"):
        answered("murmur2", kafka="3.9.9")


def test_behaviour_of_an_allowed_unproven_release_is_marked() -> None:
    done = _run(*_BEHAVIOUR, "--kafka", "9.9.9", "--allow-unproven")
    assert (done.return_value, done.output.splitlines()[0]) == (
        0, "9.9.9 is unproven: Java has not been asked whether it behaves like this",
    )  # fmt: skip
    listed = json.loads(_run(*_BEHAVIOUR, "--kafka", "9.9.9", "--allow-unproven", "--json").output)
    assert listed["unproven"] == ["9.9.9"]


@pytest.fixture
def half_proven(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The certificate that ships, without murmur2 in 4.4.0."""
    rows = tuple(row for row in shipped().rows if (row.rule, row.release) != ("murmur2", "4.4.0"))
    made = replace(shipped(), rows=rows, unproven={"murmur2": ["4.4.0"]})
    monkeypatch.setattr(proven, "certificate", lambda: made)
    monkeypatch.setattr(verify, "shipped", lambda: made)
    caches = (proven.proven_releases, proven._shipped)
    for one in caches:
        one.cache_clear()
    yield
    for one in caches:
        one.cache_clear()


@pytest.mark.usefixtures("half_proven")
def test_gate_defaults_to_the_newest_release_in_which_the_rule_is_proven() -> None:
    done = _run(*_GATE)
    assert "conforms: unproven_target:answerer, Kafka 4.3.1: " in done.output


@pytest.mark.usefixtures("half_proven")
def test_gate_warns_and_omits_a_rule_in_releases_without_proof_unless_allow_unproven(
    capfd: pytest.CaptureFixture[str],
) -> None:
    done = _run(*_GATE, "--kafka", "4.3.1,4.4.0")
    assert done.return_value == 0, done.output
    assert "Kafka 4.3.1: " in done.output
    assert "not proven so far, left out: murmur2 in 4.4.0; --allow-unproven asks them" in done.stderr
    allowed = _run(*_GATE, "--kafka", "4.3.1,4.4.0", "--allow-unproven")
    assert "Kafka 4.3.1 and 4.4.0 (unproven: 4.4.0)" in allowed.output


@pytest.mark.usefixtures("half_proven")
def test_gate_refuses_a_named_unproven_rule_unless_allow_unproven_is_given() -> None:
    done = _run(*_GATE, "--rules", "murmur2", "--kafka", "4.4.0")
    assert isinstance(done.exception, BadInput)
    assert str(done.exception).startswith("murmur2 in release 4.4.0 is not proven: ")
    only = _run(*_GATE, "--kafka", "4.4.0", "--rules", "murmur2", "--allow-unproven")
    assert "(unproven: 4.4.0)" in only.output


@pytest.mark.usefixtures("half_proven")
def test_verify_changed_omits_unproven_rules_with_a_warning(tmp_path: Path) -> None:
    done = _run("verify", "--changed", "--certificate", str(tmp_path / "made.json"))
    assert done.return_value == 0, done.output
    assert "not proven so far, left out: murmur2 in 4.4.0; name the rules or the releases to ask them" in done.stderr
    assert "nothing to verify" in done.output


@pytest.mark.usefixtures("half_proven")
def test_last_era_of_a_rule_ends_at_the_newest_release_in_which_the_rule_is_proven() -> None:
    assert [str(era.newest) for era in eras(RULES["murmur2"])] == ["4.3.1"]
    assert eras(RULES["sequence-increment"])[-1].newest == parse_release("4.4.0")
