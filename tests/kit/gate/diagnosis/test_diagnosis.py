"""Every mistake is recognised by a few of its answers, two are distinguished, and random answers have no explanation."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from functools import cache, lru_cache
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec
import pytest
from placements import producer_question

from kafka_conformance.answerers.reference import outcome_of
from kafka_conformance.core.events import Diagnosis
from kafka_conformance.core.mutant import Mutant
from kafka_conformance.core.pipeline import Difference
from kafka_conformance.core.protocol import Answer, Answered, Question, to_json
from kafka_conformance.core.rule import Rule
from kafka_conformance.gate.answer_parts import read
from kafka_conformance.gate.diagnosis.candidate import Candidate, line_of
from kafka_conformance.gate.diagnosis.candidates import candidates, pinned
from kafka_conformance.gate.diagnosis.diagnosis import MOST, REPORTED, diagnose
from kafka_conformance.rules import RULES
from kafka_conformance.rules.common.sequences import SequenceQuestion
from kafka_conformance.rules.murmur2.question import Murmur2Question
from kafka_conformance.rules.mutants import MUTANTS, written_mutants
from kafka_conformance.rules.partition_for_key.question import PartitionForKeyQuestion
from kafka_reference.releases import NEWEST, Release, parse_release

Target = Callable[[Any, Answer], Answer | None]

BY_SLUG = {mutant.slug: mutant for mutant in MUTANTS}
WRITTEN = [mutant for rule in RULES.values() for mutant in written_mutants(rule)]
KEYED = RULES["partition-for-key"]


def answered(ask: Callable[[Any, Release], Answer], question: Question, release: Release) -> Answer | None:
    outcome = outcome_of(ask, question, release)
    return outcome.answer if isinstance(outcome, Answered) else None


@lru_cache(maxsize=30_000)
def right_answer(slug: str, question: Question, release: Release) -> Answer | None:
    return answered(RULES[slug].ask, question, release)


def acts_as(slug: str) -> Target:
    return lambda question, _: answered(BY_SLUG[slug].ask, question, BY_SLUG[slug].release)


def gated(
    rule: Rule, release: Release, target: Target, questions: Sequence[Question], enough: tuple[int, int] | None = None
) -> tuple[list[Difference], list[tuple[Question, Answer]]]:
    """Return the wrong and the right answers; with ``enough``, stop at that many of both."""
    wrong: list[Difference] = []
    right: list[tuple[Question, Answer]] = []
    for question in questions:
        expected = right_answer(rule.slug, question, release)
        actual = None if expected is None else target(question, expected)
        if expected is None or actual is None:
            continue
        if line_of(actual) == line_of(expected):
            right.append((question, expected))
        else:
            wrong.append(Difference(question, expected, actual))
        if enough is not None and len(wrong) >= enough[0] and len(right) >= enough[1]:
            break
    return wrong, right


def explained(rule: Rule, release: Release, wrong: Sequence[Difference], right: Sequence[tuple[Question, Answer]],
              placed: Sequence[tuple[Question, Answer]] = ()) -> tuple[Diagnosis, ...]:  # fmt: skip
    return tuple(one.diagnosis for one in diagnose(rule, release, wrong, right, placed))


def diagnosed(rule: Rule, release: Release, target: Target, questions: Sequence[Question]) -> tuple[Diagnosis, ...]:
    return explained(rule, release, *gated(rule, release, target, questions))


@cache
def some(slug: str, count: int) -> tuple[Question, ...]:
    """So many questions of the rule's spaces; the space of ``producer-partition`` has three keys, so others come on top.

    A diagnosis takes a limited number of bytes: long batches are left out.
    """
    questions = [question for space in RULES[slug].spaces for question in space.questions()]
    if slug == "record-batch":
        questions = [question for question in questions if len(to_json(question)) < 4_000]
    if slug == "producer-partition":
        chance = random.Random(1)
        questions += [producer_question(chance, usual=False) for _ in range(len(questions))]
    return tuple(random.Random(1).sample(questions, min(count, len(questions))))


# Rules whose questions are scripts: each costs a millisecond, so there are few of them, with the mutants that each shows.
_SCRIPTS: dict[str, list[dict[str, Any]]] = msgspec.json.decode((Path(__file__).parent / "scripts.json").read_bytes())

# Questions of a kind that is rare in a rule's spaces, or not there; they tell mutants apart that the spaces do not.
_TELLING: dict[str, list[dict[str, Any]]] = msgspec.json.decode((Path(__file__).parent / "telling.json").read_bytes())


@cache
def telling(slug: str) -> tuple[Question, ...]:
    return tuple(msgspec.convert(one, type=RULES[slug].question) for one in _TELLING.get(slug, ()))


def killing(mutant: Mutant) -> tuple[list[Difference], list[tuple[Question, Answer]]]:
    """Up to 20 questions that the mistake answers wrongly, and up to 60 that it does not."""
    rule, target = RULES[mutant.rule], acts_as(mutant.slug)
    if rule.slug in _SCRIPTS:
        scripts = [(msgspec.convert(one["question"], type=rule.question), one["kills"]) for one in _SCRIPTS[rule.slug]]
        killed = [question for question, kills in scripts if mutant.slug in kills]
        others = (question for question, kills in scripts if mutant.slug not in kills)
        answerable = (question for question in others if answered(rule.ask, question, mutant.release) is not None)
        # Mistakes of a whole producer resemble each other: more questions tell them apart.
        enough, rest = (12, 100) if rule.slug == "producer-send" else (3 if rule.broker else 2, 15)
        return gated(rule, mutant.release, target, [*killed[:enough], *islice(answerable, rest)])
    wrong_told, right_told = gated(rule, mutant.release, target, telling(rule.slug))
    for count in (150, 1500, 60_000):
        wrong, right = gated(rule, mutant.release, target, some(rule.slug, count), (20, 60))
        if len(wrong) > 7 or len(wrong_told) > 1:
            break
    # Of the long histories of a segment a diagnosis takes some ten.
    return [*wrong_told, *wrong][: 8 if rule.slug == "log-segment" else 20], [*right_told, *right][:60]


# Mutants that give the same answers to the questions above as an earlier mutant.
SAME_AS = {
    "fetch-commit-ends-abort": "fetch-abort-begins-early",
    "sign-negate": "sign-abs",
    "default-draw-for-one": "default-counts-on",
    "delta-to-earliest": "delta-to-previous",
    "order-goes-round": "retry-at-the-back",
    "counts-batches": "numbered-when-appended",
    "timeout-last": "in-flight-first",
    "round-batch-unannounced": "keyed-batch-unannounced",
    "flush-does-not-wait": "flush-does-nothing",
    "timeout-first": "in-flight-last",
}

# Mutants that answer as a release does; the release is reported.
AS_RELEASE = {
    "min-isr-above-replicas-accepts": "as-3.7.0",
    "min-isr-above-replicas-refuses": "as-3.6.2",
    "log-segment-leader-notes-last-offset": "as-3.7.0",
    "empty-batches": "as-3.3.1",
    "spread-second-call-left-out": "as-3.9.2",
    "aborted-stays-in-flight": "as-4.1.1",
    "resolves-every-partition": "as-1.1.0",
    "broker-no-verification": "as-4.0.2",
    "round-robin-2.3-in-newest": "as-2.3.1",
    "server-uniform-first-take-extras": "as-4.0.0",
    "log-segment-entries-of-each-batch": "as-3.9.1",
    "log-segment-close-loads": "as-2.5.1",
    "short-marker-is-invalid": "as-4.0.2",
    "high-watermark-middle-of-batch": "as-3.9.2",
    "produce-acks-capped-early": "as-3.7.0",
    "isr-broker-epoch-early": "as-3.5.0",
    "high-watermark-newer-epochs": "as-4.0.0",
    "offset-index-trims-closed": "as-4.0.0",
    "time-index-trims-closed": "as-4.0.0",
    "reassignment-waits-for-all": "as-4.2.2",
    "epoch-ignores-migration": "as-4.0.0",
    "election-last-leader-had-to-live": "as-4.1.0",
    "zookeeper-does-not-count": "as-1.1.0",
    "zookeeper-recovering-too-early": "as-3.2.0",
}


TOO_LONG = {"gzip-ends-at-first-member"}
"""Mutants that only batches of 16 kB show, of which a diagnosis takes three: too few to name a mistake."""
ORDER_ALONE = {
    *("range-topics-by-name", "range-every-topic-hashed", "range-unsorted"),
    "range-put-in-3.4",
}
"""Mutants that give each member the same partitions in another order, which no gate looks at."""

LEFT_OUT = {"no-delete-horizon"}
"""Mutants that leave out a part of an answer that any driver may leave out, and change nothing else."""


def _every_eighth() -> Iterator[Any]:
    """Every mutant; all but every eighth are asked in the exhaustive run alone."""
    for number, mutant in enumerate(one for one in WRITTEN if one.slug not in ORDER_ALONE | TOO_LONG | LEFT_OUT):
        yield pytest.param(mutant, marks=() if number % 8 == 0 else pytest.mark.exhaustive, id=mutant.slug)


@pytest.mark.parametrize("mutant", list(_every_eighth()))
def test_diagnosis_of_a_few_answers_names_the_mutant_or_an_equivalent_mutant_or_release(mutant: Mutant) -> None:
    wrong, right = killing(mutant)
    explanations = explained(RULES[mutant.rule], mutant.release, wrong, right)
    assert [one.mutant for one in explanations] == [(SAME_AS | AS_RELEASE).get(mutant.slug, mutant.slug)]
    best = explanations[0]
    assert (best.equal, best.wrong, best.also, best.right) == (len(wrong), len(wrong), len(right), len(right))
    if mutant.slug not in SAME_AS:
        assert set(explanations[0].references) >= set(mutant.references)


@pytest.mark.parametrize("slug", sorted(LEFT_OUT))
def test_mutant_that_only_omits_an_optional_answer_field_is_accepted_by_the_gate(slug: str) -> None:
    rule = RULES[BY_SLUG[slug].rule]
    wrong, _ = killing(BY_SLUG[slug])
    assert wrong
    for one in wrong:
        assert line_of(read(rule, one.question, one.expected, one.actual).expected) == line_of(one.actual)


def test_two_mistakes_in_different_inputs_are_both_diagnosed() -> None:
    def target(question: PartitionForKeyQuestion, _: Answer) -> Answer | None:
        slug = "negative-count-raises" if question.partitions < 0 else "librdkafka-consistent"
        return acts_as(slug)(question, {})

    explanations = diagnosed(KEYED, NEWEST, target, some("partition-for-key", 600))
    assert [one.mutant for one in explanations] == ["librdkafka-consistent", "negative-count-raises"]
    assert sum(one.equal for one in explanations) == explanations[0].wrong == MOST
    assert explanations[0].equal > 0.9 * MOST > 0.1 * MOST > explanations[1].equal > 0


def test_two_mistakes_mixed_in_one_kind_of_question_give_no_diagnosis() -> None:
    """Half of the wrong answers each: neither predicts all of them."""

    def target(question: SequenceQuestion, right: Answer) -> Answer:
        wrong = acts_as("increment-never-wraps" if question.by % 2 else "increment-to-1")(question, right)
        return right if wrong is None else wrong

    questions = [SequenceQuestion(2**31 - first, by) for first in range(1, 12) for by in range(1, 60)]
    assert diagnosed(RULES["sequence-increment"], NEWEST, target, questions) == ()


def test_random_answers_to_negative_increments_do_not_refute_diagnosis_of_wrong_wraparound() -> None:
    """All that wraps is one mistake; below 0 nothing is known."""
    chance = random.Random(3)

    def target(question: SequenceQuestion, right: Answer) -> Answer:
        if question.by < 0:
            return {"sequence": chance.randrange(2**31)}
        return acts_as("increment-to-1")(question, right) or right

    questions = [SequenceQuestion(2**31 - first, by) for first in range(1, 12) for by in range(-20, 40)]
    (found,) = diagnose(
        RULES["sequence-increment"], NEWEST, *gated(RULES["sequence-increment"], NEWEST, target, questions)
    )
    assert found.diagnosis.mutant == "increment-to-1"
    assert found.kinds == {"wraps: another sequence"}
    assert 0 < found.diagnosis.equal < found.diagnosis.wrong


@pytest.mark.parametrize("partitions", [2, 3, 12, None])
def test_random_partitions_give_no_diagnosis_for_any_partition_count(partitions: int | None) -> None:
    """With two partitions, a wrong answer equals that of every mistake that is wrong there."""
    chance = random.Random(7)
    questions = some("partition-for-key", 400)
    if partitions is not None:
        questions = tuple(PartitionForKeyQuestion(question.key, partitions) for question in questions)  # type: ignore[attr-defined]

    def target(question: PartitionForKeyQuestion, _: Answer) -> Answer:
        return {"partition": chance.randrange(max(1, abs(question.partitions)))}

    assert diagnosed(KEYED, NEWEST, target, questions) == ()


@pytest.mark.parametrize("slug", ["idempotence-config", "murmur2", "builtin-partitioner", "sequence-increment"])
def test_correct_answers_shuffled_over_questions_give_no_diagnosis(slug: str) -> None:
    """Right answers, shuffled over the questions."""
    rule, questions = RULES[slug], some(slug, 200)
    answers = [answered(rule.ask, question, NEWEST) for question in questions]
    random.Random(3).shuffle(answers)
    shuffled = dict(zip(questions, answers, strict=True))
    assert diagnosed(rule, NEWEST, lambda question, _: shuffled[question], questions) == ()


def test_many_keys_over_two_partitions_suffice_to_diagnose_crc32() -> None:
    questions = [PartitionForKeyQuestion(bytes([number, 255 - number]).hex(), 2) for number in range(200)]
    explanations = diagnosed(KEYED, NEWEST, acts_as("librdkafka-consistent"), questions)
    assert explanations[0].equal == explanations[0].wrong > 50
    assert explanations[0].mutant in ("librdkafka-consistent", "crc32")


@pytest.mark.parametrize(
    ("slug", "at", "acting", "reported", "description"),
    [
        ("default-partitioner", "2.8.2", "2.3.1", "as-2.3.1", "answers as Kafka 0.11.0.0 to 2.3.1"),
        (
            "round-robin-partitioner",
            "4.4.0",
            "3.9.2",
            "as-3.9.2",
            "answers as Kafka 3.9.2: Before a record starts a batch, the producer calls onNewBatch and then partition() a",
        ),
        ("producer-partition", "4.4.0", "2.0.1", "as-3.1.2", "answers as Kafka 0.11.0.0 to 3.1.2"),
        ("idempotence-config", "2.8.2", "4.4.0", "as-4.1.0", "answers as Kafka 4.1.0 to 4.4.0"),
    ],
)
def test_answers_of_another_release_are_diagnosed_as_the_range_of_releases_with_equal_answers(
    slug: str, at: str, acting: str, reported: str, description: str
) -> None:
    rule = RULES[slug]
    found = diagnosed(
        rule, parse_release(at), lambda q, _: answered(rule.ask, q, parse_release(acting)), some(slug, 300)
    )
    assert [one.mutant for one in found] == [reported]
    assert found[0].description.startswith(description)
    assert found[0].equal == found[0].wrong


def _text(_: Any, right: Answer) -> Answer:
    return {name: str(value) for name, value in right.items()}


def _doubles(_: Any, right: Answer) -> Answer:
    return {name: value if isinstance(value, str) else float(value) for name, value in right.items()}


def _errors(_: Any, right: Answer) -> Answer:
    return {"raises": "ValueError"} if "raises" in right else right


@pytest.mark.parametrize(
    ("target", "slug"),
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
def test_diagnosis_names_generic_mistakes_in_number_format_value_or_error(target: Target, slug: str) -> None:
    assert diagnosed(KEYED, NEWEST, target, some("partition-for-key", 600))[0].mutant == slug


def test_config_answers_without_the_exception_message_are_diagnosed_as_no_message() -> None:
    rule, questions = RULES["idempotence-config"], some("idempotence-config", 200)
    (explanations,) = diagnosed(
        rule, NEWEST, lambda _, right: {k: v for k, v in right.items() if k != "message"}, questions
    )
    assert explanations.mutant == "no-message"


def test_combined_hash_and_sign_mistakes_are_diagnosed_with_references_of_both() -> None:
    """No mutant has both mistakes: they are combined, with the references of either."""

    def target(question: PartitionForKeyQuestion, right: Answer) -> Answer | None:
        both = next(one for one in candidates(KEYED, NEWEST, []) if one.slug == "characters-for-bytes+sign-kept")
        return both.answer(question, right)

    (explanations,) = diagnosed(KEYED, NEWEST, target, some("partition-for-key", 300))
    assert explanations.mutant == "characters-for-bytes+sign-kept"
    assert set(explanations.references) == {
        *BY_SLUG["characters-for-bytes"].references,
        *BY_SLUG["sign-kept"].references,
    }


@pytest.mark.parametrize("slug", ["producer-partition", "default-partitioner"])
def test_crc32_of_record_keys_is_diagnosed_in_producer_and_default_partitioner(slug: str) -> None:
    rule, at = RULES[slug], parse_release("3.9.2")
    within = next(one for one in candidates(rule, at, []) if one.slug == "key:librdkafka-consistent")
    explanations = diagnosed(rule, at, lambda question, right: within.answer(question, right), some(slug, 1500))
    assert explanations[0].mutant in ("key:librdkafka-consistent", "key:crc32")
    assert explanations[0].equal == explanations[0].wrong


def test_diagnosis_skips_candidate_mutant_that_raises_and_names_the_matching_mutant(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def breaks_down(question: PartitionForKeyQuestion, release: Release) -> Answer:
        if question.partitions % 2:
            raise ZeroDivisionError
        return acts_as("sign-abs")(question, {}) or {}

    broken = Mutant("broken", KEYED.slug, "it breaks down over odd counts", breaks_down)
    candidates = "kafka_conformance.gate.diagnosis.candidates.written_mutants"
    monkeypatch.setattr(candidates, lambda rule: [broken, *written_mutants(rule)])
    explanations = diagnosed(KEYED, NEWEST, acts_as("sign-abs"), some("partition-for-key", 300))
    assert [one.mutant for one in explanations] == ["sign-abs"]


def test_mistake_that_explains_3_of_300_partitions_is_not_reported() -> None:
    """3 of 300 answers are a known mistake, 297 are random."""
    chance = random.Random(11)
    questions = [PartitionForKeyQuestion(number.to_bytes(3, "big").hex(), 1000) for number in range(300)]

    def target(question: PartitionForKeyQuestion, right: Answer) -> Answer | None:
        if question.key in ("000001", "000002", "000003"):
            return acts_as("librdkafka-consistent")(question, right)
        return {"partition": (right["partition"] + chance.randrange(1, 1000)) % 1000}

    assert diagnosed(KEYED, NEWEST, target, questions) == ()


def test_diagnosis_of_many_answers_uses_and_reports_a_repeatable_sample() -> None:
    questions = [PartitionForKeyQuestion(number.to_bytes(2, "big").hex(), 12) for number in range(3000)]
    wrong, right = gated(KEYED, NEWEST, acts_as("librdkafka-consistent"), questions)
    first, second = explained(KEYED, NEWEST, wrong, right), explained(KEYED, NEWEST, wrong, right)
    assert first == second
    assert (first[0].equal, first[0].wrong, first[0].sample_of) == (MOST, MOST, len(wrong))
    assert first[0].right <= MOST < len(wrong)


def test_diagnosis_of_examples_that_stand_for_10_differences_each_states_the_total_number() -> None:
    wrong, right = gated(KEYED, NEWEST, acts_as("librdkafka-consistent"), some("partition-for-key", 60))
    many = [Difference(one.question, one.expected, one.actual, 10) for one in wrong]
    (explanations,) = explained(KEYED, NEWEST, many, right)
    assert (explanations.wrong, explanations.sample_of) == (len(wrong), 10 * len(wrong))


def test_correct_answers_alone_give_no_diagnosis() -> None:
    assert diagnose(KEYED, NEWEST, [], [(PartitionForKeyQuestion("00", 3), {"partition": 0})]) == ()


def test_number_of_reported_diagnoses_per_rule_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    known = [Candidate(str(step), "", _off_by(step)) for step in range(1, 6)]
    monkeypatch.setattr("kafka_conformance.gate.diagnosis.diagnosis.candidates", lambda *_: iter(known))

    def target(question: SequenceQuestion, right: Answer) -> Answer:
        return {"sequence": right["sequence"] + 1 + question.by}

    rule = RULES["sequence-increment"]
    wrong, right = gated(rule, NEWEST, target, [SequenceQuestion(first, by) for first in range(40) for by in range(5)])
    found = diagnose(rule, NEWEST, wrong, right, kind=lambda one: str(one.question.by))  # type: ignore[attr-defined]
    assert len(found) == REPORTED


def test_releases_that_diagnosis_compares_answers_with_are_sorted_and_end_with_the_newest() -> None:
    assert pinned()[-1] == NEWEST
    assert list(pinned()) == sorted(pinned())


def test_mistake_that_matches_3_of_300_hashes_more_often_than_by_chance_is_not_reported() -> None:
    """3 of 300 hashes are CRC32's, which is not chance; 297 are random."""
    rule = RULES["murmur2"]
    chance = random.Random(13)
    questions = [Murmur2Question(number.to_bytes(3, "big").hex()) for number in range(300)]

    def target(question: Murmur2Question, right: Answer) -> Answer | None:
        if question.key in ("000001", "000002", "000003"):
            return acts_as("crc32")(question, right)
        return {"hash": chance.randrange(-(2**31), 2**31)}

    assert diagnosed(rule, NEWEST, target, questions) == ()


