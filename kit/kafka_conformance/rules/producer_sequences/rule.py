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
        {"op": "run"},         {"sent": [], "ended": [[0, 100], [1, 101]]}: offsets, or the exception's simple class name
        {"op": "disconnect", "node": 0}, {"op": "advance", "ms": 5}, {"op": "flush"},   {}
        {"op": "producer_id", "id": 8, "epoch": 0, "error": "NONE"},   {}
        {"op": "look"}]}       {"queues": {"0": [[records, attempts, sequence]]}, "now_ms": 0, "producer": [7, 0],
                                "state": "READY", "partitions": {"t-0": {"next": 7, "last_acknowledged": 6, "in_flight": [],
                                "unresolved": null, "last_offset": 101, "producer": [7, 0]}}}

A ``run`` is one round of the sender's loop (``runOnce``, up to 2.1.x ``run(now)``). The question plays the brokers: replies,
lost connections and timeouts arrive in the polls of the next round. In one poll a node answers one request, its oldest.
``error`` is for the lowest partition of the request, ``others`` for the other partitions, if given. A ``respond`` does
nothing if no request of the node is in flight, or if the release does not have the error. A lost connection is there again
at once. A request for a producer id is answered at once: by the ``producer_id`` steps in turn, then by the ids 1000, 1001, …
in epoch 0, counted over all answers.

Records are numbered in the order in which they are appended. In the answer to a round, ``ended`` has the records that ended;
once the manager is in an error it is sorted by record, since Java aborts batches in the order of identity hash codes.
``asked_id`` counts the requests for a producer id, ``raises`` is the exception that ended the round, and ``uncaught`` lists
the exceptions that were thrown while responses were handled, which Kafka logs.

``producer`` is the id and epoch before the first step; ``next_sequences`` is the number of acknowledged records of each
partition. Without idempotence, and up to 0.10.2.x, there is none. Up to 2.0.x ``delivery_timeout_ms`` has no effect, and
batches expire by ``request_timeout_ms``.

In ``look``, sequences in ``queues`` are shown since 1.0.0, and the ``producer`` of a partition since 2.7.1. Nodes are named
node0, node1, …, on port 9092: the order of a set of nodes depends on their hash codes.

Not covered: transactions; leaders that move or are unknown; errors of single records (KIP-467); brokers of older versions,
to which records are converted; throttling; closing; a delayed answer to a request for an id.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from kafka_conformance.core.protocol import Answer
from kafka_conformance.core.rule import Area, Rule, Space
from kafka_conformance.core.timeline import Explained
from kafka_conformance.rules.common.endless import endless_append
from kafka_conformance.rules.producer_sequences.adapter import SenderHistory, ask_sender
from kafka_conformance.rules.producer_sequences.domain import OPTIONAL_LABELS, OPTIONAL_PARTS, domain
from kafka_conformance.rules.producer_sequences.explain import explain_sender
from kafka_conformance.rules.producer_sequences.generators import histories
from kafka_conformance.rules.producer_sequences.labels import REQUIRED_LABELS, labels
from kafka_conformance.rules.producer_sequences.question import DisconnectStep, ProducerSequencesQuestion, RespondStep
from kafka_conformance.rules.producer_sequences.spaces import (
    every_abort,
    every_error_with_one_in_flight,
    every_expiry,
    every_expiry_after_a_reset,
    every_failure_without_an_id,
    every_last_sequence,
    every_number_in_flight,
    every_order_of_nodes,
    every_other_epoch_of_an_id,
    every_pair_of_answers,
    every_recurrence_of_an_id,
    every_refusal_of_an_id,
    every_short_history,
    every_split,
    every_wait_for_an_id,
)
from kafka_reference.accumulator.behaviour import (
    MemoryRecordsBuilderBehaviour,
    MetadataSnapshotBehaviour,
    ProducerBatchBehaviour,
    RecordAccumulatorBehaviour,
)
from kafka_reference.idempotence.behaviour import (
    BatchEndBehaviour,
    ErrorsBehaviour,
    NetworkClientBehaviour,
    NodeBehaviour,
    SenderBehaviour,
    TransactionManagerBehaviour,
)
from kafka_reference.idempotence.sender import Sender
from kafka_reference.releases import Release, since

__all__ = ["RULE"]


def _ask(question: ProducerSequencesQuestion, release: Release) -> Answer:
    return ask_sender(Sender, question, release)


def _explain(question: ProducerSequencesQuestion, release: Release, answers: Sequence[Any]) -> Iterator[Explained]:
    return explain_sender(SenderHistory(Sender, question, release), question.steps, answers)


def _path(question: ProducerSequencesQuestion) -> str:
    """Return the first failure of the history: releases differ there first."""
    way = "idempotent" if question.config.idempotence else "not idempotent"
    for step in question.steps:
        if isinstance(step, DisconnectStep):
            return f"{way}, disconnected"
        if isinstance(step, RespondStep) and step.error != "NONE":
            return f"{way}, {step.error}"
    return way


