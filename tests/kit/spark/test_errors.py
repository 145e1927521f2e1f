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
def test_kit_error_inside_spark_traceback_is_reduced_to_the_message(kind: type[KitError]) -> None:
    raised = (
        f"{kind.__module__}.{kind.__qualname__}: partition 4 of orders has no leader: wait until its broker is back"
    )
    assert line(traceback(raised)) == "partition 4 of orders has no leader: wait until its broker is back"


def test_tested_kit_errors_include_core_and_spark_error_modules() -> None:
    assert {errors.__name__, SparkFault.__module__} <= {kind.__module__ for kind in OWN}


def test_kit_java_exception_in_spark_job_is_reduced_to_the_message() -> None:
    assert line("Job aborted.\njava.lang.IllegalStateException: kafka-conformance: no space left") == "no space left"


def test_foreign_error_in_spark_is_prefixed_with_the_failed_action() -> None:
    assert line(traceback("some.module.OddError: no")) == "reading t: OddError: no"
    assert line(traceback("kafka_conformance.rules.OddError: no")) == "reading t: OddError: no"
    assert line("  \n") == "reading t: Spark failed without a message"
