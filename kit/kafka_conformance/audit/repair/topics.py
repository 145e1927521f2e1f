"""Create the target topic of a repair, apply its final settings, and check the client settings.

While the topic is written, the source's settings could change its records: retention deletes old ones, compaction deletes
older ones of a key, and a broker may overwrite timestamps. So the new topic is created with :data:`MEANWHILE`, and gets the
source's settings when all its records are written.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kafka_conformance.audit.isolation import READ_COMMITTED
from kafka_conformance.audit.topics import Topics
from kafka_conformance.core.errors import BadInput

__all__ = ["MEANWHILE", "client_settings", "hold", "make", "settle"]

MEANWHILE = {
    "cleanup.policy": "delete",
    "retention.ms": "-1",
    "retention.bytes": "-1",
    "message.timestamp.type": "CreateTime",
    # A record that the source accepted within a compressed batch may exceed the limit by itself.
    "max.message.bytes": str(2**30),
}
"""A topic's settings while it is written: nothing is deleted, no timestamp changed, no record too large."""

_AT_THE_END = ("cleanup.policy", "retention.", "local.retention.", "remote.", "message.timestamp.", "max.message.bytes")
# Settings that the repair depends on: another value would lose or duplicate records.
_OURS = {
    "acks", "enable.idempotence", "max.in.flight.requests.per.connection", "retries", "delivery.timeout.ms",
    "transactional.id", "isolation.level", "partitioner.class", "interceptor.classes", "key.serializer", "value.serializer",
}  # fmt: skip


def client_settings(kafka: Mapping[str, str]) -> dict[str, str]:
    """Return Spark's ``kafka.*`` options as client settings. Raises BadInput for a missing broker or a fixed setting."""
    if "kafka.bootstrap.servers" not in kafka:
        raise BadInput("kafka.bootstrap.servers is missing: give the addresses of the brokers")
    named = {name.removeprefix("kafka."): value for name, value in kafka.items() if name.startswith("kafka.")}
    if named.get("isolation.level") == READ_COMMITTED:  # as a repair reads; no setting of its producer
        del named["isolation.level"]
    if wrong := sorted(_OURS & set(named)):
        raise BadInput(
            f"kafka.{wrong[0]} cannot be set for a repair: another value could lose or duplicate records; leave it out"
        )
    return named


def make(topics: Topics, name: str, partitions: int, replication: int, settings: Mapping[str, str]) -> None:
    """Create a topic with ``settings``, apart from those that apply only after it is written. Raises SparkFault."""
    first = {key: value for key, value in settings.items() if not key.startswith(_AT_THE_END)}

    def request() -> Any:
        new = topics.kafka.clients.admin.NewTopic(name, partitions, replication)
        return topics.admin.createTopics([new.configs({**first, **MEANWHILE})]).all()

    topics.get(request, f"creating topic {name}")


def hold(topics: Topics, name: str) -> bool:
    """Apply :data:`MEANWHILE` again to a topic with its final settings; return whether it had them. Raises SparkFault."""
    if MEANWHILE.items() <= topics.settings(name).items():
        return False

    def request() -> Any:
        kind, entry = topics.kafka.clients.admin.AlterConfigOp, topics.kafka.clients.admin.ConfigEntry
        changes = [kind(entry(key, value), kind.OpType.SET) for key, value in MEANWHILE.items()]
        return topics.admin.incrementalAlterConfigs({topics.resource(name): changes}).all()

    topics.get(request, f"stopping deletion in {name} while it is written")
    return True


def settle(topics: Topics, name: str, settings: Mapping[str, str]) -> None:
    """Apply the final ``settings`` to a topic that is completely written. Raises SparkFault."""
    last = {key: value for key, value in settings.items() if key.startswith(_AT_THE_END)}

    def request() -> Any:
        kind, entry = topics.kafka.clients.admin.AlterConfigOp, topics.kafka.clients.admin.ConfigEntry
        changes = [kind(entry(key, value), kind.OpType.SET) for key, value in last.items()]
        changes += [kind(entry(key, ""), kind.OpType.DELETE) for key in MEANWHILE if key not in last]
        return topics.admin.incrementalAlterConfigs({topics.resource(name): changes}).all()

    topics.get(request, f"applying the settings of {name}")
