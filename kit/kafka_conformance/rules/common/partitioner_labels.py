"""The kinds of questions about the sticky cache: the branches of its rule that a script takes."""

from __future__ import annotations

from collections.abc import Iterator

from kafka_conformance.rules.common.partitioner_steps import NewBatchStep, PartitionStep, StickyQuestion
from kafka_conformance.rules.common.scripts import cluster_labels, stages
from kafka_conformance.rules.common.watched_cache import WatchedCache

__all__ = ["REQUIRED_LABELS", "sticky_labels"]


def sticky_labels(question: StickyQuestion, *, keys_matter: bool) -> Iterator[str]:
    """Return the branches that a script takes and the kinds of its clusters."""
    yield from cluster_labels(question.cluster, question.steps)
    watched = WatchedCache(question.draws())
    for step, now in stages(question.cluster, question.steps):
        if isinstance(step, NewBatchStep):
            yield watched.new_batch(step.topic, now, step.previous)
        elif isinstance(step, PartitionStep):
            if step.key is not None:
                yield "keyed"
                if not step.key:
                    yield "empty key"
            if step.key is None or not keys_matter:
                yield watched.place(step.topic, now)
    if len(watched.held) > 1:
        yield "several topics"


REQUIRED_LABELS = frozenset(
    {"no partitions", "no leader", "some led", "all led", "the cluster changes", "several topics", "keyed", "empty key"}
    | {"sticks", "a batch of another partition", "switch, drawn again"}
    | {
        f"{why}, {what}"
        for why in ("first choice", "first choice at a new batch", "switch")
        for what in ("no partitions", "none available", "one available", "several available")
    }
)
