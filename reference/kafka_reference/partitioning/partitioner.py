"""Partitioners as Python clients call them: ``partitioner(key, all_partitions, available)``.

aiokafka takes such an object as ``AIOKafkaProducer(partitioner=…)``, kafka-python up to 2.x as
``KafkaProducer(partitioner=…)``. The names are those of confluent-kafka's ``partitioner`` setting, which is librdkafka's:

==================== ======================= ================================================
name                 a key goes by           without a key
==================== ======================= ================================================
``murmur2_random``   Kafka's own hash        a random partition
``murmur2``          Kafka's own hash        as an empty key
``consistent_random`` CRC-32, unsigned       a random partition; so does an empty key
``consistent``       CRC-32, unsigned        as an empty key
``fnv1a_random``     FNV-1a, sign dropped    a random partition
``fnv1a``            FNV-1a, sign dropped    as an empty key
``random``           nothing                 a random partition
==================== ======================= ================================================

``murmur2_random`` places keys as the Java client does (:mod:`.keyed`): use it for a port. ``consistent_random`` is the
default of librdkafka, and so of confluent-kafka. A key is hashed over all partitions; a random one is among the available
ones if there are any. CRC-32 and FNV-1a are not rules of Kafka: a test compares them with librdkafka itself.

Mirrors ``rd_kafka_msg_partitioner_*`` in ``rdkafka_msg.c``, librdkafka 2.16.
"""

# unreached file: partitioners of librdkafka, which no Java class answers for
from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping, Sequence

from kafka_reference.arguments import INT32, checked
from kafka_reference.errors import ArithmeticException
from kafka_reference.java.int32 import int32, uint32
from kafka_reference.java.thread_local_random import Draws, draw_source
from kafka_reference.partitioning.murmur2 import Key, as_bytes, to_positive
from kafka_reference.partitioning.murmur2_fast import murmur2

__all__ = ["NAMES", "Partitioner", "fnv1a"]


def fnv1a(key: bytes) -> int:
    """Return the 32-bit FNV-1a hash as a Java int.

    >>> fnv1a(b"a") & 0xFFFFFFFF == 0xE40C292C
    True
    """
    h = 0x811C9DC5
    for byte in key:
        h = uint32((h ^ byte) * 0x01000193)
    return int32(h)


_HASHES: Mapping[str, Callable[[bytes], int]] = {
    "murmur2": lambda key: to_positive(murmur2(key)),
    "consistent": zlib.crc32,
    "fnv1a": lambda key: abs(fnv1a(key)),
}
NAMES = (*(name for each in _HASHES for name in (f"{each}_random", each)), "random")
"""The partitioners of confluent-kafka."""


@checked(all_partitions=INT32, available=INT32)
class Partitioner:
    """The partitioner ``name``, one of :data:`NAMES`; ``draws`` gives the random int32 it uses, None random ones.

        >>> java = Partitioner()
        >>> java(b"home", [0, 1, 2], [0, 1, 2])
        1
        >>> Partitioner("consistent_random")(b"alice", [0, 1, 2], [0, 1, 2])
        2
        >>> Partitioner("murmur2_random", draws=[7])(None, [0, 1, 2], available=[0, 2])
        2

    Raises ValueError for another name.
    """

    def __init__(self, name: str = "murmur2_random", draws: Draws = None) -> None:
        if name not in NAMES:
            raise ValueError(f"unknown partitioner {name!r}: expected one of {', '.join(NAMES)}")
        self.name, self._draws = name, draw_source(draws)
        self._hash = _HASHES.get(name.removesuffix("_random"))

    def __repr__(self) -> str:
        return f"Partitioner({self.name!r})"

    def __call__(self, key: Key | None, all_partitions: Sequence[int], available: Sequence[int] = ()) -> int:
        """Return the id of the partition for a serialized key, or None for no key.

        ``all_partitions`` are the topic's ids in ascending order, ``available`` those with a leader. Raises TypeError for a
        key that is not bytes, ArithmeticException (a ZeroDivisionError) for a topic without partitions.
        """
        if not all_partitions:
            raise ArithmeticException
        if self._hash is None or self._is_random(key):
            among = available or all_partitions
            return among[to_positive(self._draws.next()) % len(among)]
        return all_partitions[self._hash(as_bytes(b"" if key is None else key)) % len(all_partitions)]

    def _is_random(self, key: Key | None) -> bool:
        return self.name.endswith("_random") and (key is None or (self.name == "consistent_random" and len(key) == 0))
