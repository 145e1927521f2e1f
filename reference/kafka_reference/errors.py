"""Every error the reference raises, on one screen.

Two families, and no error belongs to both.

``JavaException`` is an *answer*: Kafka's own code raises here, and so does the reference. Each subclass is named after
Java's simple class name, which ``java_name`` repeats, and is also the Python built-in a caller would expect, so that
``except ZeroDivisionError`` works for someone who never read this page.

``QuestionError`` is *not* an answer: the question could not be put. A release that never had the rule, or a question
that holds fewer random draws than the rule consumes. Nobody may compare such an outcome with Java's.
"""

from __future__ import annotations

from typing import ClassVar

__all__ = [
    "ArithmeticException",
    "ArrayIndexOutOfBoundsException",
    "BufferExhaustedException",
    "ConfigException",
    "CorruptSnapshotException",
    "DrawsExhausted",
    "DuplicateSequenceNumberException",
    "IllegalArgumentException",
    "IllegalStateException",
    "InvalidProducerEpochException",
    "InvalidTxnStateException",
    "JavaException",
    "KafkaException",
    "NotInThisRelease",
    "NullPointerException",
    "OutOfOrderSequenceException",
    "ProducerFencedException",
    "QuestionError",
    "TimeoutException",
    "TransactionCoordinatorFencedException",
    "UnknownProducerIdException",
]


class JavaException(Exception):
    """The rule itself raises, exactly where Java does.

    ``java_name`` is Java's simple class name. ``message`` is Java's text where Kafka wrote it for its users, else
    None: texts made by the JVM ("/ by zero") change between JVMs and are no part of any answer.
    """

    java_name: ClassVar[str]

    def __init__(self, message: str | None = None) -> None:
        super().__init__(message if message is not None else self.java_name)
        self.message = message


class ArithmeticException(JavaException, ZeroDivisionError):
    """Java's ``int % 0``."""

    java_name = "ArithmeticException"


class ArrayIndexOutOfBoundsException(JavaException, IndexError):
    """Java read an array before its first or behind its last element."""

    java_name = "ArrayIndexOutOfBoundsException"


class NullPointerException(JavaException, TypeError):
    """Java dereferenced a null: most often a null key handed to a hash."""

    java_name = "NullPointerException"


class IllegalArgumentException(JavaException, ValueError):
    """Kafka refused an argument, in a text of its own."""

    java_name = "IllegalArgumentException"


class KafkaException(JavaException, RuntimeError):
    """Kafka refused, in general."""

    java_name = "KafkaException"


class ConfigException(JavaException, ValueError):
    """Kafka refused a configuration."""

    java_name = "ConfigException"


class IllegalStateException(JavaException, RuntimeError):
    """It is too late, or too early, for this."""

    java_name = "IllegalStateException"


class TimeoutException(JavaException, TimeoutError):
    """No memory came free in time, to 2.5.x."""

    java_name = "TimeoutException"


class BufferExhaustedException(JavaException, TimeoutError):
    """No memory came free in time, since 2.6.0."""

    java_name = "BufferExhaustedException"


class OutOfOrderSequenceException(JavaException, ValueError):
    """A broker misses records before these, or has written them already."""

    java_name = "OutOfOrderSequenceException"


class DuplicateSequenceNumberException(JavaException, ValueError):
    """A broker was sent the same batch twice in one request, in 0.11."""

    java_name = "DuplicateSequenceNumberException"


class UnknownProducerIdException(JavaException, LookupError):
    """A broker knows nothing of a producer that does not begin at 0, to 2.4.x."""

    java_name = "UnknownProducerIdException"


class ProducerFencedException(JavaException, PermissionError):
    """A producer's epoch is older than one already seen, to 2.6.x."""

    java_name = "ProducerFencedException"


class InvalidProducerEpochException(JavaException, PermissionError):
    """A producer's epoch is older than one already seen, since 2.7.0."""

    java_name = "InvalidProducerEpochException"


class TransactionCoordinatorFencedException(JavaException, PermissionError):
    """A transaction's coordinator is not the current one any more."""

    java_name = "TransactionCoordinatorFencedException"


class InvalidTxnStateException(JavaException, RuntimeError):
    """A producer in a transaction wrote outside of it."""

    java_name = "InvalidTxnStateException"


class CorruptSnapshotException(JavaException, ValueError):
    """A snapshot of producers' state is not one, or its checksum is another."""

    java_name = "CorruptSnapshotException"


class QuestionError(Exception):
    """The question cannot be put to this rule. What happened, and what to do about it."""


class NotInThisRelease(QuestionError):
    """The rule does not exist in the release asked for."""


class DrawsExhausted(QuestionError):
    """The rule needs more random draws than the question holds: add draws to the question."""
