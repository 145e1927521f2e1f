"""Real brokers: they run, can be stopped and killed, and however a run ends they leave neither process nor folder."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from processes import accept_interrupts, descendants, is_gone, nothing_left

from kafka_conformance.brokers.admin import delete_topic, partitions_of
from kafka_conformance.brokers.broker import Broker, running_broker
from kafka_conformance.core.errors import BadInput, BrokerLost
from kafka_jars.brokers import load_brokers

START_LIMIT_S = 120
pytestmark = pytest.mark.long  # all of them together: each starts its own brokers


def sent_and_read(broker: Broker, topic: str, count: int = 20, limit_s: int = 30) -> int:
    """So many records sent with all acknowledgements, by librdkafka; how many the topic holds then."""
    from confluent_kafka import Consumer, Producer, TopicPartition

    failed: list[Any] = []
    settings = {
        "bootstrap.servers": broker.bootstrap,
        "acks": "all",
        "delivery.timeout.ms": limit_s * 1000,
        "log_level": 0,
    }
    producer = Producer(settings)
    for number in range(count):
        producer.produce(topic, b"%d" % number, on_delivery=lambda error, _: error and failed.append(error))
    assert producer.flush(40) == 0
    assert failed == []
    consumer = Consumer({"bootstrap.servers": broker.bootstrap, "group.id": "none", "log_level": 0})
    try:
        places = [TopicPartition(topic, each) for each in partitions_of(broker.bootstrap, topic)]
        return sum(end_of(consumer, place) for place in places)
    finally:
        consumer.close()


def end_of(consumer: Any, place: Any) -> int:
    """A new leader does not say it before it knows what the others have: Kafka says so, and a client asks again."""
    from confluent_kafka import KafkaError, KafkaException

    limit = time.monotonic() + 20
    while True:
        try:
            return int(consumer.get_watermark_offsets(place, timeout=20)[1])
        except KafkaException as error:
            if error.args[0].code() != KafkaError.OFFSET_NOT_AVAILABLE or time.monotonic() > limit:
                raise
            time.sleep(0.1)


@pytest.mark.parametrize("release", list(load_brokers().releases))
def test_broker_of_every_pinned_release_starts_stores_records_and_leaves_no_process(release: str) -> None:
    with running_broker(release, engine="jars") as broker:
        assert broker.release == release
        assert broker.bootstrap.startswith("127.0.0.1:")
        pids = broker.process_ids
        (command,) = [Path(f"/proc/{pid}/cmdline").read_text() for pid in pids.values()]
        assert f"org.apache.kafka_kafka_2.13_{release}.jar" in command
        broker.create_topic("t", 2, settings={"segment.bytes": "1048576"})
        broker.grow_topic("t", 5)
        assert partitions_of(broker.bootstrap, "t") == dict.fromkeys(range(5), 1)
        assert sent_and_read(broker, "t") == 20
        delete_topic(broker.bootstrap, "t")
        assert partitions_of(broker.bootstrap, "t") == {}
    assert all(map(is_gone, pids.values()))


@pytest.mark.parametrize("release", ["2.4.1", "3.3.2", "4.4.0"])
def test_single_broker_node_keeps_records_after_stop_and_kill(release: str) -> None:
    with running_broker(release, engine="jars") as broker:
        broker.create_topic("t", 1)
        assert sent_and_read(broker, "t") == 20
        for end in (broker.stop_node, broker.kill_node):
            end(1)
            assert broker.process_ids == {}
            with pytest.raises(BrokerLost, match=r"^no broker answers at 127.0.0.1"):
                partitions_of(broker.bootstrap, "t")
            broker.start_node(1)
        assert sent_and_read(broker, "t") == 40


@pytest.mark.parametrize("release", ["3.3.2", "4.4.0"])
def test_three_node_cluster_accepts_records_without_node_2_or_3_but_node_1_cannot_be_killed(release: str) -> None:
    with running_broker(release, nodes=3, engine="jars") as broker:
        assert len(set(broker.bootstrap.split(","))) == 3
        assert list(broker.process_ids) == [1, 2, 3]
        broker.create_topic("t", 6, replicas=3, settings={"min.insync.replicas": "2"})
        assert set(partitions_of(broker.bootstrap, "t").values()) == {1, 2, 3}
        assert sent_and_read(broker, "t") == 20
        broker.kill_node(3)
        with pytest.raises(BadInput, match="node 1 has the controllers' only vote"):
            broker.kill_node(1)
        assert sent_and_read(broker, "t") == 40
        broker.start_node(3)
        broker.stop_node(2)
        assert list(broker.process_ids) == [1, 3]
        assert sent_and_read(broker, "t") == 60
        pids = broker.process_ids
    assert all(map(is_gone, pids.values()))


def test_broker_applies_settings_and_refuses_unknown_topics_and_more_replicas_than_nodes(kafka_broker: Broker) -> None:
    from confluent_kafka import KafkaException
    from confluent_kafka.admin import AdminClient, ConfigResource

    with running_broker(engine="jars", settings={"message.max.bytes": 12345}) as broker:
        admin = AdminClient({"bootstrap.servers": broker.bootstrap})
        (asked,) = admin.describe_configs([ConfigResource(ConfigResource.Type.BROKER, "1")]).values()
        assert asked.result(30)["message.max.bytes"].value == "12345"
        assert broker.bootstrap != kafka_broker.bootstrap
        with pytest.raises((AssertionError, KafkaException)):
            sent_and_read(broker, "misspelled", limit_s=2)
        with pytest.raises(BadInput, match=r"^topic t of 3 partitions cannot be made: .*replication factor"):
            broker.create_topic("t", 3, replicas=2)


# ------------------------------------------------------------------------------------------- as its users run it


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "kafka_conformance", "broker", "run", "--engine", "jars", *arguments]


@pytest.fixture
def rooms(tmp_path: Path) -> dict[str, str]:
    """An environment whose temporary folder can be looked into."""
    (tmp_path / "rooms").mkdir()
    return os.environ | {"TMPDIR": str(tmp_path / "rooms")}


@pytest.fixture
def started(tmp_path: Path, rooms: dict[str, str]) -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Starts ``broker run`` in a new process group."""
    running = []

    def start(*arguments: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            command(*arguments), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env=rooms, cwd=tmp_path, start_new_session=True,
            preexec_fn=accept_interrupts,
        )  # fmt: skip
        running.append(process)
        return process

    yield start
    for process in running:
        process.kill()
        process.communicate()


