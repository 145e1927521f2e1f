"""An audit of a broker's data directory and one of its live topics give the same attribution, by both engines."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import topics
from topics import JavaWriter, Librdkafka, Records, keys_of

from kafka_conformance.audit.engines.local.run import audit_locally
from kafka_conformance.audit.engines.local.segments import LocalSegments
from kafka_conformance.audit.engines.local.topic import LocalTopic
from kafka_conformance.audit.engines.spark import run
from kafka_conformance.audit.engines.spark.run import audit
from kafka_conformance.audit.engines.spark.segments import OnSpark, Segments
from kafka_conformance.audit.isolation import OPTION, READ_COMMITTED, READ_UNCOMMITTED
from kafka_conformance.audit.plan import AuditRequest
from kafka_conformance.audit.result import Audit
from kafka_conformance.audit.segments.evidence import with_evidence
from kafka_conformance.audit.segments.folders import TopicFiles, find_topic
from kafka_conformance.audit.segments.topic import OneByOne, survey_topic
from kafka_conformance.audit.topics import kafka_options
from kafka_conformance.brokers.broker import Broker, running_broker
from kafka_conformance.brokers.client_settings import java_settings, librdkafka_settings
from kafka_conformance.core.progress import Steps
from kafka_conformance.spark.session import Spark

pytestmark = [pytest.mark.long, pytest.mark.timeout(900)]
STEPS = Steps("audit", 1)
SETTINGS = {
    "log.segment.bytes": str(2**20), "log.flush.start.offset.checkpoint.interval.ms": "300",
    "log.initial.task.delay.ms": "500",
    "log.cleaner.backoff.ms": "200", "log.cleaner.dedupe.buffer.size": str(4 * 2**20),
    "log.retention.check.interval.ms": "1000", "log.segment.delete.delay.ms": "60000",
}  # fmt: skip
COMPACTED = {
    "cleanup.policy": "compact", "min.cleanable.dirty.ratio": "0.01", "segment.ms": "500", "max.compaction.lag.ms": "1000",
    "delete.retention.ms": "1000",
}  # fmt: skip
OPEN: list[Any] = []
"""Producers whose transaction is open: one that is collected aborts it."""


def folder_of(broker: Broker) -> str:
    path: Path = broker._cluster.folder / "node-1"  # type: ignore[attr-defined]
    return str(path)


def wait_for_the_cleaner(folder: Path, topic: str) -> None:
    """Wait until the cleaner has been in every partition, and the files stay as they are."""
    checkpoint, limit = folder / "cleaner-offset-checkpoint", time.monotonic() + 120
    wanted = {path.name.replace(f"{topic}-", f"{topic} ") for path in folder.glob(f"{topic}-[0-9]")}
    while wanted - {line.rpartition(" ")[0] for line in checkpoint.read_text(encoding="utf-8").split("\n")}:
        assert time.monotonic() < limit, checkpoint.read_text(encoding="utf-8")
        time.sleep(0.3)
    before, since = None, time.monotonic()
    while time.monotonic() < min(since + 3, limit):
        sizes = {(str(path), path.stat().st_size) for path in folder.glob(f"{topic}-[0-9]/*.log")}
        if sizes != before:
            before, since = sizes, time.monotonic()
        time.sleep(0.3)


@pytest.fixture(scope="module")
def broker() -> Iterator[Broker]:
    """A broker whose data directory is on this machine, with several segments for a topic."""
    with running_broker(engine="jars", settings=SETTINGS) as running:
        yield running


def mixture(broker: Broker, topic: str, java: JavaWriter) -> None:
    """Java and librdkafka in turn, each writer with its own codecs."""
    broker.create_topic(topic, 12)
    values = [b"v" * (n % 900) for n in range(12_000)]
    sent = []
    for seed, (one, other) in enumerate([("lz4", "zstd"), ("gzip", "snappy"), ("none", "none")]):
        keys = keys_of(12_000, seed=seed, keyless=0.1)
        sent.append((java.with_settings({"compression.type": one}), Records(keys, values)))
        settings = {"enable.idempotence": seed != 1, "compression.type": other}
        sent.append((Librdkafka(settings=settings), Records(keys, values)))
    topics.in_turns(broker.bootstrap, topic, sent, turns=2)


def growth(broker: Broker, topic: str, java: JavaWriter) -> None:
    before, after = Records(keys_of(9_000, seed=4)), Records(keys_of(20_000, seed=5))
    topics.write_around_growth(java, broker.bootstrap, topic, before, after)


def transactions(broker: Broker, topic: str, java: JavaWriter, settings: dict[str, str] | None = None) -> None:
    """Committed and aborted ones by librdkafka, one that stays open, and first records that are deleted."""
    from confluent_kafka import Producer, TopicPartition
    from confluent_kafka.admin import AdminClient

    broker.create_topic(topic, 5, settings=settings or {})
    java.write(broker.bootstrap, topic, Records(keys_of(3_000, seed=6)))
    given = {"bootstrap.servers": broker.bootstrap, "transaction.timeout.ms": 900_000, "log_level": 0, "linger.ms": 5}
    producer = Producer({**given, "transactional.id": topic, "compression.type": "zstd"})
    producer.init_transactions(60)
    for number in range(9):
        if settings and number % 4 == 0:
            time.sleep(0.6)  # the next batch begins a new segment, and the cleaner may go into the one before
        producer.begin_transaction()
        for at, key in enumerate(keys_of(700, seed=10 + number % 4, keyless=0 if settings else 0.05)):
            producer.produce(topic, b"v" * (at % 500), key)
        producer.flush(60)
        if number < 8:
            (producer.abort_transaction if number % 2 else producer.commit_transaction)(60)
    java.write(broker.bootstrap, topic, Records(keys_of(500, seed=7)))
    if settings:
        wait_for_the_cleaner(Path(folder_of(broker)), topic)
    else:
        admin = AdminClient({"bootstrap.servers": broker.bootstrap})
        deleted = admin.delete_records([TopicPartition(topic, 3, 99)])
        assert all(one.result(60).low_watermark == 99 for one in deleted.values())
        checkpoint, limit = Path(folder_of(broker)) / "log-start-offset-checkpoint", time.monotonic() + 60
        while f"{topic} 3 99" not in checkpoint.read_text(encoding="utf-8") and time.monotonic() < limit:
            time.sleep(0.2)
    OPEN.append(producer)


def compacted(broker: Broker, topic: str, java: JavaWriter) -> None:
    """The same, while the log cleaner works: the markers of some transactions go."""
    transactions(broker, topic, java, COMPACTED)


def empty(broker: Broker, topic: str, _: JavaWriter) -> None:
    broker.create_topic(topic, 3)


def found_in(result: Audit) -> dict[str, Any]:
    """What an audit found, without what segment files add."""
    fields = {field: getattr(result, field) for field in Audit.__struct_fields__}
    return {name: value for name, value in fields.items() if name not in {"took_s", "offending_records", "segments"}}


Write = Callable[[Broker, str, JavaWriter], None]


class Topics:
    """The topics of this file, each written and audited live once."""

    def __init__(self, broker: Broker, java: JavaWriter, folder: Path) -> None:
        self.broker, self.java, self._folder = broker, java, folder
        self._written: set[str] = set()
        self._live: dict[tuple[str, str], Audit] = {}

    def live(self, write: Write, isolation: str) -> tuple[AuditRequest, Audit]:
        """Return what is asked of a topic, and the audit of it as it is at the broker."""
        topic, where = f"segments-{write.__name__}", self.broker.bootstrap
        if topic not in self._written:
            write(self.broker, topic, self.java)
            self._written.add(topic)
        asked = AuditRequest(topic, where, every_record=True, isolation=isolation)
        if (topic, isolation) not in self._live:
            client = librdkafka_settings(java_settings(kafka_options(where, {OPTION: isolation})))
            found = LocalTopic.find(topic, client)
            folder = self._folder / f"{topic}-{isolation}"
            self._live[topic, isolation] = audit_locally(found, asked, str(folder), STEPS)
        return asked, self._live[topic, isolation]

    def files(self, write: Write) -> TopicFiles:
        """Return the segment files of a topic."""
        return find_topic([folder_of(self.broker)], f"segments-{write.__name__}")


@pytest.fixture(scope="module")
def written(broker: Broker, java: JavaWriter, tmp_path_factory: pytest.TempPathFactory) -> Topics:
    """The topics of this file."""
    return Topics(broker, java, tmp_path_factory.mktemp("live"))


KINDS = [*((write, READ_COMMITTED) for write in (mixture, growth, transactions, compacted, empty)),
         (transactions, READ_UNCOMMITTED)]  # fmt: skip


@pytest.mark.parametrize(("write", "isolation"), KINDS)
def test_local_audit_of_segment_files_equals_the_live_audit_and_names_rules_of_producers(
    write: Write, isolation: str, written: Topics, tmp_path: Path
) -> None:
    asked, live = written.live(write, isolation)
    committed = isolation == READ_COMMITTED
    here = LocalSegments(survey_topic(written.files(write), OneByOne(), None, committed=committed))
    found = audit_locally(here, asked, str(tmp_path / "run"), STEPS)
    assert found_in(found) == found_in(live)

    evidence = with_evidence(found, here, OneByOne()).segments
    assert evidence is not None
    assert not [problem for problem in evidence.problems if problem.certain]
    assert sum(one.records for one in evidence.producers) == live.records
    if write is mixture:
        assert evidence.files > 12
        rules = {one.rules[0] for one in evidence.producers if one.producer_id >= 0 and one.rules}
        assert rules == {"murmur2", "librdkafka-consistent"}
        assert all(one.verdict == "rule" for one in evidence.producers if one.producer_id >= 0)
        assert [one.verdict for one in evidence.producers if one.producer_id < 0] == ["several writers"]
        assert not any(one.contradictions for one in evidence.producers)
    if write is compacted:
        assert any(seen.compacted for of in here.topic.surveys.values() for seen in of)
    if write is transactions:
        assert live.reading is not None
        assert (live.reading.open > 0) == committed
        assert live.reading.without_record > 0


@contextmanager
def counted_tasks(spark: Spark) -> Iterator[list[int]]:
    """Within the block, run Spark jobs; afterwards the list has the number of tasks of each stage."""
    context, group, numbers = spark.session.sparkContext, uuid.uuid4().hex, []
    context.setJobGroup(group, group)
    yield numbers
    status = context.statusTracker()
    for job in status.getJobIdsForGroup(group):
        stages = [status.getStageInfo(stage) for stage in status.getJobInfo(job).stageIds]
        numbers += [stage.numTasks for stage in stages if stage is not None and stage.numCompletedTasks]


@pytest.mark.parametrize("write", [mixture, transactions])
def test_spark_audit_of_segment_files_runs_a_task_per_segment_and_equals_live_audit(
    write: Write, spark: Spark, written: Topics, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:  # fmt: skip
    """One task for each segment."""
    monkeypatch.setattr(run, "FEW_RECORDS", -1)  # Spark adds up by itself
    asked, live = written.live(write, READ_COMMITTED)
    with counted_tasks(spark) as numbers:
        there = Segments(spark, survey_topic(written.files(write), OnSpark(spark), None, committed=True))
    tasks = there.topic.tasks(there.spans)
    assert numbers == [len(tasks)]
    found = audit(spark, there, asked, str(tmp_path / "run"), STEPS)
    assert found_in(found) == found_in(live)
    assert len(tasks) == sum(map(len, written.files(write).files.values())) > 4
    with counted_tasks(spark) as numbers:
        assert sum(1 for _ in there.frame().toLocalIterator()) == live.records
    assert len(tasks) in numbers
    here = LocalSegments(survey_topic(written.files(write), OneByOne(), None, committed=True))
    assert with_evidence(found, there, OnSpark(spark)).segments == with_evidence(found, here, OneByOne()).segments
