"""What the coordinator's assignors throw, besides the exceptions in ``kafka_reference.errors``."""

from __future__ import annotations

from kafka_reference.errors import JavaException

__all__ = ["NoSuchElementException", "PartitionAssignorException"]


class PartitionAssignorException(JavaException, ValueError):
    """The assignor cannot compute an assignment.

    ``reason`` is Kafka's message. It is not part of an answer: clients get an error code alone.
    """

    def __init__(self, reason: str) -> None:
        super().__init__()
        self.args = (reason,)


class NoSuchElementException(JavaException, LookupError):
    """The first of no members was read."""
