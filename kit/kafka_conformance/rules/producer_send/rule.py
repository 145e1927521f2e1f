"""The rule ``producer-send``: ``KafkaProducer.send``, ``flush``, and the rounds of its sender.

::

    {"config": {"batch_size": 120, "linger_ms": 0, "acks": null, "retries": null, "idempotence": null, …},
     "leaders": [0, 1, null], "draws": [int32, …], "steps": [
        {"op": "send", "key": "6b", "bytes": 10, "records": 2, "partition": null, "timestamp": null},
                               {"partitions": [0, {"returns": "BufferExhaustedException", "partition": null}], "wakeups": 1,
                                "ended": [[1, "BufferExhaustedException"]]}
        {"op": "run"},         {"sent": [{"node": 0, "batches": [{"partition": 0, "records": [0], "producer_id": 1000,
                                                                  "epoch": 0, "sequence": 0}]}], "ended": []}
        {"op": "respond", "error": "NONE", "others": null, "node": 0, "base_offset": 100, "log_start_offset": -1},   {}
        {"op": "disconnect", "node": 0}, {"op": "advance", "ms": 5}, {"op": "flush"},   {}
        {"op": "producer_id", "id": 8, "epoch": 0, "error": "NONE"},   {}
        {"op": "look"}]}       {"queues": {"0": [[records, attempts, sequence]]}, "memory": 33554432, "now_ms": 0,
                                "flushes": 0, "producer": [1000, 0], "state": "READY"}

The configuration is what a user sets, and a setting that is left out is Kafka's default of the release. A configuration
that Kafka refuses is answered by its ConfigException.

Every record of a ``send`` is answered by its partition, or by an exception that ``send`` ``throws`` or ``returns`` with the
future, and the partition whose batch has the record all the same. ``wakeups`` is how often the sender was woken, ``ended``
which callbacks were called at once. ``max.block.ms`` is 0. A ``flush`` is called on a separate thread and waits until its
batches are done; ``flushes`` is how many are waiting. The other steps, and the answer to a ``run``, are those of
``producer-sequences``; there is no id before the first round.

Not asked: transactions; interceptors; compression; other topics; leaders that move; closing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from kafka_conformance.core.protocol import Answer
from kafka_conformance.core.rule import Area, Rule, Space
from kafka_conformance.core.timeline import Explained
from kafka_conformance.rules.builtin_partitioner.rule import RULE as _BUILTIN
from kafka_conformance.rules.common.endless import endless_append
from kafka_conformance.rules.default_partitioner.rule import RULE as _DEFAULT
from kafka_conformance.rules.idempotence_config.rule import RULE as _CONFIG
from kafka_conformance.rules.producer_send.adapter import ProducerHistory, ask_producer
from kafka_conformance.rules.producer_send.domain import OPTIONAL_LABELS, domain
from kafka_conformance.rules.producer_send.explain import explain_producer
from kafka_conformance.rules.producer_send.generators import histories
from kafka_conformance.rules.producer_send.labels import REQUIRED_LABELS, labels
from kafka_conformance.rules.producer_send.question import ProducerSendQuestion
from kafka_conformance.rules.producer_send.spaces import (
    every_choice,
    every_exhaustion,
    every_failed_producer,
    every_flush,
    every_setting,
    every_size,
)
from kafka_conformance.rules.producer_sequences.question import DisconnectStep, RespondStep
from kafka_conformance.rules.producer_sequences.rule import RULE as _SENDER
from kafka_conformance.rules.record_accumulator.rule import RULE as _ACCUMULATOR
from kafka_conformance.rules.round_robin_partitioner.rule import RULE as _ROUND_ROBIN
from kafka_conformance.rules.uniform_sticky_partitioner.rule import RULE as _UNIFORM_STICKY
from kafka_reference.partitioning.behaviour import ProducerPartitionBehaviour
from kafka_reference.producer.behaviour import KafkaProducerBehaviour
from kafka_reference.producer.kafka_producer import KafkaProducer
from kafka_reference.producer_config import ProducerDefaultsBehaviour
from kafka_reference.releases import Release, since

__all__ = ["RULE"]


def _ask(question: ProducerSendQuestion, release: Release) -> Answer:
    return ask_producer(KafkaProducer, question, release)


def _explain(question: ProducerSendQuestion, release: Release, answers: Sequence[Any]) -> Iterator[Explained]:
    return explain_producer(ProducerHistory(KafkaProducer, question, release), question.steps, answers)


def _path(question: ProducerSendQuestion) -> str:
    """Return the partitioner, and the first thing that goes wrong."""
    partitioner = question.config.partitioner or "no partitioner.class"
    for step in question.steps:
        if isinstance(step, DisconnectStep):
            return f"{partitioner}, disconnected"
        if isinstance(step, RespondStep) and step.error != "NONE":
            return f"{partitioner}, {step.error}"
    return partitioner


_HISTORIES = histories()
_PARTS = (_CONFIG, _DEFAULT, _UNIFORM_STICKY, _ROUND_ROBIN, _BUILTIN, _ACCUMULATOR, _SENDER)
_KIPS = "https://cwiki.apache.org/confluence/display/KAFKA"
_ISSUES = "https://issues.apache.org/jira/browse"

RULE = Rule(
    slug="producer-send",
    title="KafkaProducer: send, flush, and the sender's rounds",
    area=Area.IDEMPOTENCE,
    releases=since("0.10.0.0"),
    question=ProducerSendQuestion,
    ask=_ask,
    strategy=lambda: _HISTORIES,
    spaces=(
        Space("every history of up to 3 of 9 sends and rounds, for each partitioner", every_choice),
        Space("values of 5 to 60 bytes beside each limit", every_size),
        Space("every combination of acks, retries, idempotence, in flight; linger and delivery timeout", every_setting),
        Space("a flush, and every history of up to 3 of 8 events", every_flush),
        Space("memory for two batches: every history of up to 3 of 7 events", every_exhaustion),
        Space("an idempotent producer that is refused an id or a batch in each of ten ways", every_failed_producer),
    ),
    labels=partial(labels, _ask),
    path=_path,
    explain=_explain,
    required_labels=REQUIRED_LABELS,
    domain=domain,
    endless=endless_append(_ask),
    optional_labels=OPTIONAL_LABELS,
    java=((since("0.10.0.0"), "kafkaoracle.producer_send.ProducerSendRule"),),
    source="KafkaProducer.send, doSend, flush; Sender.runOnce",
    harness=(
        "The network is the kit's, as in producer-sequences. The io thread is ended before the first step, its rounds are "
        "taken by the oracle, and a TransactionManager that the thread may have changed is made again by KafkaProducer's "
        "own method; in 0.10 and 0.11 the network is put into a producer that the public constructor made. Metadata and "
        "clock are set by reflection, and so is the start of DefaultPartitioner's counter in 0.10."
    ),
    behaviours=tuple(
        dict.fromkeys(
            (
                KafkaProducerBehaviour,
                ProducerDefaultsBehaviour,
                ProducerPartitionBehaviour,
                *(record for part in _PARTS for record in part.behaviours),
            )
        )
    ),
    links=(
        f"{_KIPS}/KIP-480%3A+Sticky+Partitioner",
        f"{_KIPS}/KIP-794%3A+Strictly+Uniform+Sticky+Partitioner",
        f"{_ISSUES}/KAFKA-13303",
        f"{_ISSUES}/KAFKA-13782",
        f"{_ISSUES}/KAFKA-19012",
    ),
)
