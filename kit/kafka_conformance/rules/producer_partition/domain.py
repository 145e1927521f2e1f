"""Which questions of ``producer-partition`` a user can bring about.

Any key, and none; any partition below 0, which every client has to refuse; any result of a custom partitioner. The
topic is a real one. A partition that is not there is out of domain: a producer first waits for its metadata.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import cycle, islice

from msgspec.structs import replace

from kafka_conformance.rules.common.domains import cluster_domain, nearest_cluster
from kafka_conformance.rules.common.everyday import PARTITION_COUNTS, everyday_keys, led_cluster
from kafka_conformance.rules.producer_partition.question import (
    AskedConfig,
    AskedPartitioner,
    AskedRecord,
    ProducerPartitionQuestion,
)

__all__ = ["OPTIONAL_LABELS", "domain", "nearest", "plain"]

OPTIONAL_LABELS = {
    "explicit": "records that name their partition",
    "explicit, negative": "partitions below 0 that are not a sign for none",
    "plugged": "custom partitioners",
    "plugged, negative": "custom partitioners",
    "no key": "a choice for records without a key that follows from the question",
    "keyed, ignore_keys": "partitioner.ignore.keys",
    "no leader": "placing records while no partition has a leader",
}


def domain(question: ProducerPartitionQuestion) -> str:
    """Return why no user can bring the question about, or ""."""
    named = question.record.partition
    if named is not None and named >= len(question.cluster.partitions) > 0:
        return "a producer waits for the metadata of a partition that is not there, and chooses none"
    return cluster_domain(question.cluster)


def nearest(question: ProducerPartitionQuestion) -> ProducerPartitionQuestion:
    """Return the question with partitions renumbered, and a partition that is there in place of one that is not."""
    cluster, record = nearest_cluster(question.cluster), question.record
    if record.partition is not None and record.partition > 0:
        record = replace(record, partition=record.partition % len(cluster.partitions))
    return replace(question, record=record, cluster=cluster)


def plain() -> Iterator[ProducerPartitionQuestion]:
    """Yield records with everyday keys to topics of 1 to 1,000 partitions; then without a key, and to a partition."""
    counts = [count for count in PARTITION_COUNTS if count <= 128]
    keyed = [*zip(islice(everyday_keys(), 1100), cycle(counts), strict=False)]
    keyed += [*zip(everyday_keys(), (count for count in PARTITION_COUNTS if count > 128), strict=False)]
    for key, count in keyed:
        yield ProducerPartitionQuestion(AskedRecord(None, key.hex()), AskedConfig(), led_cluster(count), (count,))
    for place, count in enumerate(counts):
        for text in (None, "", "6b6579"):
            cluster, draws = led_cluster(count), (place * 97,)
            yield ProducerPartitionQuestion(AskedRecord(count - 1, text), AskedConfig(), cluster, draws)
            yield ProducerPartitionQuestion(AskedRecord(None, text), AskedConfig(ignore_keys=True), cluster, draws)
            plugged = AskedConfig(partitioner=AskedPartitioner(count // 2))
            yield ProducerPartitionQuestion(AskedRecord(None, text), plugged, cluster, draws)
        for text in (None, ""):
            yield ProducerPartitionQuestion(AskedRecord(None, text), AskedConfig(), led_cluster(count), (place * 101,))
