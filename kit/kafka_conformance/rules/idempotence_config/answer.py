"""The answer of ``idempotence-config``."""

from __future__ import annotations

from kafka_conformance.core.answer_type import AnswerType
from kafka_conformance.core.protocol import Int32

__all__ = ["ANSWER"]


class IdempotenceConfigAnswer(AnswerType, frozen=True):
    """The effective settings of the producer."""

    idempotent: bool
    """Whether the producer is idempotent."""
    transactional: bool
    """Whether the producer is transactional."""
    acks: Int32
    """``acks``; -1 is all."""
    retries: Int32
    """``retries``."""
    max_in_flight: Int32
    """``max.in.flight.requests.per.connection``."""
    guarantee_order: bool
    """Whether a partition waits for its batch in flight before it sends the next one."""


ANSWER = IdempotenceConfigAnswer
