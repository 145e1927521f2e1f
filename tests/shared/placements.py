"""Random questions about the placing of records that users can meet: partitions 0, 1, 2, … and ordinary keys."""

from __future__ import annotations

import random

from kafka_conformance.rules.common.clusters import AskedCluster, AskedNode, AskedPartition
from kafka_conformance.rules.partition_for_key.question import PartitionForKeyQuestion
from kafka_conformance.rules.producer_partition.question import AskedConfig, AskedRecord, ProducerPartitionQuestion

__all__ = ["keyed_question", "producer_question"]


def _key(chance: random.Random) -> str | None:
    if chance.random() < 0.1:
        return chance.choice(["", None])
    return chance.randbytes(chance.randrange(1, 20)).hex()


def keyed_question(chance: random.Random) -> PartitionForKeyQuestion:
    """Return a question of ``partition-for-key``."""
    return PartitionForKeyQuestion(_key(chance), chance.choice([1, 2, 3, 6, 12, 30, 100]))


def producer_question(chance: random.Random, *, usual: bool = True) -> ProducerPartitionQuestion:
    """Return a question of ``producer-partition``; an unusual one may skip numbers of partitions, and ignore keys."""
    step = 1 if usual else chance.choice([1, 3])
    led = [
        AskedPartition(step * each, 0 if chance.random() < 0.8 else None)
        for each in range(chance.choice([1, 2, 3, 6, 12]))
    ]
    record = AskedRecord(chance.choice([None, None, None, None, 0]), _key(chance))
    config = AskedConfig(ignore_keys=not usual and chance.random() < 0.3)
    return ProducerPartitionQuestion(
        record, config, AskedCluster((AskedNode(0),), tuple(led)), (chance.getrandbits(31),)
    )
