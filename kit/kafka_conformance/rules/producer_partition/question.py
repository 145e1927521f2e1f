"""The question of ``producer-partition``: a record, a configuration, a cluster, and draws.

``{"record": {"partition", "key"}, "config": {"ignore_keys", "partitioner"}, "cluster": C}`` gives ``{"partition": n}``,
where -1 is UNKNOWN_PARTITION, or an exception. Up to 3.2.x a record without a key uses one draw: ``"draws": [int32]``.
"""

from __future__ import annotations

from kafka_conformance.core.protocol import Hex, Int32, Question
from kafka_conformance.rules.common.clusters import AskedCluster

__all__ = ["AskedConfig", "AskedPartitioner", "AskedRecord", "ProducerPartitionQuestion"]


class AskedRecord(Question, frozen=True):
    """The partition named in the record, or null, and the serialized key, or null."""

    partition: Int32 | None = None
    key: Hex | None = None


class AskedPartitioner(Question, frozen=True):
    """A custom partitioner, by what it returns."""

    returns: Int32


class AskedConfig(Question, frozen=True):
    """``partitioner.ignore.keys`` and ``partitioner.class``."""

    ignore_keys: bool = False
    partitioner: AskedPartitioner | None = None


class ProducerPartitionQuestion(Question, frozen=True, omit_defaults=True):
    """A record, a configuration, a cluster, and the draws for releases that take one."""

    record: AskedRecord
    config: AskedConfig
    cluster: AskedCluster
    draws: tuple[Int32, ...] = ()
