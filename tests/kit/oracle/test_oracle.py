"""What the oracle makes of an exception in the JVM; the rest is asked of a real one, in tests/conformance."""

from __future__ import annotations

from kafka_conformance.oracle.bridge import with_causes


class Throwable:
    """A Java exception, as py4j shows it."""

    def __init__(self, text: str, cause: Throwable | None = None) -> None:
        self.text, self.cause = text, cause

    def toString(self) -> str:  # noqa: N802
        return self.text

    def getCause(self) -> Throwable | None:  # noqa: N802
        return self.cause


def test_java_exception_is_reported_with_causes() -> None:
    """A constructor called by reflection throws an exception that names nothing; its cause names the class."""
    cause = Throwable("java.lang.ClassNotFoundException: org.apache.kafka.common.Node")
    reflected = Throwable("java.lang.reflect.InvocationTargetException", cause)
    assert with_causes(reflected) == f"java.lang.reflect.InvocationTargetException; caused by {cause.text}"
    assert with_causes(cause) == cause.text


def test_cyclic_java_exception_causes_are_cut_after_7() -> None:
    ring = Throwable("a")
    ring.cause = Throwable("b", ring)
    assert with_causes(ring).count("; caused by ") == 7
