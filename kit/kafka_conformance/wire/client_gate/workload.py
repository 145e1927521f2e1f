"""What a client is given: the lines of its workload, and for a consumer the records that the kit writes before.

A value begins with the number of its record and a space, so that it says which record it is, wherever it is stored.
"""

from __future__ import annotations

import random
import string
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from kafka_conformance.wire.broker_gate.case import BrokerCase, CaseTopic, Step
from kafka_conformance.wire.client_gate.script import CODECS, Script

__all__ = ["Record", "Workload", "workload_of"]

_TOPIC, _TRANSACTION = "$topic", "$name.transaction"
_BATCHES, _IN_BATCH = 6, 5
_ABORTED = frozenset({1, 4})
_CHARACTERS = string.ascii_letters + string.digits + "äß€"


@dataclass(frozen=True, slots=True)
class Record:
    """A record that is sent, to ``partition`` if that is not -1; or that the kit writes.

    One of an aborted transaction is ``hidden``.
    """

    number: int
    key: str | None
    value: str
    partition: int = -1
    hidden: bool = False


@dataclass(frozen=True, slots=True)
class Workload:
    """The records, the lines for the adapter, and the case that makes the topic and writes what is there before."""

    records: Sequence[Record]
    lines: Sequence[dict[str, Any]]
    case: BrokerCase


def workload_of(script: Script, seed: int) -> Workload:
    """Return the workload of a script; keys and values are drawn from the seed."""
    draw = random.Random(f"{seed} {script.id}")  # noqa: S311  no secret
    topic = CaseTopic("", script.partitions)
    if script.is_producer:
        records = list(_sent(script, draw))
        return Workload(records, list(_sends(script, records)), BrokerCase(script.id, script.title, [], [topic]))
    records = list(_written(script, draw))
    lines = [{"consume": count} for count in script.consume]
    return Workload(records, lines, BrokerCase(script.id, script.title, list(_steps(script, records)), [topic]))


def _sent(script: Script, draw: random.Random) -> Iterator[Record]:
    keys: list[str | None] = [f"{draw.choice(('key', 'Schlüssel', 'κλειδί'))}-{at}" for at in range(script.keys)]
    keys += [""] if script.empty_key else []
    first = script.partitions if script.warm_up else 0
    for number in range(first + script.rounds * script.records):
        key = draw.choice(keys) if keys and number >= first else None
        yield Record(number, key, _value(number, script.value_bytes, draw), number if number < first else -1)


def _value(number: int, length: int, draw: random.Random) -> str:
    return f"{number} " + "".join(draw.choices(_CHARACTERS, k=length))


def _sends(script: Script, records: Sequence[Record]) -> Iterator[dict[str, Any]]:
    first = script.partitions if script.warm_up else 0
    for at, record in enumerate(records, 1):
        named = {} if record.partition < 0 else {"partition": record.partition}
        yield {"send": record.number, "key": record.key, "value": record.value, **named}
        if at <= first or (at - first) % script.records == 0:
            yield {"flush": True}


def _written(script: Script, draw: random.Random) -> Iterator[Record]:
    """Yield the records of all batches, batch by batch, in each of them those of all partitions."""
    number = 0
    for batch in range(_BATCHES):
        for partition in range(script.partitions):
            for _ in range(_IN_BATCH):
                hidden = script.stored == "transactions" and batch in _ABORTED
                yield Record(number, f"key-{number % 9}", _value(number, script.value_bytes, draw), partition, hidden)
                number += 1


def _steps(script: Script, records: Sequence[Record]) -> Iterator[Step]:
    """Yield the requests that write the records."""
    own = {"transactionalId": _TRANSACTION, "producerId": "$pid", "producerEpoch": "$epoch"}
    partitions = list(range(script.partitions))
    is_transactional = script.stored == "transactions"
    if is_transactional:
        yield Step(
            "InitProducerId", 1, {"transactionalId": _TRANSACTION, "transactionTimeoutMs": 60_000},
            {"pid": "producerId", "epoch": "producerEpoch"},
        )  # fmt: skip
    in_all = _IN_BATCH * script.partitions
    for batch in range(_BATCHES):
        some = records[batch * in_all : (batch + 1) * in_all]
        header: dict[str, Any] = {"codec": CODECS[batch % len(CODECS)].upper()} if script.stored == "compressed" else {}
        if is_transactional:
            header = {"producerId": "$pid", "producerEpoch": "$epoch", "baseSequence": batch * _IN_BATCH,
                      "transactional": True}  # fmt: skip
            yield Step("AddPartitionsToTxn", 1, {
                "v3AndBelowTransactionalId": _TRANSACTION, "v3AndBelowProducerId": "$pid",
                "v3AndBelowProducerEpoch": "$epoch", "v3AndBelowTopics": [{"name": _TOPIC, "partitions": partitions}],
            })  # fmt: skip
        data = [
            {"index": at, "records": {"$batches": [{**header, "records": [
                {"key": each.key, "value": each.value, "timestamp": "$t+0"} for each in some if each.partition == at
            ]}]}}
            for at in partitions
        ]  # fmt: skip
        transaction = {"transactionalId": _TRANSACTION} if is_transactional else {}
        yield Step("Produce", 7, {
            **transaction, "acks": -1, "timeoutMs": 10_000, "topicData": [{"name": _TOPIC, "partitionData": data}],
        })  # fmt: skip
        if is_transactional:
            yield Step("EndTxn", 1, {**own, "committed": batch not in _ABORTED})
