"""Answer a question of ``high-watermark`` with the reference."""

from __future__ import annotations

from kafka_conformance.core.protocol import Answer
from kafka_conformance.rules.common.partition.history import (
    CreatePartition,
    PartitionHistory,
    show_followers,
    show_offsets,
)
from kafka_conformance.rules.high_watermark.question import HighWatermarkQuestion
from kafka_reference.releases import Release
from kafka_reference.replication.partition_state import Partition

__all__ = ["ask"]


def ask(question: HighWatermarkQuestion, release: Release, create: CreatePartition = Partition) -> Answer:
    """Answer the question with the reference's partition, or with the one that ``create`` makes."""
    history = PartitionHistory(question, release, create)
    return {"steps": [history.answer(step, _show) for step in question.steps]}


def _show(history: PartitionHistory) -> Answer:
    return {**show_offsets(history), **show_followers(history)}
