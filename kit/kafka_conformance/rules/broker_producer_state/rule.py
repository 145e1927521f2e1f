"""The rule ``broker-producer-state``: what a broker keeps of producers, and what it refuses them, step by step.

::

    {"config": {"producer_id_expiration_ms": 86400000}, "steps": [
        {"op": "append", "producer_id": 7, "epoch": 0, "first_sequence": 0, "records": 3, "timestamp": 1000},
                                        {"appended": 0}, {"duplicate": 0}: the offset, or the one noted before
        {"op": "marker", "producer_id": 7, "epoch": 0, "commit": true, "coordinator_epoch": 0, "timestamp": 1000},
                                        {"appended": 3, "completed": [[7, 0, 3, false, 4]]}: transactions ended by it,
                                        each with producer, first and last offset, aborted, last stable offset
        {"op": "request", "batches": [...]},           as append: all of these, or none
        {"op": "verify", "producer_id": 7, "epoch": 0, "sequence": 3, "now": 1000}, {"verifying": [7, 3, 0, false]}
        {"op": "expire", "now": 9000},                 {}
        {"op": "snapshot"},                            {"bytes": "0001…"}: the file at the map's end, if there is one
        {"op": "load", "bytes": "0001…", "offset": 3}, {"producers": [...]}: what Java makes of this file; with an offset it
                                                       stays in the folder
        {"op": "reload", "start": 0, "end": 3, "now": 0},   {}: opened anew, from its files
        {"op": "truncate", "start": 0, "end": 3, "now": 0}, {"op": "start_over", "offset": 9},  {}
        {"op": "log_start", "offset": 2}, {"op": "high_watermark", "offset": 3},                {}
        {"op": "delete_snapshots", "before": 2},            {}
        {"op": "look"}]}    {"producers": [{"id", "epoch", "last_sequence", "last_offset", "timestamp", "coordinator_epoch",
                            "transaction", "batches": [[first and last sequence, first and last offset, timestamp]]}],
                            "end", "first_unstable", "first_undecided", "latest_snapshot", "verifying"}

A batch is written at the map's end, or where it says. ``origin`` is who writes: "client" (append), "coordinator" (marker) or
"replication". A step that raises is answered by Java's simple class name alone: the texts name offsets, were reworded often,
and clients do not see them. Producers of "look" are in the order of their ids; those of a file are in the file's.

Java is asked as the log asks it. The look-up of duplicates is ``findDuplicateBatch`` of the real entry (``isDuplicate`` in
0.11); the loop around it, up to the completed transactions, is the oracle's, since the log itself would need a broker's
class path. From 4.0.0 on the log's own ``updateProducers`` is called. Not asked: whether a batch may be written without its
verification (the guard that the log compares), compacted logs' empty control batches, and 0.11.0.0, 0.11.0.1, 1.0.0 and
1.0.1, which the reference does not mirror.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from kafka_conformance.core.protocol import Answer
from kafka_conformance.core.rule import Area, Rule, Space
from kafka_conformance.rules.broker_producer_state.adapter import BrokerHistory
from kafka_conformance.rules.broker_producer_state.explain import explain_broker
from kafka_conformance.rules.broker_producer_state.generators import broker_histories
from kafka_conformance.rules.broker_producer_state.question import BrokerProducerStateQuestion
from kafka_conformance.rules.broker_producer_state.spaces import (
    every_broken_file,
    every_fate,
    every_marker,
    every_meeting,
    every_pair,
    every_repeat,
)
from kafka_reference.broker.eras import BROKER_STATE
from kafka_reference.broker.producer_state import ProducerState
from kafka_reference.releases import NEWEST, Release

__all__ = ["RULE", "broker_ask_of"]

_ISSUES = "https://issues.apache.org/jira/browse"


def broker_ask_of(made: Callable[..., ProducerState], question: BrokerProducerStateQuestion, at: Release) -> Answer:
    """What a partition made by ``made`` answers: the reference's own, or one that something is different about."""
    history = BrokerHistory(made, question, at)
    return {"steps": [history.take(step) for step in question.steps]}


def _ask(question: BrokerProducerStateQuestion, at: Release) -> Answer:
    return broker_ask_of(ProducerState, question, at)


def _labels(question: BrokerProducerStateQuestion) -> Iterator[str]:
    if len(question.steps) >= 30:
        yield "30 steps and more"
    seen: set[str] = set()
    for step, answer in zip(question.steps, _ask(question, NEWEST)["steps"], strict=True):
        seen.add(f"did {step.__struct_config__.tag}")
        seen.update(_came_of(answer))
        seen.update(_tried(step))
    yield from sorted(seen)


