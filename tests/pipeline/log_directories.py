"""Healthy log directories of real brokers: what each of them looked like to ``log inspect``, and where the copies are.

Four kinds of brokers, each with the state in which it was inspected::

    RELEASE running | stopped | killed | recovered     three releases, one node; ``running`` while producers write
    RELEASE cluster node N                             three nodes, one of which was killed and came back; 1 runs
    4.4.0 disk N running | stopped                     three log.dirs, preallocated files; while running, a partition moves
    RELEASE tiered running | stopped                   Kafka's own tiered storage on ``FolderStorage.java``
"""

from __future__ import annotations

import random
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from confluent_kafka import Consumer, TopicPartition
from confluent_kafka.admin import (  # type: ignore[attr-defined]
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    ResourceType,
)
from log_writers import (
    CODECS,
    JavaTool,
    java_transactions,
    produce,
    produce_plain,
    produce_transactions,
    written_meanwhile,
)

from kafka_conformance.brokers.admin import create_topic, delete_topic, partitions_of
from kafka_conformance.brokers.broker import HEAP_MB, running_broker
from kafka_conformance.brokers.cluster import ClusterPlan, running_cluster
from kafka_conformance.log_inspect.directory import open_directory
from kafka_conformance.log_inspect.inspection import inspect
from kafka_conformance.log_inspect.result import Inspection
from kafka_conformance.oracle.bridge import Compiler
from kafka_conformance.oracle.fetching import fetched
from kafka_conformance.oracle.java_home import find_java
from kafka_conformance.oracle.jvm import Jvm
from kafka_jars.brokers import load_brokers
from kafka_jars.pins import load
from kafka_jars.store import default_store

__all__ = ["NAMES", "RELEASES", "STATES", "TIERED", "Directories", "make_directories"]

RELEASES = ("3.3.2", "3.9.2", "4.4.0")
STATES = ("running", "stopped", "killed", "recovered")
CLUSTERS, DISKS, TIERED = ("3.3.2", "4.4.0"), "4.4.0", ("3.9.2", "4.4.0")
NAMES = (
    *(f"{release} {state}" for release in RELEASES for state in STATES),
    *(f"{release} cluster node {node}" for release in CLUSTERS for node in (1, 2, 3)),
    *(f"{DISKS} disk {disk} {state}" for disk in (1, 2, 3) for state in ("running", "stopped")),
    *(f"{release} tiered {state}" for release in TIERED for state in ("running", "stopped")),
)
SETTINGS = {
    "log.cleaner.backoff.ms": "200", "log.retention.check.interval.ms": "1000", "log.initial.task.delay.ms": "500",
    "log.segment.delete.delay.ms": "500", "log.cleaner.dedupe.buffer.size": str(4 * 2**20),
}  # fmt: skip
SMALL = {"segment.bytes": "1048576", "index.interval.bytes": "1024"}
COMPACTED = {
    **SMALL, "cleanup.policy": "compact", "min.cleanable.dirty.ratio": "0.01", "segment.ms": "500",
    "max.compaction.lag.ms": "1000", "delete.retention.ms": "1000",
}  # fmt: skip
TOPICS = (
    *((f"plain-{codec}", 1, SMALL) for codec in CODECS),
    ("java", 2, SMALL), ("transactions", 2, SMALL), ("retained", 1, {**SMALL, "retention.bytes": "1100000"}),
    ("compacted", 2, COMPACTED), ("compacted-transactions", 1, COMPACTED), ("empty", 1, {}),
)  # fmt: skip
_LIMIT_S = 60


@dataclass
class Directories:
    """``seen`` are the inspections by name, ``copies`` the directories that are still there, ``remote`` remote storages."""

    root: Path
    seen: dict[str, Inspection] = field(default_factory=dict)
    copies: dict[str, Path] = field(default_factory=dict)
    remote: dict[str, Path] = field(default_factory=dict)

    def take(self, name: str, folder: Path) -> None:
        """Inspect a directory where it is."""
        self.seen[name] = inspect(open_directory(folder), records=True)

    def copy(self, name: str, folder: Path) -> None:
        """Copy a directory that no broker uses, and inspect the copy."""
        shutil.copytree(folder, self.root / name)
        self.copies[name] = self.root / name
        self.take(name, self.root / name)


