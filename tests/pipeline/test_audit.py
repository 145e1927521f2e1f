"""Audits of real topics, whose truth is known: by real producers, on a real broker, record by record."""

from __future__ import annotations

import re
import threading
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import topics
from topics import JavaWriter, KafkaPython, Librdkafka, Records, Truth, keys_of

from kafka_conformance.audit.engines.spark.run import audit, planned
from kafka_conformance.audit.engines.spark.sources import Topic
from kafka_conformance.audit.plan import AuditRequest
from kafka_conformance.audit.result import EITHER, UNEXPLAINED, Audit, Placed
from kafka_conformance.audit.topics import kafka_options
from kafka_conformance.brokers.broker import Broker, running_broker
from kafka_conformance.core.errors import BadInput, KitError
from kafka_conformance.core.progress import Steps
from kafka_conformance.spark.errors import SparkFault
from kafka_conformance.spark.runs import Run
from kafka_conformance.spark.session import Spark

JAVA, LIBRDKAFKA = Placed("murmur2", 12), Placed("librdkafka-consistent", 12)


def audited(
    spark: Spark, broker: Broker, topic: str, folder: Path, *, chunk: int = 8_000_000, every: bool = True, **kafka: str
) -> Audit:
    """The topic, audited; every record kept. ``kafka``: options of the connector, dots written as underscores."""
    asked = AuditRequest(topic, broker.bootstrap, chunk_records=chunk, every_record=every)
    before = planned(spark, str(folder))
    spans = None if before is None else before.spans
    options = {name.replace("_", "."): value for name, value in kafka.items()}
    source = Topic.find(spark, topic, kafka_options(broker.bootstrap, options), spans)
    return audit(spark, source, asked, str(folder), Steps("audit", 1))


def whose(spark: Spark, folder: Path) -> dict[tuple[int, int], tuple[str, str]]:
    """By partition and offset, whom each record was attributed to and who explains it."""
    rows = spark.session.read.parquet(f"{folder}/chunks/*/kind=record")
    columns = rows.select("partition", "offset", "attributed", "explained_by").collect()
    return {(row[0], row[1]): (row[2], row[3] or "") for row in columns}


def right(spark: Spark, folder: Path, truth: Truth) -> Counter[str]:
    """Hold every record against the truth: how many were attributed rightly, or to nobody. Never to somebody else."""
    found = whose(spark, folder)
    counts: Counter[str] = Counter()
    true = truth.at()
    assert found.keys() == true.keys()
    for place, (key, rule, count) in true.items():
        attributed, explained_by = found[place]
        if key is None:
            assert attributed == "no key"
            counts["no key"] += 1
            continue
        assert attributed in {f"{rule}@{count}", EITHER}, (place, key, attributed, explained_by)
        if count == 12:
            assert f"{rule}@12" in explained_by.split(",")
        counts["known" if attributed != EITHER else EITHER] += 1
    return counts


@pytest.mark.parametrize(
    ("writer", "placed"),
    [
        (lambda java: java, JAVA),
        (lambda _: KafkaPython(), JAVA),
        (lambda _: Librdkafka("murmur2_random"), JAVA),
        (lambda _: Librdkafka(), LIBRDKAFKA),
        (lambda _: Librdkafka("fnv1a_random"), Placed("sarama-hash", 12)),
    ],
    ids=["java", "kafka-python", "librdkafka murmur2", "librdkafka's default", "librdkafka fnv1a"],
)
def test_audit_attributes_topic_of_one_real_producer_to_the_partitioner_used(
    writer: object, placed: Placed, spark: Spark, kafka_broker: Broker, java: JavaWriter, tmp_path: Path
) -> None:
    topic = f"one-{placed.rule}-{tmp_path.name}"
    topics.create_topic(kafka_broker.bootstrap, topic, 12)
    sender = writer(java)  # type: ignore[operator]
    truth = sender.write(kafka_broker.bootstrap, topic, Records(keys_of(12_000)))
    found = audited(spark, kafka_broker, topic, tmp_path / "run")
    assert right(spark, tmp_path / "run", truth)["known"] == 12_000
    assert (found.records, found.keyed, found.explained) == (12_000, 12_000, 12_000)
    shares = {share.placed: share.attributed for share in found.shares if share.attributed}
    assert shares == {placed: 12_000}
    assert (found.offending == 0) == (placed == JAVA)
    assert found.splits.keys == 0


