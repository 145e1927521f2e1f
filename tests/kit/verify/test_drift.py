"""Every finding of a rule in a release that the kit does not know, with a Java that is made up."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from kafka_conformance.answerers.reference import outcome_of
from kafka_conformance.core.errors import JvmLost, OracleFault
from kafka_conformance.core.pipeline import Comparison
from kafka_conformance.core.protocol import Answered, Failed, Outcome, Question, Unsupported
from kafka_conformance.core.rule import Rule
from kafka_conformance.core.sources import Source, sources
from kafka_conformance.rules import RULES
from kafka_conformance.verify import drift
from kafka_conformance.verify.drift import Drift, DriftOutcome, exit_code, find_drift, shrunk
from kafka_jars.errors import JarChanged, JarNotPublished, JarUnavailable
from kafka_reference.releases import parse_release, since

OLD, NEW = parse_release("4.4.0"), parse_release("4.5.0")
MURMUR2 = RULES["murmur2"]
QUESTIONS = sources(MURMUR2, 50, 1)
COUNT = sum(len(source.questions) for source in QUESTIONS)


class Java:
    """The reference for the predecessor; for the new release, ``new`` of a question and of what the reference answers."""

    name = "java"

    def __init__(self, new: Callable[[Any, Outcome], Outcome] = lambda _, outcome: outcome) -> None:
        self.new = new
        self.asked: dict[object, set[Question]] = {OLD: set(), NEW: set()}

    def answer(self, rule: Rule, release: Any, questions: Sequence[Question]) -> list[Outcome]:
        self.asked[release].update(questions)
        known = [outcome_of(rule.ask, question, OLD) for question in questions]
        return known if release == OLD else list(map(self.new, questions, known))


def find(java: Java, rule: Rule = MURMUR2, asked: Sequence[Source] = QUESTIONS) -> Drift:
    return find_drift(rule, java, OLD, NEW, asked)


def another_hash(question: Any, outcome: Outcome) -> Outcome:
    """What a release would answer that hashes keys of more than 3 bytes otherwise."""
    long = question.key is not None and len(question.key) > 6
    return Answered({"hash": 1}) if long else outcome


def raises(error: Exception) -> Callable[[Any, Outcome], Outcome]:
    def fail(*_: Any) -> Outcome:
        raise error

    return fail


def test_drift_of_an_equal_release_finds_no_difference() -> None:
    java = Java()
    found = find(java)
    assert (found.finding, found.asked, found.differ) == (DriftOutcome.SAME, COUNT, 0)
    assert java.asked[OLD] == java.asked[NEW] == {question for source in QUESTIONS for question in source.questions}


def test_drift_of_changed_hash_is_reported_with_shrunk_question() -> None:
    found = find(Java(another_hash))
    assert found.finding is DriftOutcome.CHANGED
    assert 0 < found.differ < found.asked == COUNT
    (change,) = shrunk(found, Java(another_hash), 50, 1)
    assert len(change.example.question.key) == 8  # type: ignore[attr-defined]
    assert change.example.actual == {"hash": 1}
    assert change.example.expected["hash"] != 1
    assert change.count == found.differ


def test_drift_with_planted_comparison_of_the_old_release_with_itself_reports_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The mistake that makes the alarm silent: the tests above would notice it, by the finding and by who was asked."""
    monkeypatch.setattr(drift, "_DriftComparison", lambda one, other, first, _: Comparison(one, other, first, first))
    java = Java(another_hash)
    assert find(java).finding is DriftOutcome.SAME
    assert len(java.asked[NEW]) == 1


def test_drift_shrinks_at_most_three_kinds_of_difference() -> None:
    def by_length(question: Any, _: Outcome) -> Outcome:
        return Answered({f"hash{len(question.key or '') % 7}": 0})

    found = find(Java(by_length))
    assert len(found.changes) > 3
    assert len(shrunk(found, Java(by_length), 20, 1)) == 3


@pytest.mark.parametrize(
    ("error", "what"),
    [
        (OracleFault("the oracle failed: java.lang.ClassNotFoundException: org.apache.kafka.common.utils.Utils"),
         "class org.apache.kafka.common.utils.Utils was not found"),
        (OracleFault("the oracle failed: java.lang.reflect.InvocationTargetException; caused by "
                     "java.lang.NoSuchMethodException: org.apache.kafka.common.utils.Utils.<init>(int)"),
         "constructor org.apache.kafka.common.utils.Utils(int) was not found"),
        (OracleFault("cannot compile the oracle's Java for Kafka 4.5.0: /x/Murmur2Rule.java:20: The method murmur2(byte[])"
                     " is undefined for the type Utils: correct these lines, or name what it lacks by reflection"),
         "Murmur2Rule.java:20: The method murmur2(byte[]) is undefined for the type Utils"),
        (JarNotPublished("org.apache.kafka:kafka-storage:4.5.0 is in no repository: is that a published Kafka release?"),
         "org.apache.kafka:kafka-storage:4.5.0 is in no repository"),
    ],
)  # fmt: skip
def test_drift_reports_moved_if_a_java_class_member_or_jar_is_missing_at_start(error: Exception, what: str) -> None:
    found = find(Java(raises(error)))
    assert (found.finding, found.moved, found.unjudged) == (DriftOutcome.MOVED, (what,), ())