def make_directories(root: Path) -> Directories:
    """Run all brokers, one after another."""
    made = Directories(root)
    jars = fetched(load().clients("4.4.0"), default_store())
    with Jvm(extra_class_path=[jar.path for jar in jars]) as jvm:
        write, move = JavaTool(jvm, "TransactionWriter"), JavaTool(jvm, "ReplicaMover")
        for release in RELEASES:
            one_node(made, release, write)
        for release in CLUSTERS:
            three_nodes(made, release, write)
        three_disks(made, move)
        for release in TIERED:
            tiered(made, release, storage_classes(jvm, release))
    return made


def one_node(made: Directories, release: str, write: JavaTool) -> None:
    """A broker that runs, stopped, was killed, and has recovered."""
    with running_broker(release, engine="jars", settings=SETTINGS) as broker:
        node = node_folder(broker, 1)
        for topic, partitions, settings in TOPICS:
            broker.create_topic(topic, partitions, settings=settings)
        produce(broker.bootstrap)
        java_transactions(write, broker.bootstrap, "java", 12, 40)
        wait_until(lambda: not (node / "retained-0" / f"{0:020}.log").exists(), "retention deletes a segment")
        with written_meanwhile(broker.bootstrap, "plain-lz4", "compacted", "retained"):
            made.take(f"{release} running", node)
        broker.stop_node(1)
        made.copy(f"{release} stopped", node)
        broker.start_node(1)
        with written_meanwhile(broker.bootstrap, "compacted", "plain-none"):
            broker.kill_node(1)
        made.copy(f"{release} killed", node)
        broker.start_node(1)
        broker.stop_node(1)
        made.copy(f"{release} recovered", node)


def three_nodes(made: Directories, release: str, write: JavaTool) -> None:
    """Replicas of leaders that change: the second and third node are killed and come back."""
    with running_broker(release, nodes=3, engine="jars", settings=SETTINGS) as broker:
        for topic, partitions, settings in TOPICS:
            broker.create_topic(topic, partitions, replicas=3, settings=settings)
        chance = random.Random(2)
        for killed in (2, 3):
            produce_plain(broker.bootstrap, "plain-none", 2_000, chance)
            produce_plain(broker.bootstrap, "plain-zstd", 2_000, chance, codec="zstd")
            broker.kill_node(killed)
            for topic, _, _ in TOPICS:
                wait_until(partial(others_lead, broker.bootstrap, topic, killed), f"others lead {topic}")
            produce_transactions(broker.bootstrap, chance)
            broker.start_node(killed)
        java_transactions(write, broker.bootstrap, "java", 6, 40)
        time.sleep(2)  # the followers catch up
        broker.stop_node(3)
        broker.stop_node(2)
        for node in (2, 3):
            made.copy(f"{release} cluster node {node}", node_folder(broker, node))
        made.take(f"{release} cluster node 1", node_folder(broker, 1))


def three_disks(made: Directories, move: JavaTool) -> None:
    """A broker with three ``log.dirs``. A partition moves from one to another, slowly; a topic was deleted."""
    disks = [made.root / f"disk-{number}" for number in (1, 2, 3)]
    jars = [stored.path for stored in fetched(load_brokers().jars(DISKS), default_store())]
    settings = {**SETTINGS, "log.dirs": ",".join(map(str, disks)), "log.preallocate": "true",
                "log.segment.delete.delay.ms": "600000"}  # fmt: skip
    with running_cluster(ClusterPlan(DISKS, find_java(), jars, 1, settings, None, HEAP_MB)) as cluster:
        bootstrap = cluster.nodes[0].address
        for topic, settings in (("moves", SMALL), ("transactions", SMALL), ("plain", SMALL), ("compacted", COMPACTED),
                                ("deleted", SMALL)):  # fmt: skip
            create_topic(bootstrap, topic, 3, settings=settings)
        for topic in ("moves", "plain", "compacted", "deleted"):
            produce_plain(bootstrap, topic, 12_000, random.Random(3))
        produce_transactions(bootstrap, random.Random(4), also="compacted")
        delete_topic(bootstrap, "deleted")
        source = next(at for at, disk in enumerate(disks) if (disk / "moves-0").exists())
        target = disks[(source + 1) % 3]
        limit_moves(bootstrap, "100000")
        move(bootstrap, "moves", 0, 1, str(target))
        wait_until(lambda: any(target.glob("moves-0.*-future/*.log")), "the partition begins to move")
        with written_meanwhile(bootstrap, "plain", "moves"):
            for number, disk in enumerate(disks, 1):
                made.take(f"{DISKS} disk {number} running", disk)
        limit_moves(bootstrap, str(10**9))
        wait_until(lambda: (target / "moves-0").exists(), "the partition has moved")
        cluster.stop(1)
        for number, disk in enumerate(disks, 1):
            made.take(f"{DISKS} disk {number} stopped", disk)