def test_audit_of_java_librdkafka_mix_attributes_five_sixths_none_wrongly_and_counts_split_keys(
    spark: Spark, kafka_broker: Broker, java: JavaWriter, tmp_path: Path
) -> None:
    topic = "mixed"
    topics.create_topic(kafka_broker.bootstrap, topic, 12)
    first = java.write(kafka_broker.bootstrap, topic, Records(keys_of(20_000, seed=1)))
    sent = [(java, Records(keys_of(20_000, seed=2))), (Librdkafka(), Records(keys_of(20_000, seed=3)))]
    truth = first + topics.together(kafka_broker.bootstrap, topic, sent)
    found = audited(spark, kafka_broker, topic, tmp_path / "run")
    counts = right(spark, tmp_path / "run", truth)
    assert counts["known"] > 50_000
    attributed = {str(share.placed): share.attributed for share in found.shares}
    assert sum(attributed.values()) == counts["known"]
    assert {share.placed for share in found.shares if share.attributed} == {JAVA, LIBRDKAFKA}
    wrong = sum(1 for key, rule, _ in truth.at().values() if key is not None and rule != "murmur2")
    assert 0.85 * wrong < found.offending < wrong
    lives: dict[bytes, set[int]] = {}
    for (partition, _), (key, _, _) in truth.at().items():
        lives.setdefault(key or b"", set()).add(partition)
    assert found.splits.keys == sum(len(partitions) > 1 for partitions in lives.values())
    assert found.splits.of_keys == len(lives)
    for split in found.splits.earliest:
        assert {place.partition for place in split.places} == lives[bytes.fromhex(split.key)]


def test_audit_finds_the_partition_increase_from_3_to_12_less_than_200_offsets_early(
    spark: Spark, kafka_broker: Broker, java: JavaWriter, tmp_path: Path
) -> None:
    before, after = Records(keys_of(15_000, seed=4)), Records(keys_of(30_000, seed=5))
    truth = topics.write_around_growth(java, kafka_broker.bootstrap, "grown", before, after)
    found = audited(spark, kafka_broker, "grown", tmp_path / "run")
    right(spark, tmp_path / "run", truth)
    (grew,) = found.growth
    assert (grew.rule, grew.before, grew.after) == ("murmur2", 3, 12)
    for partition in range(3):
        last = max(offset for (lies, offset), (_, _, count) in truth.at().items() if lies == partition and count == 3)
        assert last - 200 < grew.until[partition] <= last
    assert set(grew.until) == {0, 1, 2}


def test_audit_attributes_at_least_80_percent_of_72_librdkafka_records_among_24000_java_records(
    spark: Spark, kafka_broker: Broker, java: JavaWriter, tmp_path: Path
) -> None:
    topics.create_topic(kafka_broker.bootstrap, "rare", 12)
    rare = Librdkafka()
    truths = []
    for turn in range(12):  # a record or two a partition, between thousands
        truths.append(
            java.write(kafka_broker.bootstrap, "rare", Records(keys_of(2_000, distinct=10**9, seed=100 + turn)))
        )
        truths.append(rare.write(kafka_broker.bootstrap, "rare", Records(keys_of(6, distinct=10**9, seed=200 + turn))))
    found = audited(spark, kafka_broker, "rare", tmp_path / "run")
    shares = {share.placed: share.attributed for share in found.shares}
    wrong = 72 - sum(1 for truth in truths for key, rule, _ in truth.at().values() if rule != "murmur2" and key is None)
    assert 0.8 * wrong <= shares.get(LIBRDKAFKA, 0) <= wrong
    assert found.explained == found.keyed


