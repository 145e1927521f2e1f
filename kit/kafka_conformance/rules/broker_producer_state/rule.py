"""The rule ``broker-producer-state``: what a broker remembers of producers, and which batches it appends, step by step.

::

    {"config": {"producer_id_expiration_ms": 86400000}, "steps": [
        {"op": "append", "producer_id": 7, "epoch": 0, "first_sequence": 0, "records": 3, "timestamp": 1000},
                                        {"appended": 0} or {"duplicate": 0}: the offset, or the one of the earlier batch
        {"op": "marker", "producer_id": 7, "epoch": 0, "commit": true, "coordinator_epoch": 0, "timestamp": 1000},
                                        {"appended": 3, "completed": [[7, 0, 3, false, 4]]}: the transactions it completed,
                                        each with producer, first and last offset, aborted, last stable offset
        {"op": "request", "batches": [...]},           as append, for all batches or none
        {"op": "verify", "producer_id": 7, "epoch": 0, "sequence": 3, "now": 1000}, {"verifying": [7, 3, 0, false]}
        {"op": "expire", "now": 9000},                 {}
        {"op": "snapshot"},                            {"bytes": "0001…"}: the file at the map end offset, if there is one
        {"op": "load", "bytes": "0001…", "offset": 3}, {"producers": [...]}: the entries of this file; with an offset it
                                                       stays in the folder
        {"op": "reload", "start": 0, "end": 3, "now": 0},   {}: the partition is reopened, from its files
        {"op": "truncate", "start": 0, "end": 3, "now": 0}, {"op": "start_over", "offset": 9},  {}
        {"op": "log_start", "offset": 2}, {"op": "high_watermark", "offset": 3},                {}
        {"op": "delete_snapshots", "before": 2},            {}
        {"op": "look"}]}    {"producers": [{"id", "epoch", "last_sequence", "last_offset", "timestamp", "coordinator_epoch",
                            "transaction", "batches": [[first and last sequence, first and last offset, timestamp]]}],
                            "end", "first_unstable", "first_undecided", "latest_snapshot", "verifying"}

A batch is appended at the map end offset, or at the offset of its step. ``origin`` is its writer: "client" (append),
"coordinator" (marker) or "replication". The answer to a step in which Java throws is the simple class name alone: the texts
contain offsets, were often reworded, and clients do not see them. "look" lists producers by id, a file in its own order.

Not asked: the verification guard that the log compares; the empty control batches of compacted logs.
"""

from __future__ import annotations

from kafka_conformance.core.rule import Area, Rule, Space
from kafka_conformance.rules.broker_producer_state.adapter import ask
from kafka_conformance.rules.broker_producer_state.domain import OPTIONAL_LABELS, OPTIONAL_PARTS, domain
from kafka_conformance.rules.broker_producer_state.explain import explain_broker
from kafka_conformance.rules.broker_producer_state.generators import broker_histories
from kafka_conformance.rules.broker_producer_state.labels import REQUIRED_LABELS, labels, path
from kafka_conformance.rules.broker_producer_state.question import BrokerProducerStateQuestion
from kafka_conformance.rules.broker_producer_state.spaces import (
    every_batch,
    every_broken_file,
    every_marker,
    every_pair,
    every_repeat,
    every_short_history,
    every_strange_file,
    every_verification,
)
from kafka_reference.broker.behaviour import BROKER_STATE, ProducerStateBehaviour

__all__ = ["RULE"]

_ISSUES = "https://issues.apache.org/jira/browse"

RULE = Rule(
    slug="broker-producer-state",
    title="ProducerStateManager: duplicates, gaps, epochs, transactions, snapshots",
    area=Area.BROKER,
    releases=BROKER_STATE,
    question=BrokerProducerStateQuestion,
    ask=ask,
    strategy=broker_histories,
    spaces=(
        Space("up to 7 batches, then each sequence there or around it, by 1 to 4 records", every_repeat),
        Space("a batch: 8 states, 4 verifications, 5 epochs, 7 sequences, 2 lengths, 3 origins", every_batch),
        Space("a marker: 9 states, 5 epochs, 3 of its coordinator, 4 versions, 3 origins", every_marker),
        Space("a request of two of 16 batches, from 3 origins, to 4 states", every_pair),
        Space("a snapshot, every prefix of it, every bit of it flipped", every_broken_file),
        Space("two producers: every history of up to 3 of 16 steps", every_short_history),
        Space("a partition opened from each of 100 files that no broker writes, then 7 histories", every_strange_file),
        Space("two verifications: 3 epochs, 3 sequences, 2 clients; then 6 batches, 3 expirations", every_verification),
    ),
    labels=labels,
    path=path,
    explain=explain_broker,
    required_labels=REQUIRED_LABELS,
    domain=domain,
    optional_labels=OPTIONAL_LABELS,
    optional_parts=OPTIONAL_PARTS,
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
    harness=(
        "The loop of UnifiedLog.analyzeAndValidateProducerState (Log up to 3.0.x) around ProducerStateManager is the "
        "kit's: for each batch of a request it calls the entry's own duplicate check, then ProducerAppendInfo (since "
        "4.0.0 by UnifiedLog.updateProducers); after the last batch it updates the manager, completes transactions and "
        "sets the map end offset. It passes no metadata of a transaction's first offset, whose position in a segment "
        "nothing here reads, and the origin and the version of a transaction are the question's. A batch of data is a "
        "header without records and without checksum."
    ),
    behaviours=(ProducerStateBehaviour,),
)
