"""Create, extend and delete topics over Kafka's own protocol (extra ``wire``), without a client.

Each request has a version that every broker from 2.4 to 4.4 supports. A broker forwards those that change a topic to the
controller. Callers use a new topic at once, so these functions wait until every broker has a leader for each partition.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

from kafka_conformance.core.errors import BadInput, BrokerLost, KitError, MalformedMessage
from kafka_conformance.wire.client import Connection, parse_address
from kafka_conformance.wire.codec.messages import Fields, error_name

__all__ = ["await_broker", "create_topic", "delete_topic", "grow_topic", "partitions_of"]

_VERSIONS = {"Metadata": 5, "CreateTopics": 4, "DeleteTopics": 3, "CreatePartitions": 1}
_LIMIT_S = 30.0
_POLL_S = 0.02
# The errors that these requests return; the protocol guide has all.
_ERRORS = {
    3: "the topic does not exist", 17: "the name is not valid for a topic", 36: "the topic exists already",
    37: "the number of partitions is not valid", 38: "there are fewer brokers than replicas", 40: "a setting is not valid",
}  # fmt: skip
_UNKNOWN_TOPIC, _LEADER_NOT_AVAILABLE = 3, 5


def create_topic(
    bootstrap: str, name: str, partitions: int, *, replicas: int = 1, settings: Mapping[str, str] | None = None
) -> None:
    """Make a topic and wait until all its partitions have leaders. Raises BadInput if Kafka refuses, BrokerLost."""
    configs = [{"name": key, "value": value} for key, value in (settings or {}).items()]
    topic = {"name": name, "numPartitions": partitions, "replicationFactor": replicas, "configs": configs}
    answer = _ask(bootstrap, "CreateTopics", {"topics": [topic], "timeoutMs": _limit_ms()})
    _check(answer["topics"][0], f"topic {name} of {partitions} partitions cannot be made")
    _await_leaders(bootstrap, name, partitions)


def grow_topic(bootstrap: str, name: str, partitions: int) -> None:
    """Raise a topic's partition count and wait for the leaders. Raises BadInput if Kafka refuses, BrokerLost."""
    topic = {"name": name, "count": partitions, "assignments": None}
    answer = _ask(bootstrap, "CreatePartitions", {"topics": [topic], "timeoutMs": _limit_ms()})
    _check(answer["results"][0], f"topic {name} cannot grow to {partitions} partitions")
    _await_leaders(bootstrap, name, partitions)


def delete_topic(bootstrap: str, name: str) -> None:
    """Delete a topic and wait until it is gone. Raises BadInput if Kafka refuses, BrokerLost."""
    answer = _ask(bootstrap, "DeleteTopics", {"topicNames": [name], "timeoutMs": _limit_ms()})
    _check(answer["responses"][0], f"topic {name} cannot be deleted")
    _await(bootstrap, name, lambda leaders: not leaders, "is still there")


def await_broker(bootstrap: str) -> None:
    """Wait until a broker has itself in its metadata: with ZooKeeper it starts before the controller has its registration.

    Until then it creates no topic, for want of a broker to put it on. Raises BrokerLost.
    """
    limit = time.monotonic() + _LIMIT_S
    while not _ask(bootstrap, "Metadata", {"topics": [], "allowAutoTopicCreation": False})["brokers"]:
        if time.monotonic() >= limit:
            raise BrokerLost(f"{bootstrap} is not registered with the controller after {_LIMIT_S:g} s")
        time.sleep(_POLL_S)


def partitions_of(bootstrap: str, name: str) -> dict[int, int]:
    """Return each partition's leader, -1 for none; empty if the topic does not exist. Raises BrokerLost."""
    answer = _ask(bootstrap, "Metadata", {"topics": [{"name": name}], "allowAutoTopicCreation": False})
    topic = answer["topics"][0]
    if (error := topic["errorCode"]) not in {0, _UNKNOWN_TOPIC, _LEADER_NOT_AVAILABLE}:
        raise BrokerLost(f"{bootstrap} answers a request for topic {name} with {error_name(error)}")
    return {each["partitionIndex"]: each["leaderId"] for each in topic["partitions"]}


def _check(topic: Fields, failure: str) -> None:
    """Raise BadInput if the response has an error for the topic."""
    if error := topic["errorCode"]:
        raise BadInput(f"{failure}: {topic.get('errorMessage') or _ERRORS.get(error) or error_name(error)}")


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


def _ask(bootstrap: str, api: str, fields: Mapping[str, Any]) -> Fields:
    """Ask the first broker of ``bootstrap`` that answers. Raises BrokerLost, and BadInput for values that cannot be sent."""
    failure: KitError | None = None
    for address in bootstrap.split(","):
        try:
            with _connect(address) as connection:
                return connection.ask(api, _VERSIONS[api], fields)
        except (BrokerLost, MalformedMessage) as error:
            failure = error
    raise BrokerLost(f"no broker answers at {bootstrap}: {failure}") from failure


def _connect(address: str) -> Connection:
    try:
        return Connection(*parse_address(address), _LIMIT_S)
    except BadInput as error:  # another address may be right
        raise BrokerLost(str(error)) from error


def _limit_ms() -> int:
    return int(_LIMIT_S * 1000)
