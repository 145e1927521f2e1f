"""The controller's log: sessions and partitions from the bytes of its records."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from kafka_conformance.core.errors import BrokerLost
from kafka_conformance.replication.live.metadata_log import MetadataLog
from kafka_conformance.replication.live.metadata_source import PartitionChange, PartitionView
from kafka_conformance.replication.live.shrink import Shrink, find_shrinks
from kafka_reference.record_batch.encode import encode_batch
from kafka_reference.record_batch.types import NewBatch, NewRecord

TOPIC = bytes(range(16))


def ids(*brokers: int) -> bytes:
    return bytes([len(brokers) + 1]) + b"".join(struct.pack(">i", broker) for broker in brokers)


def tags(**fields: bytes) -> bytes:
    return bytes([len(fields)]) + b"".join(
        bytes([int(tag[1:]), len(data)]) + data for tag, data in sorted(fields.items())
    )


def register(broker: int) -> bytes:
    return b"\1\0\3" + struct.pack(">i", broker) + bytes(40)


def session(broker: int, change: int) -> bytes:
    return b"\1\x11\2" + struct.pack(">iq", broker, 5) + tags(t0=bytes([change & 0xFF]))


def topic(name: str) -> bytes:
    return b"\1\2\0" + bytes([len(name) + 1]) + name.encode() + TOPIC + b"\0"


def partition(leader: int) -> bytes:
    directories = bytes([4]) + bytes(48)
    replicas = ids(1, 2, 3) * 2 + ids() * 2
    return b"\1\3\2" + struct.pack(">i", 0) + TOPIC + replicas + struct.pack(">iii", leader, 0, 0) + directories + b"\0"


def change(**fields: bytes) -> bytes:
    return b"\1\5\2" + struct.pack(">i", 0) + TOPIC + tags(**fields)


def batch(time_ms: int, *records: bytes, control: bool = False) -> bytes:
    made = [NewRecord(time_ms, b"\0\0\0\2" if control else None, record) for record in records]
    return encode_batch(NewBatch(records=made, control=control))


@pytest.fixture
def log(tmp_path: Path) -> MetadataLog:
    file = tmp_path / "log"
    file.write_bytes(
        batch(0, b"leader change", control=True)
        + batch(1, register(1), register(2), session(1, -1))
        + batch(2, topic("t"), partition(1))
    )
    return MetadataLog(file)


def test_metadata_log_shows_fenced_brokers_from_registration_changes(log: MetadataLog) -> None:
    log.read()
    assert log.fenced == {1: False, 2: True}
    with log.file.open("ab") as file:
        file.write(batch(3, session(1, 1), session(2, -1)))
    log.read()
    assert log.fenced == {1: True, 2: False}


def test_metadata_log_shows_leader_isr_and_elr_changes_also_from_a_batch_completed_later(log: MetadataLog) -> None:
    log.read()
    assert log.partition("t") == PartitionView(1, 0, frozenset({1, 2, 3}))
    assert log.partition("other") is None
    second = batch(11, change(t0=ids(), t1=struct.pack(">i", -1), t6=ids(2)), b"\1\x1c\0\2t\0")
    with log.file.open("ab") as file:
        file.write(batch(10, change(t0=ids(1, 2))) + second[:30])
    log.read()
    assert log.partition("t") == PartitionView(1, 0, frozenset({1, 2}))
    with log.file.open("ab") as file:  # the rest of a batch that was being written
        file.write(second[30:] + batch(12, change(t1=struct.pack(">i", 2))))
    log.read()
    assert log.changes("t")[2:] == (
        PartitionChange(11, PartitionView(-1, 1, frozenset(), frozenset({2}))),
        PartitionChange(11, PartitionView(-1, 1, frozenset(), frozenset())),  # cleared with a new minimum
        PartitionChange(12, PartitionView(2, 2, frozenset(), frozenset())),
    )


def test_missing_metadata_log_raises_one_line_broker_lost(tmp_path: Path) -> None:
    with pytest.raises(BrokerLost, match=r"^the controller's metadata log .* cannot be read: No such file"):
        MetadataLog(tmp_path / "none").read()


def test_isr_shrink_is_reported_only_for_a_paused_follower_of_a_running_leader() -> None:
    def at(time_ms: int, leader: int, epoch: int, *isr: int) -> PartitionChange:
        return PartitionChange(time_ms, PartitionView(leader, epoch, frozenset(isr)))

    changes = [at(0, 1, 0, 1, 2, 3), at(1500, 1, 0, 1, 2), at(4000, 1, 0, 1)]
    assert list(find_shrinks(7, {2: 2000.0, 3: 2000.0}, changes)) == [Shrink(7, 2, 2000)]  # 3 left before it was paused
    assert not list(find_shrinks(7, {1: 1000.0, 2: 2000.0}, changes))  # the controller removed it, the leader is paused
    assert not list(find_shrinks(7, {1: 1000.0}, [at(0, 1, 0, 1, 2), at(3000, 2, 1, 2)]))
