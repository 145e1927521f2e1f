"""``partition_for_key`` as a column and in SQL, in a session that a user started; Java's are the answers."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from key_cases import TEXT, cases

from kafka_conformance.spark import partition_for_key, register
from kafka_reference.errors import ArithmeticException

# pyspark leaves sockets to the garbage collector.
pytestmark = [pytest.mark.jvm, pytest.mark.filterwarnings("ignore::ResourceWarning")]

PAGE = Path(__file__).parents[2] / "kit" / "docs" / "spark.md"


@pytest.fixture(scope="module")
def session() -> Iterator[Any]:
    from kafka_conformance.spark.session import open_spark

    os.environ["PYSPARK_PYTHON"] = sys.executable
    with open_spark("local[2]") as spark:  # nothing of it but its session is used
        yield spark.session


def test_spark_column_equals_the_recorded_java_partition_for_every_test_key(session: Any) -> None:
    from pyspark.sql.functions import col

    asked = cases()
    assert len(asked) > 3_000
    frame = session.createDataFrame(asked, "key binary, partitions int, java int")
    collected = frame.select("java", partition_for_key("key", col("partitions")).alias("here")).collect()
    assert [row.here for row in collected] == [row.java for row in collected]
    assert len(collected) == len(asked)


def test_spark_column_with_constant_partition_count_places_keys_as_java(session: Any) -> None:
    asked = [(key, java) for key, count, java in cases() if count == 12]
    assert len(asked) > 100
    collected = (
        session.createDataFrame(asked, "key binary, java int").select("java", partition_for_key("key", 12)).collect()
    )
    assert [row[1] for row in collected] == [row[0] for row in collected]


def test_spark_column_returns_null_for_null_key_or_count_and_partition_for_empty_key(session: Any) -> None:
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


def test_spark_column_of_string_keys_raises_unless_encoding_utf8_is_given(session: Any) -> None:
    frame = session.createDataFrame([("foo",), ("grüße",), (None,)], "key string").coalesce(1)
    with pytest.raises(Exception, match=TEXT):
        frame.select(partition_for_key("key", 12)).collect()
    collected = frame.select(partition_for_key("key", 12, encoding="UTF-8")).collect()
    bytes_ = frame.selectExpr("cast(key as binary) key").select(partition_for_key("key", 12)).collect()
    assert [row[0] for row in collected] == [row[0] for row in bytes_]
    assert collected[0][0] == 8


def test_spark_column_with_invalid_partition_count_or_encoding_raises_an_error(session: Any) -> None:
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


def test_spark_sql_function_equals_the_recorded_java_partition_for_every_test_key(session: Any) -> None:
    register(session)
    asked = cases()
    session.createDataFrame(asked, "key binary, n int, java int").createOrReplaceTempView("cases")
    placed = session.sql("SELECT java, partition_for_key(key, n), partition_for_key(key, bigint(n)) FROM cases")
    collected = placed.collect()
    assert [row[1] for row in collected] == [row[2] for row in collected] == [row.java for row in collected]
    assert len(collected) == len(asked)
    (row,) = session.sql("SELECT count(*) c FROM cases WHERE n = 12 AND partition_for_key(key, 12) != java").collect()
    assert row.c == 0
    # Beside a function of the user's own over the same column, and in an aggregate.
    shares = session.sql("SELECT partition_for_key(key, 3) p, count(*) FROM cases GROUP BY p ORDER BY p").collect()
    assert [row.p for row in shares] == [0, 1, 2]


def test_spark_sql_function_returns_null_for_null_and_raises_for_strings_without_encoding(session: Any) -> None:
    register(session)
    rows = session.sql("SELECT partition_for_key(k, n) p FROM VALUES (CAST('foo' AS BINARY), 12), (NULL, 12), "
                       "(CAST('foo' AS BINARY), NULL) AS t(k, n)").collect()  # fmt: skip
    assert [row.p for row in rows] == [8, None, None]
    with pytest.raises(Exception, match=TEXT):
        session.sql("SELECT partition_for_key('foo', 12)").collect()
    assert session.sql("SELECT partition_for_key(CAST('foo' AS BINARY), 12)").collect()[0][0] == 8
    register(session, "placed", encoding="utf-8")
    assert session.sql("SELECT placed('foo', 12), placed(CAST('foo' AS BINARY), 12)").collect()[0] == (8, 8)
    with pytest.raises(Exception, match="ArithmeticException"):
        session.sql("SELECT partition_for_key(CAST('foo' AS BINARY), 0)").collect()


def test_examples_in_the_spark_documentation_give_the_expected_results_and_error(session: Any) -> None:
    page = PAGE.read_text(encoding="utf-8")
    (shown, connect) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    events = session.createDataFrame([(b"alice", 9), (b"bob", 7)], "key binary, partition int")
    events.createOrReplaceTempView("events")
    names = {"spark": session, "events": events}
    results = []
    for line in shown.splitlines():
        if line.startswith(("events.", "spark.sql")):
            results.append(eval(line, names))  # noqa: S307  the page's own line
        else:
            exec(line, names)  # noqa: S102
    assert [sorted(tuple(row) for row in frame.collect()) for frame in results] == [
        [(b"alice", 9, 9), (b"bob", 7, 6)],
        [(b"bob", 7)],
        [(b"alice", 9), (b"bob", 7)],
        [(b"alice", 9), (b"bob", 6)],
    ]
    assert "register(spark)" in connect
    (message,) = re.findall(r"TypeError: (.*)", page)
    with pytest.raises(Exception, match=re.escape(message)):
        session.sql("SELECT partition_for_key('foo', 12)").collect()
