"""Every mistake is told by a few of its answers, two of them are told apart, and chance is told nothing."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import pytest

from kafka_conformance.answerers.reference import outcome_of
from kafka_conformance.core.events import Diagnosis
from kafka_conformance.core.mutant import Mutant
from kafka_conformance.core.pipeline import Difference
from kafka_conformance.core.protocol import Answer, Answered, Question, to_json
from kafka_conformance.core.rule import Rule
from kafka_conformance.gate.candidates import Candidate, candidates, pinned
from kafka_conformance.gate.diagnosis import MOST, TOLD, diagnose
from kafka_conformance.rules import RULES
from kafka_conformance.rules.common.sequences import SequenceQuestion
from kafka_conformance.rules.murmur2.question import Murmur2Question
from kafka_conformance.rules.mutants import MUTANTS
from kafka_conformance.rules.partition_for_key.question import PartitionForKeyQuestion
from kafka_reference.releases import NEWEST, Release, parse_release

Target = Callable[[Any, Answer], Answer | None]

BY_SLUG = {mutant.slug: mutant for mutant in MUTANTS}
KEYED = RULES["partition-for-key"]


def answered(ask: Callable[[Any, Release], Answer], question: Question, at: Release) -> Answer | None:
    outcome = outcome_of(ask, question, at)
    return outcome.answer if isinstance(outcome, Answered) else None


def acts_as(slug: str) -> Target:
    return lambda question, _: answered(BY_SLUG[slug].ask, question, BY_SLUG[slug].at)


def gated(
    rule: Rule, at: Release, target: Target, questions: Sequence[Question]
) -> tuple[list[Difference], list[tuple[Question, Answer]]]:
    wrong: list[Difference] = []
    right: list[tuple[Question, Answer]] = []
    for question in questions:
        expected = answered(rule.ask, question, at)
        said = None if expected is None else target(question, expected)
        if expected is None or said is None:
            continue
        if said == expected and to_json(said) == to_json(expected):
            right.append((question, said))
        else:
            wrong.append(Difference(question, expected, said))
    return wrong, right


def diagnosed(rule: Rule, at: Release, target: Target, questions: Sequence[Question]) -> tuple[Diagnosis, ...]:
    return diagnose(rule, at, *gated(rule, at, target, questions))


@cache
def some(slug: str, count: int) -> tuple[Question, ...]:
    """So many questions of the rule's spaces."""
    questions = [question for space in RULES[slug].spaces for question in space.questions()]
    return tuple(random.Random(1).sample(questions, min(count, len(questions))))


# Rules whose questions are scripts: each costs a millisecond, so there are few of them, with the mutants that each shows.
_SCRIPTS: dict[str, list[dict[str, Any]]] = msgspec.json.decode((Path(__file__).parent / "diagnosis.json").read_bytes())


def killing(mutant: Mutant) -> tuple[list[Difference], list[tuple[Question, Answer]]]:
    """Up to 20 questions that the mistake answers wrongly, and up to 60 that it does not."""
    rule, target = RULES[mutant.rule], acts_as(mutant.slug)
    if rule.slug in _SCRIPTS:
        killed = [one["question"] for one in _SCRIPTS[rule.slug] if mutant.slug in one["kills"]]
        others = [one["question"] for one in _SCRIPTS[rule.slug] if mutant.slug not in one["kills"]]
        scripts = [msgspec.convert(one, type=rule.question) for one in killed[: 3 if rule.broker else 2] + others[:15]]
        return gated(rule, mutant.at, target, scripts)
    for count in (150, 1500, 60_000):
        wrong, right = gated(rule, mutant.at, target, some(rule.slug, count))
        if len(wrong) > 3:
            break
    return wrong[:20], right[:60]


# Those that answer as a mutant before them does wherever the questions above ask.
SAME_AS = {
    "sign-negate": "sign-abs",
    "default-draw-for-one": "default-counts-on",
    "delta-to-earliest": "delta-to-previous",
    "order-goes-round": "retry-at-the-back",
    "counts-batches": "numbered-when-appended",
    "timeout-last": "in-flight-first",
    "timeout-first": "in-flight-last",
}

