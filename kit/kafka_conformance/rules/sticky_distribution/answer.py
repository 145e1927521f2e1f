"""The answer of ``sticky-distribution``."""

from __future__ import annotations

from kafka_conformance.core.answer_type import AnswerType

__all__ = ["ANSWER"]


class PartitionCount(AnswerType, frozen=True, array_like=True):
    """The records of a partition."""

    partition: int
    """The id of the partition."""
    records: int
    """The number of its records, at least 1."""


class StickyDistributionAnswer(AnswerType, frozen=True):
    """How the records were distributed."""

    counts: tuple[PartitionCount, ...]
    """The partitions that have records, in the order of their ids."""
    switches: int
    """How often ``onNewBatch`` was called, or the built-in partitioner ended a stay."""


ANSWER = StickyDistributionAnswer
