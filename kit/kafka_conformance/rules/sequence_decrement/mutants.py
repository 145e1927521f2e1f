"""Known mistakes in ``sequence-decrement``: mostly at 0."""

from __future__ import annotations

from kafka_conformance.core.mutant import Mutant
from kafka_conformance.rules.common.sequences import sequence_mutant
from kafka_conformance.rules.sequence_decrement.rule import RULE
from kafka_reference.idempotence.sequences import decrement
from kafka_reference.java.int32 import int32

__all__ = ["MUTANTS"]

MUTANTS: tuple[Mutant, ...] = (
    sequence_mutant(RULE, "decrement-never-wraps", "a plain difference goes below 0", lambda s, by: int32(s - by)),
    sequence_mutant(
        RULE, "decrement-to-the-one-before", "0 is preceded by the last number but one",
        lambda s, by: decrement(s, by) - (0 <= s < by),
    ),
    sequence_mutant(
        RULE, "decrement-to-itself", "a step back by the number itself is no step",
        lambda s, by: s if s == by else decrement(s, by),
    ),
    sequence_mutant(RULE, "decrement-in-a-ring", "negative numbers are taken modulo 2^31", lambda s, by: (s - by) % 2**31),
)  # fmt: skip