# Those that answer as a release does, which is what is told.
AS_RELEASE = {
    "as-3.2": "as-3.2.3",
    "as-3.1": "as-3.1.2",
    "as-0.10.0": "as-0.10.0.1",
    "as-0.11": "as-0.11.0.3",
    "default-2.3-in-2.4": "as-2.3.1",
    "default-2.4-in-2.3": "as-2.4.1",
    "default-0.10.1-in-0.11": "as-0.10.0.1",
    "default-0.11-in-0.10.0": "as-0.11.0.3",
    "round-3.9.1-in-3.9.2": "as-3.9.1",
    "round-3.9.2-in-3.9.1": "as-3.9.2",
    "round-3.9.2-in-newest": "as-3.9.2",
    "builtin-3.3.1-in-3.3.2": "as-3.3.1",
    "builtin-3.3.2-in-3.3.1": "as-3.3.2",
    "builtin-4.3-in-4.4": "as-4.3.1",
    "spread-second-call-left-out": "as-3.9.2",
    "spread-as-3.9.1": "as-3.9.1",
    "spread-as-3.9.2": "as-3.9.2",
    "sizes-0.10-in-0.11": "as-0.10.0.1",
    "sizes-1.1-in-0.11": "as-1.1.1",
    "sizes-0.11-in-1.1": "as-0.11.0.3",
    "sizes-2.5-in-2.4": "as-2.5.1",
    "sizes-2.4-in-2.5": "as-2.4.1",
    "sizes-2.4-in-newest": "as-2.4.1",
    "accumulator-4.1-in-4.2": "as-4.1.2",
    "accumulator-3.9.1-in-3.9.2": "as-3.9.1",
    "accumulator-3.5-in-3.6": "as-3.5.2",
    "accumulator-2.5-in-2.6": "as-2.5.1",
    "accumulator-2.0-in-2.3": "as-2.0.1",
    "accumulator-1.1-in-2.0": "as-1.1.1",
    "accumulator-2.4-in-2.5": "as-2.4.1",
    "sequences-2.6-in-2.7": "as-2.6.3",
    "sequences-2.4-in-2.5": "as-2.4.1",
    "sequences-1.1-in-0.11": "as-1.1.1",
    "on-in-3.0.0": "as-3.0.2",
    "off-in-3.0.2": "as-3.0.0",
    "disabled-in-4.0": "as-3.9.2",
    "error-in-3.9": "as-4.0.2",
    "five-in-0.11": "as-1.1.1",
    "broker-no-verification": "as-4.0.2",
    "broker-0.11-in-1.1": "as-0.11.0.3",
    "broker-1.1-in-2.0": "as-1.1.1",
    "broker-2.0-in-2.3": "as-2.0.1",
    "broker-2.3-in-2.4": "as-2.3.1",
    "broker-2.4-in-2.5": "as-2.4.1",
    "broker-2.6-in-2.7": "as-2.6.3",
    "broker-2.7-in-2.8": "as-2.7.2",
    "broker-3.5-in-3.6": "as-3.5.2",
    "broker-3.9-in-4.0": "as-3.9.2",
    "broker-4.0-in-4.1": "as-4.0.2",
    "broker-4.1-in-4.2": "as-4.1.2",
    "broker-4.2-in-4.3": "as-4.2.2",
    "delivery-1.1-in-2.0": "as-1.1.1",
    "delivery-0.11-in-1.1": "as-0.11.0.3",
    "delivery-3.0.2-in-3.0.0": "as-3.0.2",
    "sender-3.9-in-4.0": "as-3.9.2",
    "sender-3.5-in-3.6": "as-3.5.2",
    "sender-3.3.1-in-3.3.2": "as-3.3.1",
    "sender-3.1.0-in-3.1.2": "as-3.0.0",
    "sender-2.6-in-2.7": "as-2.6.3",
    "sender-2.4-in-2.5": "as-2.4.1",
    "sender-2.0-in-2.3": "as-2.0.1",
    "sender-1.1-in-2.0": "as-1.1.1",
    "sender-0.11-in-1.1": "as-0.11.0.3",
}


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.slug)
def test_each_mistake_is_told(mutant: Mutant) -> None:
    wrong, right = killing(mutant)
    told = diagnose(RULES[mutant.rule], mutant.at, wrong, right)
    assert [one.mutant for one in told] == [(SAME_AS | AS_RELEASE).get(mutant.slug, mutant.slug)]
    assert (told[0].equal, told[0].wrong, told[0].also, told[0].right) == (len(wrong),) * 2 + (len(right),) * 2
    if mutant.slug not in SAME_AS:
        assert set(told[0].threads) >= set(mutant.references)