@pytest.mark.parametrize(
    ("outcome", "what"),
    [
        (Failed("java.lang.NoSuchMethodException: org.apache.kafka.common.utils.Utils.murmur2 with 1 parameters"),
         "method org.apache.kafka.common.utils.Utils.murmur2 with 1 parameters was not found"),
        (Unsupported("release 4.5.0 has no class org.apache.kafka.common.utils.Hash"),
         "class org.apache.kafka.common.utils.Hash was not found"),
    ],
)  # fmt: skip
def test_drift_reports_moved_if_some_answers_lack_a_java_member(outcome: Outcome, what: str) -> None:
    found = find(Java(lambda question, known: known if len(question.key or "") < 8 else outcome))
    assert (found.finding, found.moved) == (DriftOutcome.MOVED, (what,))
    assert 0 < found.asked < COUNT


def test_drift_with_missing_class_and_differences_reports_moved_not_changed() -> None:
    def both(question: Any, known: Outcome) -> Outcome:
        short = len(question.key or "") < 8
        return Answered({"hash": 1}) if short else Unsupported("release 4.5.0 has no class kafka.Hash")

    found = find(Java(both))
    assert found.finding is DriftOutcome.MOVED
    assert found.differ > 0


@pytest.mark.parametrize(
    ("new", "why"),
    [
        (lambda *_: Failed('Cannot invoke "Object.hashCode()"'), r"questions have no answer: java 4\.5\.0: Cannot invoke"),
        (raises(OracleFault("the oracle failed: java.lang.NoClassDefFoundError: com/fasterxml/jackson/JsonNode")),
         "class com.fasterxml.jackson.JsonNode was not found: it is of a library that the kit does not load"),
        (raises(OracleFault("no codecs are pinned")), r"4\.5\.0: no codecs are pinned"),
        (raises(JarUnavailable("no repository can be reached")), r"4\.5\.0: no repository can be reached"),
    ],
)  # fmt: skip
def test_drift_with_java_failure_unrelated_to_kafka_is_unjudged(new: Any, why: str) -> None:
    found = find(Java(new))
    assert found.finding is DriftOutcome.UNJUDGED
    (reason,) = found.unjudged
    assert re.search(why, reason), reason


def test_drift_with_failing_predecessor_release_is_unjudged() -> None:
    class Broken(Java):
        def answer(self, rule: Rule, release: Any, questions: Sequence[Question]) -> list[Outcome]:
            if release == OLD:
                raise OracleFault("java.lang.ClassNotFoundException: org.apache.kafka.common.utils.Utils")
            return super().answer(rule, release, questions)

    found = find(Broken())
    assert found.finding is DriftOutcome.UNJUDGED, "it says nothing about the new release"
    assert found.unjudged == ("4.4.0: java.lang.ClassNotFoundException: org.apache.kafka.common.utils.Utils",)


def test_drift_without_questions_of_required_labels_is_unjudged() -> None:
    assert find(Java(), asked=()).finding is DriftOutcome.UNJUDGED
    few = [Source("few", QUESTIONS[0].questions[:1])]
    found = find(Java(), asked=few)
    assert found.finding is DriftOutcome.UNJUDGED
    assert found.unjudged[0].startswith("no question of the kinds ")


def test_drift_is_unjudged_if_the_predecessor_release_supports_no_question() -> None:
    class Lacking(Java):
        def answer(self, rule: Rule, release: Any, questions: Sequence[Question]) -> list[Outcome]:
            known = super().answer(rule, release, questions)
            return [Unsupported("release 4.4.0 has no class a.B")] * len(known) if release == OLD else known

    found = find(Lacking())
    assert (found.finding, found.asked) == (DriftOutcome.UNJUDGED, 0)
    assert found.unjudged == ("no question has an answer in 4.4.0",)


def test_drift_reports_rule_only_in_newer_release_as_new_and_in_neither_as_absent() -> None:
    ((_, java_class),) = MURMUR2.java
    later = replace(MURMUR2, releases=since("4.5.0"), java=((since("4.5.0"), java_class),))
    assert find(Java(), later).finding is DriftOutcome.NEW
    ended = replace(MURMUR2, java=((since("0.10.0.0", until="3.9.x"), java_class),))
    assert find(Java(), ended).finding is DriftOutcome.ABSENT


@pytest.mark.parametrize("error", [JvmLost("the JVM ended"), JarChanged("a.jar", "ab", "cd")])
def test_drift_propagates_lost_jvm_and_changed_jar(error: Exception) -> None:
    with pytest.raises(type(error)):
        find(Java(raises(error)))


def test_drift_exits_1_if_changed_or_moved_else_2_if_unjudged_or_nothing_compared() -> None:
    same, changed, moved, unjudged, absent = (
        DriftOutcome.SAME, DriftOutcome.CHANGED, DriftOutcome.MOVED, DriftOutcome.UNJUDGED, DriftOutcome.ABSENT,
    )  # fmt: skip
    assert exit_code([same, same, absent, DriftOutcome.NEW]) == 0
    assert exit_code([same, changed]) == exit_code([moved, unjudged]) == exit_code([changed, unjudged]) == 1
    assert exit_code([same, unjudged]) == 2
    assert exit_code([absent]) == exit_code([DriftOutcome.NEW]) == 2, "nothing was compared"
