"""``repair`` on a real broker: keys where Java puts them, in order, nothing lost or doubled however it ends."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from repair_model import java_partition, mixed_topic, model, read, values_of
from repair_runs import repairs
from topics import JavaWriter, Records, create_topic, delete_topic, partitions_of

from kafka_conformance.audit.repair import checksums
from kafka_conformance.audit.repair import run as repairing
from kafka_conformance.audit.repair.plan import Repair, RepairPlan
from kafka_conformance.audit.topics import Topics
from kafka_conformance.brokers.broker import Broker, running_broker
from kafka_conformance.core.errors import BadInput, KitError
from kafka_conformance.spark.runs import Run
from kafka_conformance.spark.session import Spark, open_spark

pytestmark = [
    pytest.mark.jvm,
    pytest.mark.timeout(900),
    # py4j leaves the sockets of threads that have ended to the garbage collector.
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"),
]

SETTINGS = {"spark.sql.shuffle.partitions": "2", "spark.driver.memory": "1g"}


@pytest.fixture(scope="module")
def broker() -> Iterator[Broker]:
    with running_broker(engine="jars", settings={"transaction.state.log.num.partitions": "1"}) as running:
        yield running


@pytest.fixture(scope="module")
def spark() -> Iterator[Spark]:
    with open_spark("local[2]", connector=True, settings=SETTINGS) as opened:
        yield opened


@pytest.fixture(scope="module")
def java() -> Iterator[JavaWriter]:
    with JavaWriter() as writer:
        yield writer


@pytest.fixture
def repaired(spark: Spark, broker: Broker, name: str, tmp_path: Path) -> Callable[..., Repair]:
    return repairs(spark, broker.bootstrap, name, str(tmp_path / "run"))


@pytest.mark.long
@pytest.mark.parametrize("partitions", [None, 5])
def test_repair_copies_all_records_to_murmur2_partitions_in_order_and_a_rerun_changes_nothing(
    spark: Spark, broker: Broker, java: JavaWriter, name: str, repaired: Callable[..., Repair], partitions: int | None
) -> None:
    mixed_topic(broker.bootstrap, name, java)
    source = read(spark, broker.bootstrap, name)
    dry = repaired(execute=False, partitions=partitions, folder="")
    assert not partitions_of(broker.bootstrap, f"{name}-new"), "a dry run makes nothing"
    found = repaired(partitions=partitions)
    count = partitions or 12
    target = read(spark, broker.bootstrap, f"{name}-new")
    assert len(partitions_of(broker.bootstrap, f"{name}-new")) == count
    assert all(
        java_partition(one.key, count) == at for at, ones in target.items() for one in ones if one.key is not None
    )
    assert values_of(target) == model(source, count)
    assert all([one.offset for one in ones] == list(range(len(ones))) for ones in target.values())
    assert found.right
    assert found.compared is not None
    assert found.compared.planned.records == 600
    assert (dry.by_partition, dry.moved, dry.spread) == (found.by_partition, found.moved, found.spread)
    assert found.moved > 100
    again = repaired(partitions=partitions)
    assert (again.resumed, again.compared) == (True, found.compared)
    assert read(spark, broker.bootstrap, f"{name}-new") == target


def test_repair_of_a_compacted_topic_keeps_keys_headers_and_topic_settings(
    spark: Spark, broker: Broker, name: str, repaired: Callable[..., Repair]
) -> None:
    own = {"cleanup.policy": "compact", "retention.ms": "7200000", "message.timestamp.type": "LogAppendTime",
           "min.cleanable.dirty.ratio": "0.001", "segment.ms": "1000", "max.compaction.lag.ms": "1000"}  # fmt: skip
    broker.create_topic(name, 2, settings=own)
    rows = spark.session.range(0, 3000, 1, 1).selectExpr(
        "cast(id % 40 as string) key", "cast(id as string) value", "cast(id % 2 as int) partition",
        "array(struct('a' as key, cast(cast(id as string) as binary) as value),"
        " struct('none' as key, cast(null as binary) as value)) headers",
    )  # fmt: skip
    for _ in range(2):  # a segment that is not the last is what is compacted
        writer = rows.write.format("kafka").option("kafka.bootstrap.servers", broker.bootstrap).option("topic", name)
        writer.option("includeHeaders", "true").save()
        time.sleep(1.2)
    limit = time.monotonic() + 90
    while sum(map(len, (source := read(spark, broker.bootstrap, name)).values())) == 6000:
        assert time.monotonic() < limit, "the broker never compacted"
        time.sleep(1)
    # Compaction goes on underneath: what was planned is what is written, all the same.
    found = repaired(partitions=3)
    target = read(spark, broker.bootstrap, f"{name}-new")
    assert found.right
    keys = {one.key for ones in source.values() for one in ones}
    assert {one.key for ones in target.values() for one in ones} == keys
    assert all(one.headers[1] == ("none", None) for ones in target.values() for one in ones)
    with Topics(spark, {"kafka.bootstrap.servers": broker.bootstrap}) as topics:
        assert topics.settings(f"{name}-new") == own


def test_repair_copies_only_records_of_committed_transactions(
    spark: Spark, broker: Broker, name: str, repaired: Callable[..., Repair]
) -> None:
    create_topic(broker.bootstrap, name, 2)
    jvm = spark.jvm
    settings = jvm.java.util.HashMap()
    for key, value in {"bootstrap.servers": broker.bootstrap, "transactional.id": name}.items():
        settings.put(key, value)
    serializer = jvm.org.apache.kafka.common.serialization.StringSerializer
    producer = jvm.org.apache.kafka.clients.producer.KafkaProducer(settings, serializer(), serializer())
    producer.initTransactions()
    for turn, end in enumerate(("commit", "abort", "commit")):
        producer.beginTransaction()
        for at in range(20):
            producer.send(jvm.org.apache.kafka.clients.producer.ProducerRecord(name, at % 2, f"key-{at}", f"{turn}"))
        getattr(producer, f"{end}Transaction")()
    producer.close()
    found = repaired(partitions=3)
    target = read(spark, broker.bootstrap, f"{name}-new")
    assert found.right
    assert found.records == 40
    assert {one.value for ones in target.values() for one in ones} == {b"0", b"2"}
    assert values_of(target) == model(read(spark, broker.bootstrap, name), 3)


def big(spark: Spark, broker: Broker, name: str, records: int) -> None:
    """A topic of random values that no compression makes small."""
    create_topic(broker.bootstrap, name, 3)
    rows = spark.session.range(0, records, 1, 4).selectExpr(
        "cast(concat('k', id % 5000) as binary) key", "cast(id % 3 as int) partition",
        "cast(concat(id, repeat(sha2(cast(id as string), 512), 3)) as binary) value",
    )  # fmt: skip
    rows.write.format("kafka").option("kafka.bootstrap.servers", broker.bootstrap).option("topic", name).save()


SCRIPT = """
import sys
from kafka_conformance.audit.repair.repair import repair
from kafka_conformance.core.errors import KitError
from kafka_conformance.spark.session import open_spark
bootstrap, source, folder = sys.argv[1:]
try:
    with open_spark("local[2]", connector=True, settings={"spark.sql.shuffle.partitions": "2"}) as spark:
        found = repair(spark, topic=source, target=source + "-killed", kafka={"kafka.bootstrap.servers": bootstrap,
                       "kafka.batch.size": "4096", "kafka.linger.ms": "0"}, folder=folder, partitions=4, execute=True)
