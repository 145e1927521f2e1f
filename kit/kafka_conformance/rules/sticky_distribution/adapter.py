"""Questions to the reference's producer loop."""

from __future__ import annotations

from kafka_conformance.core.protocol import Answer
from kafka_conformance.rules.common.clusters import to_reference
from kafka_conformance.rules.sticky_distribution.question import StickyDistributionQuestion
from kafka_reference.java.thread_local_random import SeededDraws
from kafka_reference.partitioning.keyless_distribution import Distribution, distribute
from kafka_reference.releases import Release

__all__ = ["answer_of", "ask"]


def answer_of(found: Distribution) -> Answer:
    """Return a distribution as an answer."""
    return {"counts": [[partition, n] for partition, n in sorted(found.counts.items())], "switches": found.switches}


def ask(question: StickyDistributionQuestion, release: Release) -> Answer:
    """Return the reference's answer."""
    return answer_of(
        distribute(
            question.partitioner,
            release,
            to_reference(question.cluster),
            SeededDraws(int(question.seed)),
            records=question.records,
            batch_records=question.batch_records,
            drain_after=question.drain_after,
            queue_sizes=question.queue_sizes,
        )
    )
