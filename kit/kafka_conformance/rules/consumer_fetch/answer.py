"""The answer of ``consumer-fetch``."""

from __future__ import annotations

import msgspec

from kafka_conformance.core.answer_type import AnswerType

__all__ = ["ANSWER"]


class ConsumerFetchAnswer(AnswerType, frozen=True):
    """What polls return until the response is used up, or one throws."""

    delivered: tuple[int | str, ...]
    """The offsets of the records that polls return, in order. Those before an exception of Kafka's are returned first, and
    the next poll throws."""
    position: int | str
    """The position of the consumer after that: the offset that the next fetch asks for."""
    raises: str | msgspec.UnsetType = msgspec.UNSET
    """The exception of the last poll; absent if none throws."""
    cause: str | msgspec.UnsetType = msgspec.UNSET
    """The cause of that KafkaException, if it is Kafka's."""
    again: str | msgspec.UnsetType | None = msgspec.UNSET
    """What the poll after the exception throws; null if it returns nothing: the consumer then fetches again."""


ANSWER = ConsumerFetchAnswer
