"""The timeline of a ``builtin-partitioner`` question."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from kafka_conformance.core.timeline import Explained
from kafka_conformance.rules.builtin_partitioner.adapter import make
from kafka_conformance.rules.builtin_partitioner.labels import WatchedPartitioner, watched_taker
from kafka_conformance.rules.builtin_partitioner.question import BuiltInPartitionerQuestion
from kafka_conformance.rules.common.scripts_explain import Watched, explain_script
from kafka_reference.releases import Release

__all__ = ["explain"]


def explain(question: BuiltInPartitionerQuestion, release: Release, answers: Sequence[Any]) -> Iterator[Explained]:
    """Return the timeline of a question with the given answers."""
    partitioner, draws = make(WatchedPartitioner, question, release)
    watched = Watched(watched_taker(partitioner, draws), lambda: partitioner.held, lambda: draws.used, partitioner.seen)
    return explain_script(question, answers, watched)