@pytest.mark.parametrize("nodes", ["1", "3"])
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_broker_run_ended_by_a_signal_leaves_no_process_or_folder(
    started: Callable[..., subprocess.Popen[str]], rooms: dict[str, str], nodes: str, how: signal.Signals
) -> None:
    process = started("--topic", "orders:3", "--nodes", nodes)
    assert process.stdout is not None
    bootstrap = process.stdout.readline().strip()
    assert len(partitions_of(bootstrap, "orders")) == 3
    pids = descendants(process.pid)
    assert len(pids) == 1 + int(nodes)
    assert len(list(Path(rooms["TMPDIR"]).iterdir())) == 1
    os.killpg(process.pid, how)
    _, err = process.communicate(timeout=30)
    assert nothing_left(rooms, pids)
    assert process.returncode == (0 if how in {signal.SIGINT, signal.SIGTERM} else -how)
    assert err.strip().endswith("Ctrl-C ends it"), err


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
@pytest.mark.parametrize("after_s", [0.6, 1.2, 2.5])
def test_broker_run_ended_while_starting_leaves_no_process_or_folder(
    started: Callable[..., subprocess.Popen[str]], rooms: dict[str, str], how: signal.Signals, after_s: float
) -> None:
    process = started()
    time.sleep(after_s)
    pids = descendants(process.pid)
    os.killpg(process.pid, how)
    process.communicate(timeout=30)
    assert nothing_left(rooms, pids)


