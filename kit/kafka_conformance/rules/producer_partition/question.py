"""The question of ``producer-partition``: a record, a configuration, a cluster, and draws.

``{"record": {"partition", "key"}, "config": {"ignore_keys", "partitioner"}, "cluster": C}`` gives ``{"partition": n}``,
where -1 is UNKNOWN_PARTITION, or an exception. Up to 3.2.x a record without a key uses one draw: ``"draws": [int32]``.
"""

from __future__ import annotations

from kafka_conformance.core.protocol import Hex, Int32, Question
from kafka_conformance.rules.common.clusters import AskedCluster

__all__ = ["AskedConfig", "AskedPartitioner", "AskedRecord", "ProducerPartitionQuestion"]


class AskedRecord(Question, frozen=True):
    """A record."""

    partition: Int32 | None = None
    """The partition that the record names; null: none."""
    key: Hex | None = None
    """The serialized key; null: none."""


class AskedPartitioner(Question, frozen=True):
    """A custom partitioner, by what it returns."""

    returns: Int32
    """The partition that it returns."""


class AskedConfig(Question, frozen=True):
    """The producer's configuration."""

    ignore_keys: bool = False
    """``partitioner.ignore.keys``; it has no effect up to 3.2.x."""
    partitioner: AskedPartitioner | None = None
    """A custom ``partitioner.class``; null: the default."""


class ProducerPartitionQuestion(Question, frozen=True, omit_defaults=True):
    """A record, a configuration, a cluster, and the draws for releases that take one."""

    record: AskedRecord
    """The record to place."""
    config: AskedConfig
    """The producer's configuration."""
    cluster: AskedCluster
    """The cluster, with the partitions of the record's topic."""
    draws: tuple[Int32, ...] = ()
    """The random draws. Up to 3.2.x a record without a key uses one; since 3.3.0 none is used."""