def test_audit_recognizes_sticky_and_round_robin_patterns_of_keyless_records(
    spark: Spark, kafka_broker: Broker, java: JavaWriter, tmp_path: Path
) -> None:
    bare = Records([None] * 40_000)
    for topic, writer, pattern in (
        ("sticky", java, "sticky runs"),
        ("turns", java.with_settings(topics.ROUND_ROBIN), "round robin"),
    ):
        topics.create_topic(kafka_broker.bootstrap, topic, 6)
        writer.write(kafka_broker.bootstrap, topic, bare)
        found = audited(spark, kafka_broker, topic, tmp_path / topic)
        assert found.keyed == 0
        assert found.offending == 0
        assert found.keyless.records == 40_000
        assert max(found.keyless.patterns, key=lambda name: found.keyless.patterns[name]) == pattern, found.keyless


def test_audit_leaves_five_sixths_of_records_with_explicit_partitions_unexplained(
    spark: Spark, kafka_broker: Broker, java: JavaWriter, tmp_path: Path
) -> None:
    topics.create_topic(kafka_broker.bootstrap, "explicit", 12)
    keys = keys_of(12_000, distinct=10**9)
    java.write(kafka_broker.bootstrap, "explicit", Records(keys, partitions=[at * 7 % 12 for at in range(len(keys))]))
    found = audited(spark, kafka_broker, "explicit", tmp_path / "run")
    assert found.keyed - found.explained > 10_000
    assert sum(share.attributed for share in found.shares) < 2_000


@pytest.mark.long
def test_audits_in_chunks_and_in_one_chunk_have_equal_offending_split_and_explained_counts(
    spark: Spark, kafka_broker: Broker, java: JavaWriter, tmp_path: Path
) -> None:
    topics.create_topic(kafka_broker.bootstrap, "chunks", 12)
    sent = [(java, Records(keys_of(30_000, seed=7))), (Librdkafka(), Records(keys_of(30_000, seed=8)))]
    topics.in_turns(kafka_broker.bootstrap, "chunks", sent, turns=3)
    whole = audited(spark, kafka_broker, "chunks", tmp_path / "whole")
    parts = audited(spark, kafka_broker, "chunks", tmp_path / "parts", chunk=12_000)
    assert whole.offending == parts.offending
    assert whole.splits == parts.splits
    explained = [{share.placed: share.explains for share in found.shares} for found in (whole, parts)]
    assert explained[0] == explained[1]


