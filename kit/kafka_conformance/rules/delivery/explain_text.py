"""A story of ``delivery`` in words: what was asked, each request on its way, and what came of the records."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from kafka_conformance.core.protocol import Answer
from kafka_conformance.rules.delivery.question import DeliveryQuestion

__all__ = ["ends_in_words", "requests_in_words", "setting_in_words"]

_ON_THE_WIRE = {
    "lose_request": "the connection is cut before it arrives",
    "lose_response": "arrives; the connection is cut before its response does",
    "refuse": "arrives",
    "crash_before": "the leader crashes first",
    "crash_unreplicated": "arrives; the leader crashes before a follower has it",
    "crash_replicated": "arrives; the leader crashes once followers have it",
    "restart_producer": "arrives; the producer ends before it hears of it",
}


def setting_in_words(question: DeliveryQuestion) -> str:
    """Who sends how many records to what."""
    producer = question.producer
    settings = (
        ("acks", producer.acks), ("retries", producer.retries),
        ("max.in.flight.requests.per.connection", producer.in_flight), ("enable.idempotence", producer.idempotence),
    )  # fmt: skip
    said = ", ".join(f"{name}={value}" for name, value in settings if value is not None) or "nothing configured"
    partition = question.partition
    return (
        f"{_records(range(question.records))}, {said}, {partition.replicas} replicas, "
        f"min.insync.replicas={partition.min_insync_replicas}"
    )


def requests_in_words(question: DeliveryQuestion, answer: Answer) -> Iterator[Sequence[str]]:
    """A row for each request: its number, what is in it, its way, what the leader did, what the producer heard."""
    faults = {fault.request: fault for fault in question.faults}
    for one in answer["requests"]:
        fault = faults.get(one["request"])
        numbered = f", producer {one['producer_id']}, epoch {one['epoch']}, sequence {one['sequence']}"
        yield (
            str(one["request"]),
            " ".join(map(str, one["records"])) + (numbered if one["producer_id"] >= 0 else ""),
            "arrives" if fault is None else _ON_THE_WIRE[fault.op],
            _at_the_leader(one, fault is not None and fault.op == "crash_unreplicated"),
            _to_the_producer(one, None if fault is None else fault.op),
        )


def _at_the_leader(one: dict[str, Any], unreplicated: bool) -> str:
    match one["came"]:
        case "lost":
            return "never there"
        case "written":
            return f"written at {one['offset']}" + (", and lost with it" if unreplicated else "")
        case "duplicate":
            return f"known, at {one['offset']}: not written again"
        case error:
            return f"refused: {error}"


def _to_the_producer(one: dict[str, Any], op: str | None) -> str:
    cut = op is not None and op not in ("refuse", "restart_producer")
    if op == "restart_producer":
        return "a new producer begins"
    if one["answered"]:
        said = "acknowledged" if one["came"] in ("written", "duplicate") else one["came"]
        return f"{said}; then the connection is gone" if cut else said
    return "the connection is gone" if cut else "no response is wanted"


def ends_in_words(answer: Answer) -> Iterator[str]:
    """What came of it."""
    if "raises" in answer:
        yield f"There is no such producer: {answer['raises']}" + (
            f": {answer['message']}" if "message" in answer else ""
        )
        return
    yield f"log           {' '.join(map(str, answer['log'])) or 'empty'}"
    yield f"acknowledged  {' '.join(map(str, answer['acknowledged'])) or 'none'}"
    for record, error in answer["failed"]:
        there = "and yet in the log" if record in answer["log"] else "and not in the log"
        yield f"failed        {record}: {error}, {there}"
    for name, means in (
        ("unanswered", "nobody told the application what became of it"), ("lost", "acknowledged, and not in the log"),
        ("doubled", "in the log more than once"), ("reordered", "in the log behind a later one"),
    ):  # fmt: skip
        if answer[name]:
            yield f"{name:<12}  {' '.join(map(str, answer[name]))}: {means}"
    if not any(answer[name] for name in ("failed", "unanswered", "lost", "doubled", "reordered")):
        yield "Every record is there once, in order."


def _records(numbers: range) -> str:
    return f"{len(numbers)} record" + ("" if len(numbers) == 1 else "s")
