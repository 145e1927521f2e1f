"""A repair whose source moves on: the rest is copied in order, nothing lost or doubled, until consumers are moved over."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from processes import accept_interrupts
from repair_model import Record, mixed_topic, model, read, values_of
from repair_runs import repairs
from topics import JavaWriter, Records, grow_topic

from kafka_conformance.audit.repair import copy_passes
from kafka_conformance.audit.repair.continuous_copy import Following
from kafka_conformance.audit.repair.group_mapping import GroupMapping, map_groups
from kafka_conformance.audit.repair.plan import Repair, RepairPlan
from kafka_conformance.audit.repair.topics import MEANWHILE
from kafka_conformance.audit.topics import Topics
from kafka_conformance.brokers.broker import Broker, running_broker
from kafka_conformance.core.errors import BadInput, KitError
from kafka_conformance.spark.session import Spark
from kafka_reference import partition_for_key

pytestmark = [
    pytest.mark.jvm,
    pytest.mark.timeout(600),
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"),
]
Topic = dict[int, list[Record]]


@pytest.fixture(scope="module")
def broker() -> Iterator[Broker]:
    with running_broker(engine="jars", settings={"offsets.topic.num.partitions": "1"}) as running:
        yield running


@pytest.fixture
def repaired(spark: Spark, broker: Broker, name: str, tmp_path: Path) -> Callable[..., Repair]:
    return repairs(spark, broker.bootstrap, name, str(tmp_path / "run"), partitions=5)


def ends_of(topic: Topic) -> dict[int, int]:
    return {partition: records[-1].offset + 1 for partition, records in topic.items() if records}


def write_more(java: JavaWriter, broker: Broker, name: str, records: int, seed: int = 0) -> None:
    """Records whose timestamps begin before those that are in the topic, some without a key."""
    keys = [None if at % 11 == 0 else b"key-%d" % (at % 97) for at in range(records)]
    times = [1_500_000_000_000 + 500 * at - (90_000 if at % 7 == 0 else 0) for at in range(records)]
    java.write(broker.bootstrap, name, Records(keys, [b"more-%d-%d" % (seed, at) for at in range(records)], times))


def check_offsets(topic: Topic) -> None:
    assert all([one.offset for one in ones] == list(range(len(ones))) for ones in topic.values())


def test_repeated_repair_appends_new_source_records_in_order_and_removes_the_staged_copy(
    spark: Spark, broker: Broker, java: JavaWriter, name: str, repaired: Callable[..., Repair], tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    mixed_topic(broker.bootstrap, name, java)
    ends = ends_of(read(spark, broker.bootstrap, name))
    settle = copy_passes.Copying.settle

    def late(self: copy_passes.Copying) -> None:
        settle(self)
        write_more(java, broker, name, 40)

    with monkeypatch.context() as patched:
        patched.setattr(copy_passes.Copying, "settle", late)
        first = repaired()
    staged = tmp_path / "run" / "chunks" / "chunk-000000"
    assert first.right
    assert (first.passes, first.copied, first.behind) == (1, 600, 40)
    assert first.staged is not None
    assert first.staged.path == str(staged)
    assert first.staged.bytes > 1000
    assert not staged.exists(), "the staged copy is removed after success"
    assert f"the records are staged in {staged} until {name}-new is as planned" in capfd.readouterr().err

    grow_topic(broker.bootstrap, name, 14)
    write_more(java, broker, name, 30, seed=1)
    dry = repaired(execute=False)
    assert (dry.copied, dry.records) == (70, 70)
    again = repaired(keep_staged=True)
    source, target = read(spark, broker.bootstrap, name), read(spark, broker.bootstrap, f"{name}-new")
    assert again.right
    assert (again.passes, again.copied, again.records, again.behind) == (2, 70, 670, 0)
    assert again.staged is not None
    assert Path(again.staged.path).is_dir(), "--keep-staged"
    assert values_of(target) == model(source, 5, [ends])
    assert values_of(target) != model(source, 5)
    check_offsets(target)
    assert again.compared is not None
    assert again.compared.planned.records == 670
    with Topics(spark, {"kafka.bootstrap.servers": broker.bootstrap}) as topics:
        assert topics.settings(f"{name}-new") == {"retention.ms": "-1"}, "the settings of the source"

    idle = repaired()
    assert (idle.passes, idle.copied, idle.compared) == (2, 0, again.compared)
    assert not Path(again.staged.path).exists()
    assert read(spark, broker.bootstrap, f"{name}-new") == target


def test_repair_with_new_source_records_refuses_a_target_with_records_of_another_producer(
    spark: Spark, broker: Broker, java: JavaWriter, name: str, repaired: Callable[..., Repair]
) -> None:
    mixed_topic(broker.bootstrap, name, java, records=60)
    repaired()
    # Each partition gets more records than the one before, and Spark's tasks begin with the largest: the foreign record is
    # in the partition whose task comes last, after the others would have written.
    keys = sorted((b"key-%d" % at for at in range(97)), key=lambda key: partition_for_key(key, 5))
    counts = 1, 10, 20, 40, 80
    more = [key for key in keys for _ in range(counts[partition_for_key(key, 5)])]
    java.write(broker.bootstrap, f"{name}-new", Records([keys[0]]))
    assert repaired().copied == 0, "a source that gained nothing needs nothing"
    java.write(broker.bootstrap, name, Records(more, [b"more"] * len(more), [1_500_000_000_000] * len(more)))
    before = read(spark, broker.bootstrap, f"{name}-new")
    for _ in range(2):
        # The first check sees a longer partition; the second one, before each write, sees another record.
        with pytest.raises(KitError, match=r"another (producer writes to .*-new already|client has written to it)"):
            repaired()
    assert read(spark, broker.bootstrap, f"{name}-new") == before


@pytest.mark.long
def test_repair_follow_copies_each_record_once_in_order_while_producers_write(
    spark: Spark,
    broker: Broker,
    java: JavaWriter,
    name: str,
    repaired: Callable[..., Repair],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    mixed_topic(broker.bootstrap, name, java, records=120)
    cuts: list[dict[int, int]] = []
    ends = threading.Event()
    next_plan = copy_passes.next_plan

    def seen(*given: Any) -> RepairPlan:
        plan = next_plan(*given)
        if plan.offsets and plan.begins not in cuts:
            cuts.append(plan.begins)
            if len(cuts) == 3:
                ends.set()
        with Topics(spark, {"kafka.bootstrap.servers": broker.bootstrap}) as topics:
            held = topics.settings(f"{name}-new")
        assert plan.number < 2 or ends.is_set() or held.items() >= MEANWHILE.items(), "nothing is deleted meanwhile"
        return plan

    def write() -> None:
        for turn in range(1_000):
            write_more(java, broker, name, 10, seed=turn)
            if ends.wait(0.5):
                return

    monkeypatch.setattr(copy_passes, "next_plan", seen)
    writer = threading.Thread(target=write, daemon=True)
    limit = threading.Timer(240, ends.set)
    limit.daemon = True
    limit.start()
    writer.start()
    found = repaired(following=Following(until_idle_s=12.0))
    writer.join(60)
    source, target = read(spark, broker.bootstrap, name), read(spark, broker.bootstrap, f"{name}-new")
    assert found.right
    assert found.behind == 0
    assert found.passes == len(cuts) + 1 > 3
    assert values_of(target) == model(source, 5, cuts)
    check_offsets(target)


SCRIPT = """
import sys
from kafka_conformance.audit.repair.repair import repair
from kafka_conformance.spark.session import open_spark
bootstrap, source, folder = sys.argv[1:]
with open_spark("local[2]", connector=True, settings={"spark.sql.shuffle.partitions": "2"}) as spark:
    found = repair(spark, topic=source, target=source + "-new", kafka={"kafka.bootstrap.servers": bootstrap,
                   "kafka.batch.size": "4096", "kafka.linger.ms": "0"}, folder=folder, partitions=5, execute=True)
