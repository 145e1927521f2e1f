"""``partition_for_key`` for PySpark without a JVM: what executors run, over pandas and over Arrow, and what SQL gets."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import pytest

from kafka_conformance.spark import functions, partition_for_key, register
from kafka_reference import partition_for_key as one
from kafka_reference.errors import ArithmeticException

pa = pytest.importorskip("pyarrow")
pd = pytest.importorskip("pandas")
pytest.importorskip("pyspark")

KEYS = [b"alice", None, b"", b"bob", "grüße".encode()]
PLACED = [None if key is None else one(key, 12) for key in KEYS]


class Session:
    """Keeps what is registered, as ``spark.udf`` does; it has no JVM."""

    def __init__(self) -> None:
        self.udf = self
        self.functions: dict[str, Any] = {}

    def register(self, name: str, function: Any) -> None:
        self.functions[name] = function.func


def registered(**options: Any) -> Any:
    session: Any = Session()
    assert register(session, **options) is None
    return session.functions.pop(options.get("name", "partition_for_key"))


def over_pandas(function: Any, keys: list[Any], counts: list[Any]) -> list[Any]:
    """Run it as Spark up to 4.0 does: a column of objects, labels that do not begin at 0; nulls come back as None."""
    labels = range(5, 5 + len(keys))
    placed = function(pd.Series(keys, labels, object), pd.Series(counts, labels))
    assert list(placed.index) == list(labels)
    return [None if pd.isna(each) else int(each) for each in placed]


@pytest.fixture
def with_pandas(monkeypatch: pytest.MonkeyPatch) -> None:
    """A Spark without functions over Arrow, as up to 4.0."""
    monkeypatch.setattr(functions, "_arrow_udf", lambda: None)


@pytest.mark.usefixtures("with_pandas")
def test_registered_sql_function_places_keys_by_partition_count() -> None:
    function = registered()
    assert over_pandas(function, KEYS, [12] * 5) == PLACED
    assert over_pandas(function, [b"alice", b"alice", b"alice"], [12, 3, None]) == [9, one(b"alice", 3), None]
    assert over_pandas(registered(name="placed"), [b"alice"], [-12]) == [9]
    assert over_pandas(function, [None, None], [12, 12]) == [None, None]
    assert over_pandas(function, [], []) == []


@pytest.mark.usefixtures("with_pandas")
def test_sql_function_with_zero_partitions_raises_even_for_null_key() -> None:
    for keys in ([b"alice"], [None]):
        with pytest.raises(ArithmeticException):
            over_pandas(registered(), keys, [0])


TEXT = (
    r"^Kafka hashes bytes, and keys holds string: give encoding=\"utf-8\" if Java's StringSerializer wrote the keys"
    r" \(in SQL: CAST\(key AS BINARY\)\), else the bytes that your serializer makes$"
)


@pytest.mark.usefixtures("with_pandas")
def test_string_keys_without_encoding_raise_type_error_that_suggests_utf8() -> None:
    for keys in (["alice"], [None, "alice"]):
        with pytest.raises(TypeError, match=TEXT):
            over_pandas(registered(), keys, [12] * len(keys))
    text = registered(encoding="UTF-8")
    assert over_pandas(text, ["alice", None, "grüße"], [12] * 3) == [9, None, PLACED[4]]
    assert over_pandas(text, [b"alice"], [12]) == [9]


@pytest.mark.usefixtures("with_pandas")
def test_integer_keys_raise_type_error_that_asks_for_bytes() -> None:
    with pytest.raises(TypeError, match="keys holds int64: give the bytes your serializer makes"):
        over_pandas(registered(), [7], [12])


def test_partition_for_key_over_arrow_equals_scalar_and_refuses_strings_without_encoding() -> None:
    placement = functions._Placement(None, text=False)
    keys, counts = pa.array(KEYS), pa.array([12] * 5, pa.int32())
    assert placement.place(keys, counts).to_pylist() == PLACED
    assert placement.place(pa.array([b"alice"] * 3), pa.array([12, 3, None], pa.int64())).to_pylist() == [
        9,
        one(b"alice", 3),
        None,
    ]
    assert functions._Placement(12, text=False).place(keys).to_pylist() == PLACED
    assert placement.place(keys.slice(3), counts.slice(3)).type == pa.int32()
    for kind in (pa.string(), pa.large_string()):
        with pytest.raises(TypeError, match='give encoding="utf-8"'):
            placement.place(pa.array(["alice"], kind), pa.array([12]))
        assert functions._Placement(12, text=True).place(pa.array(["alice"], kind)).to_pylist() == [9]


def test_registering_the_sql_function_with_encoding_latin1_raises_and_registers_nothing() -> None:
    session: Any = Session()
    with pytest.raises(ValueError, match="latin-1"):
        register(session, encoding="latin-1")
    assert session.functions == {}


def test_spark_connect_column_is_built_without_a_jvm() -> None:
    pytest.importorskip("grpc")
    program = (
        "from kafka_conformance.spark import partition_for_key as place\n"
        "from pyspark.sql.functions import col\n"
        "print(place('key', 12), place(col('key'), col('partitions')), place('key', 12, encoding='utf-8'))\n"
        "import pyspark\n"
        "assert pyspark.SparkContext._gateway is None and pyspark.SparkContext._jvm is None\n"
    )
    environment = os.environ | {"SPARK_CONNECT_MODE_ENABLED": "1", "SPARK_REMOTE": "sc://127.0.0.1:1"}
    ran = subprocess.run([sys.executable, "-W", "ignore", "-c", program], env=environment, capture_output=True, text=True,
                         check=False, timeout=60)  # fmt: skip
    assert ran.returncode == 0, ran.stderr[-2000:]
    assert ran.stdout.count("partition_for_key") == 3


def test_spark_column_with_partition_count_0_or_above_java_int_raises_an_error() -> None:
    with pytest.raises(ArithmeticException):
        partition_for_key("key", 0)
    with pytest.raises(ValueError, match="Java int"):
        partition_for_key("key", 2**31)
