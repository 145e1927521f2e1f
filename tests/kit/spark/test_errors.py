"""An error inside Spark as one line: the kit's own message alone, else what failed and the innermost cause."""

from __future__ import annotations

import pytest
from pyspark.errors import PySparkException

from kafka_conformance.core import errors
from kafka_conformance.core.errors import KitError
from kafka_conformance.spark.errors import SparkFault, spark_fault


def line(text: str) -> str:
    fault = spark_fault(PySparkException(text), "reading t")
    assert fault is not None
    return str(fault)


def subclasses(kind: type[KitError]) -> list[type[KitError]]:
    return [kind, *(each for below in kind.__subclasses__() for each in subclasses(below))]


def traceback(innermost: str) -> str:
    return f'Job aborted.\nTraceback (most recent call last):\n  File "worker.py", line 1, in main\n{innermost}\n'


OWN = [each for each in subclasses(KitError) if each.__module__.startswith("kafka_conformance.")]


@pytest.mark.parametrize("kind", OWN, ids=lambda kind: kind.__name__)
def test_an_error_of_the_kit_is_shown_alone(kind: type[KitError]) -> None:
    raised = (
        f"{kind.__module__}.{kind.__qualname__}: partition 4 of orders has no leader: wait until its broker is back"
    )
    assert line(traceback(raised)) == "partition 4 of orders has no leader: wait until its broker is back"


def test_both_modules_of_errors_are_covered() -> None:
    assert {errors.__name__, SparkFault.__module__} <= {kind.__module__ for kind in OWN}


def test_an_error_of_the_kits_java_is_shown_alone() -> None:
    assert line("Job aborted.\njava.lang.IllegalStateException: kafka-conformance: no space left") == "no space left"


def test_any_other_error_is_named_with_what_failed() -> None:
    assert line(traceback("some.module.OddError: no")) == "reading t: OddError: no"
    assert line(traceback("kafka_conformance.rules.OddError: no")) == "reading t: OddError: no"
    assert line("  \n") == "reading t: Spark failed without a message"
