"""``partition_for_key`` by a client of Spark Connect, which has no JVM; expected answers are Java's (the frozen cases).

``CONNECT_CLIENT`` names another Python for the client, such as one of ``kafka-conformance[connect]``, which has no py4j.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from key_cases import TEXT, cases
from spark_daemons import await_port, daemon, environment, free_port, spark_program

from kafka_conformance.oracle.jvm import spark_jars

pytestmark = pytest.mark.jvm
pytest.importorskip("grpc", reason="the extra `connect` of PySpark")

CLIENT = """
import json, sys
from kafka_conformance.spark import partition_for_key, register
from pyspark.sql import SparkSession
from pyspark.sql.functions import col

spark = SparkSession.builder.remote(sys.argv[1]).getOrCreate()
assert "connect" in type(spark).__module__
register(spark)
cases = [(bytes.fromhex(key), n) for key, n in json.load(sys.stdin)]
frame = spark.createDataFrame(cases, "key binary, n int").coalesce(1)
frame.createOrReplaceTempView("cases")

def numbers(frame):
    return [row[0] for row in frame.collect()]

def error(frame):
    try:
        return str(frame.collect())
    except Exception as raised:
        return str(raised)

answers = {
    "column": numbers(frame.select(partition_for_key("key", col("n")))),
    "one": numbers(frame.where("n = 12").select(partition_for_key(col("key"), 12))),
    "sql": numbers(spark.sql("SELECT partition_for_key(key, n) FROM cases")),
    "text": numbers(spark.sql("SELECT 'foo' key").select(partition_for_key("key", 12, encoding="utf-8"))),
    "error": error(spark.sql("SELECT partition_for_key('foo', 12)")),
}
if "py4j" in sys.modules:  # the whole of PySpark imports it
    from pyspark import SparkContext
    assert SparkContext._gateway is None and SparkContext._jvm is None
json.dump(answers, sys.stdout)
spark.stop()
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server of Spark Connect; up to Spark 3.5 its jar is not among PySpark's own, and is named by ``CONNECT_JAR``."""
    jar, port = os.environ.get("CONNECT_JAR"), free_port()
    if not jar and not list(spark_jars().glob("spark-connect_*.jar")):
        pytest.skip("PySpark has a server of Spark Connect since 4.0: name the jar of this version by CONNECT_JAR")
    settings = {
        "spark.connect.grpc.binding.address": "127.0.0.1",  # since 4.0; before, every interface
        "spark.connect.grpc.binding.port": str(port),
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.ui.enabled": "false",
    }
    command = [spark_program("spark-submit"), "--class", "org.apache.spark.sql.connect.service.SparkConnectServer"]
    command += ["--master", "local[2]", *(["--jars", jar] if jar else [])]
    command += [word for name, value in settings.items() for word in ("--conf", f"{name}={value}")]
    folder = tmp_path_factory.mktemp("connect")
    with daemon([*command, "spark-internal"], folder / "server.log", environment()):
        await_port(port)
        yield f"sc://127.0.0.1:{port}"


def test_spark_connect_client_without_jvm_places_keys_as_java_and_refuses_strings_without_encoding(
    server: str, tmp_path: Path
) -> None:
    asked = cases()[::5]
    assert len(asked) > 600
    program = tmp_path / "client.py"
    program.write_text(CLIENT, encoding="utf-8")
    python = os.environ.get("CONNECT_CLIENT", sys.executable)
    env = {name: value for name, value in os.environ.items() if name != "JAVA_HOME"}
    ran = subprocess.run(
        [python, "-W", "ignore", program, server], input=json.dumps([(key.hex(), count) for key, count, _ in asked]),
        capture_output=True, text=True, timeout=120, check=False, env=env,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr[-3000:]
    answers = json.loads(ran.stdout)
    java = [partition for _, _, partition in asked]
    assert answers["column"] == answers["sql"] == java
    assert answers["one"] == [partition for _, count, partition in asked if count == 12] != []
    assert answers["text"] == [8]
    assert TEXT in answers["error"]