def limit_moves(bootstrap: str, rate: str) -> None:
    """Limit the bytes per second of moves between disks."""
    entry = ConfigEntry(
        "replica.alter.log.dirs.io.max.bytes.per.second", rate, incremental_operation=AlterConfigOpType.SET
    )
    resource = ConfigResource(ResourceType.BROKER, "1", incremental_configs=[entry])
    client = AdminClient({"bootstrap.servers": bootstrap})
    (done,) = client.incremental_alter_configs([resource]).values()
    done.result(_LIMIT_S)


def storage_classes(jvm: Jvm, release: str) -> Path:
    """Compile ``FolderStorage.java`` against a release."""
    store = default_store()
    against = fetched(load_brokers().jars(release), store)
    compiler = Compiler(jvm, fetched(load().compiler, store), store.folder)
    return compiler.jar([Path(__file__).with_name("FolderStorage.java")], f"Kafka {release}", against)


def tiered(made: Directories, release: str, classes: Path) -> None:
    """A topic whose older segments were copied to remote storage and deleted here; a consumer has read one of them."""
    remote = made.root / f"remote-{release}"
    settings = {
        **SETTINGS, "remote.log.storage.system.enable": "true", "remote.log.manager.task.interval.ms": "500",
        "remote.log.storage.manager.class.name": "FolderStorage", "rsm.config.dir": str(remote),
        "remote.log.storage.manager.class.path": str(classes), "remote.log.metadata.manager.listener.name": "PLAINTEXT",
        "rlmm.config.remote.log.metadata.topic.replication.factor": "1",
        "rlmm.config.remote.log.metadata.topic.num.partitions": "1",
    }  # fmt: skip
    with running_broker(release, engine="jars", settings=settings) as broker:
        node = node_folder(broker, 1)
        for topic in ("tiered", "transactions"):
            kept = {**SMALL, "remote.storage.enable": "true", "local.retention.bytes": "1", "retention.bytes": "-1"}
            broker.create_topic(topic, 2, settings=kept)
        produce_transactions(broker.bootstrap, random.Random(5), also="tiered")
        produce_plain(broker.bootstrap, "tiered", 16_000, random.Random(6))
        wait_until(lambda: not (node / "tiered-0" / f"{0:020}.log").exists(), "a segment is deleted locally")
        assert read_first(broker.bootstrap, "tiered") == 0
        with written_meanwhile(broker.bootstrap, "tiered"):
            made.take(f"{release} tiered running", node)
        broker.stop_node(1)
        made.copy(f"{release} tiered stopped", node)
        made.remote[release] = remote


def read_first(bootstrap: str, topic: str) -> int:
    """Return the offset of the first record that a consumer receives."""
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": "first", "isolation.level": "read_uncommitted"})
    consumer.assign([TopicPartition(topic, 0, 0)])
    found = consumer.poll(_LIMIT_S)
    consumer.close()
    assert found is not None
    assert found.error() is None
    return int(found.offset() or 0)


def others_lead(bootstrap: str, topic: str, node: int) -> bool:
    """Has every partition of a topic a leader other than ``node``?"""
    return not {-1, node} & set(partitions_of(bootstrap, topic).values())


def node_folder(broker: object, node: int) -> Path:
    """Return the log directory of a node of a broker from jars."""
    folder: Path = broker._cluster.folder / f"node-{node}"  # type: ignore[attr-defined]
    return folder


def wait_until(done: Callable[[], bool], what: str) -> None:
    """Wait until something has happened."""
    limit = time.monotonic() + _LIMIT_S
    while not done():
        assert time.monotonic() < limit, f"not within {_LIMIT_S} s: {what}"
        time.sleep(0.1)
