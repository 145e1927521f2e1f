"""Ask two, compare, count, shrink. A rule made for the purpose: double the number."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import strategies as st

from kafka_conformance.answerers.reference import ReferenceAnswerer, outcome_of
from kafka_conformance.core.pipeline import (
    BATCH,
    Comparison,
    Difference,
    SearchStopped,
    kind_of,
    shrink_difference,
    tally,
)
from kafka_conformance.core.protocol import Agrees, Answer, Answered, Differs, Failed, Question, Unsupported
from kafka_conformance.core.rule import Area, Rule
from kafka_conformance.core.sources import Source, source_of
from kafka_conformance.rules import RULES
from kafka_reference.errors import DrawsExhausted, IllegalArgumentException, NotInThisRelease, NullPointerException
from kafka_reference.releases import Release, parse_release, since


class Number(Question, frozen=True):
    """A number."""

    number: int


def doubled(question: Number, _: Release) -> Answer:
    return {"double": 2 * question.number}


def labels(question: Number) -> Iterator[str]:
    yield "odd" if question.number % 2 else "even"


DOUBLE = Rule(
    slug="double", title="twice a number", area=Area.PLACEMENT, releases=since("2.0.0"), question=Number, ask=doubled,
    strategy=lambda: st.builds(Number, st.integers(-10_000, 10_000)), spaces=(), labels=labels,
    required_labels=frozenset({"odd", "even"}), java=((since("2.0.0"), "Double"),), source="none", links=(),
)  # fmt: skip
AT, OTHER = parse_release("4.4.0"), parse_release("3.9.2")
JAVA = ReferenceAnswerer("java")


def source(name: str, *numbers: int) -> Source:
    return source_of(DOUBLE, name, tuple(map(Number, numbers)))


SOURCES = [source("small", *range(10)), source("large", 999, 1000, 5000)]


def mutant(ask: Callable[[Any, Release], Answer]) -> Comparison:
    return Comparison(JAVA, ReferenceAnswerer("mutant", ask), AT)


def from_a_thousand_on(question: Number, release: Release) -> Answer:
    return {"double": 0} if question.number >= 1000 else doubled(question, release)


def reported(counts: Any) -> tuple[int, int, int, int, int]:
    return counts.total, counts.agreed, len(counts.differences), len(counts.errors), counts.unsupported


def test_tally_of_equal_answers_counts_agreement_sources_and_labels() -> None:
    counts = tally(DOUBLE, mutant(doubled), SOURCES)
    assert reported(counts) == (13, 13, 0, 0, 0)
    assert dict(counts.asked) == {"small": 10, "large": 3}
    assert dict(counts.labels) == {"even": 7, "odd": 6}
    assert counts.missing_labels == []


def test_tally_records_differences_with_question_and_source() -> None:
    counts = tally(DOUBLE, mutant(from_a_thousand_on), SOURCES)
    assert reported(counts) == (13, 11, 2, 0, 0)
    assert counts.differences == [
        Difference(Number(1000), {"double": 2000}, {"double": 0}, source="large"),
        Difference(Number(5000), {"double": 10000}, {"double": 0}, source="large"),
    ]


@pytest.mark.parametrize("error", [RuntimeError("broke"), DrawsExhausted("broke"), RecursionError("broke")])
@pytest.mark.parametrize("expected_fails", [True, False])
def test_exception_of_either_implementation_counts_as_error_not_agreement(
    error: Exception, expected_fails: bool
) -> None:
    def broken(question: Number, release: Release) -> Answer:
        if question.number == 3:
            raise error
        return doubled(question, release)

    one = ReferenceAnswerer("broken", broken)
    pair = Comparison(one, JAVA, AT) if expected_fails else Comparison(JAVA, one, AT)
    counts = tally(DOUBLE, pair, SOURCES)
    assert reported(counts) == (13, 12, 0, 1, 0)
    assert counts.errors[0].question == Number(3)
    (what,) = counts.error_lines(1)
    assert what.startswith("broken 4.4.0: ")
    assert "broke" in what


def test_exceptions_of_both_implementations_count_as_errors_not_agreement() -> None:
    def broken(*_: object) -> Answer:
        raise RuntimeError("broke")

    both = ReferenceAnswerer("broken", broken)
    assert reported(tally(DOUBLE, Comparison(both, both, AT), SOURCES)) == (13, 0, 0, 13, 0)


def test_question_unsupported_by_only_one_implementation_counts_as_error() -> None:
    def absent(question: Number, release: Release) -> Answer:
        if question.number >= 999:
            raise NotInThisRelease("came later")
        return doubled(question, release)

    assert reported(tally(DOUBLE, mutant(absent), SOURCES)) == (13, 10, 0, 3, 0)


def test_question_unsupported_by_both_implementations_counts_as_unsupported() -> None:
    def absent(question: Number, release: Release) -> Answer:
        if question.number >= 999:
            raise NotInThisRelease("came later")
        return doubled(question, release)

    nobody = mutant(absent).actual
    pair = Comparison(nobody, nobody, AT)
    assert reported(tally(DOUBLE, pair, SOURCES)) == (10, 10, 0, 0, 3)


def test_implementation_that_returns_too_few_answers_raises_value_error() -> None:
    class Short:
        name = "short"

        def answer(self, _: Rule, __: Release, questions: Any) -> list[Any]:
            return [Answered({"double": 0})] * (len(questions) - 1)

    with pytest.raises(ValueError, match="shorter"):
        tally(DOUBLE, Comparison(JAVA, Short(), AT), SOURCES)


def test_tally_names_required_labels_without_questions() -> None:
    counts = tally(DOUBLE, mutant(doubled), [source("one", 2)])
    assert counts.missing_labels == ["odd"]
    assert tally(DOUBLE, mutant(doubled), []).missing_labels == ["even", "odd"]


def test_tally_sends_questions_to_implementations_in_batches() -> None:
    sizes: list[int] = []

    class Counting(ReferenceAnswerer):
        def answer(self, rule: Rule, release: Release, questions: Any) -> list[Any]:
            sizes.append(len(questions))
            return ReferenceAnswerer.answer(self, rule, release, questions)

    many = source("many", *range(2 * BATCH + 1))
    counts = tally(DOUBLE, Comparison(JAVA, Counting("mutant", from_a_thousand_on), AT), [many, SOURCES[0]])
    assert sizes == [BATCH, BATCH, 1, 10]
    assert [difference.question.number for difference in counts.differences] == list(range(1000, 2 * BATCH + 1))


def test_tally_stops_counting_at_enough_differences_and_asks_no_further_batch() -> None:
    asked: list[int] = []

    def wrong(question: Number, _: Release) -> Answer:
        asked.append(question.number)
        return {"double": -1}

    counts = tally(DOUBLE, mutant(wrong), SOURCES, enough=4, batch_size=3)
    assert asked == list(range(6)), "the second batch is the last one"
    assert dict(counts.asked) == {"small": 4}
    assert counts.differ == 4


def test_judgements_yield_one_verdict_per_question_in_order() -> None:
    judgements = list(mutant(from_a_thousand_on).judgements(DOUBLE, SOURCES[1]))
    assert [each.question for each in judgements] == list(SOURCES[1].questions)
    assert {each.source for each in judgements} == {"large"}
    assert judgements[0].verdict == Agrees()
    assert judgements[1].expected == Answered({"double": 2000})
    assert judgements[1].verdict == Differs({"double": 2000}, {"double": 0})


def test_comparison_names_include_release_of_each_implementation() -> None:
    assert Comparison(JAVA, JAVA, OTHER, AT).names == ("java 3.9.2", "java 4.4.0")


@pytest.mark.parametrize("seed", [0, 1, 2**32 - 1])
def test_difference_shrinks_to_smallest_failing_question_for_any_seed(seed: int) -> None:
    pair = mutant(from_a_thousand_on)
    found = Difference(Number(7777), {"double": 15554}, {"double": 0})
    smallest = Difference(Number(1000), {"double": 2000}, {"double": 0})
    assert (
        shrink_difference(DOUBLE, pair, [found], 200, seed)
        == shrink_difference(DOUBLE, pair, [found], 200, seed)
        == smallest
    )


def test_difference_the_shrinker_cannot_reach_stays_unchanged() -> None:
    found = Difference(Number(20_000), {"double": 40_000}, {"double": 0})
    far = mutant(lambda question, at: {"double": 0} if question.number == 20_000 else doubled(question, at))
    assert shrink_difference(DOUBLE, far, [found], 50, 7) == found
    assert shrink_difference(DOUBLE, mutant(from_a_thousand_on), [found], 0, 7) == found


def test_stopped_search_returns_smallest_difference_found_before_the_stop() -> None:
    asked: list[int] = []

    def until_stopped(question: Number, release: Release) -> Answer:
        asked.append(question.number)
        if len(asked) == 7:
            raise SearchStopped
        return {"double": 0} if question.number >= 10 else doubled(question, release)

    far = Difference(Number(10**12), {"double": 2 * 10**12}, {"double": 0})
    found = shrink_difference(DOUBLE, mutant(until_stopped), [far], 200, 7)
    assert len(asked) == 7, "nothing is asked after the stop"
    wrong = [number for number in asked[:-1] if number >= 10]
    assert found.question == Number(min(wrong))
    assert len(str(min(wrong))) < len(str(wrong[0])), "the search had begun to shrink"


def test_smallest_known_difference_is_kept_if_shrinking_finds_none() -> None:
    far, farther = (Difference(Number(number), {"double": 2 * number}, {"double": 0}) for number in (20_000, 300_000))
    pair = mutant(lambda question, at: {"double": 0} if question.number >= 20_000 else doubled(question, at))
    assert shrink_difference(DOUBLE, pair, [farther, far], 50, 7) == far


def test_difference_shrinks_only_to_question_with_equal_path_and_answer_shape() -> None:
    def two_mistakes(question: Number, release: Release) -> Answer:
        if question.number >= 1000:
            raise IllegalArgumentException
        return {"double": 1} if question.number > 0 else doubled(question, release)

    raises = Difference(Number(5000), {"double": 10_000}, {"raises": "IllegalArgumentException"})
    assert shrink_difference(DOUBLE, mutant(two_mistakes), [raises], 300, 7).question == Number(1000)
    wrong = Difference(Number(500), {"double": 1000}, {"double": 1})
    assert shrink_difference(DOUBLE, mutant(two_mistakes), [wrong], 300, 7).question == Number(1)
    rule = replace(DOUBLE, path=lambda question: "odd" if question.number % 2 else "even")
    even = shrink_difference(rule, mutant(two_mistakes), [wrong], 300, 7)
    assert even.question == Number(2), "the path of a question is part of the kind"


def test_kind_of_difference_depends_on_path_exception_and_whether_a_partition_is_below_zero() -> None:
    rule = replace(DOUBLE, path=lambda question: "large" if question.number > 9 else "small")
    kinds = [
        kind_of(rule, Difference(Number(number), left, right))
        for number, left, right in (
            (1, {"partition": 2}, {"partition": 3}),
            (2, {"partition": 4}, {"partition": 0}),
            (1, {"partition": 2}, {"partition": -1}),
            (1, {"partition": 2}, {"raises": "A"}),
            (1, {"partition": 2}, {"raises": "B"}),
            (10, {"partition": 2}, {"partition": 3}),
        )
    ]
    assert kinds[0] == kinds[1]
    assert len(set(kinds)) == 5


def test_java_exception_is_an_answer_absent_rule_unsupported_python_error_failed_and_interrupt_raised() -> None:
    def raising(error: Exception) -> Callable[[Any, Release], Answer]:
        def ask(*_: object) -> Answer:
            raise error

        return ask

    def outcome(error: Exception) -> object:
        return outcome_of(raising(error), Number(1), AT)

    assert outcome(NullPointerException()) == Answered({"raises": "NullPointerException"})
    assert outcome(IllegalArgumentException("no")) == Answered({"raises": "IllegalArgumentException", "message": "no"})
    assert outcome(NotInThisRelease("came later")) == Unsupported("came later")
    assert outcome(DrawsExhausted("add draws")) == Failed("add draws")
    assert outcome(ZeroDivisionError("division by zero")) == Failed("ZeroDivisionError: division by zero")
    with pytest.raises(KeyboardInterrupt):
        outcome(KeyboardInterrupt())  # type: ignore[arg-type]


def test_kind_of_difference_with_null_step_answer_names_null() -> None:
    question = next(iter(RULES["murmur2"].spaces[0].questions()))
    apart = Difference(question, {"steps": [{}, None]}, {"steps": [{}, {"range_end": 4}]})
    assert kind_of(RULES["murmur2"], apart).endswith("null → range_end")