def test_killed_broker_jvm_ends_broker_run_with_exit_code_2_and_one_line(
    started: Callable[..., subprocess.Popen[str]], rooms: dict[str, str]
) -> None:
    process = started()
    assert process.stdout is not None
    process.stdout.readline()
    pids = descendants(process.pid)
    (java,) = [pid for pid in pids if Path(f"/proc/{pid}/comm").read_text().strip() == "java"]
    os.kill(java, signal.SIGKILL)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 2
    assert err.splitlines()[-1].startswith("kafka-conformance: node 1 ended unexpectedly with code -9: ")
    assert nothing_left(rooms, pids)


def ended(rooms: dict[str, str], *arguments: str, **more: str) -> str:
    """A run that cannot start: its one line."""
    done = subprocess.run(
        command(*arguments), capture_output=True, text=True, env=rooms | more, timeout=START_LIMIT_S, check=False
    )
    assert done.returncode == 2, done
    assert done.stdout == ""
    assert not list(Path(rooms["TMPDIR"]).iterdir())
    (line,) = done.stderr.splitlines()
    return line


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (["--kafka", "2.3.1"], "the broker of 2.3.1 is too old: brokers run here since 2.4"),
        (["--kafka", "2.8.2", "--nodes", "3"], "the broker of 2.8.2 needs ZooKeeper"),
        (["--kafka", "9.9.9"], "the broker of 9.9.9 is not pinned, only those of 2.4.1, "),
        (["--kafka", "3.x"], "'3.x' is not a Kafka release"),
        (["--topic", "orders"], "'orders' is not a topic"),
        (["--topic", "no/name:3"], "topic no/name of 3 partitions cannot be made: "),
        (["--set", "log.dirs=/x"], "log.dirs cannot be set"),
        (["--set", "log.segment.bytes=two"], "Invalid value two for configuration log.segment.bytes"),
        (["--nodes", "2"], "'2' is not one of '1', '3'"),
        (["--engine", "docker", "--nodes", "3"], "a broker from Docker has one node"),
    ],
)
def test_broker_run_with_bad_options_exits_2_with_one_line(rooms: dict[str, str], given: list[str], words: str) -> None:
    assert words in ended(rooms, *given)


def test_broker_run_without_java_exits_2_with_one_line(rooms: dict[str, str], tmp_path: Path) -> None:
    assert "has no working bin/java" in ended(rooms, JAVA_HOME=str(tmp_path))


def test_broker_run_on_a_port_in_use_exits_2_with_one_line(rooms: dict[str, str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert f"port {port} of 127.0.0.1 is not available" in ended(rooms, "--port", str(port))


def test_node_restart_on_a_port_in_use_raises_broker_lost() -> None:
    with running_broker(engine="jars") as broker:
        broker.stop_node(1)
        host, port = broker.bootstrap.split(":")
        with socket.create_server((host, int(port))), pytest.raises(BrokerLost, match=r"^node 1 ended .*(in use|bind)"):
            broker.start_node(1)
        broker.start_node(1)
        broker.create_topic("t", 1)


def test_broker_run_with_a_changed_jar_exits_2_with_one_line(rooms: dict[str, str], tmp_path: Path) -> None:
    from kafka_jars.store import default_store

    pins, store = load_brokers(), default_store()
    cache = tmp_path / "cache" / "jars"
    cache.mkdir(parents=True)
    jars = pins.jars(pins.newest)
    for jar in jars:
        (cache / jar.file_name).symlink_to(store.path(jar))
    (cache / jars[0].file_name).unlink()
    (cache / jars[0].file_name).write_bytes(b"another")
    output = ended(rooms, KAFKA_CONFORMANCE_CACHE=str(tmp_path / "cache"))
    assert "is not the jar that was pinned" in output
