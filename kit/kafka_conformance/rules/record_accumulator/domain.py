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

__all__ = ["OPTIONAL_LABELS", "OPTIONAL_PARTS", "domain"]

_COMPRESSED, _CHUNKS = "compression", "memory that is allocated in chunks"
_MEMORY, _CHOICE, _STATE = (
    "a bound of the memory",
    "the choice of a partition by the accumulator",
    "the state of the accumulator",
)
OPTIONAL_LABELS = {
    "headers": "headers",
    **dict.fromkeys(("statistics", "no statistics"), "statistics of queue sizes"),
    **dict.fromkeys(("partition chosen", "adaptive choice"), _CHOICE),
    **dict.fromkeys(("raises BufferExhaustedException", "waits for memory"), _MEMORY),
    **dict.fromkeys(("racks", "rack without rack awareness"), "partitions by rack"),
    "availability timeout": "nodes that are left out while they cannot take batches",
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
OPTIONAL_PARTS = {
    "steps.look": _STATE,
    "steps.load": "statistics of queue sizes",
    **{f"steps.{op}.memory": _MEMORY for op in ("complete", "fail", "split", "abort", "abort_undrained")},
    "steps.append.bytes": "the bytes that a record adds to its batch",
    "steps.ready.unknown_leader_topics": "the names of topics without a leader",
    "steps.expire.next_expiry_ms": _STATE,
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
