"""Mistakes in the steps of sequence numbers: the mistake that is described, and no other."""

from __future__ import annotations

from typing import Any

import pytest

from kafka_conformance.rules import RULES
from kafka_conformance.rules.common.sequences import SequenceQuestion
from kafka_conformance.rules.sequence_decrement.mutants import MUTANTS as DECREMENT
from kafka_conformance.rules.sequence_increment.mutants import MUTANTS as INCREMENT
from kafka_reference.releases import NEWEST

LAST = 2**31 - 1
MUTANTS = {mutant.slug: mutant for mutant in (*INCREMENT, *DECREMENT)}


@pytest.mark.parametrize(
    ("slug", "sequence", "by", "wrong"),
    [
        ("increment-never-wraps", LAST, 1, -LAST - 1),
        ("increment-to-1", LAST, 1, 1),
        ("increment-wraps-early", LAST - 1, 1, 0),
        ("increment-starts-over", LAST - 1, 1, 0),
        ("increment-starts-over", LAST, 9, 0),
        ("increment-in-a-ring", 5, -1, 4),
        ("decrement-never-wraps", 0, 1, -1),
        ("decrement-to-the-one-before", 0, 1, LAST - 1),
        ("decrement-to-itself", 7, 7, 7),
        ("decrement-in-a-ring", LAST, -1, 0),
    ],
)
def test_sequence_mutant_gives_described_wrong_answer(slug: str, sequence: int, by: int, wrong: int) -> None:
    mutant = MUTANTS[slug]
    question = SequenceQuestion(sequence, by)
    assert mutant.ask(question, mutant.release) == {"sequence": wrong}
    assert RULES[mutant.rule].ask(question, mutant.release) != {"sequence": wrong}


def test_sequence_increment_and_decrement_together_have_9_mutants() -> None:
    assert len(MUTANTS) == 9


@pytest.mark.parametrize("mutant", MUTANTS.values(), ids=lambda mutant: mutant.slug)
def test_sequence_mutant_equals_reference_away_from_int_limits(mutant: Any) -> None:
    question = SequenceQuestion(1000, 7)
    assert mutant.ask(question, NEWEST) == RULES[mutant.rule].ask(question, NEWEST)
