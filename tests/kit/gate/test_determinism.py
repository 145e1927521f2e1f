"""Answers that change when the target is asked again: a finding of their own, which ``--known-flaky`` accepts."""

from __future__ import annotations

import random
import zlib
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from kafka_conformance.answerers.reference import outcome_of
from kafka_conformance.core.events import Differed, Ended, Event, RuleEnded, Target
from kafka_conformance.core.progress import Steps
from kafka_conformance.core.protocol import Answered, Failed, Lost, Outcome, Question
from kafka_conformance.core.rule import Rule
from kafka_conformance.gate import questions as gate_questions
from kafka_conformance.gate.determinism import changed_answers
from kafka_conformance.gate.known_failures import Entry, KnownFailures
from kafka_conformance.gate.runner import GatePlan, gate
from kafka_conformance.rules import RULES
from kafka_conformance.rules.murmur2.question import Murmur2Question
from kafka_reference.releases import NEWEST, Release

KEYED, BUILTIN = RULES["partition-for-key"], RULES["builtin-partitioner"]


class _Client:
    """librdkafka's default: CRC32, and a partition at random for the empty key; ``hashes`` replaces CRC32."""

    name = "mine"
    description = Target("mine", "1", "test", "./mine")
    rules, grades = None, {}  # type: ignore[var-annotated]

    def __init__(self, hashes: Any = zlib.crc32, *, draws: bool = True) -> None:
        self.chance, self.hashes, self.draws, self.asked = random.Random(1), hashes, draws, 0

    def answer(self, rule: Rule, release: Release, questions: Sequence[Question]) -> list[Outcome]:
        self.asked += len(questions)
        return [self._one(rule, release, question) for question in questions]

    def _one(self, rule: Rule, release: Release, question: Any) -> Outcome:
        if rule is not KEYED or question.key is None or question.partitions < 1:
            return outcome_of(rule.ask, question, release)
        if self.draws and not question.key:
            return Answered({"partition": self.chance.randrange(question.partitions)})
        if self.hashes is None:
            return outcome_of(rule.ask, question, release)
        return Answered({"partition": self.hashes(bytes.fromhex(question.key)) % question.partitions})

    def finish(self) -> None:
        return None


@pytest.fixture(autouse=True)
def _no_frozen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gate_questions, "frozen", lambda _: None)


def _gate(target: Any, folder: Path, known: KnownFailures | None = None, **plan: Any) -> list[Event]:
    asked = [(KEYED, NEWEST)]
    return gate(
        target, GatePlan(asked, 60, 1, folder, True, **plan), known or KnownFailures(), lambda _: None, Steps("", 1)
    ).events


def _found(events: Sequence[Event]) -> dict[str, Differed]:
    return {event.kind: event for event in events if isinstance(event, Differed)}


def _ended_rule(events: Sequence[Event]) -> RuleEnded:
    return next(event for event in events if isinstance(event, RuleEnded))


def _ended(events: Sequence[Event]) -> Ended:
    return next(event for event in events if isinstance(event, Ended))


def test_changing_answers_are_a_separate_finding_diagnosed_not_deterministic(tmp_path: Path) -> None:
    events = _gate(_Client(), tmp_path)
    found = _found(events)
    changing = found["not deterministic"]
    assert changing.question["key"] == ""
    assert changing.diagnosis is not None
    assert changing.diagnosis.mutant == "not-deterministic"
    assert "https://github.com/confluentinc/librdkafka/issues/4510" in changing.diagnosis.references
    crc32 = found["another partition"].diagnosis
    assert crc32 is not None
    assert crc32.mutant == "librdkafka-consistent"
    assert crc32.equal == crc32.wrong
    (ended,) = (event for event in events if isinstance(event, RuleEnded))
    assert {one.mutant for one in ended.diagnoses} == {"librdkafka-consistent", "not-deterministic"}


def test_client_with_changing_partitions_is_not_diagnosed_as_always_the_same(tmp_path: Path) -> None:
    """A balancer that counts gives partition 0 to most questions, and something else to some of them the next time."""
    changing = _gate(_Client(hashes=lambda _: 0), tmp_path)
    assert [one.mutant for one in _ended_rule(changing).diagnoses] == ["not-deterministic"]
    constant = _gate(_Client(hashes=lambda _: 0, draws=False), tmp_path / "2")
    assert [one.mutant for one in _ended_rule(constant).diagnoses] == ["always-the-same"]


