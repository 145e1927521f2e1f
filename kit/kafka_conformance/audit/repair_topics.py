"""What a broker says of topics, and what a repair asks of it: Kafka's own Admin, in the driver's JVM.

A topic that is being written is not yet what it will be. Old records would be deleted for their age, several of a key for
their key, and a broker may be told to put its own time into records. So the new topic is made with :data:`MEANWHILE`,
whatever the source says, and is given the source's own settings once it holds what it is to hold.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import msgspec

from kafka_conformance.errors import BadInput
from kafka_conformance.pipeline.spark_errors import SparkFault

if TYPE_CHECKING:
    from kafka_conformance.pipeline.spark_session import Spark

__all__ = ["MEANWHILE", "Topic", "Topics", "client_settings", "open_topics"]

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
_LIMIT_S = 60
# What the writing, reading and asking stand on: another value would lose or double records.
_OURS = {
    "acks", "enable.idempotence", "max.in.flight.requests.per.connection", "retries", "delivery.timeout.ms",
    "transactional.id", "isolation.level", "partitioner.class", "interceptor.classes", "key.serializer", "value.serializer",
}  # fmt: skip


class Topic(msgspec.Struct, frozen=True):
    """A topic as it is: ``id`` is empty where brokers are too old to have one; ``settings`` are those it sets itself."""

    name: str
    id: str
    partitions: int
    replication: int
    settings: dict[str, str]


def client_settings(kafka: Mapping[str, str]) -> dict[str, str]:
    """Spark's ``kafka.*`` options as clients know them. Raises BadInput for what may not be chosen."""
    if "kafka.bootstrap.servers" not in kafka:
        raise BadInput("kafka.bootstrap.servers is missing: which brokers?")
    named = {name.removeprefix("kafka."): value for name, value in kafka.items() if name.startswith("kafka.")}
    if wrong := sorted(_OURS & set(named)):
        raise BadInput(f"kafka.{wrong[0]} is not to be chosen here: it decides whether records are lost or doubled")
    return named


@contextmanager
def open_topics(spark: Spark, kafka: Mapping[str, str]) -> Iterator[Topics]:
    """Kafka's Admin for these ``kafka.*`` options, closed at the end."""
    jvm, settings = spark.jvm, client_settings(kafka)

    def opened() -> Any:
        java = jvm.java.util.HashMap()
        for name, value in {"default.api.timeout.ms": "30000", "request.timeout.ms": "15000", **settings}.items():
            java.put(name, value)
        return jvm.org.apache.kafka.clients.admin.Admin.create(java)

    topics = Topics(spark, spark.call(opened, settings["bootstrap.servers"]), settings["bootstrap.servers"])
    try:
        yield topics
    finally:
        if spark.alive():
            topics.close()


class Topics:
    """Topics, by Kafka's Admin. Whatever goes wrong is SparkFault, one line, unless a method says more."""

    def __init__(self, spark: Spark, admin: Any, where: str) -> None:
        self._spark, self._admin, self._where = spark, admin, where
        self._kafka = spark.jvm.org.apache.kafka

    def close(self) -> None:
        """Close the Admin, at once."""
        self._spark.call(lambda: self._admin.close(self._spark.jvm.java.time.Duration.ZERO), self._where)

    def _got(self, asked: Any, doing: str) -> Any:
        seconds = self._spark.jvm.java.util.concurrent.TimeUnit.SECONDS
        return self._spark.call(lambda: asked().get(_LIMIT_S, seconds), f"{doing} ({self._where})")

    def find(self, name: str) -> Topic | None:
        """The topic; None if there is none of that name."""
        asked = lambda: self._admin.describeTopics([name]).allTopicNames()  # noqa: E731
        try:
            told = self._got(asked, f"asking for topic {name}").get(name)
        except SparkFault as fault:
            if "UnknownTopicOrPartition" in str(fault):
                return None
            if "InvalidTopic" in str(fault):
                raise BadInput(f"{name!r} is no name for a topic") from fault
            raise
        partitions = told.partitions()
        if any(one.leader() is None for one in partitions):
            raise BadInput(f"a partition of {name} has no leader: wait until its broker is back")
        unnamed = self._kafka.common.Uuid.ZERO_UUID.toString()
        known = str(told.topicId().toString())
        return Topic(name, "" if known == unnamed else known, len(partitions),
                     int(partitions[0].replicas().size()), self._settings(name))  # fmt: skip

    def _resource(self, name: str) -> Any:
        kind = self._kafka.common.config.ConfigResource
        return kind(kind.Type.TOPIC, name)

    def _settings(self, name: str) -> dict[str, str]:
        asked = lambda: self._admin.describeConfigs([self._resource(name)]).all()  # noqa: E731
        told = self._got(asked, f"asking for the settings of {name}")
        entries = self._spark.jvm.java.util.ArrayList(next(iter(told.values())).entries())
        return {str(one.name()): str(one.value()) for one in entries if str(one.source()) == "DYNAMIC_TOPIC_CONFIG"}

    def offsets(self, topic: Topic) -> tuple[dict[int, int], dict[int, int]]:
        """The first offset of each partition, and the one after its last; of transactions, what is committed."""
        spec = self._kafka.clients.admin.OffsetSpec
        return self._listed(topic, spec.earliest()), self._listed(topic, spec.latest())

    def _listed(self, topic: Topic, spec: Any) -> dict[int, int]:
        committed = self._kafka.common.IsolationLevel.READ_COMMITTED
        options = self._kafka.clients.admin.ListOffsetsOptions(committed)

        def asked() -> Any:
            wanted = self._spark.jvm.java.util.HashMap()
            for partition in range(topic.partitions):
                wanted.put(self._kafka.common.TopicPartition(topic.name, partition), spec)
            return self._admin.listOffsets(wanted, options).all()

        told = self._got(asked, f"asking for the offsets of {topic.name}")
        return {int(at.partition()): int(found.offset()) for at, found in told.items()}

    def make(self, name: str, partitions: int, replication: int, settings: Mapping[str, str]) -> None:
        """A new topic like one that sets ``settings``, for the time in which it is written."""
        first = {key: value for key, value in settings.items() if not key.startswith(_AT_THE_END)}

        def asked() -> Any:
            new = self._kafka.clients.admin.NewTopic(name, partitions, replication)
            return self._admin.createTopics([new.configs({**first, **MEANWHILE})]).all()

        self._got(asked, f"making topic {name}")

    def settle(self, name: str, settings: Mapping[str, str]) -> None:
        """The settings of a topic that is written, now as they are to be."""
        last = {key: value for key, value in settings.items() if key.startswith(_AT_THE_END)}
        kind, entry = self._kafka.clients.admin.AlterConfigOp, self._kafka.clients.admin.ConfigEntry

        def asked() -> Any:
            changes = [kind(entry(key, value), kind.OpType.SET) for key, value in last.items()]
            changes += [kind(entry(key, ""), kind.OpType.DELETE) for key in MEANWHILE if key not in last]
            return self._admin.incrementalAlterConfigs({self._resource(name): changes}).all()

        self._got(asked, f"settling the settings of {name}")
