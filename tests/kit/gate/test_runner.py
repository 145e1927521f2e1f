"""The gate: every verdict it may come to, from a target that deserves it; findings small, saved, explained, asked again."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import hypothesis
import msgspec
import pytest
from msgspec.structs import replace

from kafka_conformance.answerers.reference import ReferenceAnswerer, outcome_of
from kafka_conformance.cases import store as cases
from kafka_conformance.cases.failures import read_failure
from kafka_conformance.core import sources
from kafka_conformance.core.events import Differed, Ended, Event, ProtocolError, RuleEnded, Stale, Target
from kafka_conformance.core.progress import Steps
from kafka_conformance.core.protocol import Answered, Failed, Lost, Outcome, Question, Unsupported, question_id
from kafka_conformance.core.rule import Rule
from kafka_conformance.gate import findings
from kafka_conformance.gate import questions as gate_questions
from kafka_conformance.gate.known_failures import Entry, KnownFailures
from kafka_conformance.gate.runner import GatePlan, gate, newest_with
from kafka_conformance.rules import RULES
from kafka_conformance.rules.builtin_partitioner.question import SendBytesStep
from kafka_conformance.rules.mutants import MUTANTS, mutant_named
from kafka_reference.releases import Release, parse_release

NEWEST = parse_release("4.4.0")
MURMUR2, FOLD = RULES["murmur2"], RULES["partition-for-key"]
Say = Callable[[Rule, Release, Question], Outcome]


class _Target:
    """A target whose answers are ``say``'s."""

    name = "mine"
    description = Target("mine", "1", "test", "./mine")

    def __init__(self, say: Say, rules: frozenset[str] | None = None, grades: Mapping[str, Any] | None = None,
                 last: Lost | None = None) -> None:  # fmt: skip
        self._say, self.rules, self.grades, self._last = say, rules, grades or {}, last

    def answer(self, rule: Rule, release: Release, questions: Sequence[Question]) -> list[Outcome]:
        return [self._say(rule, release, question) for question in questions]

    def finish(self) -> Lost | None:
        return self._last


def _right(rule: Rule, release: Release, question: Question) -> Outcome:
    return outcome_of(rule.ask, question, release)


def _mutant(slug: str) -> Say:
    mutant = next(one for one in MUTANTS if one.slug == slug)

    def say(rule: Rule, release: Release, question: Question) -> Outcome:
        return outcome_of(mutant.ask if rule.slug == mutant.rule else rule.ask, question, release)

    return say