# No question aborts undrained batches, closes the accumulator, throttles, moves a leader, compresses, runs out of memory, or
# sees a producer after a fatal error; records have no headers and are far smaller than a batch may become.
_UNOBSERVABLE = frozenset(
    {
        "TransactionManagerBehaviour.fatal_error_does_not_bump",
        *(
            f"RecordAccumulatorBehaviour.{field}"
            for field in (
                "abort_undrained_by_sequence", "aborts_undrained_batches", "append_when_closed_raises_kafka_exception",
                "builds_full_batches", "keeps_full_batches_open", "keeps_memory_in_flight_on_abort",
                "names_topics_without_leaders", "new_leader_ends_backoff", "npe_on_unknown_node",
                "skips_node_without_partitions", "splits_batches", "throttles_muted_partitions",
            )
        ),
        "MetadataSnapshotBehaviour.has_leader_epochs",
        *(
            f"ProducerBatchBehaviour.{field}"
            for field in ("any_other_epoch_is_newer", "open_batch_shows_wrapper_only", "pieces_lose_headers")
        ),
        *(
            f"MemoryRecordsBuilderBehaviour.{field}"
            for field in (
                "bound_includes_wrapper", "empty_batch_may_be_full", "estimate_counts_declared_keys",
                "estimate_includes_header", "estimates_in_64_bits", "largest_record_is_bound",
            )
        ),
    }
)  # fmt: skip
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
            "two batches in flight: every two of 28 answers; fewer retries or no idempotence: of 11",
            every_pair_of_answers,
        ),
        Space("three batches in flight: every history of up to 3 of 10 events; no idempotence: 2", every_short_history),
        Space("seven batches, 1 to 5 in flight: every one of 28 answers", every_number_in_flight),
        Space("a batch that is retried: every history of up to 3 of 8 events around its expiry", every_expiry),
        Space(
            "requests that timed out: every history of up to 4 of 6 events of two partitions",
            every_expiry_after_a_reset,
        ),
        Space("the last sequences: every history of up to 3 of 9 events in the last epoch", every_last_sequence),
        Space(
            "one request in flight: every history of up to 3 of 7 events; acks=0: of 2", every_error_with_one_in_flight
        ),
        Space("three nodes in every order, ten times: which back-off is drawn first", every_order_of_nodes),
        Space("every two of five answers to requests for a producer id", every_refusal_of_an_id),
        Space("a slow producer id, one request in flight: every history of up to 3 of 8 events", every_wait_for_an_id),
        Space("the same id again: every history of up to 4 of 7 events of two partitions", every_recurrence_of_an_id),
        Space("the same id in the next epoch: every history of up to 3 of 6 events", every_other_epoch_of_an_id),
        Space("no id after the last epoch: every history of up to 3 of 6 events", every_failure_without_an_id),
        Space("no other id after the last epoch: every history of up to 3 of 7 events of aborted batches", every_abort),
        Space("a split batch: every history of up to 4 of 4 events; no idempotence: 3", every_split),
    ),
    labels=partial(labels, _ask),
    path=_path,
    explain=_explain,
    required_labels=REQUIRED_LABELS,
    domain=domain,
    endless=endless_append(_ask),
    optional_labels=OPTIONAL_LABELS,
    optional_parts=OPTIONAL_PARTS,
    java=((since("0.10.0.0"), "kafkaoracle.producer_sequences.ProducerSequencesRule"),),
    share=3,
    source="Sender.runOnce, completeBatch, canRetry, failBatch; TransactionManager; InFlightRequests",
    harness=(
        "The network is the kit's: a KafkaClient over Kafka's own InFlightRequests, which decides the order in which one "
        "poll completes requests; a lost connection is back at once. The sequences that a producer starts with are set by "
        "reflection. The error, the base offset and the start of the log in a response are the question's, without a "
        "throttle time, and the coordinator is a node of its own."
    ),
    behaviours=(
        SenderBehaviour,
        TransactionManagerBehaviour,
        BatchEndBehaviour,
        NetworkClientBehaviour,
        NodeBehaviour,
        ErrorsBehaviour,
        RecordAccumulatorBehaviour,
        ProducerBatchBehaviour,
        MemoryRecordsBuilderBehaviour,
        MetadataSnapshotBehaviour,
    ),
    unobservable=_UNOBSERVABLE,
    # The hash of nodes decides in which order they draw their back-off, and a fixed back-off is not drawn. A producer that
    # aborts its batches sends again only if the error was abortable.
    shows_with={
        "NodeBehaviour.hashes_fenced": "RecordAccumulatorBehaviour.exponential_backoff",
        "SenderBehaviour.abort_clears_in_flight_batches": "TransactionManagerBehaviour.unauthorized_is_abortable",
    },
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
