"""Topics read in this process, from the broker that librdkafka simulates."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from confluent_kafka import KafkaError, KafkaException
from mock_broker import PARTITIONS, MockBroker, mock_broker

from kafka_conformance.audit.engines.local import topic as local_topic
from kafka_conformance.audit.engines.local.topic import LocalTopic
from kafka_conformance.audit.result import Audit
from kafka_conformance.audit.topics import Span
from kafka_conformance.brokers.client_settings import ClientSettings
from kafka_conformance.core.errors import BadInput, KitError
from kafka_reference import partition_for_key

Record = tuple[int, bytes | None, int]


@pytest.fixture(scope="module")
def broker() -> Iterator[MockBroker]:
    with mock_broker() as found:
        yield found


def find(broker: MockBroker, topic: str, **planned: Any) -> LocalTopic:
    return LocalTopic.find(topic, ClientSettings({"bootstrap.servers": broker.bootstrap}), **planned)


def read(topic: LocalTopic, spans: dict[int, Span] | None = None) -> dict[int, list[tuple[int, int, bytes | None]]]:
    found: dict[int, list[tuple[int, int, bytes | None]]] = {}
    for block in topic.blocks(topic.spans if spans is None else spans):
        rows = zip(block.offsets.tolist(), block.timestamps_ms.tolist(), block.keys.to_pylist(), strict=True)
        found.setdefault(block.partition, []).extend(rows)
    return found


def written(broker: MockBroker, topic: str, count: int) -> dict[int, list[tuple[int, int, bytes | None]]]:
    """Write records, every ninth without a key, and return them by partition."""
    records: list[Record] = [
        (at % 3, None if at % 9 == 0 else b"" if at % 10 == 0 else b"k%d" % at, 1_000 + at) for at in range(count)
    ]
    broker.write(topic, records)
    lies: dict[int, list[tuple[int, int, bytes | None]]] = {}
    for partition, key, time in records:
        lies.setdefault(partition, []).append((len(lies.get(partition, ())), time, key))
    return lies


@pytest.mark.parametrize("at_once", [1, 16])
def test_topic_records_are_read_once_in_offset_order(
    broker: MockBroker, at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(local_topic, "AT_ONCE", at_once)
    lies = written(broker, f"all-{at_once}", 5_000)
    topic = find(broker, f"all-{at_once}")
    assert topic.spans == {number: Span(0, len(lies.get(number, ()))) for number in range(PARTITIONS)}
    assert (topic.name, topic.partitions) == (f"all-{at_once}", PARTITIONS)
    assert read(topic) == lies
    assert read(topic, {1: Span(5, 9), 3: Span(0, 0)}) == {1: lies[1][5:9]}
    sampled = topic.sample(900).sort_by([("partition", "ascending"), ("offset", "ascending")])
    places = set(zip(sampled["partition"].to_pylist(), sampled["offset"].to_pylist(), strict=True))
    assert len(places) == len(sampled) == 900
    assert {number for number, _ in places} == {0, 1, 2}


def test_records_written_after_the_plan_are_not_read_and_an_added_partition_raises(broker: MockBroker) -> None:
    lies = written(broker, "later", 300)
    topic = find(broker, "later")
    written(broker, "later", 60)
    assert read(topic) == lies
    assert len(topic.sample(1_000)) == 300
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(local_topic, "_Reader", None)
        assert read(topic, {number: Span(0, 100) for number in range(3)}) == lies, "the sample is all of it"
    assert read(find(broker, "later", planned=topic.spans)) == lies
    committed = ClientSettings({"bootstrap.servers": broker.bootstrap, "isolation.level": "read_committed"})
    assert LocalTopic.find("later", committed).spans == {
        0: Span(0, 120),
        1: Span(0, 120),
        2: Span(0, 120),
        3: Span(0, 0),
    }
    with pytest.raises(BadInput, match="had 3 partitions when this run began, and now has 4"):
        find(broker, "later", planned={number: Span(0, 9) for number in range(3)})


def test_deleted_records_or_unknown_topic_raise_a_one_line_error(broker: MockBroker) -> None:
    written(broker, "there", 30)
    topic = find(broker, "there")
    with pytest.raises(
        KitError, match=r"^records of partition 0 of there were deleted while it was read: start again$"
    ):
        read(topic, {0: Span(400, 500)})
    with pytest.raises(
        BadInput, match=r"^topic nowhere cannot be read at 127.0.0.1:\d+: Broker: Unknown topic or partition$"
    ):
        find(broker, "nowhere")


def test_unreachable_broker_raises_a_one_line_error_after_the_time_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local_topic, "LIMIT_S", 0.3)
    with pytest.raises(KitError, match=r"^the broker at 127.0.0.1:9, reading the offsets of there: [^\n]*$"):
        LocalTopic.find("there", ClientSettings({"bootstrap.servers": "127.0.0.1:9"}))
    silent = LocalTopic("there", {"bootstrap.servers": "127.0.0.1:9"}, {0: Span(0, 5)})
    with pytest.raises(KitError, match=r"^reading there: the broker at 127.0.0.1:9 has sent nothing for 0.3 s"):
        read(silent)


def test_consumer_is_closed_after_a_broker_error(monkeypatch: pytest.MonkeyPatch) -> None:
    closed = []

    class Refused:
        def __init__(self, _: Any) -> None: ...
        def list_topics(self, *_: Any, **__: Any) -> None:
            raise KafkaException(KafkaError(KafkaError._TRANSPORT))

        def close(self) -> None:
            closed.append(self)

    monkeypatch.setattr("confluent_kafka.Consumer", Refused)
    with pytest.raises(KitError, match=r"^the broker at b:1, reading the offsets of t: "):
        LocalTopic.find("t", ClientSettings({"bootstrap.servers": "b:1"}))
    assert len(closed) == 1


class Event:
    """A record or, with an error's code, what librdkafka reports of a partition."""

    def __init__(self, partition: int, offset: int, key: bytes | None = None, code: int = 0) -> None:
        self._partition, self._offset, self._key, self._code = partition, offset, key, code

    def error(self) -> KafkaError | None:
        return KafkaError(self._code) if self._code else None

    def partition(self) -> int:
        return self._partition

    def offset(self) -> int:
        return self._offset

    def key(self) -> bytes | None:
        return self._key

    def timestamp(self) -> tuple[int, int]:
        return 0, -1


