"""Spark and this process give the same audit of the same records: ``audit.json`` and the listed records are equal."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import topics
from topics import JavaWriter, Librdkafka, Records, keys_of

from kafka_conformance.audit.engines.local.export import LocalExport
from kafka_conformance.audit.engines.local.join import join_locally
from kafka_conformance.audit.engines.local.run import audit_locally
from kafka_conformance.audit.engines.local.topic import LocalTopic
from kafka_conformance.audit.engines.spark import run
from kafka_conformance.audit.engines.spark.join import join_audit
from kafka_conformance.audit.engines.spark.run import audit, planned
from kafka_conformance.audit.engines.spark.sources import Export, Topic
from kafka_conformance.audit.isolation import OPTION, READ_COMMITTED, READ_UNCOMMITTED
from kafka_conformance.audit.plan import AuditRequest
from kafka_conformance.audit.record_hash import mixed
from kafka_conformance.audit.result import Audit
from kafka_conformance.audit.topics import kafka_options
from kafka_conformance.brokers.broker import Broker
from kafka_conformance.brokers.client_settings import java_settings, librdkafka_settings
from kafka_conformance.core.progress import Steps
from kafka_conformance.spark.session import Spark

STEPS = Steps("audit", 1)


def mixture(bootstrap: str, topic: str, java: JavaWriter) -> None:
    topics.create_topic(bootstrap, topic, 12)
    keys = {seed: Records(keys_of(15_000, seed=seed, keyless=0.1)) for seed in (1, 2)}
    topics.in_turns(bootstrap, topic, [(java, keys[1]), (Librdkafka(), keys[2])], turns=3)


def growth(bootstrap: str, topic: str, java: JavaWriter) -> None:
    before, after = Records(keys_of(9_000, seed=4)), Records(keys_of(20_000, seed=5))
    topics.write_around_growth(java, bootstrap, topic, before, after)


def transactions(bootstrap: str, topic: str, java: JavaWriter) -> None:
    """Committed and aborted ones, one that stays open, and first records that are deleted."""
    from confluent_kafka import Producer, TopicPartition
    from confluent_kafka.admin import AdminClient

    topics.create_topic(bootstrap, topic, 5)
    java.write(bootstrap, topic, Records(keys_of(3_000, seed=6)))
    settings = {"bootstrap.servers": bootstrap, "partitioner": "murmur2_random", "log_level": 0}
    producer = Producer({**settings, "transactional.id": topic, "transaction.timeout.ms": 900_000})
    producer.init_transactions(60)
    for number in range(7):
        producer.begin_transaction()
        for key in keys_of(400, seed=10 + number, keyless=0.05):
            producer.produce(topic, b"v", key)
        producer.flush(60)
        if number < 6:
            (producer.abort_transaction if number % 2 else producer.commit_transaction)(60)
    java.write(bootstrap, topic, Records(keys_of(500, seed=7)))
    admin = AdminClient({"bootstrap.servers": bootstrap})
    deleted = admin.delete_records([TopicPartition(topic, 3, 99)])
    assert all(one.result(60).low_watermark == 99 for one in deleted.values())
    OPEN.append(producer)


OPEN: list[Any] = []
"""Producers whose transaction is open: one that is collected aborts it."""


def keyless(bootstrap: str, topic: str, java: JavaWriter) -> None:
    topics.create_topic(bootstrap, topic, 6)
    java.write(bootstrap, topic, Records([None] * 20_000))


def rare(bootstrap: str, topic: str, java: JavaWriter) -> None:
    """No block shows the second producer: the leftovers of all blocks do."""
    topics.create_topic(bootstrap, topic, 12)
    turns = [
        (java, Records(keys_of(40_000, distinct=10**9, seed=8))),
        (Librdkafka(), Records(keys_of(120, distinct=10**9))),
    ]
    topics.in_turns(bootstrap, topic, turns, turns=12)


def five(bootstrap: str, topic: str, _: JavaWriter) -> None:
    topics.create_topic(bootstrap, topic, 12)
    Librdkafka().write(bootstrap, topic, Records(keys_of(5, distinct=4)))


def empty(bootstrap: str, topic: str, _: JavaWriter) -> None:
    topics.create_topic(bootstrap, topic, 3)


def found_in(result: Audit) -> dict[str, Any]:
    """All that an audit found: not how long it took, nor where it lies."""
    fields = {field: getattr(result, field) for field in Audit.__struct_fields__}
    return {name: value for name, value in fields.items() if name not in {"took_s", "offending_records"}}


def listed(folder: Path) -> list[dict[str, Any]]:
    """The records in the folder's files, by place; a folder of Spark's has files whose names begin with an underscore."""
    files = [path for path in folder.glob("chunks/*/kind=record/*.parquet") if path.name[0] != "_"]
    rows = [row for path in files for row in pq.ParquetFile(path).read().to_pylist()]
    return sorted(rows, key=lambda row: (row["partition"], row["offset"]))


KINDS = [*((write, READ_COMMITTED) for write in (mixture, growth, transactions, keyless, rare, five, empty)),
         (transactions, READ_UNCOMMITTED)]  # fmt: skip


@pytest.mark.parametrize(("write", "isolation"), KINDS)
def test_spark_and_local_engines_give_equal_audits_of_topic_and_local_resumes_spark_runs(
    write: Callable[[str, str, JavaWriter], None], isolation: str, spark: Spark, kafka_broker: Broker, java: JavaWriter,
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setattr(run, "FEW_RECORDS", -1)  # Spark adds up by itself
    monkeypatch.setattr(Topic, "reader", lambda _: None)
    topic, where = f"engines-{write.__name__}-{isolation}", kafka_broker.bootstrap
    write(where, topic, java)
    asked = AuditRequest(topic, where, every_record=write is not rare, isolation=isolation)
    options = kafka_options(where, {OPTION: isolation})
    by_spark = audit(spark, Topic.find(spark, topic, options), asked, str(tmp_path / "spark"), STEPS)
    client = librdkafka_settings(java_settings(options))
    alone = audit_locally(LocalTopic.find(topic, client), asked, str(tmp_path / "local"), STEPS)
    assert found_in(alone) == found_in(by_spark)
    assert listed(tmp_path / "local") == listed(tmp_path / "spark")
    if write is transactions:
        assert by_spark.reading is not None
        assert (by_spark.reading.open > 0) == (isolation == READ_COMMITTED)
        assert by_spark.reading.without_record > 0
    plan = planned(spark, str(tmp_path / "local"))
    assert plan is not None
    spans = LocalTopic.find(topic, client, plan.spans)
    assert found_in(audit_locally(spans, asked, str(tmp_path / "spark"), STEPS)) == found_in(by_spark), "resumed"


def test_spark_and_local_engines_give_equal_audits_of_an_export(spark: Spark, tmp_path: Path) -> None:
    """Larger than a sample, in any order, in chunks."""
    draws, count = np.random.default_rng(3), 90_000
    keys = [None if draws.random() < 0.1 else b"customer-%d" % number for number in draws.integers(0, 9_000, count)]
    partitions = np.array([0 if key is None else sum(key) % 5 for key in keys], np.int32)
    order = draws.permutation(count)
    table = pa.table(
        {"partition": partitions, "offset": np.arange(count), "timestamp": 1_000 + np.arange(count), "key": keys}
    )
    (tmp_path / "export").mkdir()
    for number, rows in enumerate(np.array_split(order, 3)):
        pq.write_table(table.take(pa.array(rows)), tmp_path / "export" / f"{number}.parquet")
    path = str(tmp_path / "export")
    asked = AuditRequest(path, "", chunk_records=150_000)
    by_spark = audit(spark, Export(spark, path, "parquet", 5), asked, str(tmp_path / "spark"), STEPS)
    alone = audit_locally(LocalExport(path, "parquet", 5), asked, str(tmp_path / "local"), STEPS)
    assert found_in(alone) == found_in(by_spark)
    assert listed(tmp_path / "local") == listed(tmp_path / "spark")


def test_spark_and_local_engines_give_equal_audits_of_a_join(
    spark: Spark, kafka_broker: Broker, java: JavaWriter, tmp_path: Path
) -> None:
    where, sources = kafka_broker.bootstrap, ("engines-join-a", "engines-join-b")
    for topic, writer, count in zip(sources, (java, Librdkafka()), (6, 5), strict=True):
        topics.create_topic(where, topic, count)
        for seed in (1, 2):
            writer.write(where, topic, Records(keys_of(4_000, seed=seed, keyless=0.1)))
    options = kafka_options(where, {OPTION: READ_COMMITTED})
    client = librdkafka_settings(java_settings(options))
    given: dict[str, Any] = {"kit": "0", "clock": lambda: 1.0, "rule": "murmur2", "kept": 50}
    by_spark = join_audit(spark, *(Topic.find(spark, topic, options) for topic in sources), **given)
    alone = join_locally(*(LocalTopic.find(topic, client) for topic in sources), progress=STEPS, **given)
    assert by_spark.keys_missed > 50
    assert alone == by_spark


def test_spark_and_numpy_compute_equal_xxhash64_for_record_sampling(spark: Spark) -> None:
    rows = [(partition, offset) for partition in (0, 7, 2**31 - 1) for offset in (0, 1, 10**15, 2**63 - 1)]
    frame = spark.session.createDataFrame(rows, "partition int, offset long")
    numbers = [row[0] for row in frame.selectExpr("xxhash64(partition, offset)").collect()]
    partitions, offsets = zip(*rows, strict=True)
    assert mixed(np.array(partitions, np.int32), np.array(offsets, np.int64)).tolist() == numbers
