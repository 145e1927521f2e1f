"""Which partition a record goes to: by its key, and, without a key, by each of the partitioners Kafka has had."""

from kafka_reference.partitioning.builtin import BuiltInPartitioner, LoadTable, StickyPartitionInfo
from kafka_reference.partitioning.cluster import Cluster, Node, Partition
from kafka_reference.partitioning.default import DefaultPartitioner, UniformStickyPartitioner
from kafka_reference.partitioning.keyed import partition_for_key
from kafka_reference.partitioning.partitioner import NAMES, Partitioner
from kafka_reference.partitioning.places import Place, place
from kafka_reference.partitioning.producer import UNKNOWN_PARTITION, CustomPartitioner, choose_partition
from kafka_reference.partitioning.round_robin import RoundRobinPartitioner
from kafka_reference.partitioning.sticky_cache import StickyPartitionCache

__all__ = [
    "NAMES", "UNKNOWN_PARTITION", "BuiltInPartitioner", "Cluster", "CustomPartitioner", "DefaultPartitioner", "LoadTable",
    "Node", "Partition", "Partitioner", "Place", "RoundRobinPartitioner", "StickyPartitionCache", "StickyPartitionInfo",
    "UniformStickyPartitioner", "choose_partition", "partition_for_key", "place",
]  # fmt: skip