def _came_of(answer: Answer) -> Iterator[str]:
    """What happened at a step, in the newest release."""
    yield from (name for name in ("appended", "duplicate", "completed", "bytes") if name in answer)
    if "raises" in answer:
        yield f"raises {answer['raises']}"
    if len(answer.get("producers", ())) > 12:
        yield "more than 12 producers"
    batches = [batch for producer in answer.get("producers", ()) for batch in producer["batches"]]
    if any(len(producer["batches"]) == 5 for producer in answer.get("producers", ())):
        yield "five batches"
    if any(first > last >= 0 for first, last, *_ in batches):
        yield "sequences wrap"
    if answer.get("first_unstable") is not None:
        yield "unstable"


def _tried(step: Any) -> Iterator[str]:
    origin = getattr(step, "origin", None)
    if origin is not None:
        yield f"by {origin}"
    if getattr(step, "transactional", False):
        yield "transactional"
    if getattr(step, "transaction_version", 0) == 2:
        yield "transaction version 2"


def _path(question: BrokerProducerStateQuestion) -> str:
    """Differences among batches alone, with markers, with verification, and with files are findings of their own."""
    did = {step.__struct_config__.tag for step in question.steps}
    if did & {"snapshot", "load", "reload", "truncate", "delete_snapshots", "start_over", "log_start"}:
        return "files and truncation"
    if "verify" in did:
        return "verification"
    if did & {"marker", "request", "high_watermark"}:
        return "markers and requests"
    return "expiry" if "expire" in did else "batches"


RULE = Rule(
    slug="broker-producer-state",
    title="ProducerStateManager: duplicates, gaps, epochs, transactions, snapshots",
    area=Area.BROKER,
    releases=BROKER_STATE,
    question=BrokerProducerStateQuestion,
    ask=_ask,
    strategy=broker_histories,
    spaces=(
        Space("up to 7 batches, then each sequence there or around it, by 1 to 4 records", every_repeat),
        Space("a batch: 8 states, 4 verifications, 5 epochs, 7 sequences, 2 lengths, 3 origins", every_meeting),
        Space("a marker: 9 states, 5 epochs, 3 of its coordinator, 4 versions, 3 origins", every_marker),
        Space("a request of two of 16 batches, from 3 origins, to 4 states", every_pair),
        Space("a snapshot, every prefix of it, every bit of it flipped", every_broken_file),
        Space("two producers: every history of up to 3 of 16 steps", every_fate),
    ),
    labels=_labels,
    path=_path,
    explain=explain_broker,
    required_labels=frozenset(
        {
            "30 steps and more",
            "appended",
            "duplicate",
            "completed",
            "bytes",
            "five batches",
            "sequences wrap",
            "unstable",
        }
        | {f"by {origin}" for origin in ("client", "coordinator", "replication")}
        | {f"did {op}" for op in ("append", "marker", "request", "verify", "expire", "snapshot", "load", "reload")}
        | {f"did {op}" for op in ("truncate", "start_over", "log_start", "high_watermark", "delete_snapshots", "look")}
        | {f"raises {name}Exception" for name in ("OutOfOrderSequence", "InvalidProducerEpoch", "InvalidTxnState")}
        | {f"raises {name}Exception" for name in ("TransactionCoordinatorFenced", "CorruptSnapshot", "IllegalArgument")}
        | {"transactional", "transaction version 2", "more than 12 producers"}
    ),
    java=((BROKER_STATE, "kafkaoracle.broker_producer_state.BrokerProducerStateRule"),),
    share=2,
    broker=True,
    source="ProducerStateManager, ProducerAppendInfo, ProducerStateEntry, VerificationStateEntry",
    links=(
        "https://cwiki.apache.org/confluence/display/KAFKA/KIP-98+-+Exactly+Once+Delivery+and+Transactional+Messaging",
        "https://cwiki.apache.org/confluence/display/KAFKA/KIP-360%3A+Improve+reliability+of+idempotent%2Ftransactional+producer",
        "https://cwiki.apache.org/confluence/display/KAFKA/KIP-890%3A+Transactions+Server-Side+Defense",
        f"{_ISSUES}/KAFKA-5494",
        f"{_ISSUES}/KAFKA-7692",
        f"{_ISSUES}/KAFKA-14920",
        f"{_ISSUES}/KAFKA-19999",
    ),
)
