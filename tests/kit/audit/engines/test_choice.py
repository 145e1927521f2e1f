"""Which engine audits: this process unless only Spark can, or the source is large."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from mock_broker import MockBroker, mock_broker

from kafka_conformance.audit.engines import choice
from kafka_conformance.audit.engines.choice import Engine, local_source
from kafka_conformance.audit.sources import ExportFiles
from kafka_conformance.cli.audit_source import SourceOptions
from kafka_conformance.core.errors import BadInput, KitError


@pytest.fixture
def files(tmp_path: Path) -> str:
    pq.write_table(pa.table({"partition": [0, 0], "offset": [0, 1], "key": [b"a", b"b"]}), tmp_path / "a.parquet")
    return str(tmp_path / "a.parquet")


def chosen(name: str, kind: Literal["auto", "local", "spark"] = "auto", folder: str = "", **spark: Any) -> bool:
    engine = Engine(kind, **spark)
    return local_source(ExportFiles(name, "parquet", 1), engine, folder=folder) is not None


def test_engine_for_a_file_is_local_below_the_record_limit_and_spark_above_unless_given(
    files: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert chosen(files)
    assert not chosen(files, "spark")
    monkeypatch.setattr(choice, "LIMIT_RECORDS", 1)
    assert not chosen(files)
    assert chosen(files, "local")


@pytest.mark.parametrize(("given", "reason"), [
    ({"master": "spark://host:7077"}, "--master, --setting and spark-submit belong to Spark"),
    ({"settings": {"spark.driver.memory": "8g"}}, "--master, --setting and spark-submit belong to Spark"),
    ({"folder": "hdfs:///a"}, "--folder hdfs:///a is on a file system of the cluster"),
])  # fmt: skip
def test_spark_option_or_cluster_folder_selects_spark_and_raises_error_with_local_engine(
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


def test_missing_pyarrow_selects_spark_and_raises_a_pip_hint_with_the_local_engine(
    files: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "pyarrow" else find(name))
    assert not chosen(files)
    with pytest.raises(BadInput, match=r"pyarrow is missing \(pip install '\.\[audit\]' in a checkout\)"):
        chosen(files, "local")


@pytest.fixture(scope="module")
def broker() -> Iterator[MockBroker]:
    with mock_broker() as found:
        found.write("orders", [(0, b"k", 5)] * 9)
        yield found


def read(name: str, broker: str, kind: Literal["auto", "local", "spark"] = "auto", *options: str) -> bool:
    (address,) = SourceOptions(bootstrap=broker, options=options).topics([name])
    return local_source(address, Engine(kind)) is not None


def test_topics_over_the_record_limit_use_spark_unless_engine_given_and_unknown_topic_raises(
    broker: MockBroker, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert read("orders", broker.bootstrap)
    assert not read("orders", broker.bootstrap, "spark")
    monkeypatch.setattr(choice, "LIMIT_RECORDS", 8)
    assert not read("orders", broker.bootstrap)
    assert read("orders", broker.bootstrap, "local")
    with pytest.raises(BadInput, match="topic nowhere cannot be read"):
        read("nowhere", broker.bootstrap)


def test_spark_connector_option_selects_spark_and_raises_an_error_with_the_local_engine(broker: MockBroker) -> None:
    assert not read("orders", broker.bootstrap, "auto", "minPartitions=5")
    with pytest.raises(BadInput, match=r"^--engine local cannot audit orders: --option minPartitions is an option"):
        read("orders", broker.bootstrap, "local", "minPartitions=5")


def test_jks_truststore_selects_spark_and_raises_an_error_with_the_local_engine(broker: MockBroker) -> None:
    jks = ("kafka.security.protocol=SSL", "kafka.ssl.truststore.location=/etc/trust.jks")
    assert not read("orders", broker.bootstrap, "auto", *jks)
    with pytest.raises(
        BadInput, match=r"audit orders: ssl.truststore.type=JKS: librdkafka reads PEM; use --engine spark"
    ):
        read("orders", broker.bootstrap, "local", *jks)


def test_topic_of_a_broker_unreachable_by_librdkafka_is_left_to_spark_or_raises_if_local(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Java has its own certificates."""
    monkeypatch.setattr("kafka_conformance.audit.engines.local.topic.LIMIT_S", 0.2)
    assert not read("orders", "127.0.0.1:9")
    with pytest.raises(KitError, match=r"the broker at 127.0.0.1:9, reading the offsets of orders"):
        read("orders", "127.0.0.1:9", "local")
