"""Ways to make a mutant of ``record-batch``: other bytes of a batch, other answers, other code of the reference."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from typing import Any
from unittest.mock import patch

from kafka_conformance.core.mutant import Ask
from kafka_conformance.core.protocol import Answer
from kafka_conformance.rules.record_batch.question import RecordBatchQuestion
from kafka_conformance.rules.record_batch.rule import RULE
from kafka_conformance.rules.record_batch.wire import HEADER
from kafka_reference.behaviour import overridden
from kafka_reference.java.crc32c import crc32c
from kafka_reference.record_batch.behaviour import RecordBatchBehaviour
from kafka_reference.releases import Release

__all__ = ["but", "decoded", "encoded", "of_batches", "of_records", "overriding"]

ChangeBytes = Callable[[bytearray, Any], None]
ChangeAnswer = Callable[[Answer], None]


def but(*mistakes: tuple[Any, dict[str, Any]]) -> Ask:
    """Answer with other attributes in modules or classes of the reference."""

    def ask(question: Any, release: Release) -> Answer:
        with ExitStack() as stack:
            for target, attributes in mistakes:
                stack.enter_context(patch.multiple(target, **attributes))
            return RULE.ask(question, release)

    return ask


def overriding(**fields: Any) -> Ask:
    """Answer with the release's behaviour, but for these fields."""

    def ask(question: Any, release: Release) -> Answer:
        with overridden(RecordBatchBehaviour, **fields):
            return RULE.ask(question, release)

    return ask


def encoded(change: ChangeBytes, *, with_crc: bool = True) -> Ask:
    """Answer with other bytes of a batch of magic 2, whose CRC is computed after that, unless not ``with_crc``."""

    def ask(question: RecordBatchQuestion, release: Release) -> Answer:
        answer = RULE.ask(question, release)
        if question.encode is None or question.encode.magic < 2 or len(answer.get("bytes", "")) < 2 * HEADER:
            return answer
        data = bytearray.fromhex(answer["bytes"])
        change(data, question.encode)
        if with_crc:
            data[17:21] = crc32c(bytes(data[21:])).to_bytes(4, "big")
        return {"bytes": data.hex()}

    return ask


def decoded(change: Callable[[Answer, int], None]) -> Ask:
    """Answer with other batches; ``change`` takes the answer and how many bytes follow the batches."""

    def ask(question: RecordBatchQuestion, release: Release) -> Answer:
        answer = RULE.ask(question, release)
        if question.decode is not None and "batches" in answer:
            rest = len(question.decode) // 2 - sum(batch["size"] for batch in answer["batches"])
            change(answer, rest if "raises" not in answer else 0)
        return answer

    return ask


def of_batches(change: ChangeAnswer) -> Ask:
    """Answer with each batch changed."""

    def ask(question: RecordBatchQuestion, release: Release) -> Answer:
        answer = RULE.ask(question, release)
        for batch in answer.get("batches", ()):
            change(batch)
        return answer

    return ask


def of_records(change: Callable[[list[Answer], Answer], None]) -> Ask:
    """Answer with the readable records of each batch changed; ``change`` takes them and the batch."""

    def change_batch(batch: Answer) -> None:
        change([one for one in batch["records"] if one is not None and "offset" in one], batch)

    return of_batches(change_batch)