def fetched(monkeypatch: pytest.MonkeyPatch, spans: dict[int, Span], *batches: list[Event]) -> Any:
    class Scripted:
        def __init__(self, _: Any) -> None:
            self._batches = iter(batches)

        def consume(self, *_: Any) -> list[Event]:
            return next(self._batches)

        def assign(self, _: Any) -> None: ...
        def pause(self, _: Any) -> None: ...
        def close(self) -> None: ...

    monkeypatch.setattr("confluent_kafka.Consumer", Scripted)
    return read(LocalTopic("scripted", {"bootstrap.servers": "b:1"}, spans))


def test_reading_ends_at_partition_eof_or_end_offset_although_last_offsets_hold_no_records(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Markers of transactions and compacted records have offsets; a partition's end comes early on a follower."""
    ends = KafkaError._PARTITION_EOF
    found = fetched(
        monkeypatch, {0: Span(0, 5), 1: Span(0, 9), 2: Span(7, 9)},
        [Event(0, 2, b"a"), Event(1, 0), Event(0, 3, code=ends), Event(0, 3, b"b"), Event(1, 1, code=ends)],
        [Event(0, 5, code=ends), Event(1, 4, b"c"), Event(2, 9, code=ends)],
        [Event(1, 12, b"d"), Event(0, 6, b"e")],
    )  # fmt: skip
    assert found == {0: [(2, -1, b"a"), (3, -1, b"b")], 1: [(0, -1, None), (4, -1, b"c")]}


def test_topic_authorization_error_while_reading_is_a_one_line_error(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(KitError, match=r"^reading scripted at b:1: Broker: Topic authorization failed$"):
        fetched(monkeypatch, {0: Span(0, 5)}, [Event(0, 0, code=KafkaError.TOPIC_AUTHORIZATION_FAILED)])


def test_topic_audit_by_command_line_finishes_within_fifteen_seconds(broker: MockBroker, tmp_path: Path) -> None:
    """The whole command, from its start to its report; a process with Spark is ten times slower."""
    keys = [b"key-%d" % number for number in range(400)]
    broker.write("audited", [(partition_for_key(key, PARTITIONS), key, 5) for key in keys])
    words = ["audit", "audited", "--bootstrap-server", broker.bootstrap, "--json", "--folder", str(tmp_path / "run")]
    ran = subprocess.run(
        [sys.executable, "-m", "kafka_conformance", *words], capture_output=True, text=True, timeout=120, check=False
    )
    assert (ran.returncode, ran.stderr) == (0, "")
    found = msgspec.json.decode(ran.stdout, type=Audit)
    assert (found.source, found.records, found.keyed, found.offending) == (
        f"audited at {broker.bootstrap}",
        400,
        400,
        0,
    )
    assert found.took_s < 15
    assert re.match(r"\d", found.kit)
