"""What a repair asks of topics: which settings a client may have, a new topic made, and given its settings in the end.

A topic that is being written is not yet what it will be. Old records would be deleted for their age, several of a key for
their key, and a broker may be told to put its own time into records. So the new topic is made with :data:`MEANWHILE`,
whatever the source says, and is given the source's own settings once it holds what it is to hold.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kafka_conformance.core.errors import BadInput
from kafka_conformance.spark.audit.topics import Topics

__all__ = ["MEANWHILE", "client_settings", "make", "settle"]

MEANWHILE = {
    "cleanup.policy": "delete",
    "retention.ms": "-1",
    "retention.bytes": "-1",
    "message.timestamp.type": "CreateTime",
    # A record that its source took within a batch that was compressed may be larger than the limit by itself.
    "max.message.bytes": str(2**30),
}
"""A topic's settings while it is written: nothing is deleted, no time is changed, and nothing is too large."""

_AT_THE_END = ("cleanup.policy", "retention.", "local.retention.", "remote.", "message.timestamp.", "max.message.bytes")
# What the writing, reading and asking stand on: another value would lose or double records.
_OURS = {
    "acks", "enable.idempotence", "max.in.flight.requests.per.connection", "retries", "delivery.timeout.ms",
    "transactional.id", "isolation.level", "partitioner.class", "interceptor.classes", "key.serializer", "value.serializer",
}  # fmt: skip


def client_settings(kafka: Mapping[str, str]) -> dict[str, str]:
    """Spark's ``kafka.*`` options as clients know them. Raises BadInput for what may not be chosen."""
    if "kafka.bootstrap.servers" not in kafka:
        raise BadInput("kafka.bootstrap.servers is missing: which brokers?")
    named = {name.removeprefix("kafka."): value for name, value in kafka.items() if name.startswith("kafka.")}
    if wrong := sorted(_OURS & set(named)):
        raise BadInput(f"kafka.{wrong[0]} is not to be chosen here: it decides whether records are lost or doubled")
    return named


def make(topics: Topics, name: str, partitions: int, replication: int, settings: Mapping[str, str]) -> None:
    """A new topic like one that sets ``settings``, for the time in which it is written."""
    first = {key: value for key, value in settings.items() if not key.startswith(_AT_THE_END)}

    def asked() -> Any:
        new = topics.kafka.clients.admin.NewTopic(name, partitions, replication)
        return topics.admin.createTopics([new.configs({**first, **MEANWHILE})]).all()

    topics.get(asked, f"making topic {name}")


def settle(topics: Topics, name: str, settings: Mapping[str, str]) -> None:
    """The settings of a topic that is written, now as they are to be."""
    last = {key: value for key, value in settings.items() if key.startswith(_AT_THE_END)}

    def asked() -> Any:
        kind, entry = topics.kafka.clients.admin.AlterConfigOp, topics.kafka.clients.admin.ConfigEntry
        changes = [kind(entry(key, value), kind.OpType.SET) for key, value in last.items()]
        changes += [kind(entry(key, ""), kind.OpType.DELETE) for key in MEANWHILE if key not in last]
        return topics.admin.incrementalAlterConfigs({topics.resource(name): changes}).all()

    topics.get(asked, f"settling the settings of {name}")
