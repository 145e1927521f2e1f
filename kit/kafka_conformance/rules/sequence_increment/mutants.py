"""Known mistakes in ``sequence-increment``: mostly where sequence numbers start again."""

from __future__ import annotations

from kafka_conformance.core.mutant import Mutant
from kafka_conformance.rules.common.sequences import sequence_mutant
from kafka_conformance.rules.sequence_increment.rule import RULE
from kafka_reference.idempotence.sequences import increment
from kafka_reference.java.int32 import int32

__all__ = ["MUTANTS"]

_COUNT = 2**31
_EARLY = ("https://github.com/tulios/kafkajs/issues/1790", "https://github.com/tulios/kafkajs/pull/1787")


def _wraps_early(sequence: int, by: int) -> int:
    return int32(sequence + by) if sequence + by < _COUNT - 1 else int32(sequence + by - _COUNT + 1)


MUTANTS: tuple[Mutant, ...] = (
    sequence_mutant(
        RULE, "increment-never-wraps", "a plain sum goes below 0 (KAFKA-7693)", lambda s, by: int32(s + by),
        "https://github.com/apache/kafka/pull/5989", "https://github.com/twmb/franz-go/issues/216",
        "https://github.com/aio-libs/aiokafka/blob/672947afe85c91b7d953f0259e69837a711d3246/aiokafka/producer/transaction_manager.py",
    ),
    sequence_mutant(
        RULE, "increment-to-1", "1 follows the last number",
        lambda s, by: increment(s, by) + (s + by >= _COUNT > by >= 0 <= s),
    ),
    sequence_mutant(RULE, "increment-wraps-early", "the last number is never used", _wraps_early, *_EARLY),
    sequence_mutant(
        RULE, "increment-starts-over", "0 follows the last number, however far the step goes",
        lambda s, by: 0 if s + by >= _COUNT - 1 else int32(s + by), *_EARLY,
    ),
    sequence_mutant(RULE, "increment-in-a-ring", "negative numbers are taken modulo 2^31", lambda s, by: (s + by) % _COUNT),
)  # fmt: skip
