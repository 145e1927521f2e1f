"""The rule ``producer-sequences``: Sender, TransactionManager and RecordAccumulator together, round by round.

::

    {"config": {"idempotence": true, "acks": "all", "retries": 2147483647, "max_in_flight": 5, "batch_size": 120,
                "linger_ms": 0, "request_timeout_ms": 30, "delivery_timeout_ms": 100, "retry_backoff_ms": 0,
                "retry_backoff_max_ms": 0},
     "leaders": [0, 0], "draws": [int32, …], "producer": {"id": 7, "epoch": 0, "next_sequences": {"0": 5}}, "steps": [
        {"op": "append", "partition": 0, "records": 2, "bytes": 10},   {}
        {"op": "run"},         {"sent": [{"node": 0, "batches": [{"partition": 0, "records": [0, 1], "producer_id": 7,
                                                                  "epoch": 0, "sequence": 5}]}], "ended": []}
        {"op": "respond", "error": "NONE", "others": null, "node": 0, "base_offset": 100, "log_start_offset": -1},   {}
        {"op": "run"},         {"sent": [], "ended": [[0, 100], [1, 101]]}: or the exception's simple class name
        {"op": "disconnect", "node": 0}, {"op": "advance", "ms": 5}, {"op": "flush"},   {}
        {"op": "producer_id", "id": 8, "epoch": 0, "error": "NONE"},   {}
        {"op": "look"}]}       {"queues": {"0": [[records, attempts, sequence]]}, "now_ms": 0, "producer": [7, 0],
                                "state": "READY", "partitions": {"t-0": {"next": 7, "last_acknowledged": 6, "in_flight": [],
                                "unresolved": null, "last_offset": 101, "producer": [7, 0]}}}

The question plays the brokers. A ``run`` is one round of the sender's loop, as each release has it (``runOnce``, to 2.1.x
``run(now)``); what nodes answer, what is lost and what takes too long arrives in the polls of the next round. In one poll a
node answers one request, the oldest one. A ``respond`` that no request of the node is in flight for does nothing, as does
one with an error that the release has none of. ``error`` is for the lowest partition of the request, ``others`` for the
others, if it is given. A lost connection is there again at once. A request for a producer id goes to a node of its own and
is answered at once: by the ``producer_id`` steps in turn, then by 1000, 1001, … in epoch 0, counted over all answers.

Records are numbered in the order in which they are appended; so a round's answer says which records went where and what
was told to them. ``asked_id`` is how often an id was asked for in this round, ``raises`` what the round raised, ``uncaught``
what was raised while an answer was being handled; which Kafka logs, and goes on. Once the manager is in an error, ``ended``
is sorted by record: Java aborts in the order of a set that goes by identity.

``producer`` is who the producer is before the first step, to whom ``next_sequences`` records of each partition were
acknowledged. Without idempotence, and before 0.11.0.0 always, there is none. ``delivery_timeout_ms`` is the request's to
2.0.x. Between Sender and network stands Kafka's own ``InFlightRequests``, so ``max_in_flight`` is judged; a poll does what
``NetworkClient.poll`` does, in its order, and that is the only part of it that is not Kafka's.

A queue's batches are told with their sequences since 1.0; 0.11 shows none. What a partition knows of its producer is told
since 2.7.1. Nodes are named node0, node1, …, on port 9092: where a set of nodes is walked, their hash codes decide.

Not asked: transactions; leaders that move or are unknown; errors of single records (KIP-467); brokers of older versions,
to which records are converted; throttling; closing; an id that takes its time, since to 2.4.x the round would wait for it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from kafka_conformance.core.protocol import Answer
from kafka_conformance.core.rule import Area, Rule, Space
from kafka_conformance.core.timeline import Explained
from kafka_conformance.rules.producer_sequences.adapter import SenderHistory, ask_sender
from kafka_conformance.rules.producer_sequences.explain import explain_sender
from kafka_conformance.rules.producer_sequences.generators import (
    every_end_of_the_numbers,
    every_error_of_one_at_a_time,
    every_expiry,
    every_number_in_flight,
    every_order_of_nodes,
    every_pair_of_answers,
    every_refusal_of_an_id,
    every_return_of_an_id,
    every_short_history,
    every_wait_for_an_id,
    histories,
)
from kafka_conformance.rules.producer_sequences.labels import REQUIRED_LABELS, labels
from kafka_conformance.rules.producer_sequences.question import DisconnectStep, ProducerSequencesQuestion, RespondStep
from kafka_reference.idempotence.sender import Sender
from kafka_reference.releases import Release, since

__all__ = ["RULE"]


def _ask(question: ProducerSequencesQuestion, at: Release) -> Answer:
    return ask_sender(Sender, question, at)


def _explain(question: ProducerSequencesQuestion, at: Release, answers: Sequence[Any]) -> Iterator[Explained]:
    return explain_sender(SenderHistory(Sender, question, at), question.steps, answers)


def _path(question: ProducerSequencesQuestion) -> str:
    """Where releases part ways first: at the first thing that goes wrong."""
    way = "idempotent" if question.config.idempotence else "not idempotent"
    for step in question.steps:
        if isinstance(step, DisconnectStep):
            return f"{way}, disconnected"
        if isinstance(step, RespondStep) and step.error != "NONE":
            return f"{way}, {step.error}"
    return way


_HISTORIES = histories()
_KIPS = "https://cwiki.apache.org/confluence/display/KAFKA"
_ISSUES = "https://issues.apache.org/jira/browse"

RULE = Rule(
    slug="producer-sequences",
    title="Sender and TransactionManager: sequences, retries, epochs",
    area=Area.IDEMPOTENCE,
    releases=since("0.10.0.0"),
    question=ProducerSequencesQuestion,
    ask=_ask,
    strategy=lambda: _HISTORIES,
    spaces=(
        Space(
            "two batches in flight: every two of 28 answers; other retries, no idempotence: of 11",
            every_pair_of_answers,
        ),
        Space("three batches in flight: every history of up to 3 of 10 events; not idempotent: 2", every_short_history),
        Space("seven batches, 1 to 5 in flight: every one of 28 answers", every_number_in_flight),
        Space("a batch that came back: every history of up to 3 of 8 events around what expires", every_expiry),
        Space("the last sequences: every history of up to 3 of 9 events in the last epoch", every_end_of_the_numbers),
        Space("one at a time: every history of up to 3 of 7 events; no answers: of 2", every_error_of_one_at_a_time),
        Space("three nodes in every order, ten times: whose back-off is drawn first", every_order_of_nodes),
        Space("every two of five answers to who asks for a producer id", every_refusal_of_an_id),
        Space("an id that takes its time, one at a time: every history of up to 3 of 8 events", every_wait_for_an_id),
        Space("the same id again: every history of up to 4 of 7 events of two partitions", every_return_of_an_id),
    ),
    labels=labels,
    path=_path,
    explain=_explain,
    required_labels=REQUIRED_LABELS,
    java=((since("0.10.0.0"), "kafkaoracle.producer_sequences.ProducerSequencesRule"),),
    share=3,
    source="Sender.runOnce, completeBatch, canRetry, failBatch; TransactionManager; InFlightRequests",
    harness=(
        "The network is the kit's: a KafkaClient over Kafka's own InFlightRequests, which decides the order in which "
        "one poll completes requests; a lost connection is back at once. The sequences that a producer starts with "
        "are set by reflection."
    ),
    links=(
        f"{_KIPS}/KIP-98+-+Exactly+Once+Delivery+and+Transactional+Messaging",
        f"{_KIPS}/KIP-360%3A+Improve+reliability+of+idempotent%2Ftransactional+producer",
        f"{_KIPS}/KIP-91+Provide+Intuitive+User+Timeouts+in+The+Producer",
        f"{_KIPS}/KIP-126+-+Allow+KafkaProducer+to+split+and+resend+oversized+batches",
        f"{_ISSUES}/KAFKA-5494",
        f"{_ISSUES}/KAFKA-12152",
        f"{_ISSUES}/KAFKA-13794",
    ),
)
