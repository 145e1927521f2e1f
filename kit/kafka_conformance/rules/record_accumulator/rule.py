"""The rule ``record-accumulator``: a script of steps on a RecordAccumulator, from append to drain and back.

::

    {"config": {"batch_size": 16384, "linger_ms": 5, "retry_backoff_ms": 100, "retry_backoff_max_ms": 1000,
                "delivery_timeout_ms": 120000, "buffer_memory": 33554432, "adaptive": true,
                "availability_timeout_ms": 0},
     "cluster": C, "topics": ["t"], "epochs": [0, 0], "draws": [int32, …], "steps": [
        {"op": "append", "partition": 0, "key": null, "value": "00", "timestamp": 0},
                                       {"partition": 0, "batch_full": false, "new_batch": true, "bytes": 69}
        {"op": "advance", "ms": 5},    {}
        {"op": "ready"},               {"nodes": [0], "delay_ms": null, "unknown_leader_topics": []}
        {"op": "drain", "nodes": [0], "max_size": 1048576},
                                       {"batches": [{"id": 0, "partition": 0, "records": 1}]}
        {"op": "reenqueue", "batch": 0},              {}
        {"op": "split", "batch": -1},                 {"pieces": [1], "memory": 33554432}: records of each piece
        {"op": "complete", "batch": -1},              {"memory": 33554432}
        {"op": "latency", "node": 0, "can_drain": false}, {}
        {"op": "load", "topic": "t"},                 {"range_end": 8, "partition_ids": […], "cumulative": […]} or null
        {"op": "mute", "partition": 0}, {"op": "unmute", "partition": 0, "throttle_ms": 0}, {}
        {"op": "expire"},                             {"batches": [0], "next_expiry_ms": 120000}
        {"op": "flush"}, {"op": "flushed"},           {}, {"flushing": false}
        {"op": "close"}, {"op": "abort"}, {"op": "abort_undrained"}, {}, {"memory": …}
        {"op": "blocked", "threads": 1},              {}: the number of threads that wait for memory
        {"op": "cluster", "cluster": C, "epochs": […]},   {}
        {"op": "look"}]}        {"queues": {"t-0": [[id, records, bytes]]}, "memory", "incomplete": […], "undrained"}

An idempotent producer is ``"producer": {"id": 7, "epoch": 0, "next_sequences": {"t-0": 2147483646}}`` in the
configuration; id null means that it has no id yet. Before 0.11.0.0 there is none, and the field has no effect. With an
idempotent producer some steps answer more, and there are two further steps::

        {"op": "drain", …}, {"batches": [{"id": 0, "partition": 0, "records": 1, "sequence": 2147483646, "epoch": 0}]}
        {"op": "complete", "batch": -1},              acknowledges a batch; an expired batch fails
        {"op": "fail", "batch": -1, "why": "exhausted"}, {"memory": 33554432}: or "expired", or "refused"
        {"op": "producer", "id": 7, "epoch": 1},      {}: another id or epoch, or none
        {"op": "look"}]}                              and {"sequences": {"t-0": {"next": …}}}

The sequence and epoch of a drained batch are read from its bytes. The Sender of the release
completes and fails batches. A batch fails because no retries are left ("exhausted"), because its time was over while it was
in flight ("expired", since 2.1.0), or because the broker refused it while retries were left ("refused").
The step ``producer`` sets another id or epoch, as a failure elsewhere does: up to 2.4.x all sequences are forgotten with the
old id. How an epoch is raised is not asked.

Batches are numbered in the order in which they are made, pieces of a split batch in the order of their queue. A number
below 0 counts back from the last batch that is out: the drained ones, and for ``complete`` also those that expired or were
aborted in flight. A step whose batch is in another state, and a step that the release does not know, does nothing; its
answer is ``{}``.

The clock is the question's. Appending never waits for memory: ``max.block.ms`` is 0. A step may draw several times, for the
partition and for the jitter of the back-off: its first draw is the next one of ``draws``, further ones are what
ThreadLocalRandom draws after it.

A step that throws is answered by the simple class name alone, since the messages contain sizes and were often reworded.

Sets are answered sorted: nodes, topics, incomplete batches. Delays, expired batches, statistics and, since 3.6.1, the batch
that is drained first depend on the order of Java's hash maps; there the order
is Java's (``kafka_reference.java.hash_maps``). Batches are drained for nodes in the order asked. Transactions are not asked.

A value or a key may be ``{"length": 16384}``: that many zero bytes. The names of headers are text here; ``record-sizes``
asks others. Up to 0.10.2.x there are no headers, and they are left out.

**Compression** is ``"compression": "gzip"`` in the configuration, with ``"ratio"``, the ratio that is expected of each topic
at first, and ``"achieved_per_mille": [400, 1200]``, what the codec makes of batches 0, 1, 2, …, taken in turn: thousandths
of the bytes that go in, rounded down, at least 1. The Java half compresses with gzip and then cuts or fills the output to
that size. So the sizes of built batches, drains, ratios and splits are compared. Up to 0.10.2.x the ratio after an abort is
left to chance in Java; both sides set it to the first one.

**Incremental allocation**, since 4.4.0, is ``"allocation": "incremental"``. The Java half asks a KafkaProducer whether it
takes chunks; a configuration that the producer refuses is answered by ``{"raises": "ConfigException"}``. Before 4.4.0 such a
question is *unsupported*.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from kafka_conformance.core.protocol import Answer
from kafka_conformance.core.rule import Area, Rule, Space
from kafka_conformance.core.timeline import Explained
from kafka_conformance.rules.common.endless import endless_append
from kafka_conformance.rules.record_accumulator.adapter import History, ask_of
from kafka_conformance.rules.record_accumulator.domain import OPTIONAL_LABELS, OPTIONAL_PARTS, domain
from kafka_conformance.rules.record_accumulator.explain import explain_history
from kafka_conformance.rules.record_accumulator.generators import histories
from kafka_conformance.rules.record_accumulator.labels import REQUIRED_LABELS, labels
from kafka_conformance.rules.record_accumulator.question import AppendStep, RecordAccumulatorQuestion
from kafka_conformance.rules.record_accumulator.sequence_spaces import every_order_of_answers, every_way_round
from kafka_conformance.rules.record_accumulator.spaces import (
    every_chunk_end,
    every_chunked_history,
    every_compressed_history,
    every_end_of_a_batch,
    every_producers_choice,
    every_rare_answer,
    every_short_history,
)
from kafka_reference.accumulator.accumulator import RecordAccumulator
from kafka_reference.accumulator.behaviour import (
    BufferPoolBehaviour,
    CompressionRatioEstimatorBehaviour,
    MemoryRecordsBuilderBehaviour,
    MetadataSnapshotBehaviour,
    ProducerBatchBehaviour,
    RecordAccumulatorBehaviour,
)
from kafka_reference.idempotence.behaviour import TransactionManagerBehaviour
from kafka_reference.partitioning.behaviour import BuiltInPartitionerBehaviour
from kafka_reference.releases import Release, since

__all__ = ["RULE"]


def _ask(question: RecordAccumulatorQuestion, release: Release) -> Answer:
    return ask_of(RecordAccumulator, question, release)


def _explain(question: RecordAccumulatorQuestion, release: Release, answers: Sequence[Any]) -> Iterator[Explained]:
    return explain_history(History(RecordAccumulator, question, release), question.steps, answers)


def _path(question: RecordAccumulatorQuestion) -> str:
    """Return what releases differ in first: sequences, compression ratios, or the choice of a partition."""
    if question.config.producer is not None:
        return "idempotent producer"
    if question.config.compression != "none":
        return "compressed"
    chosen = any(isinstance(step, AppendStep) and step.partition is None for step in question.steps)
    return "partitions chosen" if chosen else "partitions given"


_ISSUES = "https://issues.apache.org/jira/browse"

# A question has a batch.size of at least 1 and header keys that are text, closes the accumulator before its pool, and leaves
# the Sender's errors to producer-sequences.
_UNOBSERVABLE = frozenset(
    {"BufferPoolBehaviour.refuses_when_closed", "BuiltInPartitionerBehaviour.batch_size_below_1_refused"}
    | {
        f"MemoryRecordsBuilderBehaviour.{field}"
        for field in (
            "bound_includes_wrapper", "largest_record_is_bound", "empty_batch_may_be_full", "estimates_in_64_bits",
            "estimate_counts_declared_keys",
        )
    }
    | {
        f"TransactionManagerBehaviour.{field}"
        for field in (
            "compares_ids_only", "stale_failure_does_not_bump", "retries_id_only_while_loading",
            "fatal_error_does_not_bump", "late_id_throws_illegal_state", "unauthorized_is_abortable",
        )
    }
)  # fmt: skip

RULE = Rule(
    slug="record-accumulator",
    title="RecordAccumulator: batches, readiness, retry order, sequences",
    area=Area.ACCUMULATOR,
    releases=since("0.10.0.0"),
    question=RecordAccumulatorQuestion,
    ask=_ask,
    strategy=histories,
    spaces=(
        Space("two partitions of one node: every history of up to 4 of 11 steps", every_short_history),
        Space("a drained batch of three records: every history of up to 4 of 8 steps", every_end_of_a_batch),
        Space(
            "two codecs, two partitions: every history of up to 4 of 5 steps; two more: of up to 3",
            every_compressed_history,
        ),
        Space("memory for four chunks: every history of up to 4 of 6 steps", every_chunked_history),
        Space("two records around every end of up to three chunks, memory for one to four", every_chunk_end),
        Space("batch sizes around a chunk × compression × allocation", every_producers_choice),
        Space("a history for each answer that is rare", every_rare_answer),
        Space("three idempotent batches in flight: every history of up to 3 of 12 steps", every_order_of_answers),
        Space("sequences that go round: every history of up to 3 of 8 steps", every_way_round),
    ),
    labels=partial(labels, _ask),
    path=_path,
    explain=_explain,
    required_labels=REQUIRED_LABELS,
    domain=domain,
    endless=endless_append(_ask),
    optional_labels=OPTIONAL_LABELS,
    optional_parts=OPTIONAL_PARTS,
    java=((since("0.10.0.0"), "kafkaoracle.record_accumulator.RecordAccumulatorRule"),),
    share=3,
    source="RecordAccumulator.append, ready, drain, reenqueue, splitAndReenqueue, expiredBatches, deallocate, abort…",
    harness=(
        "The calls of KafkaProducer are the kit's. A real Sender completes, fails and expires batches: the kit gives it "
        "the response, or the expired batch while the queues are set aside. Around a split, which here a batch of one "
        "record gets too, the kit makes Sender's two calls, removeInFlightBatch and deallocate; it sets another producer "
        "id or epoch, and marks batches as in flight. Compressed batches get the size that the question gives, by a "
        "stream of the kit's, and threads that wait for memory are put into the pool's queue. An append never blocks; the "
        "nodes and the most bytes of a drain are the question's, which Sender takes from its network and "
        "max.request.size. A response has no base offset of a log, an expired batch is one at the end of time, and the "
        "Sender has acks=all, two requests in flight, and retries such that the batch ends."
    ),
    behaviours=(
        RecordAccumulatorBehaviour,
        BufferPoolBehaviour,
        ProducerBatchBehaviour,
        MemoryRecordsBuilderBehaviour,
        CompressionRatioEstimatorBehaviour,
        MetadataSnapshotBehaviour,
        BuiltInPartitionerBehaviour,
        TransactionManagerBehaviour,
    ),
    unobservable=_UNOBSERVABLE,
    links=(
        "https://cwiki.apache.org/confluence/display/KAFKA/KIP-91+Provide+Intuitive+User+Timeouts+in+The+Producer",
        "https://cwiki.apache.org/confluence/display/KAFKA/KIP-580%3A+Exponential+Backoff+for+Kafka+Clients",
        "https://cwiki.apache.org/confluence/display/KAFKA/KIP-794%3A+Strictly+Uniform+Sticky+Partitioner",
        f"{_ISSUES}/KAFKA-13834",
        f"{_ISSUES}/KAFKA-15415",
        f"{_ISSUES}/KAFKA-8350",
        "https://cwiki.apache.org/confluence/display/KAFKA/KIP-126+-+Allow+KafkaProducer+to+split+and+resend+oversized+batches",
        f"{_ISSUES}/KAFKA-5494",
        f"{_ISSUES}/KAFKA-12152",
    ),
)
