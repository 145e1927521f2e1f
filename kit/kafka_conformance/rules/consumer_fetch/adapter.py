"""Answer a question of ``consumer-fetch`` with the reference."""

from __future__ import annotations

from kafka_conformance.core.protocol import Answer
from kafka_conformance.rules.consumer_fetch.question import ConsumerFetchQuestion
from kafka_conformance.rules.record_batch.question import number
from kafka_reference.consumer import AbortedTransaction, consume_fetch
from kafka_reference.releases import Release

__all__ = ["ask"]


def ask(question: ConsumerFetchQuestion, release: Release) -> Answer:
    """Answer the question with the reference."""
    outcome = consume_fetch(
        bytes.fromhex(question.records),
        question.fetch_offset,
        read_committed=question.read_committed,
        aborted=tuple(AbortedTransaction(*each) for each in question.aborted),
        check_crcs=question.check_crcs,
        release=release,
    )
    answer: Answer = {"delivered": list(map(number, outcome.delivered)), "position": number(outcome.position)}
    if outcome.thrown is not None:
        answer["raises"] = outcome.thrown
        if outcome.cause is not None:
            answer["cause"] = outcome.cause
        answer["again"] = outcome.again
    return answer
