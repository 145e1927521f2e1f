"""The requests of one history to its partition, each sent once."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from functools import partial

from kafka_conformance.core.errors import BadInput, BrokerLost
from kafka_conformance.replication.live.cluster import LiveCluster
from kafka_conformance.replication.live.metadata_source import PartitionView
from kafka_conformance.replication.live.wire import (
    alter_topic,
    await_true,
    create_topic,
    elect,
    fetch,
    list_end_offset,
    metadata_without_elr,
    produce,
    produced,
)
from kafka_conformance.wire.client import PendingResponse
from kafka_reference.cluster.observation import Elected, Produced
from kafka_reference.cluster.script import ClusterScript, Produce
from kafka_reference.record_batch.encode import encode_batch
from kafka_reference.record_batch.types import NewBatch, NewRecord

__all__ = ["MIN_ISR", "UNCLEAN", "PartitionClient", "batch_of"]

MIN_ISR, UNCLEAN = "min.insync.replicas", "unclean.leader.election.enable"

_MARKER, _MARKER_VALUE = "max.message.bytes", 1_048_588
_FOLLOW_LIMIT_S = 20.0


@dataclass(slots=True)
class PartitionClient:
    """A topic of one partition, and the requests to it that have no response yet."""

    cluster: LiveCluster
    """The cluster."""
    topic: str
    """The topic."""
    pending: dict[int, PendingResponse] = field(default_factory=dict)
    """The requests without response, by event."""
    replicas: frozenset[int] = frozenset()
    """The brokers with a replica, once the topic is created."""
    _markers: int = 0

    def create(self, script: ClusterScript) -> None:
        """Create the topic as the script begins, and wait until every broker has it. Raises BadInput, BrokerLost."""
        settings = {
            MIN_ISR: str(script.min_insync_replicas),
            UNCLEAN: str(script.unclean_leader_election).lower(),
        }
        self.replicas = frozenset(script.replicas)
        create_topic(self.cluster.controller_connection(), self.topic, script.replicas, settings)
        self.await_leader()

    def view(self) -> PartitionView:
        """Return the controller's state of the partition. Raises BrokerLost."""
        self.cluster.metadata.read()
        if (view := self.cluster.metadata.partition(self.topic)) is None:
            raise BrokerLost(f"the controller has no topic {self.topic}")
        return view

    def produce(self, index: int, event: Produce) -> Produced | None:
        """Send a batch to the leader and return the response; None for one that waits. Raises BadInput, BrokerLost."""
        leader = self.view().leader
        if leader < 0:
            # A producer asks by Metadata: DescribeTopicPartitions has no error for a partition without a leader.
            return Produced(metadata_without_elr(self.cluster.any_connection(), self.topic).error, None)
        if event.acks == -1 and not event.wait:
            return self._send(index, event, leader)
        connection = self.cluster.connection(leader)
        sent = produce(
            connection, self.topic, batch_of(index, event.records), acks=event.acks, timeout_ms=self._timeout_ms
        )
        if event.acks == 0:
            # A broker handles the requests of a connection in their order.
            self.cluster.metadata_of(connection, self.topic)
            return Produced(None, None)
        return _answer(*produced(sent.wait(self._limit_s)))

    def await_responses(self) -> dict[int, Produced]:
        """Wait for the responses of all requests that wait, and return them by event. Raises BrokerLost."""
        found, limit = {}, time.monotonic() + self._limit_s
        for index, sent in self.pending.items():
            found[index] = _answer(*produced(sent.wait(max(0.01, limit - time.monotonic()))))
            sent.connection.close()
        self.pending.clear()
        return found

    def alter(self, name: str, value: str) -> None:
        """Change a setting of the topic, and wait until the brokers that run apply it. Raises BadInput, BrokerLost.

        A broker shows a setting (with ZooKeeper: logs it) a moment before it applies it. It takes over changes one after the
        other: one that follows is shown only after the first is applied.
        """
        self._alter(name, value)
        self._markers += 1
        self._alter(_MARKER, str(_MARKER_VALUE + self._markers))

    def elect(self, election: str) -> Elected:
        """Ask for an election, and wait until the brokers that run follow its outcome."""
        error = elect(self.cluster.controller_connection(), self.topic, unclean=election == "unclean")
        self.await_leader()
        return Elected(error)

    def await_leader(self) -> None:
        """Wait until the metadata of all running brokers have the leader, and it leads. Raises BrokerLost."""
        if not await_true(self._is_led, _FOLLOW_LIMIT_S):
            raise BrokerLost(
                f"brokers do not follow the metadata of {self.topic} after {_FOLLOW_LIMIT_S:g} s: {self.view()}"
            )

    def await_in_sync(self) -> None:
        """Wait until the followers that run are in sync with a leader that runs. Raises BrokerLost."""
        running = self.cluster.running & self.replicas
        if not await_true(lambda: self.view().leader not in running or running <= self.view().isr, _FOLLOW_LIMIT_S):
            raise BrokerLost(f"{sorted(running)} run, and {self.topic} has {self.view()} after {_FOLLOW_LIMIT_S:g} s")
        self.await_leader()

    @property
    def _timeout_ms(self) -> int:
        return self.cluster.timing.request_timeout_ms

    @property
    def _limit_s(self) -> float:
        return self._timeout_ms / 1000 + 10

    def _send(self, index: int, event: Produce, leader: int) -> Produced | None:
        """Send a request that may wait on a separate connection; return when it is appended or answered."""
        before = list_end_offset(self.cluster.connection(leader), self.topic)
        connection = self.cluster.new_connection(leader)
        sent = produce(
            connection, self.topic, batch_of(index, event.records), acks=event.acks, timeout_ms=self._timeout_ms
        )
        limit = time.monotonic() + self._limit_s
        while time.monotonic() < limit:
            if list_end_offset(self.cluster.connection(leader), self.topic) != before:
                self.pending[index] = sent
                return None
            if (response := sent.poll(0.01)) is not None:
                sent.connection.close()
                return _answer(*produced(response))
        raise BrokerLost(f"a batch for {self.topic} is neither appended nor refused after {self._limit_s:g} s")

    def _alter(self, name: str, value: str) -> None:
        if (error := alter_topic(self.cluster.any_connection(), self.topic, name, value)) != "NONE":
            raise BadInput(f"{name}={value} cannot be set for {self.topic}: {error}")
        for broker in sorted(self.cluster.running):
            if not await_true(partial(self.cluster.shows_setting, broker, self.topic, name, value), _FOLLOW_LIMIT_S):
                raise BrokerLost(f"broker {broker} does not take over {name}={value} of {self.topic}")

    def _is_led(self) -> bool:
        view, running = self.view(), self.cluster.running
        if view.leader >= 0 and view.leader not in running:
            return True  # it has stopped, and the controller has not missed it yet: brokers may list it or not
        known = [self.cluster.metadata_of(self.cluster.connection(broker), self.topic) for broker in running]
        if any((one.leader, one.leader_epoch) != (view.leader, view.leader_epoch) for one in known):
            return False
        if view.leader < 0:
            return True
        leading = fetch(self.cluster.connection(view.leader), self.topic, leader_epoch=view.leader_epoch)
        return leading.error == "NONE"


def batch_of(event: int, records: int) -> bytes:
    """Return the batch of an event: the value of each record names event and record."""
    now_ms = int(time.time() * 1000)
    made = [NewRecord(now_ms, None, f"event {event} record {number}".encode()) for number in range(records)]
    return encode_batch(NewBatch(records=made))


def _answer(error: str, base_offset: int) -> Produced:
    return Produced(error, base_offset if error == "NONE" else None)