def _off_by(step: int, *, once_over: int = 2**32) -> Callable[[Any, Answer], Answer]:
    def answer(question: SequenceQuestion, right: Answer) -> Answer:
        return {"sequence": right["sequence"] + (step if question.sequence < once_over else 0)}

    return answer


def explained_by(monkeypatch: pytest.MonkeyPatch, *known: Candidate) -> list[str]:
    """Return the slugs of the known candidates that explain a target which is off by one below 10, and right above."""
    monkeypatch.setattr("kafka_conformance.gate.diagnosis.diagnosis.candidates", lambda *_: iter(known))
    questions = [SequenceQuestion(first, 1) for first in range(40)]
    explanations = diagnosed(RULES["sequence-increment"], NEWEST, _off_by(1, once_over=10), questions)
    return [one.mutant for one in explanations]


def test_correct_answers_refute_a_diagnosis_that_predicts_other_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    always, below = Candidate("always", "one off", _off_by(1)), Candidate("below", "", _off_by(1, once_over=10))
    assert explained_by(monkeypatch, always, below) == explained_by(monkeypatch, below, always) == ["below"]
    assert explained_by(monkeypatch, always) == []


def test_correct_answer_outside_the_sample_refutes_a_diagnosis(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kafka_conformance.gate.diagnosis.diagnosis.MOST", 10)
    monkeypatch.setattr("kafka_conformance.gate.diagnosis.diagnosis.LEAST", 10)
    nearly = Candidate("nearly", "wrong below 10 and at one number more", lambda question, right: {
        "sequence": right["sequence"] + (question.sequence < 10 or question.sequence == 33)  # type: ignore[attr-defined]
    })  # fmt: skip
    below = Candidate("below", "", _off_by(1, once_over=10))
    assert explained_by(monkeypatch, nearly) == []
    assert explained_by(monkeypatch, below) == ["below"]


def test_first_of_two_equally_fitting_diagnoses_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = (Candidate(slug, "", _off_by(1, once_over=10)) for slug in ("one", "other"))
    assert explained_by(monkeypatch, one, other) == ["one"]
    assert explained_by(monkeypatch, other, one) == ["other"]


def test_wrong_partitions_of_one_key_give_no_hash_diagnosis() -> None:
    """CRC32 of the empty key is 0, and so is much else: 20 numbers of partitions are one key."""
    questions = [PartitionForKeyQuestion("", count) for count in range(100, 120)]

    def target(_: PartitionForKeyQuestion, __: Answer) -> Answer:
        return {"partition": 0}

    assert diagnosed(KEYED, NEWEST, target, questions) == ()
    others = [PartitionForKeyQuestion(bytes([number]).hex(), 100) for number in range(20)]

    def right_but_for_empty(question: PartitionForKeyQuestion, right: Answer) -> Answer:
        return right if question.key else {"partition": 0}

    assert diagnosed(KEYED, NEWEST, right_but_for_empty, [*questions, *others]) == ()


@pytest.mark.parametrize(
    "odd",
    [{"partition": "\ud800"}, {"partition": 2**70}, {"partition": {1, 2}},
     {"raises": "x" * 5000}, {"raises": ["\ud800"]}, {}],
    ids=["surrogate", "large", "set", "long", "list", "nothing"],
)  # fmt: skip
def test_constant_malformed_answer_is_diagnosed_as_always_the_same_in_under_200_characters(odd: Any) -> None:
    (explanations,) = diagnosed(KEYED, NEWEST, lambda *_: odd, some("partition-for-key", 200))
    assert explanations.mutant == "always-the-same"
    assert len(explanations.description) < 200
    assert explanations.description.encode()
