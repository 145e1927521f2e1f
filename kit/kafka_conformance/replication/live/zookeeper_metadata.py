"""The metadata of a cluster with ZooKeeper: the brokers' ephemeral znodes and the partition states, read with kazoo.

Watches report every change at once, and a partition is read again whenever it is requested. The times of changes are
ZooKeeper's; the end of a session has none there, so it has the time when its watch reports it.

Java source mirrored: the paths and JSON of ``kafka.zk.ZkData``, 2.7.0 to 3.9.2.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import logging
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, TypeVar

from kafka_conformance.brokers.settings import CONTROLLER_NODE, HOST
from kafka_conformance.core.errors import BrokerLost
from kafka_conformance.replication.live.metadata_source import PartitionChange, PartitionView

__all__ = ["ZooKeeperMetadata", "check_client", "open_metadata"]

_IDS = "/brokers/ids"
_SESSION_S, _CONNECT_LIMIT_S = 10.0, 60.0

T = TypeVar("T")


class ZooKeeperMetadata:
    """The sessions and partition states so far, a metadata source."""

    def __init__(self, client: Any) -> None:
        """Read with ``client``, a ``KazooClient`` that is connected."""
        self.fenced: dict[int, bool] = {}
        self.fences: list[tuple[int, int]] = []
        self._client, self._errors = client, importlib.import_module("kazoo.exceptions")
        self._lock = threading.RLock()  # watches report in a thread of the client
        self._registrations: dict[int, int] = {}
        self._changes: dict[str, list[PartitionChange]] = {}
        self._zxids: dict[str, int] = {}
        self._request(lambda: client.ChildrenWatch(_IDS, self._watch_sessions))

    def read(self) -> None:
        """Read the sessions; a partition is read when it is asked for. Raises BrokerLost."""
        self._request(self._read_sessions)

    def partition(self, topic: str) -> PartitionView | None:
        """Read and return the state of partition 0 of a topic; None if there is none yet. Raises BrokerLost."""
        path = f"/brokers/topics/{topic}/partitions/0/state"
        if topic not in self._changes:
            self._changes[topic] = []
            self._request(lambda: self._client.DataWatch(path, partial(self._add, topic)))
        with contextlib.suppress(self._errors.NoNodeError):
            self._add(topic, *self._request(lambda: self._client.get(path)))
        changes = self.changes(topic)
        return changes[-1].view if changes else None

    def changes(self, topic: str) -> tuple[PartitionChange, ...]:
        """Return the states of partition 0 of a topic since it was first asked for, in order."""
        with self._lock:
            return tuple(self._changes.get(topic, ()))

    def _watch_sessions(self, _: list[str]) -> None:
        self._read_sessions()

    def _read_sessions(self) -> None:
        """Compare the znodes of the brokers with the earlier ones: each registration makes a new one."""
        with self._lock:
            found = dict(self._registered())
            now_ms = int(time.time() * 1000)
            for broker in self._registrations.keys() - found.keys():
                self._end_session(broker, now_ms)
            for broker, (registration, time_ms) in found.items():
                if self._registrations.get(broker, registration) != registration:
                    self._end_session(broker, time_ms)
                self._registrations[broker], self.fenced[broker] = registration, False

    def _registered(self) -> Iterator[tuple[int, tuple[int, int]]]:
        """Yield each broker that has a znode, with the id of the transaction that made it, and the time in ms."""
        for broker in map(int, self._client.get_children(_IDS)):
            if broker != CONTROLLER_NODE and (stat := self._client.exists(f"{_IDS}/{broker}")) is not None:
                yield broker, (stat.czxid, stat.ctime)

    def _end_session(self, broker: int, time_ms: int) -> None:
        del self._registrations[broker]
        self.fenced[broker] = True
        self.fences.append((time_ms, broker))

    def _add(self, topic: str, data: bytes | None, stat: Any) -> None:
        """Add a state of a partition, unless it or a newer one is known; ``data`` is None before there is one."""
        if data is None:
            return
        state = json.loads(data)
        view = PartitionView(state["leader"], state["leader_epoch"], frozenset(state["isr"]))
        with self._lock:
            if stat.mzxid > self._zxids.get(topic, -1):
                self._zxids[topic] = stat.mzxid
                self._changes[topic].append(PartitionChange(stat.mtime, view))

    def _request(self, request: Callable[[], T]) -> T:
        try:
            return request()
        except self._errors.NoNodeError:
            raise
        except self._errors.KazooException as error:
            raise _lost(error) from error


def check_client() -> None:
    """Raise ModuleNotFoundError without kazoo (extra ``cluster``)."""
    importlib.import_module("kazoo.client")


@contextlib.contextmanager
def open_metadata(port: int) -> Iterator[ZooKeeperMetadata]:
    """Connect to the ZooKeeper server on a port of this machine until the block ends.

    Raises BrokerLost if the server does not respond.
    """
    threads = importlib.import_module("kazoo.handlers.threading")
    logger = logging.getLogger(__name__)
    logger.addHandler(logging.NullHandler())  # what fails is raised
    logger.propagate = False
    client = importlib.import_module("kazoo.client").KazooClient(f"{HOST}:{port}", timeout=_SESSION_S, logger=logger)
    try:
        try:
            client.start(_CONNECT_LIMIT_S)
        except threads.KazooTimeoutError as error:
            raise _lost(error) from error
        yield ZooKeeperMetadata(client)
    finally:
        client.stop()
        client.close()


def _lost(error: Exception) -> BrokerLost:
    return BrokerLost(f"ZooKeeper does not respond: {str(error) or type(error).__name__}")