except KitError as error:
    print(error)
    sys.exit(2)
sys.exit(0 if found.right else 1)
"""


def written(topics: Topics, name: str) -> int:
    try:
        topic = topics.find(name)
        return 0 if topic is None else sum(span.end for span in topics.spans(name, topic.partitions).values())
    except KitError:
        return 0


@pytest.mark.long
def test_repair_killed_and_resumed_writes_a_target_topic_equal_to_an_undisturbed_run(
    spark: Spark, broker: Broker, name: str, repaired: Callable[..., Repair], tmp_path: Path
) -> None:
    records = 60_000
    big(spark, broker, name, records)
    undisturbed = repaired(partitions=4)
    seen: list[int] = []
    with Topics(spark, {"kafka.bootstrap.servers": broker.bootstrap}) as topics:
        for share in (0.1, 0.4, 0.7):
            process = subprocess.Popen([sys.executable, "-c", SCRIPT, broker.bootstrap, name, str(tmp_path / "killed")])
            limit = time.monotonic() + 240
            while written(topics, f"{name}-killed") < share * records and process.poll() is None:
                assert time.monotonic() < limit
                time.sleep(0.02)
            process.send_signal(signal.SIGKILL)
            process.wait(30)
            seen.append(written(topics, f"{name}-killed"))
    assert any(0 < count < records for count in seen), seen
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, broker.bootstrap, name, str(tmp_path / "killed")], timeout=300, capture_output=True,
        text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done
    other, one = read(spark, broker.bootstrap, f"{name}-killed"), read(spark, broker.bootstrap, f"{name}-new")
    assert undisturbed.right
    assert other == one


def test_repair_raises_a_one_line_error_if_the_broker_is_killed_and_resumes_later(
    spark: Spark, broker: Broker, name: str, repaired: Callable[..., Repair]
) -> None:
    records = 60_000
    big(spark, broker, name, records)
    slow = {"kafka.bootstrap.servers": broker.bootstrap, "kafka.batch.size": "4096", "kafka.linger.ms": "0"}
    stopped: list[int] = []

    def stop() -> None:
        with Topics(spark, slow) as topics:
            limit = time.monotonic() + 240
            while (count := written(topics, f"{name}-new")) < records / 20 and time.monotonic() < limit:
                time.sleep(0.02)
        broker.kill_node(1)
        stopped.append(count)

    stopper = threading.Thread(target=stop, daemon=True)
    stopper.start()
    try:
        with pytest.raises(KitError) as raised:
            repaired(kafka=slow, partitions=4, patience_s=5)
    finally:
        stopper.join(300)
        broker.start_node(1)
    assert stopped
    assert stopped[0] < records, "it was too late"
    assert "\n" not in str(raised.value)
    assert "UnknownReason" not in str(raised.value)
    found = repaired(kafka=slow, partitions=4)
    assert found.right
    assert found.resumed
    assert values_of(read(spark, broker.bootstrap, f"{name}-new")) == model(read(spark, broker.bootstrap, name), 4)


@pytest.mark.long
def test_repair_stops_if_another_producer_writes_to_the_target_topic(
    spark: Spark, broker: Broker, java: JavaWriter, name: str, repaired: Callable[..., Repair]
) -> None:
    big(spark, broker, name, 60_000)
    ends = threading.Event()

    def foreign() -> None:
        while not ends.wait(0.05):
            if partitions_of(broker.bootstrap, f"{name}-new"):
                java.write(broker.bootstrap, f"{name}-new", Records([b"foreign"] * 4, partitions=[0, 1, 2, 3]))

    writer = threading.Thread(target=foreign, daemon=True)
    writer.start()
    try:
        with pytest.raises(KitError, match=r"another (producer|client)"):
            repaired(partitions=4, kafka={"kafka.bootstrap.servers": broker.bootstrap, "kafka.batch.size": "4096"})
    finally:
        ends.set()
        writer.join(60)
    with pytest.raises(KitError, match=r"another (producer|client)"):
        repaired(partitions=4)
    delete_topic(broker.bootstrap, f"{name}-new")
    while partitions_of(broker.bootstrap, f"{name}-new"):
        time.sleep(0.1)
    assert repaired(partitions=4).right


def test_repair_to_an_existing_topic_to_itself_or_from_a_missing_topic_raises_an_error(
    broker: Broker, name: str, repaired: Callable[..., Repair]
) -> None:
    with pytest.raises(BadInput, match=f"topic {name} does not exist"):
        repaired()
    create_topic(broker.bootstrap, name, 1)
    create_topic(broker.bootstrap, f"{name}-new", 1)
    for execute in (False, True):
        with pytest.raises(BadInput, match="exists already"):
            repaired(execute=execute)
    with pytest.raises(BadInput, match="to itself"):
        repaired(target=name)


def test_repair_of_empty_topic_creates_an_empty_target_topic(
    broker: Broker, name: str, repaired: Callable[..., Repair]
) -> None:
    create_topic(broker.bootstrap, name, 2)
    found = repaired(partitions=3)
    assert found.right
    assert found.records == 0
    assert len(partitions_of(broker.bootstrap, f"{name}-new")) == 3


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # kafka-python reads its own files in an old way
@pytest.mark.parametrize("wrong", ["a value", "an order", "a null", "a header", "a time", "one less"])
def test_repair_comparison_detects_changed_value_null_header_or_time_and_moved_or_missing_record(
    spark: Spark, broker: Broker, java: JavaWriter, name: str, wrong: str, tmp_path: Path
) -> None:
    """The comparison itself: the plan of one topic against another that differs in one thing."""
    from kafka import KafkaProducer

    for topic, other in ((name, False), (f"{name}-new", True)):
        create_topic(broker.bootstrap, topic, 1)
        rows: list[tuple[Any, ...]] = [(b"k%d" % at, b"v%d" % at, 1000 + at, [("h", b"x")]) for at in range(6)]
        rows.append((None, b"k", 2000, []))
        if other:
            match wrong:
                case "a value":
                    rows[2] = (b"k2", b"v3", *rows[2][2:])
                case "an order":
                    rows[1], rows[2] = (*rows[2][:2], *rows[1][2:]), (*rows[1][:2], *rows[2][2:])
                case "a null":
                    rows[6] = (b"k", None, 2000, [])
                case "a header":
                    rows[3] = (*rows[3][:3], [("h", b"y")])
                case "a time":
                    rows[4] = (*rows[4][:2], 1003, rows[4][3])
                case "one less":
                    rows.pop()
        producer = KafkaProducer(bootstrap_servers=broker.bootstrap)
        for key, value, time_ms, headers in rows:
            producer.send(topic, value=value, key=key, partition=0, timestamp_ms=time_ms, headers=headers)
        producer.flush(30)
        producer.close(30)
    kafka = {"kafka.bootstrap.servers": broker.bootstrap}
    with Topics(spark, kafka) as topics:
        plan = RepairPlan(name, topics.require(name).id, f"{name}-new", 1, 1, 1, {}, {0: 0}, {0: 7})
        with Run.open(spark, str(tmp_path / "run"), msgspec.to_builtins(plan, str_keys=True)) as run:
            repairing._stage(spark, topics, kafka, run, plan)
            differs = repairing.compared(spark, topics, kafka, run, plan)
            same = repairing.compared(spark, topics, kafka, run, msgspec.structs.replace(plan, target=name))
    assert same.same
    assert not differs.same
    assert differs.planned != differs.found


def test_repair_check_counts_keys_not_placed_by_murmur2(spark: Spark) -> None:
    keys = [b"k%d" % at for at in range(50)]
    rows = [(java_partition(key, 7), key) for key in keys] + [(java_partition(keys[0], 7) ^ 1, keys[0]), (3, None)]
    frame = spark.session.createDataFrame(rows, "partition int, key binary")
    assert checksums.misplaced(frame, 7) == 1