def test_two_mistakes_are_both_told() -> None:
    def target(question: PartitionForKeyQuestion, _: Answer) -> Answer | None:
        slug = "negative-count-raises" if question.partitions < 0 else "librdkafka-consistent"
        return acts_as(slug)(question, {})

    told = diagnosed(KEYED, NEWEST, target, some("partition-for-key", 600))
    assert [one.mutant for one in told] == ["librdkafka-consistent", "negative-count-raises"]
    assert sum(one.equal for one in told) == told[0].wrong == MOST
    assert told[0].equal > 0.9 * MOST > 0.1 * MOST > told[1].equal > 0


def test_two_mistakes_of_a_sequence() -> None:
    """Half of the wrong answers each: neither is told as if it were all."""

    def target(question: SequenceQuestion, right: Answer) -> Answer:
        wrong = acts_as("increment-never-wraps" if question.by % 2 else "increment-to-1")(question, right)
        return right if wrong is None else wrong

    questions = [SequenceQuestion(2**31 - first, by) for first in range(1, 12) for by in range(1, 60)]
    told = diagnosed(RULES["sequence-increment"], NEWEST, target, questions)
    assert {one.mutant for one in told} == {"increment-never-wraps", "increment-to-1"}
    assert all(one.equal < one.wrong for one in told)
    assert sum(one.equal for one in told) == told[0].wrong


@pytest.mark.parametrize("partitions", [2, 3, 12, None])
def test_random_answers_are_told_nothing(partitions: int | None) -> None:
    """Two partitions: whoever is wrong agrees with every mistake that is wrong there."""
    chance = random.Random(7)
    questions = some("partition-for-key", 400)
    if partitions is not None:
        questions = tuple(PartitionForKeyQuestion(question.key, partitions) for question in questions)  # type: ignore[attr-defined]

    def target(question: PartitionForKeyQuestion, _: Answer) -> Answer:
        return {"partition": chance.randrange(max(1, abs(question.partitions)))}

    assert diagnosed(KEYED, NEWEST, target, questions) == ()


@pytest.mark.parametrize("slug", ["idempotence-config", "murmur2", "builtin-partitioner", "sequence-increment"])
def test_answers_to_other_questions_are_told_nothing(slug: str) -> None:
    """Right answers, but shuffled: as plausible as can be."""
    rule, questions = RULES[slug], some(slug, 200)
    answers = [answered(rule.ask, question, NEWEST) for question in questions]
    random.Random(3).shuffle(answers)
    shuffled = dict(zip(questions, answers, strict=True))
    assert diagnosed(rule, NEWEST, lambda question, _: shuffled[question], questions) == ()


def test_two_partitions_are_enough_if_there_are_many_keys() -> None:
    questions = [PartitionForKeyQuestion(bytes([number, 255 - number]).hex(), 2) for number in range(200)]
    told = diagnosed(KEYED, NEWEST, acts_as("librdkafka-consistent"), questions)
    assert told[0].equal == told[0].wrong > 50
    assert told[0].mutant in ("librdkafka-consistent", "crc32")


@pytest.mark.parametrize(
    ("slug", "at", "acting", "told", "story"),
    [
        ("default-partitioner", "2.8.2", "2.3.1", "as-2.3.1", "answers as Kafka 0.11.0.3 to 2.3.1"),
        (
            "round-robin-partitioner",
            "4.4.0",
            "3.9.2",
            "as-3.9.2",
            "answers as Kafka 3.9.2: the second call for a record returns the same partition, as in 3.9.2",
        ),
        ("producer-partition", "4.4.0", "2.0.1", "as-3.1.2", "answers as Kafka 0.11.0.3 to 3.1.2"),
        ("idempotence-config", "2.8.2", "4.4.0", "as-4.1.2", "answers as Kafka 4.1.2 to 4.4.0"),
    ],
)
def test_another_release_is_named(slug: str, at: str, acting: str, told: str, story: str) -> None:
    rule = RULES[slug]
    found = diagnosed(
        rule, parse_release(at), lambda q, _: answered(rule.ask, q, parse_release(acting)), some(slug, 300)
    )
    assert [one.mutant for one in found] == [told]
    assert found[0].story.startswith(story)
    assert found[0].equal == found[0].wrong


def _text(_: Any, right: Answer) -> Answer:
    return {name: str(value) for name, value in right.items()}


def _doubles(_: Any, right: Answer) -> Answer:
    return {name: value if isinstance(value, str) else float(value) for name, value in right.items()}


