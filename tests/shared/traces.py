"""Traces for tests: frames of a client and of a broker, made by the codec."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from kafka_conformance.wire.codec.messages import shipped_codec
from kafka_conformance.wire.recording.trace import FORMAT, ConnectionChange, Frame, Head, Line
from kafka_reference.record_batch import NewBatch, NewRecord, encode_batch

VERSIONS = {"Produce": 9, "Fetch": 11, "Metadata": 9, "InitProducerId": 4, "ApiVersions": 3, "OffsetCommit": 8,
            "Heartbeat": 4, "JoinGroup": 5, "LeaveGroup": 4, "SaslAuthenticate": 2}  # fmt: skip


def batch(sequence: int, records: int = 1, value: bytes = b"v", *, producer: int = 7, epoch: int = 0) -> bytes:
    """Return a batch of these records; a producer of -1 is not idempotent."""
    return encode_batch(NewBatch(
        records=[NewRecord(1_000, b"key", value)] * records, producer_id=producer,
        producer_epoch=epoch if producer >= 0 else -1, base_sequence=sequence if producer >= 0 else -1,
    ))  # fmt: skip


@dataclass
class Conversation:
    """What clients and a broker say, one frame after another."""

    lines: list[Line] = field(default_factory=list)
    at_ms: float = 0.0
    correlation: int = 0

    def ask(self, api: str, fields: Mapping[str, Any], *, connection: int = 1, version: int | None = None) -> int:
        """Add a request, and return its correlation id."""
        version = VERSIONS[api] if version is None else version
        self.correlation += 1
        data = shipped_codec().encode_request(api, version, fields, self.correlation, "app")
        self._add("client", api, version, self.correlation, connection, data)
        return self.correlation

    def answer(
        self, api: str, fields: Mapping[str, Any], correlation: int, *, connection: int = 1, fate: str = ""
    ) -> None:
        """Add the response to a request."""
        version = VERSIONS[api]
        data = shipped_codec().encode_response(api, version, fields, correlation)
        self._add("broker", api, version, correlation, connection, data, fate)

    def produce(self, *batches: bytes, connection: int = 1, partition: int = 0) -> int:
        """Add a Produce request with these batches for a partition of ``orders``."""
        data = {"index": partition, "records": b"".join(batches)}
        topics = [{"name": "orders", "partitionData": [data]}]
        return self.ask("Produce", {"acks": -1, "timeoutMs": 1, "topicData": topics}, connection=connection)

    def produced(
        self, correlation: int, error: int = 0, *, connection: int = 1, partition: int = 0, fate: str = ""
    ) -> None:
        """Add the response to a Produce request."""
        found = {"index": partition, "errorCode": error, "baseOffset": 0 if error == 0 else -1}
        topics = [{"name": "orders", "partitionResponses": [found]}]
        self.answer("Produce", {"responses": topics}, correlation, connection=connection, fate=fate)

    def give_id(self, producer: int = 7, epoch: int = 0) -> None:
        """Add InitProducerId and its response."""
        asked = self.ask("InitProducerId", {"transactionTimeoutMs": 1})
        self.answer("InitProducerId", {"producerId": producer, "producerEpoch": epoch}, asked)

    def close(self, connection: int = 1) -> None:
        """Add the end of a connection."""
        self.lines.append(ConnectionChange(self.at_ms, connection, "127.0.0.1:9092", "closed", "client: closed"))

    def write(self, path: Path) -> Path:
        """Write a trace file."""
        head = Head(FORMAT, "0.1.0", "127.0.0.1:9092", "2026-11-29T00:00:00+00:00")
        path.write_bytes(b"".join(msgspec.json.encode(line) + b"\n" for line in (head, *self.lines)))
        return path

    def _add(
        self, sender: Any, api: str, version: int, correlation: int, connection: int, data: bytes, fate: str = ""
    ) -> None:
        self.at_ms += 1
        self.lines.append(Frame(
            self.at_ms, connection, "127.0.0.1:9092", sender, api, version, correlation, len(data),
            "app" if sender == "client" else "", data, fate,
        ))  # fmt: skip


def topics(name: str, partitions: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return a topic as Metadata and requests of consumers name it."""
    return [{"name": name, "partitions": list(partitions)}]
