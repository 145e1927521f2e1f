"""The domain of the questions about the sticky cache: records to real topics, and the batches they begin."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

from msgspec.structs import replace

from kafka_conformance.rules.common.domains import CLUSTER_OPTIONAL_LABELS, nearest_script, script_domain
from kafka_conformance.rules.common.everyday import PARTITION_COUNTS, everyday_clusters, everyday_keys, led_cluster
from kafka_conformance.rules.common.partitioner_steps import NewBatchStep, PartitionStep, StickyQuestion
from kafka_conformance.rules.common.scripts import ClusterStep, every_script

__all__ = ["OPTIONAL_LABELS", "domain", "nearest", "plain"]

_ANNOUNCED = "new batches that are announced to the partitioner for every record"
OPTIONAL_LABELS = {
    **CLUSTER_OPTIONAL_LABELS,
    "a batch of another partition": _ANNOUNCED,
    "first choice at a new batch, several available": _ANNOUNCED,
    "first choice at a new batch, one available": _ANNOUNCED,
    "first choice at a new batch, none available": _ANNOUNCED,
}


def domain(question: StickyQuestion) -> str:
    """Return why no user can bring the question about, or ""."""
    return script_domain(question.cluster, question.steps)


def nearest(question: StickyQuestion) -> StickyQuestion:
    """Return the question with its clusters renumbered, and new batches of partitions that are there."""
    cluster, steps = nearest_script(question.cluster, question.steps)
    return replace(question, cluster=cluster, steps=steps)


def plain() -> Iterator[StickyQuestion]:
    """Yield short scripts to topics of one to six partitions, then records with everyday keys to larger topics."""
    first, one, some, none, six = everyday_clusters()
    alphabet: tuple[Any, ...] = (
        PartitionStep("t"), NewBatchStep("t", 0), NewBatchStep("t", 1), PartitionStep("u"), PartitionStep("t", "6b6579"),
        PartitionStep("u", ""),
    )  # fmt: skip
    scripts = [(cluster, steps) for cluster in (first, six) for steps in every_script(alphabet, 3)]
    changes = (*alphabet[:2], ClusterStep(some), ClusterStep(six))
    scripts += [(cluster, steps) for cluster in (first, some, none) for steps in every_script(changes, 3)]
    scripts += [(one, steps) for steps in every_script(alphabet[:2], 3)]
    for seed, (cluster, steps) in enumerate(scripts):
        yield nearest(StickyQuestion(seed, cluster, (*steps, PartitionStep("t"))))
    keys = everyday_keys()
    for count in PARTITION_COUNTS[:30] * 2:
        yield StickyQuestion(count, led_cluster(count), tuple(PartitionStep("t", key.hex()) for key in islice(keys, 5)))
