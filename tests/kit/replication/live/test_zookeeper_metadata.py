"""Metadata from ZooKeeper: sessions and partitions from znodes, with a stand-in for the client."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
from kazoo.exceptions import ConnectionLoss, NoNodeError

from kafka_conformance.core.errors import BrokerLost
from kafka_conformance.replication.live import zookeeper_metadata
from kafka_conformance.replication.live.metadata_source import PartitionChange, PartitionView
from kafka_conformance.replication.live.zookeeper_metadata import ZooKeeperMetadata, open_metadata

STATE = "/brokers/topics/t/partitions/0/state"


@dataclass
class Stat:
    czxid: int = 0
    ctime: int = 0
    mzxid: int = 0
    mtime: int = 0


@dataclass
class FakeClient:
    """Znodes, and the watches on them, which report when a test says so."""

    nodes: dict[str, tuple[bytes, Stat]] = field(default_factory=dict)
    zxid: int = 0
    lost: bool = False
    watches: list[Callable[[], object]] = field(default_factory=list)

    def put(self, path: str, data: bytes = b"", *, time_ms: int) -> None:
        """Write a znode."""
        self.zxid += 1
        _, old = self.nodes.get(path, (b"", Stat(czxid=self.zxid, ctime=time_ms)))
        self.nodes[path] = (data, Stat(old.czxid, old.ctime, self.zxid, time_ms))

    def register(self, broker: int, *, time_ms: int = 0) -> None:
        """Write the znode of a broker again."""
        self.nodes.pop(f"/brokers/ids/{broker}", None)
        self.put(f"/brokers/ids/{broker}", time_ms=time_ms)

    def state(self, leader: int, epoch: int, isr: list[int], *, time_ms: int) -> None:
        """Write the state of the partition."""
        known = {"controller_epoch": 1, "leader": leader, "version": 1, "leader_epoch": epoch, "isr": isr}
        self.put(STATE, json.dumps(known).encode(), time_ms=time_ms)

    def report(self) -> None:
        """Let all watches report."""
        for watch in self.watches:
            watch()

    def get_children(self, path: str) -> list[str]:
        self._check()
        return [node.rpartition("/")[2] for node in self.nodes if node.rpartition("/")[0] == path]

    def exists(self, path: str) -> Stat | None:
        self._check()
        return self.nodes[path][1] if path in self.nodes else None

    def get(self, path: str) -> tuple[bytes, Stat]:
        self._check()
        if path not in self.nodes:
            raise NoNodeError
        return self.nodes[path]

    def ChildrenWatch(self, path: str, report: Any) -> None:  # noqa: N802
        self.watches.append(lambda: report(self.get_children(path)))
        self.watches[-1]()

    def DataWatch(self, path: str, report: Any) -> None:  # noqa: N802
        self.watches.append(lambda: report(*self.nodes.get(path, (None, None))))
        self.watches[-1]()

    def _check(self) -> None:
        if self.lost:
            raise ConnectionLoss


@pytest.fixture
def client() -> FakeClient:
    made = FakeClient()
    for broker in (100, 1, 2):
        made.register(broker)
    return made


def test_broker_is_fenced_while_broker_znode_is_missing(client: FakeClient, monkeypatch: pytest.MonkeyPatch) -> None:
    metadata = ZooKeeperMetadata(client)
    assert metadata.fenced == {1: False, 2: False}, "the controller is not a replica"
    client.register(3)
    del client.nodes["/brokers/ids/1"]
    monkeypatch.setattr("time.time", lambda: 7.5)
    metadata.read()
    assert metadata.fenced == {1: True, 2: False, 3: False}
    assert metadata.fences == [(7500, 1)]
    client.register(1, time_ms=9000)
    metadata.read()
    assert metadata.fenced[1] is False
    assert metadata.fences == [(7500, 1)]


def test_children_watch_marks_broker_without_znode_fenced(client: FakeClient) -> None:
    metadata = ZooKeeperMetadata(client)
    del client.nodes["/brokers/ids/2"]
    client.report()
    assert metadata.fenced == {1: False, 2: True}


def test_recreated_broker_znode_counts_as_lost_session(client: FakeClient) -> None:
    metadata = ZooKeeperMetadata(client)
    client.register(2, time_ms=1234)
    metadata.read()
    assert metadata.fenced == {1: False, 2: False}
    assert metadata.fences == [(1234, 2)]


def test_partition_leader_and_isr_follow_the_state_znode(client: FakeClient) -> None:
    metadata = ZooKeeperMetadata(client)
    assert metadata.partition("t") is None
    assert metadata.changes("t") == ()
    client.state(1, 0, [1, 2, 3], time_ms=10)
    assert metadata.partition("t") == PartitionView(1, 0, frozenset({1, 2, 3}))
    client.state(1, 0, [1, 2], time_ms=20)
    client.report()
    client.report()
    client.state(-1, 1, [1], time_ms=30)
    assert metadata.partition("t") == PartitionView(-1, 1, frozenset({1}))
    assert metadata.changes("t") == (
        PartitionChange(10, PartitionView(1, 0, frozenset({1, 2, 3}))),
        PartitionChange(20, PartitionView(1, 0, frozenset({1, 2}))),
        PartitionChange(30, PartitionView(-1, 1, frozenset({1}))),
    )


def test_late_watch_report_does_not_replace_newer_partition_state(client: FakeClient) -> None:
    metadata = ZooKeeperMetadata(client)
    client.state(1, 0, [1, 2], time_ms=10)
    old = client.nodes[STATE]
    client.state(2, 1, [2], time_ms=20)
    assert metadata.partition("t") == PartitionView(2, 1, frozenset({2}))
    metadata._add("t", *old)
    assert metadata.partition("t") == PartitionView(2, 1, frozenset({2}))


def test_lost_zookeeper_connection_raises_one_line_broker_lost(client: FakeClient) -> None:
    metadata = ZooKeeperMetadata(client)
    metadata.partition("t")
    client.lost = True
    for request in (metadata.read, lambda: metadata.partition("t")):
        with pytest.raises(BrokerLost, match=r"^ZooKeeper does not respond: ConnectionLoss$"):
            request()


def test_connecting_to_missing_zookeeper_raises_broker_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(zookeeper_metadata, "_CONNECT_LIMIT_S", 0.3)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with pytest.raises(BrokerLost, match=r"^ZooKeeper does not respond: "), open_metadata(port):
        pass
