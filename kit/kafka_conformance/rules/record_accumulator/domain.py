"""Which questions of ``record-accumulator`` a user can bring about.

Topics are real ones, and records go to their partitions. Nodes are brokers of the cluster, each drained once. The
compression ratio is one that codecs reach.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kafka_conformance.rules.common.domains import cluster_domain, first_reason
from kafka_conformance.rules.record_accumulator.question import (
    AppendStep,
    DrainStep,
    LatencyStep,
    MoveStep,
    MuteStep,
    RecordAccumulatorQuestion,
    UnmuteStep,
)
from kafka_conformance.rules.record_sizes.domain import ratio_domain

__all__ = ["OPTIONAL_LABELS", "domain"]

_COMPRESSED, _CHUNKS = "compression", "memory that is allocated in chunks"
OPTIONAL_LABELS = {
    "headers": "headers",
    "statistics": "statistics of queue sizes",
    **{
        f"compressed: {label}": _COMPRESSED
        for label in ("appended", "new batch", "batch full", "partition chosen", "split")
    },
    **{
        f"compressed: {label}": _COMPRESSED
        for label in ("drained several", "headers", "raises BufferExhaustedException")
    },
    **{f"chunks: {label}": _CHUNKS for label in ("appended", "new batch", "batch full", "partition chosen", "split")},
    **{f"chunks: {label}": _CHUNKS for label in ("did complete", "did abort", "raises BufferExhaustedException")},
    "chunks: raises IllegalArgumentException": _CHUNKS,
    "chunks: no rest of memory": _CHUNKS,
    "smaller than a chunk: new batch": _CHUNKS,
    "refused: ConfigException": _CHUNKS,
}


def domain(question: RecordAccumulatorQuestion) -> str:
    """Return why no user can bring the question about, or ""."""
    return first_reason(_reasons(question))


def _reasons(question: RecordAccumulatorQuestion) -> Iterator[str]:
    yield cluster_domain(question.cluster)
    yield ratio_domain(question.config.ratio)
    cluster = question.cluster
    for step in question.steps:
        if isinstance(step, MoveStep):
            cluster = step.cluster
            yield cluster_domain(cluster)
        yield _step_domain(step, len(cluster.partitions), {node.id for node in cluster.nodes})


def _step_domain(step: Any, partitions: int, nodes: set[int]) -> str:
    match step:
        case AppendStep():
            named = [number for number in (step.partition, step.chosen) if number is not None]
            return "" if all(number < partitions for number in named) else "records go to partitions of the topic"
        case MuteStep() | UnmuteStep():
            return "" if step.partition < partitions else "muted partitions are partitions of the topic"
        case DrainStep():
            drained = set(step.nodes)
            fits = len(drained) == len(step.nodes) and drained <= nodes
            return "" if fits else "batches are drained for different brokers of the cluster"
        case LatencyStep():
            return "" if step.node in nodes else "latencies are of brokers of the cluster"
    return ""