@pytest.fixture(autouse=True)
def _frozen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two frozen cases of murmur2, whatever ships."""
    shown = [("", 275646681), ("666f6f", 597841616)]
    made = [
        cases.Case(question_id("murmur2", "4.4.0", MURMUR2.question(key)), "4.4.0", ("3.9.2", "4.4.0"),
                   msgspec.Raw(msgspec.json.encode({"key": key})), {"hash": hashed}, ())
        for key, hashed in shown
    ]  # fmt: skip
    found = cases.Frozen(cases.Provenance("murmur2", "Utils.murmur2", {}, "21", "0", 1, 1, 2), tuple(made))
    monkeypatch.setattr(gate_questions, "frozen", lambda rule: found if rule is MURMUR2 else None)


def _gate(target: Any, folder: Path, *rules: Rule, known: KnownFailures | None = None, named: bool = False,
          release: Release = NEWEST) -> list[Event]:  # fmt: skip
    plan = GatePlan([(rule, release) for rule in rules or (MURMUR2,)], 40, 1, folder, named, "target:mine")
    reported: list[Event] = []
    gated = gate(target, plan, known or KnownFailures(today=date(2026, 1, 1)), reported.append, Steps("", 1))
    assert reported == gated.events
    return reported


def _of(events: Sequence[Event], kind: type[Any]) -> Iterator[Any]:
    return (event for event in events if isinstance(event, kind))


def _ended(events: Sequence[Event]) -> Ended:
    return next(_of(events, Ended))


def test_correct_client_conforms_with_exit_code_0_and_saves_no_failures(tmp_path: Path) -> None:
    events = _gate(_Target(_right), tmp_path, MURMUR2, FOLD)
    assert _ended(events).exit_code == 0
    second, first = _of(events, RuleEnded)
    assert second.rule == "partition-for-key"  # first, whatever the order it is named in
    assert (first.verdict, first.frozen, first.differed) == ("agrees", 2, 0)
    assert first.fresh > 20
    assert second.frozen == 0
    assert list(tmp_path.iterdir()) == []


def test_client_hashing_with_crc32_differs_with_diagnosis_crc32(tmp_path: Path) -> None:
    events = _gate(_Target(_mutant("crc32")), tmp_path)
    assert _ended(events).exit_code == 1
    (differed,) = _of(events, Differed)
    assert differed.diagnosis.mutant == "crc32"
    assert differed.diagnosis.equal == differed.diagnosis.wrong
    assert differed.times == next(_of(events, RuleEnded)).differed
    assert read_failure(differed.file).typed_question() == MURMUR2.question(**differed.question)


def test_recorded_java_answers_take_precedence_over_the_reference(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gate_questions, "EXPECTED", ReferenceAnswerer("r", lambda _, __: {"hash": "nothing"}))
    (ended,) = _of(_gate(_Target(_right), tmp_path), RuleEnded)
    assert ended.agreed == 2
    assert ended.differed == ended.fresh > 0


def test_finding_is_shrunk_by_asking_the_client_smaller_questions(tmp_path: Path) -> None:
    def say(rule: Rule, release: Release, question: Any) -> Outcome:
        return Answered({"hash": 0}) if question.key else _right(rule, release, question)

    (differed,) = _of(_gate(_Target(say), tmp_path), Differed)
    assert len(differed.question["key"]) == len("00")
    assert [path.stem for path in tmp_path.iterdir()] == [differed.id]


def test_saved_failures_are_asked_again_only_of_the_client_that_failed(tmp_path: Path) -> None:
    _gate(_Target(_mutant("crc32")), tmp_path)
    (ended,) = _of(_gate(_Target(_right), tmp_path), RuleEnded)
    assert (ended.earlier, ended.verdict) == (1, "agrees")
    plan = GatePlan([(MURMUR2, NEWEST)], 5, 1, tmp_path, by="target:another")
    events = gate(_Target(_right), plan, KnownFailures(), lambda _: None, Steps("", 1)).events
    assert next(_of(events, RuleEnded)).earlier == 0


def test_damaged_file_in_failures_folder_is_ignored(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text("nonsense")
    assert _ended(_gate(_Target(_right), tmp_path)).exit_code == 0


@pytest.mark.parametrize(
    ("outcome", "verdict", "code"),
    [
        (Failed("it broke"), "errored", 2),
        (Lost("hangs", "no answer within 1 s", "answer sooner"), "crashed", 2),
        (Unsupported("no such thing"), "unsupported", 2),
    ],
)
def test_gate_of_a_client_that_fails_hangs_or_supports_nothing_exits_2(
    tmp_path: Path, outcome: Outcome, verdict: str, code: int
) -> None:
    events = _gate(_Target(lambda *_: outcome), tmp_path)
    assert next(_of(events, RuleEnded)).verdict == verdict
    assert _ended(events).exit_code == code


def test_repeated_protocol_error_is_reported_once_with_count(tmp_path: Path) -> None:
    (error,) = _of(_gate(_Target(lambda *_: Lost("hangs", "what", "hint")), tmp_path), ProtocolError)
    assert (error.error, error.what, error.hint) == ("hangs", "what", "hint")
    assert error.times > 20


def test_question_that_ends_the_driver_is_saved_and_asked_again(tmp_path: Path) -> None:
    def say(rule: Rule, release: Release, question: Any) -> Outcome:
        return Lost("died", "it ended", "hint") if question.key == "666f6f" else _right(rule, release, question)

    (error,) = _of(_gate(_Target(say), tmp_path), ProtocolError)
    assert error.question == {"key": "666f6f"}
    assert read_failure(error.file).actual.error == "died"
    (ended,) = _of(_gate(_Target(_right), tmp_path), RuleEnded)
    assert (ended.earlier, ended.verdict) == (1, "agrees")


def test_failures_that_cannot_be_saved_do_not_change_the_verdict(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("")
    plan = GatePlan([(MURMUR2, NEWEST)], 5, 1, tmp_path / "taken", by="target:mine")
    gated = gate(_Target(_mutant("crc32")), plan, KnownFailures(), lambda _: None, Steps("", 1))
    assert gated.ended.exit_code == 1
    assert gated.warning.startswith("failed questions are not saved: ")
    (differed,) = _of(gated.events, Differed)
    assert differed.file == ""
    assert differed.id


def test_difference_outweighs_failed_answers_so_gate_exits_1(tmp_path: Path) -> None:
    def say(rule: Rule, release: Release, question: Any) -> Outcome:
        return Answered({"hash": 7}) if not question.key else Failed("no")

    assert _ended(_gate(_Target(say), tmp_path)).exit_code == 1


def test_output_after_the_last_answer_is_a_protocol_error(tmp_path: Path) -> None:
    events = _gate(_Target(_right, last=Lost("noise", "said more", "say less")), tmp_path)
    assert [error.error for error in _of(events, ProtocolError)] == ["noise"]
    assert _ended(events).exit_code == 2


def test_rules_not_declared_by_the_client_are_skipped_and_gate_exits_2_if_named(tmp_path: Path) -> None:
    def say(rule: Rule, release: Release, question: Question) -> Outcome:
        return _right(rule, release, question) if rule is MURMUR2 else Unsupported("not here")

    target = _Target(say, frozenset({"murmur2"}))
    events = _gate(target, tmp_path, MURMUR2, FOLD)
    assert [ended.rule for ended in _of(events, RuleEnded)] == ["murmur2"]
    assert _ended(events).exit_code == 0
    events = _gate(target, tmp_path, MURMUR2, FOLD, named=True)
    assert _ended(events).exit_code == 2
    assert "partition-for-key" in _ended(events).why


def test_gate_of_a_client_that_supports_no_requested_rule_exits_2(tmp_path: Path) -> None:
    assert _ended(_gate(_Target(_right, frozenset()), tmp_path)).exit_code == 2


def _known(**changes: Any) -> KnownFailures:
    fields = {"rule": "murmur2", "reason": "so it is", "expires": date(2026, 6, 1), "pattern": "*", **changes}
    return KnownFailures([Entry(**fields)], date(2026, 1, 1))


def test_known_failures_do_not_fail_the_gate_and_are_counted(tmp_path: Path) -> None:
    events = _gate(_Target(_mutant("crc32")), tmp_path, known=_known(diagnosis="crc32"))
    (ended,) = _of(events, RuleEnded)
    assert (ended.verdict, ended.differed) == ("known", 0)
    assert ended.known > 20
    assert _ended(events).exit_code == 0
    assert all(differed.known.reason == "so it is" for differed in _of(events, Differed))


def test_known_failure_with_another_diagnosis_covers_nothing_and_is_reported(tmp_path: Path) -> None:
    events = _gate(_Target(_mutant("fnv-1a")), tmp_path, known=_known(diagnosis="crc32"))
    assert next(_of(events, RuleEnded)).differed > 20
    assert [stale.why for stale in _of(events, Stale)] == ["another message"]


def test_known_failure_that_no_longer_occurs_fails_the_gate_as_stale(tmp_path: Path) -> None:
    events = _gate(_Target(_right), tmp_path, known=_known())
    assert [stale.why for stale in _of(events, Stale)] == ["stale"]
    assert _ended(events).exit_code == 1


def test_admissible_grade_lets_correct_client_with_own_random_draws_pass_and_a_mutant_fail(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(findings, "_SHRINK_S", 0.0)
    rule, draws = RULES["builtin-partitioner"], tuple(range(3, 60))

    def say(_: Rule, release: Release, question: Any) -> Outcome:
        return outcome_of(rule.ask, msgspec.structs.replace(question, draws=draws), release)

    assert _ended(_gate(_Target(say), tmp_path, rule)).exit_code == 1
    events = _gate(_Target(say, grades={rule.slug: "admissible"}), tmp_path, rule)
    assert [(ended.grade, ended.verdict) for ended in _of(events, RuleEnded)] == [("admissible", "agrees")]
    events = _gate(_Target(_mutant("builtin-leaderless"), grades={rule.slug: "admissible"}), tmp_path, rule)
    assert _ended(events).exit_code == 1
    assert any("one of" in str(differed.expected) for differed in _of(events, Differed))


def _counting_bytes(slug: str | None) -> Say:
    """A client that draws by itself and has records alone; with a mistake if it is named."""
    drawn, mistake = random.Random(7), None if slug is None else mutant_named(slug)

    def say(rule: Rule, release: Release, question: Any) -> Outcome:
        if any(type(step) is not SendBytesStep or not step.enable_switch for step in question.steps):
            return Unsupported("records alone")
        ask = rule.ask if mistake is None else mistake.ask
        return outcome_of(ask, replace(question, draws=tuple(drawn.randrange(2**31) for _ in range(40))), release)

    return say


def test_builtin_partitioner_with_correct_byte_counts_conforms_over_300_questions(tmp_path: Path) -> None:
    rule = RULES["builtin-partitioner"]
    events = _gate(_Target(_counting_bytes(None), grades={rule.slug: "admissible"}), tmp_path, rule)
    (ended,) = _of(events, RuleEnded)
    assert (ended.verdict, _ended(events).exit_code) == ("agrees", 0)
    assert ended.asked > 300


def test_builtin_partitioner_switching_one_record_early_is_diagnosed_and_can_be_a_known_failure(tmp_path: Path) -> None:
    rule, slug = RULES["builtin-partitioner"], "switches-one-record-early"
    early = _Target(_counting_bytes(slug), grades={rule.slug: "admissible"})
    events = _gate(early, tmp_path, rule)
    (ended,) = _of(events, RuleEnded)
    assert (ended.verdict, _ended(events).exit_code) == ("differs", 1)
    assert [found.mutant for found in ended.diagnoses] == [slug]
    (differed,) = _of(events, Differed)
    assert differed.diagnosis is not None
    assert differed.diagnosis.mutant == slug
    assert _ended(_gate(early, tmp_path, rule, known=_known(rule=rule.slug, diagnosis=slug))).exit_code == 0


def test_rule_is_asked_in_the_newest_release_that_has_the_rule() -> None:
    releases = list(map(parse_release, ("2.8.2", "3.9.2", "4.4.0")))
    assert str(newest_with(RULES["default-partitioner"], releases)) == "3.9.2"
    assert str(newest_with(MURMUR2, releases)) == "4.4.0"


def test_known_failure_with_diagnosis_always_the_same_covers_no_difference(tmp_path: Path) -> None:
    events = _gate(_Target(lambda *_: Answered({"hash": 7})), tmp_path, known=_known(diagnosis="always-the-same"))
    assert next(_of(events, RuleEnded)).known == 0
    assert _ended(events).exit_code == 1


def test_known_and_new_findings_are_shrunk_and_saved_to_separate_files(tmp_path: Path) -> None:
    """The shrinker stays among the differences that the same known failure covers, or none."""
    rule = RULES["sequence-increment"]

    def say(_: Rule, release: Release, question: Any) -> Outcome:
        return Answered({"sequence": question.sequence + question.by})

    smallest = KnownFailures([
        Entry(rule.slug, "the first number after the last", date(2026, 6, 1), pattern="wraps*", message="*2147483648}")
    ], date(2026, 1, 1))  # fmt: skip
    events = _gate(_Target(say), tmp_path, rule, known=smallest)
    found = list(_of(events, Differed))
    assert len({one.file for one in found}) == len({one.id for one in found}) == len(found) >= 2
    for one in found:
        assert (one.actual == {"sequence": 2147483648}) == (one.known is not None)
        question = read_failure(one.file).typed_question()
        assert one.kind.startswith(rule.path(question))
        assert read_failure(one.file).actual.answer == one.actual


@pytest.mark.parametrize(("seconds", "searches"), [(0.0, False), (15.0, True)])
def test_gate_without_time_left_starts_no_search_for_a_smaller_question(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seconds: float, searches: bool
) -> None:
    found = Mock(side_effect=hypothesis.find)
    monkeypatch.setattr(findings, "_SHRINK_S", seconds)
    monkeypatch.setattr(sources, "find", found)
    assert _ended(_gate(_Target(lambda *_: Answered({"hash": 7})), tmp_path)).exit_code == 1
    assert (found.call_count > 1) == searches


def test_saved_example_of_diagnosed_finding_reproduces_the_mutant_answer(tmp_path: Path) -> None:
    events = _gate(_Target(_mutant("increment-starts-over")), tmp_path, RULES["sequence-increment"])
    mutant = next(one for one in MUTANTS if one.slug == "increment-starts-over")
    explained = [one for one in _of(events, Differed) if one.diagnosis is not None]
    assert explained
    for one in explained:
        assert mutant.ask(read_failure(one.file).typed_question(), NEWEST) == one.actual