def _errors(_: Any, right: Answer) -> Answer:
    return {"raises": "ValueError"} if "raises" in right else right


@pytest.mark.parametrize(
    ("target", "told"),
    [
        (_text, "numbers-as-text"),
        (_doubles, "numbers-as-doubles"),
        (_errors, "another-error"),
        (
            lambda _, right: {name: value if name == "raises" else value + 1 for name, value in right.items()},
            "one-too-many",
        ),
        (
            lambda _, right: {name: value if name == "raises" else value - 1 for name, value in right.items()},
            "one-too-few",
        ),
        (
            lambda question, right: right if "raises" in right else {"partition": question.partitions},
            "echo-of-partitions",
        ),
        (lambda *_: {"partition": 0}, "always-the-same"),
    ],
)
def test_forms_and_slips(target: Target, told: str) -> None:
    assert diagnosed(KEYED, NEWEST, target, some("partition-for-key", 600))[0].mutant == told


def test_a_message_left_out() -> None:
    rule, questions = RULES["idempotence-config"], some("idempotence-config", 200)
    (told,) = diagnosed(rule, NEWEST, lambda _, right: {k: v for k, v in right.items() if k != "message"}, questions)
    assert told.mutant == "no-message"


def test_a_wrong_hash_with_a_wrong_sign() -> None:
    """Nobody is known to have made both: they are put together, with the threads of either."""

    def target(question: PartitionForKeyQuestion, right: Answer) -> Answer | None:
        both = next(one for one in candidates(KEYED, NEWEST, []) if one.slug == "characters-for-bytes+sign-kept")
        return both.says(question, right)

    (told,) = diagnosed(KEYED, NEWEST, target, some("partition-for-key", 300))
    assert told.mutant == "characters-for-bytes+sign-kept"
    assert set(told.threads) == {*BY_SLUG["characters-for-bytes"].references, *BY_SLUG["sign-kept"].references}


@pytest.mark.parametrize("slug", ["producer-partition", "default-partitioner"])
def test_a_key_within_another_question(slug: str) -> None:
    rule, at = RULES[slug], parse_release("3.9.2")
    within = next(one for one in candidates(rule, at, []) if one.slug == "key:librdkafka-consistent")
    told = diagnosed(rule, at, lambda question, right: within.says(question, right), some(slug, 1500))
    assert told[0].mutant in ("key:librdkafka-consistent", "key:crc32")
    assert told[0].equal == told[0].wrong


def test_a_mutant_that_breaks_down_explains_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def breaks_down(question: PartitionForKeyQuestion, at: Release) -> Answer:
        if question.partitions % 2:
            raise ZeroDivisionError
        return acts_as("sign-abs")(question, {}) or {}

    broken = Mutant("broken", KEYED.slug, "it breaks down over odd counts", breaks_down)
    monkeypatch.setattr("kafka_conformance.gate.candidates.MUTANTS", (broken, *MUTANTS))
    told = diagnosed(KEYED, NEWEST, acts_as("sign-abs"), some("partition-for-key", 300))
    assert [one.mutant for one in told] == ["sign-abs"]


def test_what_explains_little_is_not_told() -> None:
    """3 of 300 as a known mistake, 297 as nobody."""
    chance = random.Random(11)
    questions = [PartitionForKeyQuestion(number.to_bytes(3, "big").hex(), 1000) for number in range(300)]

    def target(question: PartitionForKeyQuestion, right: Answer) -> Answer | None:
        if question.key in ("000001", "000002", "000003"):
            return acts_as("librdkafka-consistent")(question, right)
        return {"partition": (right["partition"] + chance.randrange(1, 1000)) % 1000}

    assert diagnosed(KEYED, NEWEST, target, questions) == ()


def test_of_very_many_a_sample_is_looked_at_and_that_is_said() -> None:
    questions = [PartitionForKeyQuestion(number.to_bytes(2, "big").hex(), 12) for number in range(3000)]
    wrong, right = gated(KEYED, NEWEST, acts_as("librdkafka-consistent"), questions)
    first, second = diagnose(KEYED, NEWEST, wrong, right), diagnose(KEYED, NEWEST, wrong, right)
    assert first == second
    assert (first[0].equal, first[0].wrong, first[0].sample_of) == (MOST, MOST, len(wrong))
    assert first[0].right <= MOST < len(wrong)