def test_known_flaky_option_accepts_only_nondeterministic_findings(tmp_path: Path) -> None:
    events = _gate(_Client(), tmp_path, known_flaky=True)
    found = _found(events)
    assert found["not deterministic"].known is not None
    assert found["another partition"].known is None
    assert _ended(events).exit_code == 1
    events = _gate(_Client(hashes=None), tmp_path / "2", known_flaky=True)
    assert [one.known is None for one in _found(events).values()] == [False]
    ended = _ended(events)
    assert (ended.exit_code, ended.differed) == (0, 0)
    assert ended.known == _found(events)["not deterministic"].times > 0
    assert _ended(_gate(_Client(hashes=None), tmp_path / "3")).exit_code == 1


def test_known_failure_with_diagnosis_not_deterministic_makes_gate_pass(tmp_path: Path) -> None:
    entry = Entry(KEYED.slug, "drawn", date(2030, 1, 1), pattern="*", diagnosis="not-deterministic")
    events = _gate(_Client(hashes=None), tmp_path, KnownFailures([entry], date(2026, 1, 1)))
    assert _ended(events).exit_code == 0


def test_correctly_answered_question_is_asked_once_and_wrongly_answered_question_twice(tmp_path: Path) -> None:
    right = _Client(hashes=None, draws=False)
    assert _ended(_gate(right, tmp_path)).asked == right.asked > 60
    question = KEYED.question(key="00", partitions=1000)
    wrong = _Client(draws=False)
    (outcome,) = wrong.answer(KEYED, NEWEST, [question])
    assert isinstance(outcome, Answered)
    assert not changed_answers(wrong, KEYED, NEWEST, [(question, outcome.answer)])
    assert wrong.asked == 2


def test_random_partition_answers_are_detected_for_every_one_of_38_questions_on_repeat() -> None:
    client = _Client(hashes=None)
    many = [(KEYED.question(key="", partitions=count), {"partition": 0}) for count in range(2, 40)]
    assert len(changed_answers(client, KEYED, NEWEST, many)) == len(many)


@pytest.mark.parametrize(
    ("outcome", "changes"),
    [(Answered({"hash": 1}), False), (Answered({"hash": 2}), True), (Failed("now it breaks"), True),
     (Lost("hangs", "no answer", "answer"), False)],
)  # fmt: skip
def test_other_answer_or_failure_on_repeat_counts_as_nondeterminism_and_lost_answer_does_not(
    outcome: Outcome, changes: bool
) -> None:
    class Once:
        name = "once"

        def answer(self, _: Rule, __: Release, questions: Sequence[Question]) -> list[Outcome]:
            return [outcome] * len(questions)

    question = Murmur2Question("00")
    changed = changed_answers(Once(), RULES["murmur2"], NEWEST, [(question, {"hash": 1})])
    assert bool(changed) == changes


def test_client_that_declares_own_random_draws_is_not_checked_for_determinism(tmp_path: Path) -> None:
    class Drawing(_Client):
        grades = {BUILTIN.slug: "admissible"}  # noqa: RUF012

        def _one(self, _: Rule, __: Release, question: Any) -> Outcome:
            return Answered({"steps": [{"partition": self.chance.randrange(10**6)}] * len(question.steps)})

    plan = GatePlan([(BUILTIN, NEWEST)], 10, 1, tmp_path, True)
    events = gate(Drawing(), plan, KnownFailures(), lambda _: None, Steps("", 1)).events
    assert _found(events)
    assert not any("deterministic" in kind for kind in _found(events))


def test_client_with_random_partition_for_every_key_is_not_diagnosed_as_librdkafka(tmp_path: Path) -> None:
    client = _Client()
    client.hashes = lambda _: client.chance.getrandbits(31)
    found = [one for one in _found(_gate(client, tmp_path)).values() if one.diagnosis]
    assert {one.diagnosis.mutant for one in found if one.diagnosis} == {"not-deterministic"}
    assert not any("librdkafka" in one.diagnosis.description for one in found if one.diagnosis)
