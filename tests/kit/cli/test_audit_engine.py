"""Which engine audits: this process unless only Spark can, or the source is large."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from mock_broker import MockBroker, mock_broker

from kafka_conformance.audit.join_result import Join
from kafka_conformance.cli import audit_engine
from kafka_conformance.cli.audit_engine import local_source
from kafka_conformance.cli.audit_source import Given
from kafka_conformance.cli.main import app
from kafka_conformance.core.errors import BadInput, KitError


@pytest.fixture
def files(tmp_path: Path) -> str:
    pq.write_table(pa.table({"partition": [0, 0], "offset": [0, 1], "key": [b"a", b"b"]}), tmp_path / "a.parquet")
    return str(tmp_path / "a.parquet")


def chosen(name: str, engine: str = "auto", **given: Any) -> bool:
    return local_source(name, Given(engine=engine, form="parquet", partitions=1, **given)) is not None


def test_file_below_the_record_limit_is_audited_without_spark(files: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert chosen(files)
    assert not chosen(files, "spark")
    monkeypatch.setattr(audit_engine, "LIMIT_RECORDS", 1)
    assert not chosen(files)
    assert chosen(files, "local")


@pytest.mark.parametrize(("given", "reason"), [
    ({"master": "spark://host:7077"}, "--master, --setting and spark-submit belong to Spark"),
    ({"settings": ("spark.driver.memory=8g",)}, "--master, --setting and spark-submit belong to Spark"),
    ({"folder": "hdfs:///a"}, "--folder hdfs:///a is on a file system of the cluster"),
    ({"options": ("minPartitions=5",)}, "--option minPartitions is an option of Spark's connector"),
])  # fmt: skip
def test_local_engine_with_an_option_of_spark_is_refused_with_the_reason(
    files: str, given: dict[str, Any], reason: str
) -> None:
    assert not chosen(files, **given)
    with pytest.raises(BadInput, match=rf"^--engine local cannot audit {files}: {reason}; use --engine spark$"):
        chosen(files, "local", **given)


def test_remote_files_and_runs_under_spark_submit_are_audited_by_spark(
    files: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not chosen("s3a://bucket/orders")
    assert chosen(f"file://{files}")
    monkeypatch.setenv("PYSPARK_GATEWAY_PORT", "1")
    assert not chosen(files), "inside spark-submit"


def test_local_engine_without_pyarrow_is_refused_with_pip_install_hint(
    files: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "pyarrow" else find(name))
    assert not chosen(files)
    with pytest.raises(BadInput, match=r"pyarrow is missing \(pip install '\.\[audit\]' in a checkout\)"):
        chosen(files, "local")


def test_join_of_small_files_finds_missed_keys_without_spark(tmp_path: Path) -> None:
    """Two topics whose keys are in other partitions, read from files and judged by the command itself."""
    names = [str(tmp_path / name) for name in ("a", "b")]
    for at, name in enumerate(names):
        pq.write_table(pa.table({"partition": [at, 0], "offset": [0, 1], "key": [b"a", b"b"]}), name)
    words = ["audit", "--join", *names, "--format", "parquet", "--partitions", "2", "--json", "--engine"]
    ran = CliRunner().invoke(app, [*words, "local"], standalone_mode=False)
    assert ran.return_value == 1, ran.exception
    found = msgspec.json.decode(ran.stdout, type=Join)
    assert (found.a.name, found.keys_in_both, found.keys_missed, [one.key for one in found.missed]) == (
        names[0],
        2,
        1,
        ["61"],
    )
    assert found.reading is not None
    ran = CliRunner().invoke(app, [*words, "local", "--key-format", "confluent"], standalone_mode=False)
    assert str(ran.exception) == "--engine local has no --join with --key-format: use --engine spark"
    repair = ["audit", names[0], "--repair-to", "new", *words[4:], "local"]
    assert str(CliRunner().invoke(app, repair).exception) == "--engine local has no --repair-to: a repair needs Spark"


@pytest.fixture(scope="module")
def broker() -> Iterator[MockBroker]:
    with mock_broker() as found:
        found.write("orders", [(0, b"k", 5)] * 9)
        yield found


def read(name: str, broker: str, engine: str = "auto", *options: str) -> bool:
    given = Given(bootstrap=broker, engine=engine, options=tuple(f"kafka.{each}" for each in options))
    return local_source(name, given) is not None


def test_topic_below_the_record_limit_is_audited_without_spark(
    broker: MockBroker, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert read("orders", broker.bootstrap)
    assert not read("orders", broker.bootstrap, "spark")
    monkeypatch.setattr(audit_engine, "LIMIT_RECORDS", 8)
    assert not read("orders", broker.bootstrap)
    assert read("orders", broker.bootstrap, "local")
    with pytest.raises(BadInput, match="topic nowhere cannot be read"):
        read("nowhere", broker.bootstrap)


def test_jks_truststore_setting_selects_spark_since_librdkafka_reads_pem(broker: MockBroker) -> None:
    jks = ("security.protocol=SSL", "ssl.truststore.location=/etc/trust.jks")
    assert not read("orders", broker.bootstrap, "auto", *jks)
    with pytest.raises(
        BadInput, match=r"audit orders: ssl.truststore.type=JKS: librdkafka reads PEM; use --engine spark"
    ):
        read("orders", broker.bootstrap, "local", *jks)


def test_topic_of_broker_unreachable_by_librdkafka_is_audited_by_spark(monkeypatch: pytest.MonkeyPatch) -> None:
    """Java has certificates of its own."""
    monkeypatch.setattr("kafka_conformance.audit.engines.local.topic.LIMIT_S", 0.2)
    assert not read("orders", "127.0.0.1:9")
    with pytest.raises(KitError, match=r"the broker at 127.0.0.1:9, reading the offsets of orders"):
        read("orders", "127.0.0.1:9", "local")
