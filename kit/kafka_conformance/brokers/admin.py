"""Create, extend and delete topics over Kafka's own protocol, without a client.

Four requests are all it takes, in versions that every broker from 2.4 to 4.4 speaks and whose form is the old one, without
tagged fields: CreateTopics 4, CreatePartitions 1, DeleteTopics 3, Metadata 5. A broker hands the first three to the
controller. Callers use a new topic at once, so these functions wait until every broker has a leader for each partition.
"""

from __future__ import annotations

import socket
import struct
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from kafka_conformance.core.errors import BadInput, BrokerLost
from kafka_conformance.core.java_text import parse_int
from kafka_conformance.wire.frames import read_exactly

__all__ = ["await_broker", "create_topic", "delete_topic", "grow_topic", "partitions_of"]

_METADATA, _CREATE_TOPICS, _DELETE_TOPICS, _CREATE_PARTITIONS = 3, 19, 20, 37
_VERSIONS = {_METADATA: 5, _CREATE_TOPICS: 4, _DELETE_TOPICS: 3, _CREATE_PARTITIONS: 1}
_LIMIT_S = 30.0
_POLL_S = 0.02
# The errors that these requests return; the protocol guide has all.
_ERRORS = {
    3: "the topic does not exist", 17: "the name is not valid for a topic", 36: "the topic exists already",
    37: "the number of partitions is not valid", 38: "there are fewer brokers than replicas", 40: "a setting is not valid",
}  # fmt: skip
_UNKNOWN_TOPIC = 3


def create_topic(
    bootstrap: str, name: str, partitions: int, *, replicas: int = 1, settings: Mapping[str, str] | None = None
) -> None:
    """Make a topic and wait until all its partitions have leaders. Raises BadInput if Kafka refuses, BrokerLost."""
    own = dict(settings or {})
    configs = b"".join(_text(key) + _text(value) for key, value in own.items())
    topic = _text(name) + struct.pack(">ihi", partitions, replicas, 0) + struct.pack(">i", len(own)) + configs
    answer = _ask(bootstrap, _CREATE_TOPICS, struct.pack(">i", 1) + topic + struct.pack(">i?", _limit_ms(), False))
    _refused(answer, f"topic {name} of {partitions} partitions cannot be made")
    _await_leaders(bootstrap, name, partitions)


def grow_topic(bootstrap: str, name: str, partitions: int) -> None:
    """Raise a topic's partition count and wait for the leaders. Raises BadInput if Kafka refuses, BrokerLost."""
    topic = _text(name) + struct.pack(">ii", partitions, -1)
    answer = _ask(bootstrap, _CREATE_PARTITIONS, struct.pack(">i", 1) + topic + struct.pack(">i?", _limit_ms(), False))
    _refused(answer, f"topic {name} cannot grow to {partitions} partitions")
    _await_leaders(bootstrap, name, partitions)


def delete_topic(bootstrap: str, name: str) -> None:
    """Delete a topic and wait until it is gone. Raises BadInput if Kafka refuses, BrokerLost."""
    answer = _ask(bootstrap, _DELETE_TOPICS, struct.pack(">i", 1) + _text(name) + struct.pack(">i", _limit_ms()))
    answer.take(">ii")  # throttled for how long; one topic
    answer.text()
    if error := answer.take(">h")[0]:
        raise BadInput(f"topic {name} cannot be deleted: {_ERRORS.get(error, f'Kafka says error {error}')}")
    _await(bootstrap, name, lambda leaders: not leaders, "is still there")


def await_broker(bootstrap: str) -> None:
    """Wait until a broker has itself in its metadata: with ZooKeeper it starts before the controller has its registration.

    Until then it creates no topic, for want of a broker to put it on. Raises BrokerLost.
    """
    limit = time.monotonic() + _LIMIT_S
    while not _ask(bootstrap, _METADATA, struct.pack(">i?", 0, False)).take(">ii")[
        1
    ]:  # throttled for how long; brokers
        if time.monotonic() >= limit:
            raise BrokerLost(f"{bootstrap} is not registered with the controller after {_LIMIT_S:g} s")
        time.sleep(_POLL_S)


