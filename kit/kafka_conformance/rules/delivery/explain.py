"""A ``delivery`` question and its answer as text: the setting, a row for each request, and the outcome."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from kafka_conformance.core.protocol import Answer
from kafka_conformance.rules.common.step_text import count_of
from kafka_conformance.rules.delivery.question import DeliveryQuestion

__all__ = ["COLUMNS", "outcome_text", "request_rows", "setting_text"]

COLUMNS = ("request", "records", "network", "leader", "producer")
_NETWORK = {
    "lose_request": "connection closes before it arrives",
    "lose_response": "arrives; connection closes before the response",
    "refuse": "arrives",
    "crash_before": "leader crashes before it arrives",
    "crash_unreplicated": "arrives; leader crashes before replication",
    "crash_replicated": "arrives; leader crashes after replication",
    "restart_producer": "arrives; producer ends before the response",
}
_OUTCOMES = (
    ("unanswered", "neither acknowledged nor failed"), ("lost", "acknowledged, but not in the log"),
    ("doubled", "in the log more than once"), ("reordered", "in the log behind a later record"),
)  # fmt: skip


def setting_text(question: DeliveryQuestion) -> str:
    """Return the records, the configuration and the replicas in one line."""
    producer = question.producer
    settings = (
        ("acks", producer.acks), ("retries", producer.retries),
        ("max.in.flight.requests.per.connection", producer.in_flight), ("enable.idempotence", producer.idempotence),
    )  # fmt: skip
    config = ", ".join(f"{name}={value}" for name, value in settings if value is not None) or "default settings"
    partition = question.partition
    return (
        f"{count_of(question.records, 'record')}, {config}, {partition.replicas} replicas, "
        f"min.insync.replicas={partition.min_insync_replicas}"
    )


def request_rows(question: DeliveryQuestion, answer: Answer) -> Iterator[Sequence[str]]:
    """Yield a row of :data:`COLUMNS` for each request."""
    faults = {fault.request: fault.op for fault in question.faults}
    for one in answer["requests"]:
        fault = faults.get(one["request"])
        numbers = f", producer {one['producer_id']}, epoch {one['epoch']}, sequence {one['sequence']}"
        yield (
            str(one["request"]),
            " ".join(map(str, one["records"])) + (numbers if one["producer_id"] >= 0 else ""),
            "arrives" if fault is None else _NETWORK[fault],
            _leader_text(one, fault),
            _producer_text(one, fault),
        )


def _leader_text(one: dict[str, Any], fault: str | None) -> str:
    match one["came"]:
        case "lost":
            return "not received"
        case "written":
            return f"appended at {one['offset']}" + (", lost in the crash" if fault == "crash_unreplicated" else "")
        case "duplicate":
            return f"duplicate of {one['offset']}, not appended"
        case error:
            return f"refused: {error}"


def _producer_text(one: dict[str, Any], fault: str | None) -> str:
    if fault == "restart_producer":
        return "new producer starts"
    closes = fault not in (None, "refuse")
    if one["answered"]:
        response = "acknowledged" if one["came"] in ("written", "duplicate") else one["came"]
        return f"{response}; connection closed" if closes else response
    return "connection closed" if closes else "no response with acks=0"


def outcome_text(answer: Answer) -> Iterator[str]:
    """Yield the outcome, line by line."""
    if "raises" in answer:
        message = f": {answer['message']}" if "message" in answer else ""
        yield f"The producer cannot be constructed: {answer['raises']}{message}"
        return
    yield f"log           {' '.join(map(str, answer['log'])) or 'empty'}"
    yield f"acknowledged  {' '.join(map(str, answer['acknowledged'])) or 'none'}"
    for record, error in answer["failed"]:
        yield f"failed        {record}: {error}, {'but' if record in answer['log'] else 'not'} in the log"
    for name, meaning in _OUTCOMES:
        if answer[name]:
            yield f"{name:<12}  {' '.join(map(str, answer[name]))}: {meaning}"
    if not any(answer[name] for name in ("failed", *(name for name, _ in _OUTCOMES))):
        yield "Every record is in the log once, in order."
