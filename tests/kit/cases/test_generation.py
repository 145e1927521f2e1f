"""Freezing, with others in Java's place: the answers are Java's, and releases that answer alike are one case."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import islice
from typing import Any

import msgspec
import pytest

from kafka_conformance.answerers.reference import ReferenceAnswerer
from kafka_conformance.cases import generation as freezing
from kafka_conformance.cases.check import damages
from kafka_conformance.cases.generation import GenerationPlan, RuleCases, freeze
from kafka_conformance.core.mutant import Mutant
from kafka_conformance.core.progress import Steps
from kafka_conformance.core.protocol import Answered, Failed, Outcome, Question, Unsupported, question_id
from kafka_conformance.core.rule import Rule, Space
from kafka_conformance.rules import RULES
from kafka_conformance.rules.mutants import written_mutants
from kafka_reference.releases import Release, parse_release

ANCIENT, OLD, MIDDLE, NEW = map(parse_release, ("0.10.0.1", "2.0.1", "3.1.2", "4.4.0"))
PARTITION = RULES["producer-partition"]
MURMUR2 = RULES["murmur2"]
FEW = {"one-bit", "signed-tail", "murmur2-64a", "keys-not-ignored", "index-for-id", "decrement-to-itself"}


class Told:
    """In Java's place: the reference, but for what ``instead`` says otherwise."""

    jvm = "21 (a fake)"
    name = "java"

    def __init__(self, instead: Callable[[Release, Question], Outcome | None] = lambda *_: None) -> None:
        self.instead = instead
        self.asked: list[tuple[Release, Question]] = []

    @property
    def answerer(self) -> Told:
        return self

    def answer(self, rule: Rule, release: Release, questions: Any) -> list[Outcome]:
        self.asked += [(release, question) for question in questions]
        known = ReferenceAnswerer().answer(rule, release, questions)
        return [self.instead(release, question) or outcome for question, outcome in zip(questions, known, strict=True)]

    def sha256(self, _: Rule, release: Release) -> str:
        return f"sha256 of {release}"


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fewer questions and mutants, so that this is quick: for each mutant, Hypothesis searches once."""
    monkeypatch.setattr(
        freezing, "written_mutants", lambda rule: [one for one in written_mutants(rule) if one.slug in FEW]
    )
    for rule, step in (PARTITION, 13), (MURMUR2, 7):
        some = Space("some", lambda rule=rule, step=step: islice(rule.spaces[0].questions(), 0, None, step))
        monkeypatch.setitem(RULES, rule.slug, replace(rule, spaces=(some,)))


def frozen(java: Told, *rules: Rule, quota: int = 200, seed: int = 7) -> list[RuleCases]:
    meant = [RULES[rule.slug] for rule in rules]
    plan = GenerationPlan(meant, [NEW, OLD, MIDDLE], 15, seed, {rule.slug: quota for rule in meant})
    return list(freeze(plan, java, Steps("", 0)))


def test_freezing_merges_releases_with_equal_java_answers_into_one_case() -> None:
    java = Told()
    (made,) = frozen(java, PARTITION)
    cases = made.frozen.cases
    assert {case.releases for case in cases} == {("2.0.1", "3.1.2", "4.4.0"), ("2.0.1", "3.1.2"), ("4.4.0",)}
    assert all(case.release == case.releases[-1] for case in cases)
    for case in cases:
        question = case.typed_question(PARTITION)
        assert case.id == question_id(PARTITION.slug, case.release, question)
        for version in case.releases:
            assert (parse_release(version), question) in java.asked
    assert list(damages(PARTITION, made.frozen)) == []
    assert (made.absent, made.failed, made.apart, made.missing_labels) == (0, (), (), ())


def test_provenance_of_frozen_cases_has_jar_sha256_jvm_and_java_source() -> None:
    made, other = frozen(Told(), MURMUR2, RULES["sequence-decrement"])
    reported = made.frozen.provenance
    assert (reported.rule, reported.java, reported.jvm) == ("murmur2", MURMUR2.source, "21 (a fake)")
    assert reported.jars == {f"{at}": f"sha256 of {at}" for at in (OLD, MIDDLE, NEW)}
    assert list(reported.jars) == ["2.0.1", "3.1.2", "4.4.0"], "oldest first"
    assert (reported.seed, reported.examples, reported.cases) == (7, 15, len(made.frozen.cases))
    assert other.frozen.provenance.rule == "sequence-decrement"
    assert made.asked == 3 * (made.asked // 3) > 0


def test_frozen_answer_is_that_of_java_if_the_reference_differs_and_the_case_is_listed() -> None:
    java = Told(lambda at, question: Answered({"hash": 5}) if question.key == "" and at == NEW else None)  # type: ignore[attr-defined]
    (made,) = frozen(java, MURMUR2)
    (wrong,) = [case for case in made.frozen.cases if case.answer == {"hash": 5}]
    assert wrong.releases == ("4.4.0",)
    assert made.apart == (wrong.id,)
    (right,) = [case for case in made.frozen.cases if case.question == wrong.question and case is not wrong]
    assert right.releases == ("2.0.1", "3.1.2")
    assert "one-bit" in wrong.kills, "a mutant is held to Java, not to the reference"


def test_freezing_lists_a_case_if_the_reference_differs_from_java_only_in_older_releases() -> None:
    """Java answers in all releases as the newest one does: the reference does not in the older ones."""
    (first,) = frozen(Told(), PARTITION)
    case = next(case for case in first.frozen.cases if case.releases == ("4.4.0",))
    question = case.typed_question(PARTITION)
    java = Told(lambda _, asked: Answered(case.answer) if asked == question else None)
    (made,) = frozen(java, PARTITION)
    assert next(one for one in made.frozen.cases if one.id == case.id).releases == ("2.0.1", "3.1.2", "4.4.0")
    assert made.apart == (case.id,)


def test_question_unsupported_in_a_release_is_omitted_there_and_counted_absent() -> None:
    java = Told(lambda at, question: Unsupported("no") if question.key == "" and at == NEW else None)  # type: ignore[attr-defined]
    (made,) = frozen(java, MURMUR2)
    (case,) = [case for case in made.frozen.cases if case.question == msgspec.Raw(b'{"key":""}')]
    assert case.releases == ("2.0.1", "3.1.2")
    assert made.absent == 1


def test_question_that_java_fails_to_answer_is_reported_and_not_frozen() -> None:
    java = Told(lambda _, question: Failed("broke") if question.key == "" else None)  # type: ignore[attr-defined]
    (made,) = frozen(java, MURMUR2)
    assert len(made.failed) == 3
    assert "2.0.1: Failed(what='broke')" in made.failed[0]
    assert not [case for case in made.frozen.cases if case.question == msgspec.Raw(b'{"key":""}')]


def test_freezing_selects_a_case_for_each_mutant_and_lists_survivors(monkeypatch: pytest.MonkeyPatch) -> None:
    none = Mutant("no-mistake", "murmur2", "none", MURMUR2.ask)
    mutants = [*freezing.written_mutants(MURMUR2), none]
    monkeypatch.setattr(freezing, "written_mutants", lambda _: mutants)
    (made,) = frozen(Told(), MURMUR2)
    assert made.survivors == ("no-mistake",)
    for mutant in mutants[:-1]:
        assert any(mutant.slug in case.kills for case in made.frozen.cases)


def test_freezing_reports_a_required_label_that_no_question_has() -> None:
    rule = replace(RULES["murmur2"], required_labels=RULES["murmur2"].required_labels | {"never met"})
    plan = GenerationPlan([rule], [NEW], 20, 7, {"murmur2": 100})
    (made,) = freeze(plan, Told(), Steps("", 0))
    assert "never met" in made.missing_labels


def test_freezing_skips_a_release_without_the_rule() -> None:
    java = Told()
    plan = GenerationPlan([RULES["sequence-decrement"]], [ANCIENT], 10, 7, {"sequence-decrement": 10})
    (made,) = freeze(plan, java, Steps("", 0))
    assert (java.asked, made.frozen.cases, made.frozen.provenance.jars) == ([], (), {})


def test_frozen_cases_depend_on_the_seed_only() -> None:
    first, again, other = (frozen(Told(), MURMUR2, seed=seed) for seed in (7, 7, 8))
    assert first == again
    assert [made.frozen.cases for made in first] != [made.frozen.cases for made in other]


def test_freezing_propagates_an_exception_raised_by_the_java_answerer() -> None:
    def lost(*_: Any) -> Any:
        raise RuntimeError("the JVM has gone")

    with pytest.raises(RuntimeError, match="the JVM has gone"):
        frozen(Told(lost), MURMUR2)
