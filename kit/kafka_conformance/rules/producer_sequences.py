"""The rule ``producer-sequences``."""

from __future__ import annotations

from collections.abc import Iterator

from kafka_conformance.protocol import Answer
from kafka_conformance.rules.rule import Rule, Space
from kafka_conformance.rules.sender_history import ask_sender
from kafka_conformance.rules.sender_scripts import (
    every_end_of_the_numbers,
    every_error_of_one_at_a_time,
    every_expiry,
    every_pair_of_answers,
    every_refusal_of_an_id,
    every_short_history,
    histories,
)
from kafka_conformance.rules.sender_steps import ProducerSequencesQuestion
from kafka_reference.idempotence.sender import Sender
from kafka_reference.releases import Release, since

__all__ = ["RULE"]


def _ask(question: ProducerSequencesQuestion, at: Release) -> Answer:
    return ask_sender(Sender, question, at)


def labels(question: ProducerSequencesQuestion) -> Iterator[str]:
    yield from ()


_H = histories()
RULE = Rule(
    slug="producer-sequences",
    title="Sender and TransactionManager: sequences, retries, epochs",
    releases=since("0.10.0.0"),
    question=ProducerSequencesQuestion,
    ask=_ask,
    strategy=lambda: _H,
    spaces=(
        Space(
            "two batches in flight: every two of 28 answers; with few retries, and without idempotence, of 11",
            every_pair_of_answers,
        ),
        Space(
            "three batches in flight: every history of up to 3 of 10 events; without idempotence, of up to 2",
            every_short_history,
        ),
        Space("a batch that came back: every history of up to 3 of 8 events around what expires", every_expiry),
        Space("the last epochs and the last sequences: every history of up to 3 of 9 events", every_end_of_the_numbers),
        Space(
            "one request at a time: every history of up to 3 of 7 events; without answers: of up to 2",
            every_error_of_one_at_a_time,
        ),
        Space("every two answers to who asks for a producer id", every_refusal_of_an_id),
    ),
    labels=labels,
    always=frozenset(),
    java=((since("0.10.0.0"), "ProducerSequencesRule"),),
    share=3,
    source="Sender.runOnce, completeBatch, canRetry, failBatch; TransactionManager",
    links=(),
)
