"""The answers that the rules of a partition share."""

from __future__ import annotations

from kafka_conformance.core.answer_type import AnswerType

__all__ = ["SentRequest"]


class SentRequest(AnswerType, frozen=True):
    """An AlterPartition request."""

    in_sync: tuple[tuple[int, ...], ...]
    """The in-sync replicas that the leader asks for: each a broker id, and since 3.5.0 its broker epoch, -1 if unknown."""
    leader_epoch: int
    """The leader epoch."""
    partition_epoch: int
    """The partition epoch that the leader knows."""
