"""Differences between batches that no user notices.

The leader epoch of a batch that a producer writes: the leader overwrites it when it appends the batch, and the checksum
does not cover it. Java writes -1; librdkafka, kafka-python and KafkaJS write 0. A batch whose leader epoch is asked is one
that a broker writes, and is not excused.

The names of exceptions: where Java throws, an implementation in another language throws its own.

A compressed batch may also be answered by its ``bytes``: the reference, which is proven to read as Java does, reads it back.
"""

from __future__ import annotations

from typing import Any

from kafka_conformance.core.protocol import Answer
from kafka_conformance.rules.record_batch.adapter import ask
from kafka_conformance.rules.record_batch.question import RecordBatchQuestion
from kafka_reference.releases import NEWEST

__all__ = ["harmless"]

# Places in the hexadecimal digits of a batch of magic 2: its leader epoch, and the magic.
_EPOCH, _MAGIC = slice(24, 32), slice(32, 34)
_EPOCHS = "another leader epoch in a batch of a producer: the broker overwrites it"
_NAMES = "exceptions have other names than Java's"


def harmless(question: RecordBatchQuestion, expected: Answer, actual: Answer) -> tuple[Answer, tuple[str, ...]]:
    """Return the actual answer without what no user notices, and what that is."""
    notes: dict[str, None] = {}
    asked = question.encode or question.compress
    if question.compress is not None and actual.keys() == {"bytes"} and "batches" in expected:
        actual = _read_back(expected, actual)
    changed = _renamed(expected, actual, notes)
    if asked is not None and asked.leader_epoch == -1:
        changed = _with_epoch(expected, changed, notes)
    return changed, tuple(notes)


def _read_back(expected: Answer, actual: Answer) -> Answer:
    """Return the batches in the bytes of an answer, with the fields that are asked of a compressed batch."""
    try:
        read = ask(RecordBatchQuestion(decode=bytes.fromhex(actual["bytes"]).hex()), NEWEST)
    except (TypeError, ValueError):
        return actual
    return {**{name: read[name] for name in read if name != "valid_bytes"}, "batches": _like(expected, read)}


def _like(expected: Answer, read: Answer) -> list[Answer]:
    """Return the batches without the fields that compressed bytes decide, and that the release does not have."""
    batches = []
    for number, batch in enumerate(read["batches"]):
        model = expected["batches"][number] if number < len(expected["batches"]) else batch
        header = {name: value for name, value in batch["header"].items() if name in model["header"]}
        batches.append({**{name: value for name, value in batch.items() if name in model}, "header": header})
    return batches


def _with_epoch(expected: Answer, actual: Answer, notes: dict[str, None]) -> Answer:
    """Return the batch of a producer with the leader epoch of Java's."""
    ours, theirs = expected.get("bytes"), actual.get("bytes")
    if isinstance(ours, str) and isinstance(theirs, str) and ours[_MAGIC] == theirs[_MAGIC] == "02":
        if ours[_EPOCH] != theirs[_EPOCH]:
            notes[_EPOCHS] = None
            return {**actual, "bytes": theirs[: _EPOCH.start] + ours[_EPOCH] + theirs[_EPOCH.stop :]}
        return actual
    batches = [_batch_with_epoch(*each, notes) for each in zip(_batches(expected), _batches(actual), strict=False)]
    return {**actual, "batches": [*batches, *_batches(actual)[len(batches) :]]} if batches else actual


def _batches(answer: Answer) -> list[Any]:
    found = answer.get("batches")
    return found if isinstance(found, list) else []


def _batch_with_epoch(expected: Any, actual: Any, notes: dict[str, None]) -> Any:
    ours, theirs = (one.get("header") if isinstance(one, dict) else None for one in (expected, actual))
    if not (isinstance(ours, dict) and isinstance(theirs, dict)) or not {"leader_epoch"} <= ours.keys() & theirs.keys():
        return actual
    if expected["magic"] != 2 or theirs["leader_epoch"] == ours["leader_epoch"]:
        return actual
    notes[_EPOCHS] = None
    return {**actual, "header": {**theirs, "leader_epoch": ours["leader_epoch"]}}


def _renamed(expected: Any, actual: Any, notes: dict[str, None]) -> Any:
    """Return an answer that throws where the expected one does with Java's names for the exceptions."""
    if isinstance(expected, dict) and isinstance(actual, dict):
        if "raises" in expected and isinstance(actual.get("raises"), str) and actual["raises"] != expected["raises"]:
            notes[_NAMES] = None
            actual = {**actual, "raises": expected["raises"]}
        return {name: _renamed(expected.get(name), value, notes) for name, value in actual.items()}
    if isinstance(expected, list) and isinstance(actual, list) and len(expected) == len(actual):
        return [_renamed(one, other, notes) for one, other in zip(expected, actual, strict=True)]
    return actual
