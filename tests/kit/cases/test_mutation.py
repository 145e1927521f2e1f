"""What catches a mutant: judged by Java's answer, in the releases the answer is proven for."""

from __future__ import annotations

import time
from typing import Any
from unittest.mock import patch

import msgspec
import pytest

from kafka_conformance.cases.mutation import WANTED, covering, killers, kills, to_size
from kafka_conformance.cases.store import Case
from kafka_conformance.core.mutant import Mutant
from kafka_conformance.core.sources import HYPOTHESIS, collect, source_of
from kafka_conformance.rules import RULES
from kafka_conformance.rules.murmur2 import rule as murmur2_rule
from kafka_conformance.rules.murmur2.question import Murmur2Question
from kafka_conformance.rules.mutants import MUTANTS
from kafka_reference.releases import Release, parse_release

RULE = RULES["murmur2"]
EMPTY = Murmur2Question("")


def other(question: Murmur2Question, _: Release) -> dict[str, Any]:
    return {"hash": 5}


def broken(*_: Any) -> Any:
    raise RuntimeError("broke")


def case(answer: int, *releases: str) -> Case:
    return Case("ab", releases[-1], releases, msgspec.Raw(b'{"key":""}'), {"hash": answer}, ())


def killed(mutants: list[Mutant], frozen: Case) -> tuple[str, ...]:
    (slugs,) = kills(RULE, mutants, [frozen], [EMPTY])
    return slugs


OTHER = Mutant("other", "murmur2", "five", other)


def test_mutant_is_killed_by_a_case_whose_java_answer_differs() -> None:
    assert killed([OTHER], case(4, "4.4.0")) == ("other",)
    assert killed([OTHER], case(5, "4.4.0")) == ()


def test_mutant_that_raises_an_exception_is_not_killed() -> None:
    assert killed([Mutant("broken", "murmur2", "breaks", broken)], case(4, "4.4.0")) == ()


def test_mutant_of_a_release_is_killed_only_by_cases_of_that_release() -> None:
    def old(question: Murmur2Question, release: Release) -> dict[str, Any]:
        return {"hash": 5 if release == parse_release("2.0.1") else 4}

    mutant = Mutant("old", "murmur2", "five in 2.0.1", old, parse_release("2.0.1"))
    assert killed([mutant], case(4, "2.0.1", "4.4.0")) == ("old",)
    assert killed([mutant], case(4, "4.4.0")) == (), "of 2.0.1 this case says nothing"


def test_slugs_of_killed_mutants_are_sorted() -> None:
    mutants = [Mutant(slug, "murmur2", "", other) for slug in ("b", "c", "a")]
    assert killed(mutants, case(4, "4.4.0")) == ("a", "b", "c")


def test_questions_that_kill_a_mutant_start_with_the_smallest() -> None:
    mutants = [mutant for mutant in MUTANTS if mutant.rule == "murmur2"][:5]
    space = source_of(RULE, "some", tuple(Murmur2Question(f"{byte:02x}" * 3) for byte in range(256)))
    asked = [space, source_of(RULE, HYPOTHESIS, tuple(collect(RULE, 100, 7)))]
    found = killers(RULE, mutants, asked, 100, 7)
    assert list(found) == [mutant.slug for mutant in mutants]
    smallest = bytes.fromhex(found["signed-tail"][0].key)
    assert len(smallest) == 1, "the shortest key with a tail below zero"
    assert smallest >= b"\x80"
    assert WANTED <= len(found["signed-tail"]) <= WANTED + 1
    for mutant in mutants:
        assert found[mutant.slug], mutant.slug
        assert found[mutant.slug][0] == min(found[mutant.slug], key=to_size)
        assert all(
            mutant.ask(q, mutant.release) != RULE.ask(q, mutant.release)
            for q in found[mutant.slug]
            if q.key is not None
        )
    assert found == killers(RULE, mutants, asked, 100, 7), "the same again from the same seed"


def test_mutant_that_the_random_search_does_not_kill_is_tried_with_every_question() -> None:
    def rare(question: Murmur2Question, release: Release) -> dict[str, Any]:
        return {"hash": 1} if question.key == "0102030405060708" else RULE.ask(question, release)

    questions = [Murmur2Question(f"{number:016x}") for number in (*range(4000), 0x0102030405060708)]
    found = killers(RULE, [Mutant("rare", "murmur2", "", rare)], [source_of(RULE, "some", tuple(questions))], 20, 7)
    assert found == {"rare": [Murmur2Question("0102030405060708")]}
    assert killers(RULE, [Mutant("none", "murmur2", "", RULE.ask)], [], 20, 7) == {"none": []}


def test_mutant_that_patches_a_module_does_not_affect_the_reference() -> None:
    def patched(question: Murmur2Question, release: Release) -> dict[str, Any]:
        with patch.object(murmur2_rule, "murmur2", lambda _: 5):
            time.sleep(0.01)  # the reference would be asked now, if it were asked in another thread
            return RULE.ask(question, release)

    questions = tuple(Murmur2Question(f"{number:02x}") for number in range(WANTED))
    found = killers(RULE, [Mutant("patched", "murmur2", "", patched)], [source_of(RULE, "some", questions)], 20, 7)
    assert found == {"patched": list(questions)}


@pytest.mark.parametrize("pair", [("", "00"), ("00", "01")])
def test_question_size_orders_keys_by_length_then_bytes(pair: tuple[str, str]) -> None:
    less, more = map(Murmur2Question, pair)
    assert to_size(less) < to_size(more)


def test_question_selection_takes_smallest_killer_per_mutant_then_widest_until_all_have_enough() -> None:
    def key(text: str) -> Murmur2Question:
        return Murmur2Question(text)

    both, small, other = key("aabbcc"), key("aa"), key("bb")
    assert covering({"x": [small, both]}, {"y": [both]}) == [small, both]
    assert covering({"x": [other], "y": [small], "z": []}, {"x": [both], "y": [both]}) == [other, small, both]
    assert covering({"x": [other, small]}, {}) == [small, other]
    assert covering({}, {}) == []
    many = [key(f"{number:02x}") for number in range(20)]
    assert covering({"x": many}, {"x": many}) == many[:WANTED]
