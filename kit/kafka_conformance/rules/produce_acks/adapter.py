"""Answer a question of ``produce-acks`` with the reference."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from kafka_conformance.core.protocol import Answer
from kafka_conformance.rules.common.partition.history import CreatePartition, PartitionHistory, show_offsets
from kafka_conformance.rules.common.partition.steps import FollowStep
from kafka_conformance.rules.produce_acks.question import CheckStep, ExpireStep, ProduceQuestion, ProduceStep
from kafka_reference.releases import Release
from kafka_reference.replication.partition_state import Partition
from kafka_reference.replication.produce_requests import ProduceRequests

__all__ = ["CreateRequests", "ProduceHistory", "ask"]

CreateRequests: TypeAlias = Callable[[Partition], ProduceRequests]
"""Makes the produce requests of a partition."""


def ask(
    question: ProduceQuestion,
    release: Release,
    create: CreatePartition = Partition,
    requests: CreateRequests = ProduceRequests,
) -> Answer:
    """Answer the question with the reference, or with the partition and the requests that the others make."""
    history = ProduceHistory(question, release, create, requests)
    return {"steps": [history.answer(step, lambda _: history.show()) for step in question.steps]}


class ProduceHistory(PartitionHistory):
    """A partition and its produce requests, step by step."""

    def __init__(
        self, question: ProduceQuestion, release: Release, create: CreatePartition, requests: CreateRequests
    ) -> None:
        super().__init__(question, release, create)
        self.requests = requests(self.partition)

    def take(self, step: Any) -> Answer:
        """Take one step; waiting requests are checked if it moved the high watermark, or made a follower of the broker."""
        match step:
            case ProduceStep(acks, records):
                self.requests.produce(acks, records)
                return {}
            case ExpireStep():
                self.requests.expire()
                return {}
            case CheckStep(offset):
                completion = self.partition.check_completion(offset)
                return {"checked": [completion.done, completion.error]}
        before = self.partition.log.high_watermark
        answer = super().take(step)
        if self.partition.log.high_watermark > before or (isinstance(step, FollowStep) and answer["new"]):
            self.requests.check_waiting()
        return answer

    def show(self) -> Answer:
        """Return the offsets, and the responses since the last step that did not throw."""
        sent, self.requests.responses = self.requests.responses, []
        return {**show_offsets(self), "responses": [[each.request, each.error, each.base_offset] for each in sent]}
