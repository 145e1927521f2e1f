"""Mistakes in counting sequence numbers: mostly where they begin again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kafka_conformance.core.mutant import Mutant
from kafka_conformance.core.protocol import Answer
from kafka_reference.idempotence.sequences import added, decrement, increment
from kafka_reference.releases import Release

__all__ = ["SEQUENCE_STEP_MUTANTS"]

_MODULUS = 2**31


def _int32(number: int) -> int:
    return added(number, 0)


_MISTAKES: tuple[tuple[str, str, str, Callable[[int, int], int]], ...] = (
    ("increment", "increment-never-wraps", "a plain sum goes below 0 (KAFKA-7693)", lambda s, by: _int32(s + by)),
    ("increment", "increment-to-1", "after the last number comes 1",
     lambda s, by: increment(s, by) + (s + by >= _MODULUS > by >= 0 <= s)),
    ("increment", "increment-wraps-early", "the last number is never used",
     lambda s, by: _int32(s + by) if s + by < _MODULUS - 1 else _int32(s + by - _MODULUS + 1)),
    ("increment", "increment-starts-over", "at the last number, however far beyond, comes 0",
     lambda s, by: 0 if s + by >= _MODULUS - 1 else _int32(s + by)),
    ("increment", "increment-in-a-ring", "numbers below 0 are taken into the ring", lambda s, by: (s + by) % _MODULUS),
    ("decrement", "decrement-never-wraps", "a plain difference goes below 0", lambda s, by: _int32(s - by)),
    ("decrement", "decrement-to-the-one-before", "before 0 comes the last number but one",
     lambda s, by: decrement(s, by) - (0 <= s < by)),
    ("decrement", "decrement-to-itself", "as many back as there are is no step",
     lambda s, by: s if s == by else decrement(s, by)),
    ("decrement", "decrement-in-a-ring", "numbers below 0 are taken into the ring", lambda s, by: (s - by) % _MODULUS),
)  # fmt: skip


def _asked(step: Callable[[int, int], int]) -> Callable[[Any, Release], Answer]:
    return lambda question, _: {"sequence": step(question.sequence, question.by)}


SEQUENCE_STEP_MUTANTS = tuple(
    Mutant(slug, f"sequence-{rule}", story, _asked(step)) for rule, slug, story, step in _MISTAKES
)
