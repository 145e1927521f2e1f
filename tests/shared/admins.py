"""A broker's topics as Kafka's Admin tells of them, without a JVM: what py4j would show of it, in Python."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import SimpleNamespace as Of
from typing import Any, NamedTuple

from kafka_conformance.core.errors import KitError
from kafka_conformance.spark.errors import SparkFault

__all__ = ["Admin", "FakeSpark", "Group", "Held"]


class _Place(NamedTuple):
    """A TopicPartition."""

    name: str
    number: int

    def partition(self) -> int:
        return self.number

    def topic(self) -> str:
        return self.name


class Held:
    """A topic at a broker: by partition the first offset, the one after what is committed, and the one after the last."""

    def __init__(
        self, *offsets: tuple[int, int, int], settings: Mapping[str, str] | None = None, topic_id: str = "ID-1"
    ) -> None:
        self.offsets, self.settings, self.id = offsets, dict(settings or {}), topic_id
        self.leaderless = 0
        """So many times it is described without a leader."""


class Group:
    """A consumer group: its committed offsets by topic and partition, and how many members it has."""

    def __init__(self, offsets: Mapping[tuple[str, int], int | None], members: int = 0) -> None:
        self.offsets: dict[_Place, int | None] = {_Place(*place): offset for place, offset in offsets.items()}
        self.members, self.refuses = members, False


class Admin:
    """``org.apache.kafka.clients.admin.Admin``, as far as it is asked here."""

    def __init__(self, topics: dict[str, Held]) -> None:
        self.topics = topics
        self.groups: dict[str, Group] = {}
        self.settings: dict[str, str] = {}
        self.waits: list[int] = []
        self.closed: list[int] = []
        self.asked: list[Any] = []

    def _future(self, work: Callable[[], Any]) -> Any:
        def get(wait: int, unit: str) -> Any:
            assert unit == "ms"
            self.waits.append(wait)
            return work()

        return Of(get=get)

    def describeTopics(self, names: list[str]) -> Any:  # noqa: N802
        def result() -> Any:
            (name,) = names
            if " " in name:
                raise RuntimeError(f"InvalidTopicException: {name}")
            if name not in self.topics:
                raise RuntimeError("UnknownTopicOrPartitionException: This server does not host this topic-partition.")
            held = self.topics[name]
            held.leaderless -= 1
            nobody = lambda: None if held.leaderless >= 0 else "node 1"  # noqa: E731
            partitions = [Of(leader=nobody, replicas=lambda: [1, 2]) for _ in held.offsets]
            return {name: Of(partitions=lambda: partitions, topicId=lambda: Of(toString=lambda: held.id))}

        return Of(allTopicNames=lambda: self._future(result))

    def describeConfigs(self, resources: list[str]) -> Any:  # noqa: N802
        def result() -> Any:
            rows = [*self.topics[resources[0]].settings.items(), ("compression.type", "producer")]
            entries = [
                Of(name=lambda n=n: n, value=lambda v=v: v,
                   source=lambda n=n: "DEFAULT_CONFIG" if n == "compression.type" else "DYNAMIC_TOPIC_CONFIG")
                for n, v in rows
            ]  # fmt: skip
            return {resources[0]: Of(entries=lambda: entries)}

        return Of(all=lambda: self._future(result))

    def listOffsets(self, wanted: Mapping[_Place, Any], level: str = "") -> Any:  # noqa: N802
        def result() -> Any:
            found = {}
            for place, spec in wanted.items():
                first, committed, end = self.topics[place.name].offsets[place.number]
                if isinstance(spec, int):  # a timestamp: each record's is its offset
                    found[place] = Of(offset=lambda at=spec if spec < end else -1: at)
                    continue
                at = first if spec == "earliest" else committed if level == "read_committed" else end
                found[place] = Of(offset=lambda at=at: at)
            return found

        return Of(all=lambda: self._future(result))

    def createTopics(self, made: list[Any]) -> Any:  # noqa: N802
        self.asked += made
        return Of(all=lambda: self._future(lambda: None))

    def incrementalAlterConfigs(self, changes: Mapping[str, Any]) -> Any:  # noqa: N802
        self.asked.append(changes)
        return Of(all=lambda: self._future(lambda: None))

    def listConsumerGroups(self) -> Any:  # noqa: N802
        return Of(all=lambda: self._future(lambda: [Of(groupId=lambda g=g: g) for g in self.groups]))

    def listConsumerGroupOffsets(self, group: str) -> Any:  # noqa: N802
        def result() -> Any:
            return {place: None if offset is None else Of(offset=lambda o=offset: o)
                    for place, offset in self.groups[group].offsets.items()}  # fmt: skip

        return Of(partitionsToOffsetAndMetadata=lambda: self._future(result))

    def describeConsumerGroups(self, names: list[str]) -> Any:  # noqa: N802
        def described(name: str) -> Any:
            members = self.groups[name].members
            state = "Stable" if members else "Empty"
            return Of(members=lambda: ["member"] * members, state=lambda: Of(toString=lambda: state))

        return Of(all=lambda: self._future(lambda: {name: described(name) for name in names}))

    def alterConsumerGroupOffsets(self, group: str, offsets: Mapping[_Place, int]) -> Any:  # noqa: N802
        def result() -> None:
            if not self.groups[group].refuses:
                self.groups[group].offsets.update(offsets)

        return Of(all=lambda: self._future(result))

    def close(self, wait_s: int) -> None:
        self.closed.append(wait_s)


class FakeSpark:
    """What of :class:`~kafka_conformance.spark.session.Spark` an admin client stands on."""

    def __init__(self, admin: Admin) -> None:
        def create(settings: dict[str, str]) -> Admin:
            admin.settings = settings
            return admin

        def new_topic(name: str, partitions: int, replication: int) -> Any:
            return Of(configs=lambda settings: (name, partitions, replication, settings))

        def resource(kind: str, name: str) -> str:
            assert kind == "topic"
            return name

        resource.Type = Of(TOPIC="topic")  # type: ignore[attr-defined]

        def change(entry: tuple[str, str], kind: str) -> tuple[str, str, str]:
            return (kind, *entry)

        change.OpType = Of(SET="set", DELETE="delete")  # type: ignore[attr-defined]
        admins = Of(
            Admin=Of(create=create), NewTopic=new_topic, ListOffsetsOptions=lambda level: level, AlterConfigOp=change,
            OffsetSpec=Of(earliest=lambda: "earliest", latest=lambda: "latest", forTimestamp=int),
            ConfigEntry=lambda *both: both,
        )  # fmt: skip
        common = Of(
            config=Of(ConfigResource=resource), TopicPartition=_Place,
            Uuid=Of(ZERO_UUID=Of(toString=lambda: "NONE")),
            IsolationLevel=Of(READ_COMMITTED="read_committed", READ_UNCOMMITTED="read_uncommitted"),
        )  # fmt: skip
        java = Of(time=Of(Duration=Of(ofSeconds=int)),
                  util=Of(ArrayList=list, concurrent=Of(TimeUnit=Of(MILLISECONDS="ms"))))  # fmt: skip
        kafka = Of(clients=Of(admin=admins, consumer=Of(OffsetAndMetadata=int)), common=common)
        self.jvm = Of(java=java, org=Of(apache=Of(kafka=kafka)))

    def call(self, work: Callable[[], Any], doing: str) -> Any:
        """As Spark's: what goes wrong is one line."""
        try:
            return work()
        except KitError:
            raise
        except RuntimeError as error:
            raise SparkFault(f"{doing}: {error}") from error
