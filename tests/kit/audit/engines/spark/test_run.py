"""What an audit with Spark leaves to its driver: the sample, and adding up the findings of a run on this machine."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace as Of
from typing import Any

import pyarrow as pa
import pytest

from kafka_conformance.audit.engines.local.findings import LocalFindings
from kafka_conformance.audit.engines.spark import run
from kafka_conformance.audit.engines.spark.findings import SparkFindings
from kafka_conformance.audit.engines.spark.sources import Topic
from kafka_conformance.audit.topics import Span
from kafka_conformance.core.errors import KitError


def run_in(folder: str, *, here: bool = True, scheme: str = "file:") -> Any:
    return Of(folder=folder, located=lambda _: f"{scheme}{folder}/chunks/chunk-000000", spark=Of(on_one_machine=here))


def test_few_records_are_summed_without_spark_only_in_a_local_folder_on_one_machine(tmp_path: Path) -> None:
    few = run.FEW_RECORDS
    assert isinstance(run._findings(run_in(str(tmp_path)), 1, few), LocalFindings)
    assert isinstance(run._findings(run_in(str(tmp_path)), 1, few + 1), SparkFindings)
    assert isinstance(run._findings(run_in(str(tmp_path), here=False), 1, few), SparkFindings)
    assert isinstance(run._findings(run_in("/a", scheme="hdfs://host"), 1, few), SparkFindings)


def sampled(sample: Callable[[int], pa.Table] | None) -> Any:
    """The sample of a source whose reader is this; Spark's own is a word."""
    reader = None if sample is None else Of(sample=sample)
    source: Any = Of(name="t", reader=lambda: reader)
    spark: Any = Of(call=lambda *_: "by Spark")
    return run._sample(spark, source)


def test_sample_is_read_without_spark_unless_there_is_no_reader_or_the_broker_fails() -> None:
    def unreachable(_: int) -> pa.Table:
        raise KitError("the broker has sent nothing")

    rows = pa.table({"partition": [0]})
    assert sampled(lambda records: rows if records == run.SAMPLE_RECORDS else None) is rows
    assert sampled(unreachable) == "by Spark"
    assert sampled(None) == "by Spark"


@pytest.mark.parametrize(("options", "reads"), [
    ({}, True),
    ({"kafka.isolation.level": "read_committed", "failOnDataLoss": "true"}, True),
    ({"kafka.security.protocol": "SSL"}, False),
    ({"kafka.security.protocol": "SSL", "kafka.ssl.truststore.location": "/a.jks"}, False),
])  # fmt: skip
def test_topic_has_a_librdkafka_reader_unless_tls_uses_a_jks_or_default_truststore(
    options: dict[str, str], reads: bool
) -> None:
    spans = {0: Span(0, 5)}
    spark: Any = None
    reader = Topic(spark, "t", {"kafka.bootstrap.servers": "b:1", **options}, spans).reader()
    assert (reader is not None) == reads
    if reader is not None:
        assert (reader.name, reader.spans) == ("t", spans)
        assert reader._settings["bootstrap.servers"] == "b:1"
        assert reader._settings["isolation.level"] == options.get("kafka.isolation.level", "read_uncommitted")
