"""A Python callable: its answers, its errors, and how it is named and imported."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kafka_conformance.answerers.in_process import CallableAnswerer, InProcess, imported
from kafka_conformance.core.errors import BadInput
from kafka_conformance.core.protocol import Answered, Failed, Lost, Outcome, Unsupported
from kafka_conformance.rules import RULES
from kafka_conformance.rules.murmur2.question import Murmur2Question
from kafka_reference.releases import parse_release

NEWEST = parse_release("4.4.0")


def ask(answerer: InProcess, *keys: str, timeout_s: float = 30) -> list[Outcome]:
    with CallableAnswerer(answerer, "python:m:a", timeout_s=timeout_s) as target:
        return target.answer(RULES["murmur2"], NEWEST, [Murmur2Question(key) for key in keys])


def test_python_callable_receives_rule_release_and_question() -> None:
    got: list[object] = []

    def answerer(rule: str, at: str, question: dict[str, Any]) -> dict[str, Any]:
        got.append((rule, at, question))
        return {"hash": len(got)}

    keys = ["00", "", *["11"] * 600]
    assert ask(answerer, *keys) == [Answered({"hash": n}) for n in range(1, len(keys) + 1)]
    assert got[:2] == [("murmur2", "4.4.0", {"key": "00"}), ("murmur2", "4.4.0", {"key": ""})]


def raising(error: BaseException) -> InProcess:
    def answerer(rule: str, at: str, question: dict[str, Any]) -> dict[str, Any]:
        raise error

    return answerer


@pytest.mark.parametrize(
    ("error", "what"),
    [
        (ValueError("no\nsecond line"), "ValueError: no"),
        (KeyError("x"), "KeyError: 'x'"),
        (RuntimeError(), "RuntimeError"),
        (RuntimeError("\x1b[2J" + "x" * 999), rf"RuntimeError: \x1b[2J{'x' * 139}…"),
        (SystemExit(3), "SystemExit: 3"),
        (RecursionError("deep"), "RecursionError: deep"),
    ],
)
def test_exception_raised_by_python_callable_is_a_failed_outcome_with_the_error_text(
    error: BaseException, what: str
) -> None:
    assert ask(raising(error), "00") == [Failed(what)]


@pytest.mark.parametrize(
    ("returned", "outcome"),
    [
        (None, Unsupported("it returned None")),
        ({}, Answered({})),
        ({"raises": "NullPointerException"}, Answered({"raises": "NullPointerException"})),
        ({"steps": ({"a": 1},)}, Answered({"steps": [{"a": 1}]})),
        (5, Failed("it returned an int, and an answer is a dict")),
        ([1], Failed("it returned a list, and an answer is a dict")),
        ({"hash": b"x"}, Failed("TypeError: Object of type bytes is not JSON serializable")),
        ({"hash": {1}}, Failed("TypeError: Object of type set is not JSON serializable")),
        ({"hash": float("nan")}, Failed("ValueError: Out of range float values are not JSON compliant")),
    ],
)
def test_python_callable_result_counts_as_answer_if_json_dict_unsupported_if_none_else_failed(
    returned: Any, outcome: Outcome
) -> None:
    (got,) = ask(lambda *_: returned, "00")
    if isinstance(outcome, Failed) and isinstance(got, Failed):  # later Pythons say more
        assert got.what.startswith(outcome.what)
    else:
        assert got == outcome


def test_python_callable_that_hangs_is_not_called_again_and_unanswered_questions_are_lost() -> None:
    go, asked = threading.Event(), []

    def answerer(rule: str, at: str, question: dict[str, Any]) -> dict[str, Any]:
        asked.append(question["key"])
        if question["key"] == "11":
            go.wait(60)
        return {}

    with CallableAnswerer(answerer, "python:m:a", timeout_s=0.3) as target:
        outcomes = target.answer(RULES["murmur2"], NEWEST, [Murmur2Question(key) for key in ("00", "11", "22")])
        go.set()
        again = target.answer(RULES["murmur2"], NEWEST, [Murmur2Question("33")])
    for thread in threading.enumerate():
        if thread.name == "in-process answerer":
            thread.join(30)
    assert asked == ["00", "11"]  # nothing more, though it came back
    assert outcomes[0] == Answered({})
    what = "m:a did not answer a question of murmur2, its batch taking more than 0.3 s"
    lost, rest = outcomes[1:]
    assert again == [rest]
    assert again[0] is rest  # no limit was waited for once more
    assert isinstance(lost, Lost)
    assert (lost.error, lost.what, lost.asked) == ("hangs", what, True)  # the question at fault
    assert isinstance(rest, Lost)
    assert (rest.error, rest.what, rest.asked) == ("hangs", f"{what}; after that it was not asked any more", False)


def test_thread_of_python_callable_ends_when_the_target_is_closed() -> None:
    asking: list[threading.Thread] = []

    def answer(*_: object) -> dict[str, object]:
        asking.append(threading.current_thread())
        return {}

    ask(answer, "00")
    (thread,) = set(asking)
    assert thread is not threading.main_thread()
    thread.join(30)
    assert not thread.is_alive()


def test_python_callable_attributes_override_name_version_and_grades_and_limit_supported_rules() -> None:
    def answerer(rule: str, at: str, question: dict[str, Any]) -> dict[str, Any]:
        return {}

    with CallableAnswerer(answerer, "python:m:a") as target:
        assert (target.name, target.description.version, target.description.language) == ("m:a", "", "python")
        assert target.description.command == "python:m:a"
        assert (target.rules, target.grades, target.finish()) == (None, {}, None)
    more: Any = answerer
    more.name, more.version, more.rules, more.grades = "mine\x07", "2", ["murmur2"], {"murmur2": "statistical"}
    with CallableAnswerer(answerer, "python:m:a") as target:
        assert (target.name, target.description.version) == (r"mine\x07", "2")
        assert (target.rules, target.grades) == ({"murmur2"}, {"murmur2": "statistical"})
        question = RULES["sequence-increment"].question(sequence=1, by=1)  # type: ignore[call-arg]
        assert target.answer(RULES["sequence-increment"], NEWEST, [question]) == [
            Unsupported(r"mine\x07 does not name sequence-increment in its rules")
        ]


@pytest.mark.parametrize(
    ("field", "value", "why"),
    [
        ("rules", "murmur2", "the answerer's rules are a str"),
        ("rules", 5, "the answerer's rules are an int"),
        ("rules", [5], "the answerer's rules are a list"),
        ("rules", ["murmur3"], "the answerer's rules name unknown rules: murmur3"),
        ("grades", {"murmur3": "exact"}, "the answerer's grades name unknown rules: murmur3"),
        ("grades", {"murmur2": "good"}, "the answerer's grades are not valid: Invalid enum value 'good'"),
    ],
)
def test_python_callable_with_invalid_rules_or_grades_attribute_raises_bad_input_with_the_reason(
    field: str, value: object, why: str
) -> None:
    answerer = raising(ValueError())
    setattr(answerer, field, value)
    with pytest.raises(BadInput, match=why):
        CallableAnswerer(answerer, "python:m:a")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    before = set(sys.modules)
    yield tmp_path
    for module in set(sys.modules) - before:
        del sys.modules[module]


def test_python_callable_is_imported_from_current_directory(here: Path) -> None:
    (here / "mine_pkg").mkdir()
    (here / "mine_pkg" / "mod.py").write_text(
        "class A:\n  @staticmethod\n  def ask(rule, at, question): return {'r': rule}\n"
    )
    found = imported("python:mine_pkg.mod:A.ask")
    assert found("murmur2", "4.4.0", {}) == {"r": "murmur2"}


@pytest.mark.parametrize(
    ("named", "code", "why"),
    [
        ("python:mine_x", "", "python:mine_x names no callable: it has to be python:package.module:answerer"),
        ("python::a", "", "names no callable"),
        (
            "python:mine_none:a",
            "",
            r"python:mine_none:a cannot be imported from .*: ModuleNotFoundError: No module named",
        ),
        ("python:mine_x:a", "", "the module mine_x has no a"),
        ("python:mine_x:a", "a = 5", "is an int, and has to be callable"),
        ("python:mine_x:a", "1/0", "cannot be imported from .*: ZeroDivisionError: division by zero"),
        ("python:mine_x:a", "def (", "cannot be imported from .*: SyntaxError: "),
        ("python:mine_x:a", "raise SystemExit(0)", "cannot be imported from .*: SystemExit: 0"),
        ("python:mine_x:a", "raise ValueError('\\x1b[2J')", r"ValueError: \\x1b\[2J"),
        ("python:.mine_x:a", "", "cannot be imported from .*: TypeError: "),
    ],
)
def test_python_callable_that_cannot_be_imported_raises_bad_input_with_the_reason(
    here: Path, named: str, code: str, why: str
) -> None:
    (here / "mine_x.py").write_text(code)
    with pytest.raises(BadInput, match=why) as raised:
        imported(named)
    assert str(raised.value).isprintable()
