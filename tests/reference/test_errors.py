from __future__ import annotations

import pytest

from kafka_reference import errors

JAVA = {
    "ArithmeticException": ZeroDivisionError,
    "ArrayIndexOutOfBoundsException": IndexError,
    "NullPointerException": TypeError,
    "IllegalArgumentException": ValueError,
    "KafkaException": RuntimeError,
    "ConcurrentModificationException": RuntimeError,
    "ConfigException": ValueError,
    "IllegalStateException": RuntimeError,
    "TimeoutException": TimeoutError,
    "BufferExhaustedException": TimeoutError,
    "RecordTooLargeException": ValueError,
    "OutOfOrderSequenceException": ValueError,
    "DuplicateSequenceException": ValueError,
    "DuplicateSequenceNumberException": ValueError,
    "SchemaException": ValueError,
    "UnknownProducerIdException": LookupError,
    "ProducerFencedException": PermissionError,
    "InvalidProducerEpochException": PermissionError,
    "TransactionCoordinatorFencedException": PermissionError,
    "InvalidTxnStateException": RuntimeError,
    "CorruptSnapshotException": ValueError,
}


@pytest.mark.parametrize(("name", "python"), JAVA.items())
def test_mirrored_java_exception_is_also_the_matching_python_exception(name: str, python: type[Exception]) -> None:
    kind = getattr(errors, name)
    assert kind.java_name == name
    assert issubclass(kind, errors.JavaException)
    assert issubclass(kind, python)
    assert (str(kind()), kind().message) == (name, None)
    assert (str(kind("in Kafka's words")), kind("in Kafka's words").message) == ("in Kafka's words",) * 2


def test_every_error_is_either_a_java_exception_or_a_question_error() -> None:
    kinds = [getattr(errors, name) for name in errors.__all__]
    both = [kind for kind in kinds if issubclass(kind, errors.JavaException) and issubclass(kind, errors.QuestionError)]
    assert not both
    assert all(issubclass(kind, (errors.JavaException, errors.QuestionError)) for kind in kinds)
    assert {kind.__name__ for kind in kinds if issubclass(kind, errors.JavaException)} == {"JavaException", *JAVA}