def test_differences_that_stand_for_others_are_a_sample_too() -> None:
    wrong, right = gated(KEYED, NEWEST, acts_as("librdkafka-consistent"), some("partition-for-key", 60))
    many = [Difference(one.question, one.expected, one.actual, 10) for one in wrong]
    (told,) = diagnose(KEYED, NEWEST, many, right)
    assert (told.wrong, told.sample_of) == (len(wrong), 10 * len(wrong))


def test_nothing_wrong_needs_no_explanation() -> None:
    assert diagnose(KEYED, NEWEST, [], [(PartitionForKeyQuestion("00", 3), {"partition": 0})]) == ()


def test_no_more_than_a_few_are_told() -> None:
    slugs = ("sign-abs", "crc32", "sarama-hash", "kafka-node-keyed", "scala-producer")
    known = {slug: next(one for one in candidates(KEYED, NEWEST, []) if one.slug == slug) for slug in slugs}

    def target(question: PartitionForKeyQuestion, right: Answer) -> Answer | None:
        return known[slugs[int(question.key or "0", 16) % len(slugs)]].says(question, right)

    questions = [PartitionForKeyQuestion(number.to_bytes(2, "big").hex(), 1000) for number in range(400)]
    assert len(diagnosed(KEYED, NEWEST, target, questions)) == TOLD


def test_releases_are_those_that_are_pinned() -> None:
    assert pinned()[-1] == NEWEST
    assert list(pinned()) == sorted(pinned())


def test_what_is_no_chance_but_little_is_not_told() -> None:
    """3 of 300 hashes are those of CRC32, which nobody guesses; but 297 are not."""
    rule = RULES["murmur2"]
    chance = random.Random(13)
    questions = [Murmur2Question(number.to_bytes(3, "big").hex()) for number in range(300)]

    def target(question: Murmur2Question, right: Answer) -> Answer | None:
        if question.key in ("000001", "000002", "000003"):
            return acts_as("crc32")(question, right)
        return {"hash": chance.randrange(-(2**31), 2**31)}

    assert diagnosed(rule, NEWEST, target, questions) == ()


def _off_by(step: int, *, once_over: int = 2**32) -> Callable[[Any, Answer], Answer]:
    def says(question: SequenceQuestion, right: Answer) -> Answer:
        return {"sequence": right["sequence"] + (step if question.sequence < once_over else 0)}

    return says


def told_of(monkeypatch: pytest.MonkeyPatch, *known: Candidate) -> list[str]:
    """Who of those known explains a target that is one off below 10, and right from there on."""
    monkeypatch.setattr("kafka_conformance.gate.diagnosis.candidates", lambda *_: iter(known))
    questions = [SequenceQuestion(first, 1) for first in range(40)]
    told = diagnosed(RULES["sequence-increment"], NEWEST, _off_by(1, once_over=10), questions)
    return [one.mutant for one in told]


def test_of_two_that_explain_as_much_the_one_that_is_right_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    always, below = Candidate("always", "one off", _off_by(1)), Candidate("below", "", _off_by(1, once_over=10))
    assert told_of(monkeypatch, always, below) == told_of(monkeypatch, below, always) == ["below"]
    assert told_of(monkeypatch, always) == ["always"]


def test_of_two_that_say_the_same_the_first(monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = Candidate("one", "", _off_by(1)), Candidate("other", "", _off_by(1))
    assert told_of(monkeypatch, one, other) == ["one"]
    assert told_of(monkeypatch, other, one) == ["other"]


def test_who_is_whole_gives_the_right_answers_too(monkeypatch: pytest.MonkeyPatch) -> None:
    assert told_of(monkeypatch, Candidate("always", "one off, whatever it is asked", _off_by(1), whole=True)) == []
    assert told_of(monkeypatch, Candidate("below", "", _off_by(1, once_over=10), whole=True)) == ["below"]


@pytest.mark.parametrize(
    "odd",
    [{"partition": "\ud800"}, {"partition": 2**70}, {"partition": {1, 2}},
     {"raises": "x" * 5000}, {"raises": ["\ud800"]}, {}],
    ids=["surrogate", "large", "set", "long", "list", "nothing"],
)  # fmt: skip
def test_whatever_a_target_says_is_no_trouble(odd: Any) -> None:
    (told,) = diagnosed(KEYED, NEWEST, lambda *_: odd, some("partition-for-key", 200))
    assert told.mutant == "always-the-same"
    assert len(told.story) < 200
    assert told.story.encode()
