"""A ``delivery`` question and its answer as text: the setting, a row for each request, and the outcome.

If the answer has the partition, a row also has the partition after the request: which replica leads, the in-sync replicas,
the high watermark, and the log of each replica.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from kafka_conformance.core.protocol import Answer
from kafka_conformance.rules.common.step_text import count_of
from kafka_conformance.rules.delivery.question import NETWORK_KINDS, REFUSAL_KINDS, AskedFault, DeliveryQuestion

__all__ = ["columns", "outcome_text", "request_rows", "setting_text"]

_COLUMNS = ("request", "records", "network", "leader", "producer")
_PARTITION_COLUMNS = ("leads", "ISR", "HW")
_BEFORE = {
    "stop_follower": "replica {} stops; ",
    "resume_follower": "replica {} is back; ",
    "shrink_isr": "lag time passes; ",
}
_NETWORK: dict[str, str] = {
    "lose_request": "connection closes before it arrives",
    "lose_response": "arrives; connection closes before the response",
    **dict.fromkeys(REFUSAL_KINDS, "arrives"),
    "crash_before": "leader crashes before it arrives",
    "crash_unreplicated": "arrives; leader crashes before replication",
    "crash_replicated": "arrives; leader crashes after replication",
    "restart_producer": "arrives; producer ends before the response",
}
_AT_FOLLOWERS = {*_BEFORE, "shrink_isr_after_append"}
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
        f"{count_of(question.records, 'record')}, {config}, {count_of(partition.replicas, 'replica')}, "
        f"min.insync.replicas={partition.min_insync_replicas}"
        f"{', unclean.leader.election.enable=true' if partition.unclean_leader_election else ''}"
    )


def columns(answer: Answer) -> Sequence[str]:
    """Return the heads of the rows that :func:`request_rows` yields."""
    if "partition" not in answer:
        return _COLUMNS
    logs = (f"log of {broker}" for broker in range(len(answer["partition"]["replicas"])))
    return (*_COLUMNS, *_PARTITION_COLUMNS, *logs)


def request_rows(question: DeliveryQuestion, answer: Answer) -> Iterator[Sequence[str]]:
    """Yield a row for each request, under the heads of :func:`columns`."""
    faults = {fault.request: fault.op for fault in question.faults if fault.op in NETWORK_KINDS}
    for one in answer["requests"]:
        fault = faults.get(one["request"])
        of_followers = [each for each in question.faults if each.request == one["request"] and each.op in _AT_FOLLOWERS]
        numbers = f", producer {one['producer_id']}, epoch {one['epoch']}, sequence {one['sequence']}"
        yield (
            str(one["request"]),
            " ".join(map(str, one["records"])) + (numbers if one["producer_id"] >= 0 else ""),
            _network_text(one, fault, of_followers),
            _leader_text(one, fault),
            _producer_text(one, fault),
            *_partition_cells(one),
        )


def _has_no_leader(one: dict[str, Any], fault: str | None) -> bool:
    return one["came"] == "lost" and fault not in ("lose_request", "crash_before")


def _network_text(one: dict[str, Any], fault: str | None, of_followers: Sequence[AskedFault]) -> str:
    before = "".join(_BEFORE[each.op].format(each.replica) for each in of_followers if each.op in _BEFORE)
    if _has_no_leader(one, fault):
        return f"{before}no replica leads; connection closes"
    waits = any(each.op == "shrink_isr_after_append" for each in of_followers)
    after = "; lag time passes" if waits else ""
    return before + ("arrives" if fault is None else _NETWORK[fault]) + after


def _partition_cells(one: dict[str, Any]) -> Iterator[str]:
    if "partition" not in one:
        return
    state = one["partition"]
    yield "none" if state["leader"] is None else str(state["leader"])
    yield " ".join(map(str, state["in_sync"]))
    yield "none" if state["high_watermark"] is None else str(state["high_watermark"])
    for replica in state["replicas"]:
        yield " ".join(map(str, replica["log"])) or "empty"


def _leader_text(one: dict[str, Any], fault: str | None) -> str:
    match one["came"]:
        case "lost":
            return "not received"
        case "written":
            lost = fault == "crash_unreplicated" and "partition" not in one
            return f"appended at {one['offset']}" + (", lost in the crash" if lost else "")
        case "duplicate":
            return f"duplicate of {one['offset']}, not appended"
        case _ if one["offset"] is not None:
            return f"in the log at {one['offset']}, not acknowledged"
        case error:
            return f"refused: {error}"


def _producer_text(one: dict[str, Any], fault: str | None) -> str:
    if fault == "restart_producer":
        return "new producer starts"
    closes = fault not in (None, *REFUSAL_KINDS) or _has_no_leader(one, fault)
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
    if "partition" in answer:
        yield from _partition_text(answer["partition"])


def _partition_text(state: dict[str, Any]) -> Iterator[str]:
    for broker, replica in enumerate(state["replicas"]):
        roles = ["leader"] if broker == state["leader"] else []
        roles += ["in sync"] if broker in state["in_sync"] else ["not in sync"]
        log = " ".join(map(str, replica["log"])) or "empty"
        yield f"replica {broker}     {log}; {', '.join(roles)}, high watermark {replica['high_watermark']}"
    if state["leader"] is None:
        yield "No replica leads."