def partitions_of(bootstrap: str, name: str) -> dict[int, int]:
    """Return each partition's leader, -1 for none; empty if the topic does not exist. Raises BrokerLost."""
    answer = _ask(bootstrap, _METADATA, struct.pack(">i", 1) + _text(name) + struct.pack(">?", False))
    answer.take(">i")
    for _ in range(answer.take(">i")[0]):  # brokers: id, host, port, rack
        answer.take(">i")
        answer.text()
        answer.take(">i")
        answer.text()
    answer.text()  # the cluster's id
    answer.take(">ii")  # the controller; one topic
    error = answer.take(">h")[0]
    answer.text()
    answer.take(">?")
    leaders = {}
    for _ in range(answer.take(">i")[0]):
        _, partition, leader = answer.take(">hii")
        for _ in range(3):  # replicas, those in sync, those offline
            answer.take(f">{answer.take('>i')[0]}i")
        leaders[partition] = leader
    if error not in {0, _UNKNOWN_TOPIC, 5}:
        raise BrokerLost(f"{bootstrap} says error {error} of topic {name}")
    return leaders


@dataclass(slots=True)
class _Answer:
    """The bytes of an answer, read from the front."""

    bytes: bytes
    at: int = 0

    def take(self, form: str) -> tuple[int, ...]:
        """The next values of this form."""
        values = struct.unpack_from(form, self.bytes, self.at)
        self.at += struct.calcsize(form)
        return values

    def text(self) -> str | None:
        """The next text, or Kafka's null."""
        (length,) = self.take(">h")
        if length < 0:
            return None
        self.at += length
        return self.bytes[self.at - length : self.at].decode()


def _refused(answer: _Answer, what: str) -> None:
    """Raises BadInput if the one topic that was asked about has an error."""
    answer.take(">ii")  # throttled for how long; one topic
    answer.text()
    (error,), message = answer.take(">h"), answer.text()
    if error:
        raise BadInput(f"{what}: {message or _ERRORS.get(error, f'Kafka says error {error}')}")


def _await_leaders(bootstrap: str, name: str, partitions: int) -> None:
    def led(leaders: dict[int, int]) -> bool:
        return len(leaders) == partitions and all(leader >= 0 for leader in leaders.values())

    _await(bootstrap, name, led, f"has no leader for each of its {partitions} partitions")


def _await(bootstrap: str, name: str, seen: Callable[[dict[int, int]], bool], problem: str) -> None:
    """Wait until all brokers that answer have the change: each receives it at another time, and a client may ask any."""
    limit = time.monotonic() + _LIMIT_S
    while time.monotonic() < limit:
        if all(seen(leaders) for leaders in _views(bootstrap, name)):
            return
        time.sleep(_POLL_S)
    raise BrokerLost(f"topic {name} {problem} after {_LIMIT_S:g} s")


def _views(bootstrap: str, name: str) -> list[dict[int, int]]:
    """What each broker that answers says of a topic. Raises BrokerLost if none does."""
    views, lost = [], None
    for address in bootstrap.split(","):
        try:
            views.append(partitions_of(address, name))
        except BrokerLost as error:
            lost = error
    if not views and lost is not None:
        raise lost
    return views


def _ask(bootstrap: str, request: int, body: bytes) -> _Answer:
    """Ask the first broker of ``bootstrap`` that can be reached."""
    head = struct.pack(">hhi", request, _VERSIONS[request], 1) + _text("kafka-conformance")
    failure: Exception = BadInput("an empty address")
    for address in bootstrap.split(","):
        host, _, port = address.strip().rpartition(":")
        try:
            with socket.create_connection((host, parse_int(port)), timeout=_LIMIT_S) as connection:
                until = time.monotonic() + _LIMIT_S
                connection.sendall(struct.pack(">i", len(head + body)) + head + body)
                (length,) = struct.unpack(">i", read_exactly(connection, 4, until))
                return _Answer(read_exactly(connection, length, until), at=4)  # after the correlation id
        except (OSError, ValueError, struct.error) as error:
            failure = error
    raise BrokerLost(f"no broker answers at {bootstrap}: {failure}") from failure


def _text(value: str) -> bytes:
    written = value.encode()
    return struct.pack(">h", len(written)) + written


def _limit_ms() -> int:
    return int(_LIMIT_S * 1000)
