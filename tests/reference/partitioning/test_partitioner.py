"""The partitioner object: called by aiokafka and kafka-python themselves, and compared with librdkafka's own functions."""

from __future__ import annotations

import ctypes
from importlib.metadata import distribution
from typing import Any

import pytest

from kafka_reference.errors import ArithmeticException
from kafka_reference.partitioning import NAMES, Partitioner, partition_for_key

KEYS = [b"home", b"", b"\xff", b"alice", bytes(range(256)), b"21", *(b"key-%d" % number for number in range(100))]


@pytest.fixture(scope="module")
def librdkafka() -> Any:
    try:
        wheel = distribution("confluent-kafka")
    except ImportError:
        pytest.skip("confluent-kafka is not installed")
    (library, *_) = (one for one in wheel.files or () if one.name.startswith("librdkafka") and ".so" in one.name)
    return ctypes.CDLL(str(library.locate()))


@pytest.mark.parametrize("name", [name for name in NAMES if name != "random"])
def test_librdkafka_partitioners_match_the_c_library_for_every_key(name: str, librdkafka: Any) -> None:
    theirs = getattr(librdkafka, f"rd_kafka_msg_partitioner_{name}")
    theirs.argtypes = [
        ctypes.c_void_p,
        ctypes.c_char_p,
        ctypes.c_size_t,
        ctypes.c_int32,
        ctypes.c_void_p,
        ctypes.c_void_p,
    ]
    theirs.restype = ctypes.c_int32
    ours = Partitioner(name)
    for count in (1, 3, 12, 1000):
        for key in KEYS:
            if key or name != "consistent_random":  # there, an empty key is drawn
                assert ours(key, range(count)) == theirs(None, key, len(key), count, None, None), (key, count)


def test_default_partitioner_places_keys_like_the_java_client() -> None:
    assert repr(Partitioner()) == "Partitioner('murmur2_random')"
    for key in KEYS:
        assert Partitioner()(key, range(12), [3]) == partition_for_key(key, 12)


def test_partitioner_returns_the_partition_id_and_not_the_index() -> None:
    assert Partitioner()(b"home", [10, 20, 30]) == 20


@pytest.mark.parametrize("name", [name for name in NAMES if name.endswith("random")])
def test_null_key_is_placed_at_random_among_available_partitions(name: str) -> None:
    partitioner = Partitioner(name, draws=[7, -1, 4])
    assert partitioner(None, [0, 1, 2], [0, 2]) == 2
    assert partitioner(None, [0, 1, 2], [0, 2]) == 2  # the sign bit is cleared
    assert partitioner(None, [0, 1, 2]) == 1


def test_only_consistent_random_draws_for_empty_key_and_null_hashes_as_empty_without_random() -> None:
    assert Partitioner("consistent_random", draws=[2])(b"", [0, 1, 2]) == 2
    assert Partitioner("murmur2_random", draws=[])(b"", [0, 1, 2]) == partition_for_key(b"", 3)
    for name in ("murmur2", "consistent", "fnv1a"):
        assert Partitioner(name)(None, range(7)) == Partitioner(name)(b"", range(7))


def test_partitioner_with_unknown_name_str_key_or_no_partitions_raises() -> None:
    with pytest.raises(ValueError, match="unknown partitioner 'murmur': expected one of murmur2_random, murmur2, "):
        Partitioner("murmur")
    with pytest.raises(TypeError, match="encode it"):
        Partitioner()("home", [0])  # type: ignore[arg-type]
    with pytest.raises(ArithmeticException):
        Partitioner()(b"home", [])


class _Cluster:
    """The metadata of a topic, as both clients keep it."""

    def topics(self) -> set[str]:
        return {"t"}

    def partitions_for_topic(self, _: str) -> set[int]:
        return set(range(12))

    def available_partitions_for_topic(self, _: str) -> set[int]:
        return {0, 2}


def test_aiokafka_producer_with_partitioner_object_places_keys_like_java() -> None:
    producer = pytest.importorskip("aiokafka.producer.producer").AIOKafkaProducer
    mine = type("Mine", (), {"_metadata": _Cluster(), "_partitioner": Partitioner()})()
    for key in KEYS:
        assert producer._partition(mine, "t", None, None, None, key, None) == partition_for_key(key, 12)
    assert producer._partition(mine, "t", None, None, None, None, None) in {0, 2}


def test_kafka_python_with_partitioner_object_places_keys_like_java() -> None:
    """Since 3.0 by its own interface, which hands on to the object in one line."""
    kafka = pytest.importorskip("kafka.partitioner")

    class Placed(kafka.Partitioner):  # type: ignore[misc]
        place = Partitioner()

        def partition(self, topic: str, _key: Any, serialized: bytes | None, _v: Any, _s: Any, cluster: Any) -> int:
            available = list(cluster.available_partitions_for_topic(topic))
            return self.place(serialized, sorted(cluster.partitions_for_topic(topic)), available)

    theirs = kafka.DefaultPartitioner()
    for key in KEYS:
        asked = "t", None, key, None, None, _Cluster()
        assert Placed().partition(*asked) == theirs.partition(*asked) == partition_for_key(key, 12)