def test_interrupted_audit_resumes_to_the_result_of_an_undisturbed_audit(
    spark: Spark, kafka_broker: Broker, java: JavaWriter, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    topics.create_topic(kafka_broker.bootstrap, "resumed", 12)
    topics.in_turns(kafka_broker.bootstrap, "resumed", [
        (java, Records(keys_of(30_000, seed=9))), (Librdkafka(), Records(keys_of(30_000, seed=10)))])  # fmt: skip
    undisturbed = audited(spark, kafka_broker, "resumed", tmp_path / "undisturbed", chunk=12_000)
    done: list[int] = []
    do = Run.do

    def twice(self: Run, number: int, *arguments: object, **named: object) -> None:
        if len(done) == 2:
            raise KitError("ended")
        done.append(number)
        do(self, number, *arguments, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(Run, "do", twice)
    with pytest.raises(KitError, match="ended"):
        audited(spark, kafka_broker, "resumed", tmp_path / "run", chunk=12_000)
    assert done == [0, 1]
    java.write(kafka_broker.bootstrap, "resumed", Records(keys_of(500)))  # what comes later is not this run's
    done.clear()
    monkeypatch.setattr(Run, "do", do)
    resumed = audited(spark, kafka_broker, "resumed", tmp_path / "run", chunk=12_000)
    assert found_in(resumed) == found_in(undisturbed)


def found_in(result: Audit) -> dict[str, Any]:
    """All that an audit found: not how long it took, nor where it lies."""
    fields = {field: getattr(result, field) for field in Audit.__struct_fields__}
    return {name: value for name, value in fields.items() if name not in {"took_s", "offending_records"}}


def test_audit_raises_a_one_line_error_if_the_broker_is_killed_and_resumes_later(
    spark: Spark, java: JavaWriter, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    do, begun = Run.do, list[int]()
    soon = {
        "kafka_default_api_timeout_ms": "3000",
        "kafka_request_timeout_ms": "2000",
        "kafkaConsumer_pollTimeoutMs": "3000",
    }
    with running_broker(engine="jars") as broker:
        topics.create_topic(broker.bootstrap, "leaving", 4)
        sent = [(java, Records(keys_of(20_000, seed=11))), (Librdkafka(), Records(keys_of(20_000, seed=12)))]
        topics.in_turns(broker.bootstrap, "leaving", sent)
        undisturbed = audited(spark, broker, "leaving", tmp_path / "undisturbed", chunk=10_000)

        def stopped(self: Run, number: int, *arguments: Any, **named: Any) -> None:
            begun.append(number)
            if number == 2:
                stopper.start()
            do(self, number, *arguments, **named)

        stopper = threading.Timer(0.5, broker.kill_node, [1])
        monkeypatch.setattr(Run, "do", stopped)
        with pytest.raises(
            SparkFault
        ) as raised:  # one record at once: the broker is gone long before the chunk is read
            audited(spark, broker, "leaving", tmp_path / "run", chunk=10_000, kafka_max_poll_records="1", **soon)
        stopper.join(30)
        assert begun == [0, 1, 2]
        assert re.fullmatch(rf"chunk 2 of the run in {tmp_path}/run: TimeoutException: .*", str(raised.value))
        monkeypatch.setattr(Run, "do", do)
        with pytest.raises(SparkFault, match=rf"^the broker at {broker.bootstrap}.*: .*Timeout.*$"):
            audited(spark, broker, "leaving", tmp_path / "run", chunk=10_000, **soon)
        broker.start_node(1)
        resumed = audited(spark, broker, "leaving", tmp_path / "run", chunk=10_000)
    assert found_in(resumed) == found_in(undisturbed)


def test_audit_of_a_missing_or_invalid_topic_raises_and_of_an_empty_topic_adds_a_note(
    spark: Spark, kafka_broker: Broker, tmp_path: Path
) -> None:
    with pytest.raises(BadInput, match=r"topic nowhere does not exist at 127\.0\.0\.1"):
        audited(spark, kafka_broker, "nowhere", tmp_path / "run")
    with pytest.raises(BadInput, match=r"^'no name' is not a valid topic name: "):
        audited(spark, kafka_broker, "no name", tmp_path / "run")
    topics.create_topic(kafka_broker.bootstrap, "empty", 3)
    found = audited(spark, kafka_broker, "empty", tmp_path / "empty")
    assert (found.records, found.notes) == (0, ("empty has no records",))


def test_resumed_audit_of_a_topic_recreated_with_fewer_partitions_raises_an_error(
    spark: Spark, kafka_broker: Broker, java: JavaWriter, tmp_path: Path
) -> None:
    topics.create_topic(kafka_broker.bootstrap, "anew", 4)
    java.write(kafka_broker.bootstrap, "anew", Records(keys_of(400)))
    audited(spark, kafka_broker, "anew", tmp_path / "run")
    topics.delete_topic(kafka_broker.bootstrap, "anew")
    topics.create_topic(kafka_broker.bootstrap, "anew", 3)
    with pytest.raises(BadInput, match="start a new run"):
        audited(spark, kafka_broker, "anew", tmp_path / "run")


def test_audit_attributes_randomly_placed_keys_to_no_partitioner(
    spark: Spark, kafka_broker: Broker, tmp_path: Path
) -> None:
    """Keys at random: nobody explains them, and none is made up."""
    topics.create_topic(kafka_broker.bootstrap, "random", 12)
    sender = Librdkafka(settings={"partitioner": "random"})
    sender.write(kafka_broker.bootstrap, "random", Records(keys_of(12_000, distinct=10**9)))
    found = audited(spark, kafka_broker, "random", tmp_path / "run")
    assert [share.placed for share in found.shares if share.attributed] == []
    assert sum(line.attributed.get(UNEXPLAINED, 0) for line in found.by_partition) == 12_000
