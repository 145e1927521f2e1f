"""The answer of ``producer-partition``."""

from __future__ import annotations

from kafka_conformance.core.answer_type import AnswerType
from kafka_conformance.core.protocol import Int32

__all__ = ["ANSWER"]


class ProducerPartitionAnswer(AnswerType, frozen=True):
    """The partition that the producer chooses."""

    partition: Int32
    """The id of the partition; -1 is ``RecordMetadata.UNKNOWN_PARTITION``, since 3.3.0: the accumulator chooses."""


ANSWER = ProducerPartitionAnswer
