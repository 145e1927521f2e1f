"""Every error the reference raises, on one screen.

Two families, and no error belongs to both.

``JavaRaises`` is an *answer*: Kafka's own code raises here, and so does the reference. Each subclass is named after
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
    "DrawsExhausted",
    "IllegalArgumentException",
    "IllegalStateException",
    "JavaRaises",
    "KafkaException",
    "NotInThisRelease",
    "NullPointerException",
    "QuestionError",
    "TimeoutException",
]


class JavaRaises(Exception):
    """The rule itself raises, exactly where Java does.

    ``java_name`` is Java's simple class name. ``message`` is Java's text where Kafka wrote it for its users, else
    None: texts made by the JVM ("/ by zero") change between JVMs and are no part of any answer.
    """

    java_name: ClassVar[str]

    def __init__(self, message: str | None = None) -> None:
        super().__init__(message if message is not None else self.java_name)
        self.message = message


class ArithmeticException(JavaRaises, ZeroDivisionError):
    """Java's ``int % 0``."""

    java_name = "ArithmeticException"


class ArrayIndexOutOfBoundsException(JavaRaises, IndexError):
    """Java read an array before its first or behind its last element."""

    java_name = "ArrayIndexOutOfBoundsException"


class NullPointerException(JavaRaises, TypeError):
    """Java dereferenced a null: most often a null key handed to a hash."""

    java_name = "NullPointerException"


class IllegalArgumentException(JavaRaises, ValueError):
    """Kafka refused an argument, in a text of its own."""

    java_name = "IllegalArgumentException"


class ConfigException(JavaRaises, ValueError):
    """Kafka refused a configuration."""

    java_name = "ConfigException"


class KafkaException(JavaRaises, RuntimeError):
    """Kafka refused, in general."""

    java_name = "KafkaException"


class IllegalStateException(JavaRaises, RuntimeError):
    """It is too late, or too early, for this."""

    java_name = "IllegalStateException"


class TimeoutException(JavaRaises, TimeoutError):
    """No memory came free in time, to 2.5.x."""

    java_name = "TimeoutException"


class BufferExhaustedException(JavaRaises, TimeoutError):
    """No memory came free in time, since 2.6.0."""

    java_name = "BufferExhaustedException"


class QuestionError(Exception):
    """The question cannot be put to this rule. What happened, and what to do about it."""


class NotInThisRelease(QuestionError):
    """The rule does not exist in the release asked for."""


class DrawsExhausted(QuestionError):
    """The rule needs more random draws than the question holds: add draws to the question."""
