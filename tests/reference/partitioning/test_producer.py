"""What the private ``KafkaProducer.partition`` of seven releases answered, each asked by the oracle."""

from __future__ import annotations

import pytest

from kafka_reference.errors import (
    ArithmeticException,
    DrawsExhausted,
    IllegalArgumentException,
    JavaException,
    NotInThisRelease,
    NullPointerException,
)
from kafka_reference.partitioning.cluster import Cluster, Node, Partition
from kafka_reference.partitioning.producer import UNKNOWN_PARTITION, CustomPartitioner, choose_partition

RELEASES = ("0.10.0.1", "0.11.0.3", "2.3.1", "3.1.2", "3.2.3", "3.3.1", "4.4.0")
NODES = (Node(0), Node(1))
MIDDLE_LEADERLESS = Cluster(NODES, (Partition(0, 0), Partition(1), Partition(2, 1)))
IDS_WITH_GAPS = Cluster(NODES, (Partition(5), Partition(3, 1), Partition(9, 0)))
EMPTY = Cluster(NODES, ())
ILLEGAL, NULL, ZERO = IllegalArgumentException, NullPointerException, ArithmeticException


def choices(cluster: Cluster, **asked: object) -> list[object]:
    """What every release says, with one draw of 4 at hand: the partition, or the type it raises."""

    def choice(version: str) -> object:
        try:
            return choose_partition(cluster=cluster, draws=[4], version=version, **asked)  # type: ignore[arg-type]
        except JavaException as raised:
            return type(raised)

    return [choice(version) for version in RELEASES]


# murmur2 of "foo" is 597841616, over three partitions 2; the draw of 4 names the first of two available ones.
@pytest.mark.parametrize(
    ("cluster", "asked", "expected"),
    [
        (MIDDLE_LEADERLESS, {}, [0, 0, 0, 0, 0, -1, -1]),
        (IDS_WITH_GAPS, {}, [3, 3, 3, 3, 3, -1, -1]),
        (EMPTY, {}, [NULL, ZERO, ZERO, ZERO, ZERO, -1, -1]),
        (MIDDLE_LEADERLESS, {"key": b"foo"}, [2] * 7),
        (IDS_WITH_GAPS, {"key": b"foo"}, [2] * 7),
        (MIDDLE_LEADERLESS, {"key": b""}, [0] * 7),
        (EMPTY, {"key": b""}, [NULL, ZERO, ZERO, ZERO, ZERO, ZERO, ZERO]),
        (MIDDLE_LEADERLESS, {"key": b"foo", "ignore_keys": True}, [2, 2, 2, 2, 2, -1, -1]),
        (EMPTY, {"key": b"foo", "ignore_keys": True}, [NULL, ZERO, ZERO, ZERO, ZERO, -1, -1]),
        (MIDDLE_LEADERLESS, {"key": b"foo", "partitioner": CustomPartitioner(7)}, [7] * 7),
        (EMPTY, {"key": b"foo", "partitioner": CustomPartitioner(7)}, [7] * 7),
        (MIDDLE_LEADERLESS, {"partitioner": CustomPartitioner(-1)}, [-1, -1, -1, -1, ILLEGAL, ILLEGAL, ILLEGAL]),
        (MIDDLE_LEADERLESS, {"partition": 2, "partitioner": CustomPartitioner(-1)}, [2] * 7),
        (MIDDLE_LEADERLESS, {"partition": 1, "key": b"foo"}, [1] * 7),
        (MIDDLE_LEADERLESS, {"partition": 3}, [ILLEGAL, 3, 3, 3, 3, 3, 3]),
        (EMPTY, {"partition": 2, "key": b"foo"}, [NULL, 2, 2, 2, 2, 2, 2]),
        (MIDDLE_LEADERLESS, {"partition": -1, "partitioner": CustomPartitioner(7)}, [ILLEGAL] * 7),
    ],
)
def test_choose_partition_matches_java_kafka_producer_in_every_release(
    cluster: Cluster, asked: dict[str, object], expected: list[object]
) -> None:
    assert choices(cluster, **asked) == expected


@pytest.mark.parametrize(
    ("version", "asked", "message"),
    [
        ("0.10.0.1", {"partition": -1}, "Invalid partition given with record: -1 is not in the range [0...2]."),
        ("0.10.0.1", {"partition": 7}, "Invalid partition given with record: 7 is not in the range [0...2]."),
        (
            "0.11.0.3",
            {"partition": -1},
            "Invalid partition: -1. Partition number should always be non-negative or null.",
        ),
        ("4.4.0", {"partition": -1}, "Invalid partition: -1. Partition number should always be non-negative or null."),
        (
            "3.2.3",
            {"partitioner": CustomPartitioner(-1)},
            "The partitioner generated an invalid partition number: -1. Partition number should always be non-negative.",
        ),
    ],
)
def test_invalid_partition_is_refused_with_the_message_of_kafka(
    version: str, asked: dict[str, object], message: str
) -> None:
    with pytest.raises(IllegalArgumentException) as raised:
        choose_partition(cluster=MIDDLE_LEADERLESS, version=version, **asked)  # type: ignore[arg-type]
    assert raised.value.message == message


def test_choose_partition_defaults_to_the_newest_release() -> None:
    assert choose_partition(cluster=MIDDLE_LEADERLESS) == UNKNOWN_PARTITION == -1
    assert choose_partition(key=b"foo", cluster=MIDDLE_LEADERLESS) == 2


def test_choose_partition_raises_for_an_empty_draw_list_and_is_random_without_draws() -> None:
    with pytest.raises(DrawsExhausted, match="add draws"):
        choose_partition(cluster=MIDDLE_LEADERLESS, version="3.2.3", draws=[])
    assert {choose_partition(cluster=MIDDLE_LEADERLESS, version="3.2.3") for _ in range(200)} == {0, 2}
    assert choose_partition(key=b"foo", cluster=MIDDLE_LEADERLESS, version="3.2.3") == 2


@pytest.mark.parametrize("version", ["2.3.1", "4.4.0"])
def test_str_key_in_choose_partition_is_refused_with_hint_to_encode(version: str) -> None:
    with pytest.raises(TypeError, match="encode it"):
        choose_partition(key="foo", cluster=MIDDLE_LEADERLESS, version=version)  # type: ignore[arg-type]


def test_choose_partition_with_malformed_or_unsupported_release_raises() -> None:
    with pytest.raises(ValueError, match=r"'3\.x' is not a Kafka release"):
        choose_partition(cluster=MIDDLE_LEADERLESS, version="3.x")
    with pytest.raises(NotInThisRelease):
        choose_partition(key=b"foo", cluster=MIDDLE_LEADERLESS, version="0.8.2.2")