sys.exit(0 if found.right else 1)
"""


@pytest.mark.long
def test_second_repair_pass_killed_and_resumed_has_no_loss_or_duplicates(
    spark: Spark, broker: Broker, java: JavaWriter, name: str, repaired: Callable[..., Repair], tmp_path: Path
) -> None:
    mixed_topic(broker.bootstrap, name, java, records=100)
    repaired()
    ends = ends_of(read(spark, broker.bootstrap, name))
    records = 60_000
    rows = spark.session.range(0, records, 1, 4).selectExpr(
        "cast(concat('k', id % 5000) as binary) key", "cast(id % 3 as int) partition",
        "cast(concat(id, repeat(sha2(cast(id as string), 512), 3)) as binary) value",
    )  # fmt: skip
    rows.write.format("kafka").option("kafka.bootstrap.servers", broker.bootstrap).option("topic", name).save()
    seen = []
    with Topics(spark, {"kafka.bootstrap.servers": broker.bootstrap}) as topics:

        def written() -> int:
            return sum(span.end for span in topics.spans(f"{name}-new", 5).values()) - 100

        for share in (0.1, 0.5):
            process = subprocess.Popen([sys.executable, "-c", SCRIPT, broker.bootstrap, name, str(tmp_path / "run")])
            limit = time.monotonic() + 200
            while written() < share * records and process.poll() is None:
                assert time.monotonic() < limit
                time.sleep(0.02)
            process.send_signal(signal.SIGKILL)
            process.wait(30)
            seen.append(written())
    assert any(0 < count < records for count in seen), seen
    found = repaired()
    source, target = read(spark, broker.bootstrap, name), read(spark, broker.bootstrap, f"{name}-new")
    assert found.right
    assert found.resumed
    assert (found.passes, found.records) == (2, records + 100)
    assert values_of(target) == model(source, 5, [ends])
    check_offsets(target)


@pytest.mark.long
def test_repair_follow_ended_by_ctrl_c_prints_the_report(
    broker: Broker, java: JavaWriter, name: str, tmp_path: Path
) -> None:
    mixed_topic(broker.bootstrap, name, java, records=60)
    errors = tmp_path / "stderr"
    with errors.open("wb") as file:
        words = [
            "repair",
            name,
            f"{name}-new",
            "--bootstrap-server",
            broker.bootstrap,
            "--execute",
            "--follow",
        ]
        process = subprocess.Popen([sys.executable, "-m", "kafka_conformance", *words], cwd=tmp_path, stdout=subprocess.PIPE,
                                   stderr=file, text=True,
                                   preexec_fn=accept_interrupts)  # fmt: skip
        limit = time.monotonic() + 200
        while f"following {name} until Ctrl-C" not in errors.read_text() and process.poll() is None:
            assert time.monotonic() < limit
            time.sleep(0.2)
        write_more(java, broker, name, 20)
        while "pass 2: 20 records" not in errors.read_text() and process.poll() is None:
            assert time.monotonic() < limit
            time.sleep(0.2)
        os.kill(process.pid, signal.SIGINT)
        out, _ = process.communicate(timeout=120)
    assert process.returncode == 0, errors.read_text()
    assert out.rstrip().splitlines()[-1].startswith(f"{name}-new is as planned: nothing lost, nothing duplicated")
    assert "80 records, checksum" in out


@pytest.fixture
def mapped(spark: Spark, broker: Broker, name: str, tmp_path: Path) -> Callable[..., GroupMapping]:
    def run(*named: str, execute: bool = False) -> GroupMapping:
        kafka = {"kafka.bootstrap.servers": broker.bootstrap}
        return map_groups(spark, topic=name, target=f"{name}-new", kafka=kafka, folder=str(tmp_path / "run"), named=named,
                       execute=execute)  # fmt: skip

    return run


def consumer(broker: Broker, group: str) -> Any:
    from confluent_kafka import Consumer

    return Consumer({"bootstrap.servers": broker.bootstrap, "group.id": group, "auto.offset.reset": "error",
                     "enable.auto.commit": False, "log_level": 0})  # fmt: skip


def commit(broker: Broker, group: str, topic: str, offsets: dict[int, int]) -> None:
    from confluent_kafka import TopicPartition

    client = consumer(broker, group)
    client.commit(
        offsets=[TopicPartition(topic, number, offset) for number, offset in offsets.items()], asynchronous=False
    )
    client.close()


def committed(broker: Broker, group: str, topic: str, partitions: int = 5) -> dict[int, int]:
    from confluent_kafka import TopicPartition

    client = consumer(broker, group)
    found = client.committed([TopicPartition(topic, number) for number in range(partitions)], timeout=30)
    client.close()
    return {place.partition: place.offset for place in found if place.offset >= 0}


def test_consumer_groups_mapped_to_the_target_topic_skip_no_unread_record_and_count_rereads(
    spark: Spark, broker: Broker, java: JavaWriter, name: str, repaired: Callable[..., Repair],
    mapped: Callable[..., GroupMapping],
) -> None:  # fmt: skip
    mixed_topic(broker.bootstrap, name, java)
    repaired()
    write_more(java, broker, name, 50)
    repaired()
    source, target = read(spark, broker.bootstrap, name), read(spark, broker.bootstrap, f"{name}-new")
    ends = ends_of(source)
    offsets = {"half": {number: end // 2 for number, end in ends.items()}, "all": ends,
               "most": {number: max(0, end - 3) for number, end in ends.items()}, "one": {0: ends[0]}}  # fmt: skip
    groups = {f"{name}-{group}": each for group, each in offsets.items()}
    for group, each in groups.items():
        commit(broker, group, name, each)
    dry = mapped(*groups)
    assert all(committed(broker, group, f"{name}-new") == {} for group in groups), "a dry run commits nothing"
    assert mapped(*groups, execute=True) == type(dry)(dry.source, dry.target, dry.groups, True, 0)
    for one in dry.groups:
        assert committed(broker, one.group, f"{name}-new") == one.new
        # Values are not all distinct: the records themselves, each as often as it is there.
        read_before = [record.values for number, ones in source.items() for record in ones
                       if record.offset < groups[one.group].get(number, 0)]  # fmt: skip
        for number, new in one.new.items():
            values = [record.values for record in target.get(number, [])]
            for each in values[:new]:
                assert each in read_before, "an unread record would be skipped"
        after = sum(len(target.get(number, [])) - new for number, new in one.new.items())
        assert after - one.again == 650 - len(read_before), "what is read again is counted exactly"
    by_name = {one.group: one for one in dry.groups}
    assert by_name[f"{name}-all"].again == 0
    assert 0 < by_name[f"{name}-most"].again < 650


def test_group_with_members_blocks_moving_any_group_and_existing_target_offsets_stay_unless_named(
    broker: Broker, java: JavaWriter, name: str, repaired: Callable[..., Repair], mapped: Callable[..., GroupMapping]
) -> None:
    mixed_topic(broker.bootstrap, name, java, records=60)
    with pytest.raises(BadInput, match=r"holds no repair: copy .* first"):
        mapped()
    repaired()
    for group in ("idle", "busy"):
        commit(broker, f"{name}-{group}", name, {0: 1})
    client = consumer(broker, f"{name}-busy")
    try:
        client.subscribe([name])
        limit = time.monotonic() + 60
        while not client.assignment():
            assert time.monotonic() < limit
            client.poll(0.2)
        groups = f"{name}-idle", f"{name}-busy"
        assert [one.members for one in mapped(*groups).groups] == [1, 0]
        with pytest.raises(BadInput, match=rf"^group {name}-busy has 1 member: stop its consumers first"):
            mapped(*groups, execute=True)
        assert committed(broker, f"{name}-idle", f"{name}-new") == {}, "nothing is committed for any group"
    finally:
        client.close()
    commit(broker, f"{name}-idle", f"{name}-new", {0: 7})
    found = {one.group: one for one in mapped(execute=True).groups if one.group in groups}
    assert "has offsets of" in found[f"{name}-idle"].skipped
    assert committed(broker, f"{name}-idle", f"{name}-new") == {0: 7}
    assert committed(broker, f"{name}-busy", f"{name}-new") == found[f"{name}-busy"].new
    mapped(f"{name}-idle", execute=True)
    assert committed(broker, f"{name}-idle", f"{name}-new")[0] != 7
