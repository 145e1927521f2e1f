"""Kafka's rules in plain Python, each verified against the real Java classes of every release it names.

    >>> from kafka_reference import partition_for_key
    >>> partition_for_key("home".encode(), 3)
    1

The packages hold the rest: ``partitioning``, ``accumulator``, ``idempotence``, ``broker``, ``producer`` and ``delivery``.
A release is the argument ``version``, the newest by default; settings have Kafka's names.

    >>> from kafka_reference.accumulator import RecordAccumulator
    >>> RecordAccumulator(version="2.8.2", config={"linger.ms": "5"})
    <RecordAccumulator 2.8.2 at 0 ms: 0 incomplete batches>

:func:`certificate` lists what was verified, against which releases, and by how many questions; every public function
has a row there. Only the standard library is imported; ``kafka_reference.bulk`` (whole columns of keys at once) needs
``pip install '.[bulk]'`` in a checkout.
"""

from kafka_reference.certificate import certificate
from kafka_reference.errors import JavaException, QuestionError
from kafka_reference.partitioning.cluster import Cluster, Node, Partition
from kafka_reference.partitioning.keyed import partition_for_key
from kafka_reference.partitioning.murmur2 import to_positive
from kafka_reference.partitioning.murmur2_fast import murmur2
from kafka_reference.partitioning.producer import UNKNOWN_PARTITION, CustomPartitioner, choose_partition
from kafka_reference.proven import UnprovenRelease
from kafka_reference.releases import NEWEST, Release, Spans, parse_release, since

__all__ = [
    "NEWEST",
    "UNKNOWN_PARTITION",
    "Cluster",
    "CustomPartitioner",
    "JavaException",
    "Node",
    "Partition",
    "QuestionError",
    "Release",
    "Spans",
    "UnprovenRelease",
    "certificate",
    "choose_partition",
    "murmur2",
    "parse_release",
    "partition_for_key",
    "since",
    "to_positive",
]
