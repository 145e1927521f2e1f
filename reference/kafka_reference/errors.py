"""Every error of the reference, on one screen.

============================ ============================== ==================================================
error                        why                            what to do
============================ ============================== ==================================================
``JavaException``            Kafka's own code throws here:  compare it: it is the *answer* to the question
                             each subclass has Java's name
``QuestionError``            the question has no answer     do not compare; change the question
- ``NotInThisRelease``       the release lacks the rule     name a release that the message lists
- ``DrawsExhausted``         the rule needs another random  add draws to the question
                             number than it was given
- ``NeverReturns``           Kafka's own code never returns change the setting that the message names
                             here: it loops without end
============================ ============================== ==================================================

A Java exception is also the Python built-in that a caller would expect: ``except ZeroDivisionError`` catches
``ArithmeticException``. No error belongs to both families. Wrong Python arguments are plain TypeErrors and ValueErrors.
"""

from __future__ import annotations

from typing import Any, ClassVar

__all__ = [
    "ArithmeticException",
    "ArrayIndexOutOfBoundsException",
    "BufferExhaustedException",
    "ConcurrentModificationException",
    "ConfigException",
    "CorruptSnapshotException",
    "DrawsExhausted",
    "DuplicateSequenceException",
    "DuplicateSequenceNumberException",
    "IllegalArgumentException",
    "IllegalStateException",
    "InvalidProducerEpochException",
    "InvalidTxnStateException",
    "JavaException",
    "KafkaException",
    "NeverReturns",
    "NotInThisRelease",
    "NullPointerException",
    "OutOfOrderSequenceException",
    "ProducerFencedException",
    "QuestionError",
    "RecordTooLargeException",
    "SchemaException",
    "TimeoutException",
    "TransactionCoordinatorFencedException",
    "UnknownProducerIdException",
]


class JavaException(Exception):
    """Kafka throws here, and so does the rule: the exception is the answer.

    ``java_name`` is Java's simple class name, which every subclass carries in Python, too. ``message`` is the text
    where Kafka wrote one for its users, otherwise None: texts of the JVM ("/ by zero") differ between JVMs and are no
    part of an answer.

        >>> from kafka_reference import partition_for_key
        >>> try:
        ...     partition_for_key(b"home", 0)
        ... except JavaException as thrown:
        ...     thrown.java_name
        'ArithmeticException'
    """

    java_name: ClassVar[str]

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        cls.java_name = cls.__name__

    def __init__(self, message: str | None = None) -> None:
        super().__init__(message if message is not None else self.java_name)
        self.message = message


# Thrown by the JVM.
class ArithmeticException(JavaException, ZeroDivisionError):
    """A remainder by 0: the topic has no partitions, or a table of queue sizes adds up to 0."""


class ArrayIndexOutOfBoundsException(JavaException, IndexError):
    """An array was read before its first or behind its last element."""


class NullPointerException(JavaException, TypeError):
    """A null was dereferenced: most often a null key handed to the hash."""


# Thrown by Kafka's clients.
class IllegalArgumentException(JavaException, ValueError):
    """An argument is out of its range; the message is Kafka's."""


class IllegalStateException(JavaException, RuntimeError):
    """The object's state does not allow the call, for example after it was closed."""


class ConcurrentModificationException(JavaException, RuntimeError):
    """A map was changed while it was iterated; in 2.1.0 only."""


class ConfigException(JavaException, ValueError):
    """Settings are invalid or contradict each other."""


class KafkaException(JavaException, RuntimeError):
    """Any other failure of a client; many of its classes extend this one."""


class TimeoutException(JavaException, TimeoutError):
    """No memory was freed within max.block.ms, up to 2.5.x."""


class BufferExhaustedException(JavaException, TimeoutError):
    """No memory was freed within max.block.ms, since 2.6.0."""


class RecordTooLargeException(JavaException, ValueError):
    """A record may take more bytes than a request, or the producer's memory, has."""


# Thrown by a broker.
class OutOfOrderSequenceException(JavaException, ValueError):
    """Records before these are missing, or these have been written already."""


class DuplicateSequenceException(JavaException, ValueError):
    """A batch ends below the remembered ones, or equals one of them; in 1.0.0 and 1.0.1 only."""


class DuplicateSequenceNumberException(JavaException, ValueError):
    """A request holds the same batch twice; in 0.11 only."""


class UnknownProducerIdException(JavaException, LookupError):
    """The broker has no state of a producer whose sequence does not start at 0; up to 2.4.x."""


class ProducerFencedException(JavaException, PermissionError):
    """The producer's epoch is older than the broker's; up to 2.6.x."""


class InvalidProducerEpochException(JavaException, PermissionError):
    """The producer's epoch is older than the broker's; since 2.7.0."""


class TransactionCoordinatorFencedException(JavaException, PermissionError):
    """The transaction coordinator has been replaced by a newer one."""


class InvalidTxnStateException(JavaException, RuntimeError):
    """A transactional producer wrote outside of its transaction."""


class CorruptSnapshotException(JavaException, ValueError):
    """A file is not a snapshot of producer state, or its checksum is wrong."""


class SchemaException(JavaException, ValueError):
    """A file of producer state is too short; in 0.11.0.0 only."""


class QuestionError(Exception):
    """The question has no answer: the message says why, and what to change in it.

    >>> from kafka_reference.partitioning import BuiltInPartitioner
    >>> BuiltInPartitioner("2.8.2")
    Traceback (most recent call last):
    kafka_reference.errors.NotInThisRelease: BuiltInPartitioner of Kafka 2.8.2 is not mirrored: expected since 3.3.0
    """


class NotInThisRelease(QuestionError):
    """The release does not have the rule: name one that the message lists."""


class DrawsExhausted(QuestionError):
    """The rule needs more random draws than the question holds: add draws to it."""


class NeverReturns(QuestionError):
    """Kafka's own code loops without end here: change the setting that the message names."""
