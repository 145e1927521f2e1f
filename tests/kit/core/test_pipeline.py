"""Ask two, compare, count, shrink. A rule made for the purpose: double the number."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import strategies as st

from kafka_conformance.answerers.reference import ReferenceAnswerer, outcome_of
from kafka_conformance.core.pipeline import BATCH, Difference, Pair, compare, kind_of, shrunk
from kafka_conformance.core.protocol import Answer, Answered, Failed, Question, Unsupported
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


def mutant(ask: Callable[[Any, Release], Answer]) -> Pair:
    return Pair(JAVA, ReferenceAnswerer("mutant", ask), AT, AT)


def from_a_thousand_on(question: Number, at: Release) -> Answer:
    return {"double": 0} if question.number >= 1000 else doubled(question, at)


def told(tally: Any) -> tuple[int, int, int, int, int]:
    return tally.total, tally.agreed, len(tally.differences), len(tally.errors), tally.unsupported


def test_those_who_say_the_same_agree() -> None:
    tally = compare(DOUBLE, mutant(doubled), SOURCES, lambda _: None)
    assert told(tally) == (13, 13, 0, 0, 0)
    assert dict(tally.asked) == {"small": 10, "large": 3}
    assert dict(tally.labels) == {"even": 7, "odd": 6}
    assert tally.missing_labels == []


def test_every_difference_is_kept_with_its_question() -> None:
    tally = compare(DOUBLE, mutant(from_a_thousand_on), SOURCES, lambda _: None)
    assert told(tally) == (13, 11, 2, 0, 0)
    assert tally.differences == [
        Difference(Number(1000), {"double": 2000}, {"double": 0}),
        Difference(Number(5000), {"double": 10000}, {"double": 0}),
    ]


@pytest.mark.parametrize("error", [RuntimeError("broke"), DrawsExhausted("broke"), RecursionError("broke")])
@pytest.mark.parametrize("on_the_left", [True, False])
def test_who_breaks_down_never_agrees(error: Exception, on_the_left: bool) -> None:
    def broken(question: Number, at: Release) -> Answer:
        if question.number == 3:
            raise error
        return doubled(question, at)

    one = ReferenceAnswerer("broken", broken)
    pair = Pair(one, JAVA, AT, AT) if on_the_left else Pair(JAVA, one, AT, AT)
    tally = compare(DOUBLE, pair, SOURCES, lambda _: None)
    assert told(tally) == (13, 12, 0, 1, 0)
    question, what = tally.errors[0]
    assert question == Number(3)
    assert what.startswith("broken 4.4.0: ")
    assert "broke" in what


def test_two_who_break_down_alike_do_not_agree() -> None:
    def broken(*_: object) -> Answer:
        raise RuntimeError("broke")

    both = ReferenceAnswerer("broken", broken)
    assert told(compare(DOUBLE, Pair(both, both, AT, AT), SOURCES, lambda _: None)) == (13, 0, 0, 13, 0)


def test_what_one_has_an_answer_to_and_the_other_has_not_is_no_agreement() -> None:
    def absent(question: Number, at: Release) -> Answer:
        if question.number >= 999:
            raise NotInThisRelease("came later")
        return doubled(question, at)

    assert told(compare(DOUBLE, mutant(absent), SOURCES, lambda _: None)) == (13, 10, 0, 3, 0)


def test_what_neither_has_is_counted_apart() -> None:
    def absent(question: Number, at: Release) -> Answer:
        if question.number >= 999:
            raise NotInThisRelease("came later")
        return doubled(question, at)

    nobody = mutant(absent).right
    pair = Pair(nobody, nobody, AT, AT)
    assert told(compare(DOUBLE, pair, SOURCES, lambda _: None)) == (10, 10, 0, 0, 3)


def test_who_answers_too_little_is_not_believed() -> None:
    class Short:
        name = "short"

        def answer(self, _: Rule, __: Release, questions: Any) -> list[Any]:
            return [Answered({"double": 0})] * (len(questions) - 1)

    with pytest.raises(ValueError, match="shorter"):
        compare(DOUBLE, Pair(JAVA, Short(), AT, AT), SOURCES, lambda _: None)


def test_kinds_of_question_that_were_not_asked_are_named() -> None:
    tally = compare(DOUBLE, mutant(doubled), [source("one", 2)], lambda _: None)
    assert tally.missing_labels == ["odd"]
    assert compare(DOUBLE, mutant(doubled), [], lambda _: None).missing_labels == ["even", "odd"]


def test_questions_go_out_in_batches() -> None:
    heard: list[int] = []
    many = source("many", *range(2 * BATCH + 1))
    tally = compare(DOUBLE, mutant(from_a_thousand_on), [many, SOURCES[0]], heard.append)
    assert heard == [BATCH, BATCH, 1, 10]
    assert [difference.question.number for difference in tally.differences] == list(range(1000, 2 * BATCH + 1))


def test_asking_ends_when_enough_differences_are_found() -> None:
    def wrong(_: Number, __: Release) -> Answer:
        return {"double": -1}

    tally = compare(DOUBLE, mutant(wrong), SOURCES, lambda _: None, enough=4, batch_size=3)
    assert dict(tally.asked) == {"small": 6}
    assert tally.differ == 6


def test_names_tell_releases_apart() -> None:
    assert Pair(JAVA, JAVA, OTHER, AT).names == ("java 3.9.2", "java 4.4.0")


@pytest.mark.parametrize("seed", [0, 1, 2**32 - 1])
def test_the_smallest_question_for_a_planted_mistake(seed: int) -> None:
    pair = mutant(from_a_thousand_on)
    found = Difference(Number(7777), {"double": 15554}, {"double": 0})
    smallest = Difference(Number(1000), {"double": 2000}, {"double": 0})
    assert shrunk(DOUBLE, pair, [found], 200, seed) == shrunk(DOUBLE, pair, [found], 200, seed) == smallest


def test_what_the_search_does_not_meet_stays_as_it_was_found() -> None:
    found = Difference(Number(20_000), {"double": 40_000}, {"double": 0})
    far = mutant(lambda question, at: {"double": 0} if question.number == 20_000 else doubled(question, at))
    assert shrunk(DOUBLE, far, [found], 50, 7) == found
    assert shrunk(DOUBLE, mutant(from_a_thousand_on), [found], 0, 7) == found


def test_the_smallest_of_those_found_is_kept_where_the_search_meets_none() -> None:
    far, farther = (Difference(Number(number), {"double": 2 * number}, {"double": 0}) for number in (20_000, 300_000))
    pair = mutant(lambda question, at: {"double": 0} if question.number >= 20_000 else doubled(question, at))
    assert shrunk(DOUBLE, pair, [farther, far], 50, 7) == far


def test_a_difference_does_not_shrink_into_one_of_another_shape() -> None:
    def two_mistakes(question: Number, at: Release) -> Answer:
        if question.number >= 1000:
            raise IllegalArgumentException
        return {"double": 1} if question.number > 0 else doubled(question, at)

    raises = Difference(Number(5000), {"double": 10_000}, {"raises": "IllegalArgumentException"})
    assert shrunk(DOUBLE, mutant(two_mistakes), [raises], 300, 7).question == Number(1000)
    wrong = Difference(Number(500), {"double": 1000}, {"double": 1})
    assert shrunk(DOUBLE, mutant(two_mistakes), [wrong], 300, 7).question == Number(1)
    odd = shrunk(DOUBLE, mutant(two_mistakes), [wrong], 300, 7, lambda other: other.question.number % 2 == 0)
    assert odd.question == Number(2)


def test_kinds_of_difference() -> None:
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


def test_what_a_rule_raises_is_an_answer() -> None:
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


def test_a_step_that_answers_null_is_a_sort_of_answer_too() -> None:
    question = next(iter(RULES["murmur2"].spaces[0].questions()))
    apart = Difference(question, {"steps": [{}, None]}, {"steps": [{}, {"range_end": 4}]})
    assert kind_of(RULES["murmur2"], apart).endswith("null → range_end")
