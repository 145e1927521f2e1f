"""Errors inside Spark, as one line.

Spark wraps: an exception of a worker's Python in one of its Java, that in a failed task, that in a failed job. The line
shows the innermost: the last line of a Python traceback, else the message of the deepest cause in Java.
"""

from __future__ import annotations

import re
from typing import Any

from kafka_conformance.core.errors import KitError

__all__ = ["SparkFault", "spark_fault"]

_LONGEST = 600
# Errors whose text is already a line for the user: the kit's own, and those of its Java.
_KIT = re.compile(
    r"^kafka_conformance\.(?:\w+\.)*errors\.\w+: (.*)$|^java\.lang\.IllegalStateException: kafka-conformance: (.*)$"
)
_NAMED = re.compile(r"^(?:[a-z_][\w$]*\.)+([A-Z]\w*)(?:: (.*))?$")


class SparkFault(KitError):
    """A Spark job failed."""


def spark_fault(error: Exception, doing: str) -> SparkFault | None:
    """Return an error of pyspark or py4j as one line; None for any other."""
    from py4j.protocol import Py4JError, Py4JJavaError
    from pyspark.errors import PySparkException

    if isinstance(error, Py4JJavaError):
        return SparkFault(_line(doing, _innermost(error.java_exception)))
    if isinstance(error, PySparkException):
        return SparkFault(_line(doing, str(getattr(error, "desc", None) or error)))
    if isinstance(error, Py4JError | ConnectionError):
        return SparkFault(f"{doing}: Spark's JVM has ended, or did not respond within the limit")
    return None


def _innermost(cause: Any) -> str:
    """Return the text of the deepest cause, which may hold a Python traceback."""
    text = ""
    for _ in range(20):  # a chain of causes may be a cycle
        text = str(cause.toString()) or text
        deeper = cause.getCause()
        if deeper is None:
            break
        cause = deeper
    return text


def _line(doing: str, text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if not lines:
        return f"{doing}: Spark failed without a message"
    for line in reversed(lines):
        if kit := _KIT.match(line):
            return str(kit[1] or kit[2])
    traced = "Traceback (most recent call last)" in text
    innermost = lines[-1] if traced else _first_of_a_task(lines)
    if named := _NAMED.match(innermost):
        innermost = f"{named[1]}: {named[2]}" if named[2] else named[1]
    return f"{doing}: {innermost[:_LONGEST]}"


def _first_of_a_task(lines: list[str]) -> str:
    """Return the message of the failed task that aborted a job."""
    lost = re.compile(r"Lost task .*?: ((?:[a-z_][\w$]*\.)+[A-Z]\w*.*)$")
    return next((found[1] for line in lines if (found := lost.search(line))), lines[0])
