"""``replay``: one failure again, by any two, with nothing generated."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kafka_conformance.cli.commands.replay import run
from kafka_conformance.core.errors import BadInput
from kafka_conformance.core.protocol import Question
from kafka_conformance.rules import RULES
from kafka_reference.releases import parse_release

NAME = "ba259ee396b16be2"
JAVA = {"by": "java", "release": "4.4.0", "answer": {"partition": 6}}
MUTANT = {"by": "mutant:sign-abs", "release": "4.4.0", "answer": {"partition": 2}}
FAILURE: dict[str, Any] = {
    "id": NAME,
    "rule": "partition-for-key",
    "question": {"key": "666f6f626172", "partitions": 12},
    "expected": JAVA,
    "actual": MUTANT,
    "found": {"seed": 7},
}
UNDRAWN = {"record": {}, "config": {}, "cluster": {"nodes": [], "partitions": [{"id": 0, "leader": None}]}}

Replayed = Callable[..., tuple[int, list[str]]]


@pytest.fixture
def replayed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Replayed:
    """Saves the failure with ``changes``, replays it; the exit code and the lines printed."""
    monkeypatch.chdir(tmp_path)

    def replayed(changes: dict[str, Any] | None = None, expected: str = "reference", actual: str = "") -> Any:
        folder = tmp_path / ".kafka-conformance" / "failures"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{NAME}.json").write_text(json.dumps({**FAILURE, **(changes or {})}), encoding="utf-8")
        code = run(named=NAME, expected=expected, actual=actual)
        return code, [line.rstrip() for line in capsys.readouterr().out.splitlines() if line.strip()]

    return replayed


def test_replay_of_saved_failure_shows_both_answers_and_exits_with_1(replayed: Replayed) -> None:
    assert replayed() == (
        1,
        [
            f"partition-for-key, question {NAME}",
            '  {"key":"666f6f626172","partitions":12}',
            '  reference 4.4.0        {"partition":6}',
            '  mutant:sign-abs 4.4.0  {"partition":2}',
            "the answers differ",
        ],
    )


@pytest.mark.parametrize(("actual", "answer"), [("mutant:sign-kept", -2), ("mutant:shift", 7)])
def test_replay_actual_option_selects_the_answerer_that_is_compared(
    replayed: Replayed, actual: str, answer: int
) -> None:
    code, lines = replayed(actual=actual)
    assert code == 1
    assert lines[3].split() == [actual, "4.4.0", f'{{"partition":{answer}}}']


def test_replay_with_corrected_implementation_exits_with_0(replayed: Replayed) -> None:
    code, lines = replayed(actual="reference")
    assert code == 0
    assert lines[-1] == "the answers match now"


def test_replay_reads_a_failure_file_from_any_path(
    replayed: Replayed, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "sent by mail.json"
    path.write_text(json.dumps({**FAILURE, "expected": {**JAVA, "by": "reference"}}), encoding="utf-8")
    assert run(named=str(path), expected="", actual="") == 1
    assert '{"partition":2}' in capsys.readouterr().out


def test_replay_computes_expected_and_actual_answers_for_the_two_saved_releases(replayed: Replayed) -> None:
    question = {"record": {}, "config": {"partitioner": {"returns": -1}}, "cluster": {"nodes": [], "partitions": []}}
    sides = {"expected": {**JAVA, "release": "3.1.2"}, "actual": {**MUTANT, "by": "reference", "release": "3.2.3"}}
    code, lines = replayed({"rule": "producer-partition", "question": question, **sides})
    assert code == 1
    assert '  reference 3.1.2  {"partition":-1}' in lines
    assert any(line.startswith('  reference 3.2.3  {"raises":"IllegalArgumentException"') for line in lines)


@pytest.mark.parametrize(
    ("version", "why"),
    [("2.3.1", "the question holds 0 draws"), ("0.8.2.2", "producer-partition is not a rule of release 0.8.2.2")],
)
def test_replay_with_an_answerer_that_cannot_answer_exits_with_2(replayed: Replayed, version: str, why: str) -> None:
    side = {**JAVA, "by": "reference", "release": version}
    code, lines = replayed({"rule": "producer-partition", "question": UNDRAWN, "expected": side, "actual": side}, "")
    assert code == 2
    assert "could not be judged" in " ".join(lines)
    assert why in " ".join(lines)


def test_replay_of_question_that_crashed_the_driver_shows_the_crash_again(replayed: Replayed, tmp_path: Path) -> None:
    code = (
        "import json, sys\n"
        "hello = {'protocol': 1, 'name': 'mine', 'version': '1', 'language': 'python', 'rules': ['partition-for-key']}\n"
        "for line in sys.stdin:\n"
        "    if 'hello' in line: print(json.dumps({'hello': hello}), flush=True)\n"
        "    else: raise IndexError('no key')\n"
    )
    (tmp_path / "mine.py").write_text(code, encoding="utf-8")
    by = f"target:-- {shlex.join([sys.executable, str(tmp_path / 'mine.py')])}"
    side = {"by": by, "release": "4.4.0", "error": "died", "what": "the driver ended by SIGSEGV"}
    exit_code, lines = replayed({"actual": side}, actual=by)
    assert exit_code == 2
    assert lines[3:6] == [
        "  mine 4.4.0       (no answer: died)",
        "  then: died: the driver ended by SIGSEGV",
        (
            "could not be judged: mine 4.4.0: the driver ended with exit code 1 before it had answered everything; "
            "standard error: IndexError: no key"
        ),
    ]
    assert lines[6].startswith("  hint: keep reading")


@pytest.mark.parametrize("side", ["expected", "actual"])
@pytest.mark.parametrize("kind", ["command", "callable", "driver"])
def test_replay_file_that_names_a_program_is_refused_without_running(
    replayed: Replayed, tmp_path: Path, side: str, kind: str
) -> None:
    """Whether the program is a command, a module of the working directory, or a driver that is built there."""
    ran = tmp_path / "ran"
    (tmp_path / "planted.py").write_text(f"open({str(ran)!r}, 'w')\ndef answer(*_): pass\n", encoding="utf-8")
    (tmp_path / "ci" / "drivers" / "planted").mkdir(parents=True)
    (tmp_path / "ci" / "drivers" / "planted" / "driver.toml").write_text(
        f"build = [['touch', '{ran}']]\ncommand = ['touch', '{ran}']\n", encoding="utf-8"
    )
    by = {"command": f"target:-- touch {ran}", "callable": "target:python:planted:answer", "driver": "target:planted"}[
        kind
    ]
    with pytest.raises(BadInput) as refused:
        replayed({side: {**JAVA, "by": by}}, expected="" if side == "expected" else "reference")
    assert str(refused.value) == (
        f"a file cannot choose the program that runs: to ask this target, add --{side} {shlex.quote(by)}"
    )
    assert not ran.exists()


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"actual": {**MUTANT, "by": "nobody"}}, "unknown answerer 'nobody': expected reference, java"),
        ({"actual": {**MUTANT, "by": "mutant:zero-bit"}}, "unknown mutant 'zero-bit'"),
        ({"actual": {**MUTANT, "release": "4.x"}}, "'4.x' is not a Kafka release"),
        ({"rule": "partition-for-keys"}, "unknown rule 'partition-for-keys'"),
        ({"question": {"key": "61"}}, "the question is not one of rule partition-for-key"),
    ],
)
def test_replay_with_unknown_answerer_rule_or_release_is_refused(
    replayed: Replayed, changes: dict[str, Any], why: str
) -> None:
    with pytest.raises(BadInput, match=why):
        replayed(changes)


def test_replay_of_steps_shows_both_answers_side_by_side_and_marks_differences(
    replayed: Replayed, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Steps(Question, frozen=True):
        steps: tuple[int, ...]

    def ask(question: Steps, at: Any) -> Any:
        """The step, twice; from 4.0 on the second one is wrong and the third left out."""
        right = [{"twice": 2 * step} for step in question.steps]
        return {"steps": right if at < parse_release("4.0.0") else [right[0], {"twice": 0}]}

    monkeypatch.setitem(RULES, "steps", replace(RULES["murmur2"], slug="steps", question=Steps, ask=ask))
    sides = {"expected": {**JAVA, "release": "3.9.2"}, "actual": {**MUTANT, "by": "reference", "release": "4.4.0"}}
    code, lines = replayed({"rule": "steps", "question": {"steps": [1, 2, 3]}, **sides})
    assert code == 1
    assert [line.split() for line in lines[2:6]] == [
        ["step", "asked", "reference", "3.9.2", "reference", "4.4.0"],
        ["0", "1", '{"twice":2}', '{"twice":2}'],
        ["1", "2", '{"twice":4}', '{"twice":0}', "◀"],
        ["2", "3", '{"twice":6}', "(no", "answer)", "◀"],
    ]


def test_replay_prints_a_long_question_on_one_line(replayed: Replayed) -> None:
    key = "80" * 200
    _, lines = replayed({"question": {"key": key, "partitions": 12}})
    assert any(key in line for line in lines)
