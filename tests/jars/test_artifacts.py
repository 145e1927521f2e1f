from __future__ import annotations

import pytest

from kafka_jars.artifacts import broker_of, clients_of
from kafka_jars.pins import load


def test_client_artifacts_of_release_4_4_0_are_only_the_kafka_clients_jar() -> None:
    assert clients_of("4.4.0") == ("org.apache.kafka:kafka-clients:4.4.0",)


SCALA = ("kafka_2.13", "scala-library", "scala-logging_2.13", "metrics-core")
"""What a class in Scala needs, LogSegment or a controller on ZooKeeper."""
RAFT = ("kafka-metadata", "kafka-server-common")
"""What the controller of KRaft needs."""
COORDINATOR = ("kafka-storage", "kafka-group-coordinator")
JAVA8, PARTITION = "scala-java8-compat_2.13", ("pcollections", "kafka-server")
LATE = ("kafka-group-coordinator", "kafka-group-coordinator-api", "metrics-core", "kafka-metadata")


@pytest.mark.parametrize(
    ("version", "artifacts"),
    [
        ("0.11.0.3", ["kafka_2.12", "scala-library", "log4j-over-slf4j"]),
        ("1.0.2", ["kafka_2.12", "scala-library", "log4j-over-slf4j"]),
        ("1.1.1", ["kafka_2.12", "scala-library", "scala-logging_2.12", "metrics-core"]),
        ("2.3.1", ["kafka_2.12", "scala-library", "scala-logging_2.12", "metrics-core"]),
        ("2.4.1", [*SCALA]),
        ("3.4.1", [*SCALA, *RAFT, "kafka-raft", "kafka-storage"]),
        ("3.5.2", ["kafka-storage", *SCALA, *RAFT, JAVA8]),
        ("3.6.2", [*COORDINATOR, *SCALA, *RAFT, "commons-validator", JAVA8, "pcollections"]),
        ("3.7.2", [*COORDINATOR, *SCALA, *RAFT, "commons-validator", JAVA8, *PARTITION]),
        (
            "3.9.2",
            [*COORDINATOR, *SCALA, *RAFT, "commons-validator", "kafka-group-coordinator-api", JAVA8, *PARTITION],
        ),
        ("4.0.2", [*COORDINATOR, "kafka-server-common", *LATE[1:], "commons-validator", *SCALA[:3], *PARTITION]),
        (
            "4.1.2",
            [
                "kafka-storage",
                "kafka-server-common",
                *LATE,
                "commons-validator",
                *SCALA[:3],
                *PARTITION,
                "kafka-transaction-coordinator",
                "log4j-api",
            ],
        ),
    ],
)
def test_broker_of_a_release_has_the_expected_maven_artifacts_and_producer_state_manager_class(
    version: str, artifacts: list[str]
) -> None:
    broker = broker_of(version)
    assert broker is not None
    assert [coordinates.split(":")[1] for coordinates in broker.coordinates] == artifacts
    assert broker.coordinates[0].endswith(f":{version}")
    assert broker.witness.endswith(".ProducerStateManager")
    assert broker.witness.startswith("kafka.log") == artifacts[0].startswith("kafka_")


def test_release_before_producer_ids_in_0_11_has_no_broker_artifacts() -> None:
    assert broker_of("0.10.2.2") is None


def test_pinned_broker_jars_equal_required_coordinates_in_each_release() -> None:
    pins = load()
    for version, jars in pins.brokers.items():
        broker = broker_of(version)
        assert broker is not None
        assert tuple(jar.coordinates for jar in jars) == broker.coordinates


def test_unknown_release_with_model_release_has_artifacts_of_the_model() -> None:
    known, like = broker_of("4.0.2"), broker_of("4.1.0", "4.0.2")
    assert known is not None
    assert like is not None
    assert like.coordinates == tuple(each.replace(":4.0.2", ":4.1.0") for each in known.coordinates)
    assert like.coordinates != broker_of("4.1.0").coordinates  # type: ignore[union-attr]
    assert like.witness == known.witness
    assert clients_of("3.8.0", "3.7.2") == ("org.apache.kafka:kafka-clients:3.8.0",)
    assert len(clients_of("3.8.0")) == 2
    assert broker_of("0.11.0.0", "0.10.2.2") is None


def test_release_newer_than_every_known_one_has_artifacts_of_the_newest() -> None:
    newest, unknown = broker_of("4.4.0"), broker_of("9.0.0")
    assert newest is not None
    assert unknown is not None
    assert unknown.coordinates == tuple(each.replace(":4.4.0", ":9.0.0") for each in newest.coordinates)
