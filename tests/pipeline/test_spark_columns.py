"""``partition_for_key`` as a Column, in a session that a user started; expected answers are Java's (the frozen cases)."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from kafka_conformance.cases.store import frozen
from kafka_conformance.rules import RULES
from kafka_conformance.spark import partition_for_key
from kafka_reference.errors import ArithmeticException

# pyspark leaves sockets to the garbage collector.
pytestmark = [pytest.mark.jvm, pytest.mark.filterwarnings("ignore::ResourceWarning")]

RULE = RULES["partition-for-key"]


@pytest.fixture(scope="module")
def session() -> Iterator[Any]:
    from kafka_conformance.spark.session import open_spark

    os.environ["PYSPARK_PYTHON"] = sys.executable
    with open_spark("local[2]") as spark:  # nothing of it but its session is used
        yield spark.session


def cases() -> list[tuple[bytes, int, int]]:
    """Key, count and partition, as Java has them in the newest release."""
    found = frozen(RULE)
    assert found is not None
    newest = list(found.provenance.jars)[-1]
    asked = [(case.typed_question(RULE), case.answer) for case in found.at(newest)]
    return [(bytes.fromhex(question.key), question.partitions, int(str(answer["partition"])))  # type: ignore[attr-defined]
            for question, answer in asked if "partition" in answer]  # fmt: skip


def test_every_frozen_case_as_java_answers_it(session: Any) -> None:
    from pyspark.sql.functions import col

    asked = cases()
    assert len(asked) > 3_000
    frame = session.createDataFrame(asked, "key binary, partitions int, java int")
    collected = frame.select("java", partition_for_key("key", col("partitions")).alias("here")).collect()
    assert [row.here for row in collected] == [row.java for row in collected]
    assert len(collected) == len(asked)


def test_one_count_for_all(session: Any) -> None:
    asked = [(key, java) for key, count, java in cases() if count == 12]
    assert len(asked) > 100
    collected = (
        session.createDataFrame(asked, "key binary, java int").select("java", partition_for_key("key", 12)).collect()
    )
    assert [row[1] for row in collected] == [row[0] for row in collected]


def test_nulls_and_the_empty_key(session: Any) -> None:
    from pyspark.sql.functions import col

    rows = [(b"", 12), (None, 12), (b"foo", None), (None, None), (b"foo", 12), (b"foo", -12)]
    frame = session.createDataFrame(rows, "key binary, n int").coalesce(1)
    collected = [row[0] for row in frame.select(partition_for_key(col("key"), col("n"))).collect()]
    java = {(key, count): partition for key, count, partition in cases()}
    empty = java[b"", 12]
    assert collected == [empty, None, None, None, 8, 8]
    assert [row[0] for row in frame.select(partition_for_key("key", 12)).collect()] == [empty, None, 8, None, 8, 8]
    nothing = frame.where("n = 13").select(partition_for_key("key", 12).alias("p"))
    assert (nothing.dtypes, nothing.collect()) == ([("p", "int")], [])


def test_a_column_of_text_has_to_be_meant(session: Any) -> None:
    frame = session.createDataFrame([("foo",), ("grüße",), (None,)], "key string").coalesce(1)
    with pytest.raises(Exception, match="Kafka hashes bytes, and keys holds"):
        frame.select(partition_for_key("key", 12)).collect()
    collected = frame.select(partition_for_key("key", 12, encoding="UTF-8")).collect()
    bytes_ = frame.selectExpr("cast(key as binary) key").select(partition_for_key("key", 12)).collect()
    assert [row[0] for row in collected] == [row[0] for row in bytes_]
    assert collected[0][0] == 8


def test_no_partitions(session: Any) -> None:
    from pyspark.sql.functions import lit

    with pytest.raises(ArithmeticException):
        partition_for_key("key", 0)
    with pytest.raises(ValueError, match="Java int"):
        partition_for_key("key", 2**31)
    with pytest.raises(ValueError, match="latin-1"):
        partition_for_key("key", 12, encoding="latin-1")
    frame = session.createDataFrame([(b"foo",)], "key binary")
    with pytest.raises(Exception, match="ArithmeticException"):
        frame.select(partition_for_key("key", lit(0))).collect()
