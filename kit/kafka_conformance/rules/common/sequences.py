"""What ``sequence-increment`` and ``sequence-decrement`` share: ``{"sequence", "by"}`` gives ``{"sequence"}``, all int32."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product, starmap
from typing import TypeAlias

from hypothesis import strategies as st

from kafka_conformance.core.mutant import Mutant
from kafka_conformance.core.protocol import Answer, Int32, Question
from kafka_conformance.core.rule import Area, Rule, Space
from kafka_conformance.rules.sequence_decrement import domain as sequence_decrement
from kafka_conformance.rules.sequence_increment import domain as sequence_increment
from kafka_reference.idempotence.sequences import LAST_SEQUENCE
from kafka_reference.java.int32 import INT_MAX, INT_MIN
from kafka_reference.releases import Release, Spans

__all__ = ["SequenceQuestion", "sequence_mutant", "sequence_rule"]

Step: TypeAlias = Callable[[int, int], int]


class SequenceQuestion(Question, frozen=True):
    """A sequence number and a number of records. Java takes any int for both."""

    sequence: Int32
    """The sequence number."""
    by: Int32
    """The number of records to step over."""


# What producers have: numbers and steps from 0.
_NUMBERS = (*range(101), *range(LAST_SEQUENCE - 100, LAST_SEQUENCE + 1))
# Every int near where something wraps, or halfway there, where one step does not wrap and two do.
_EDGES = (INT_MIN, -(2**30), 0, 2**30, LAST_SEQUENCE)
_INTS_NEAR_EDGES = [
    edge + off for edge in _EDGES for off in range(-12, 13) if INT_MIN <= edge + off <= LAST_SEQUENCE
]  # fmt: skip


def _numbers() -> Iterator[SequenceQuestion]:
    return starmap(SequenceQuestion, product(_NUMBERS, _NUMBERS))


def _ints() -> Iterator[SequenceQuestion]:
    return starmap(SequenceQuestion, product(_INTS_NEAR_EDGES, _INTS_NEAR_EDGES))


def _plain() -> Iterator[SequenceQuestion]:
    """Yield batches of up to 10,000 records at the start, in the middle and around the end of all sequences."""
    ends = (0, 1, 2, 3, 9, 10, 49, 50, 98, 99, 100, 101, 499, 500, 501, 999, 1000, 1001, 4999, 5000, 5001, 20_000)
    starts = (0, 1, 2, 999, 65_535, 2**30, *(LAST_SEQUENCE - off for off in ends))
    batches = (*range(1, 21), 50, 99, 100, 101, 500, 999, 1000, 1001, 5000, 10_000)
    return starmap(SequenceQuestion, product(starts, batches))


_INTS = st.one_of(st.integers(INT_MIN, INT_MAX), st.sampled_from(_INTS_NEAR_EDGES))
_QUESTIONS = st.builds(SequenceQuestion, _INTS, _INTS)


def sequence_rule(name: str, step: Step, wraps: Callable[[int, int], bool], spans: Spans) -> Rule:
    """Return the rule ``sequence-NAME``: ``step`` is the reference, ``wraps`` whether a step passes 0 or 2^31-1."""

    def ask(question: SequenceQuestion, _: Release) -> Answer:
        return {"sequence": step(question.sequence, question.by)}

    def labels(question: SequenceQuestion) -> Iterator[str]:
        if question.sequence < 0 or question.by < 0:
            yield "below 0"
        else:
            yield "wraps" if wraps(question.sequence, question.by) else "does not wrap"

    return Rule(
        slug=f"sequence-{name}",
        title=f"DefaultRecordBatch.{name}Sequence",
        area=Area.IDEMPOTENCE,
        releases=spans,
        question=SequenceQuestion,
        ask=ask,
        strategy=lambda: _QUESTIONS,
        spaces=(
            Space("every pair of numbers within 100 of 0 and 2^31-1", _numbers),
            Space("every pair of ints within 12 of 0, ±2^30, ±2^31", _ints),
        ),
        labels=labels,
        path=lambda question: next(labels(question)),
        required_labels=frozenset({"below 0", "wraps", "does not wrap"}),
        domain=(sequence_increment if name == "increment" else sequence_decrement).domain,
        nearest=(sequence_increment if name == "increment" else sequence_decrement).nearest,
        plain=_plain,
        java=((spans, f"kafkaoracle.sequences.Sequence{name.capitalize()}Rule"),),
        source=f"DefaultRecordBatch.{name}Sequence(int, int)",
        harness="None: the rule calls the method of DefaultRecordBatch.",
        links=(
            "https://issues.apache.org/jira/browse/KAFKA-7692",
            "https://issues.apache.org/jira/browse/KAFKA-7693",
        ),
    )


def sequence_mutant(rule: Rule, slug: str, description: str, step: Step, *references: str) -> Mutant:
    """Return a mutant that answers ``rule`` by another step."""

    def ask(question: SequenceQuestion, _: Release) -> Answer:
        return {"sequence": step(question.sequence, question.by)}

    return Mutant(slug, rule.slug, description, ask, references=references)
