"""Histories of an accumulator, explained: what is said of each step follows from the rules by hand."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from kafka_conformance.core.timeline import Explained
from kafka_conformance.rules.record_accumulator.rule import RULE
from kafka_reference.errors import JavaException, NotInThisRelease
from kafka_reference.releases import parse_release

CONFIG = {
    "batch_size": 200, "linger_ms": 5, "retry_backoff_ms": 10, "retry_backoff_max_ms": 10, "delivery_timeout_ms": 100,
    "buffer_memory": 1000, "adaptive": True, "availability_timeout_ms": 0,
}  # fmt: skip
CLUSTER = {
    "nodes": [{"id": 0}, {"id": 1}],
    "partitions": [{"id": 0, "leader": 0}, {"id": 1, "leader": 1}, {"id": 2, "leader": None}],
}


def append(partition: int | None, length: int = 10) -> dict[str, Any]:
    return {"op": "append", "partition": partition, "key": None, "value": "00" * length, "timestamp": 0}


def op(name: str, **fields: Any) -> dict[str, Any]:
    return {"op": name, **fields}


READY, DRAIN = op("ready"), op("drain", nodes=[0, 1], max_size=1000)


def question(*steps: dict[str, Any], cluster: Any = CLUSTER) -> Any:
    asked = {"config": CONFIG, "cluster": cluster, "draws": [0] * 30, "steps": steps}
    return msgspec.json.decode(json.dumps(asked), type=RULE.question)


def explained(version: str, *steps: dict[str, Any]) -> list[Explained]:
    typed, at = question(*steps), parse_release(version)
    assert RULE.explain is not None
    return list(RULE.explain(typed, at, RULE.ask(typed, at)["steps"]))


def test_ready_explanation_names_linger_per_partition_and_the_partition_that_sets_the_delay() -> None:
    explanation = explained("2.8.2", append(0), op("advance", ms=2), append(1), READY, op("advance", ms=3), READY)
    assert [one.time_ms for one in explanation] == [0, 2, 2, 2, 5, 5]
    assert explanation[3].answer == "no node ready; look again in 3 ms"
    # Java's order: t-1 before t-0.
    assert explanation[3].reasons == (
        "t-1 #1: not full, waited 0 < 5 ms of linger → look again in 5 ms",
        "t-0 #0: not full, waited 2 < 5 ms of linger → look again in 3 ms ← the delay",
    )
    assert explanation[3].mark == "ready → in 3 ms (linger)"
    assert explanation[5].reasons == (
        "t-1 #1: not full, waited 3 < 5 ms of linger → look again in 2 ms ← the delay",
        "t-0 #0: not full, waited 5 ≥ 5 ms of linger → node 0 is ready",
    )
    assert explanation[5].mark == "ready → 0 (waited)"


def test_ready_explanation_with_equal_waits_marks_delay_of_first_partition() -> None:
    explanation = explained("2.8.2", append(0), append(1), READY)[2]
    assert [reason.endswith("← the delay") for reason in explanation.reasons] == [True, False]


@pytest.mark.parametrize(
    ("step", "term", "mark"),
    [
        (op("flush"), "flushing", "flushing"),
        (op("close"), "closed", "closed"),
        (op("blocked", threads=1), "threads wait for memory", "memory"),
    ],
)
def test_ready_explanation_names_flush_close_or_memory_wait_that_ends_linger_early(
    step: dict[str, Any], term: str, mark: str
) -> None:
    explanation = explained("4.4.0", append(0), step, READY)[2]
    assert explanation.reasons == (f"t-0 #0: not full, waited 0 < 5 ms of linger, {term} → node 0 is ready",)
    assert explanation.mark == f"ready → 0 ({mark})"


def test_ready_explanation_shows_muted_partition_as_skipped_and_leaderless_as_needing_metadata() -> None:
    explanation = explained("4.4.0", append(1), append(2), op("mute", partition=1), READY)[3]
    assert explanation.reasons == (
        "t-1: muted → skipped",
        "t-2: no leader → its topic needs metadata",
    )
    assert explanation.answer == "no node ready; nothing else to wait for; leaders unknown: t"
    assert ("no leader", "t-2") in explanation.state
    assert ("muted", "t-1") in explanation.state


def test_explanation_of_retry_shows_reenqueue_backoff_and_second_drain() -> None:
    steps = (append(0), DRAIN, op("reenqueue", batch=-1), DRAIN, op("advance", ms=10), DRAIN, op("complete", batch=0))
    explanation = explained("2.8.2", *steps)
    assert explanation[1].reasons == (
        "node 0: 1 partition, from t-0 on",
        "t-0 #0: 78 B ≤ 1,000 B → taken",
        "node 1: 1 partition, from t-1 on",
        "t-1: nothing queued",
    )
    assert explanation[2].reasons == ("t-0 #0: in flight → queued",)
    assert explanation[2].mark == "retry #0"
    assert dict(explanation[2].state)["t-0"] == "#0 1 record, 78 of 200 B, closed, retried once, 0 ms old"
    assert explanation[3].reasons[1:3] == (
        "t-0 #0: retried once, waited 0 < 10 ms of back-off → backs off",
        "t-0: backs off → skipped",
    )
    assert explanation[5].reasons[1] == "t-0 #0: retried once, waited 10 ≥ 10 ms of back-off → may be sent"
    assert explanation[6].reasons == ("t-0 #0: in flight → done",)
    kinds = [[box.kind for lane in one.lanes for box in (*lane.queue, *lane.out)] for one in explanation]
    assert kinds == [["open"], ["sent"], ["retry"], ["retry"], ["retry"], ["sent"], ["ended"]]


def test_drain_explanation_shows_first_batch_taken_above_max_size_and_the_next_refused() -> None:
    one_node = {**CLUSTER, "partitions": [{"id": 0, "leader": 0}, {"id": 1, "leader": 0}]}
    typed = question(append(0, 110), append(1, 110), op("drain", nodes=[0], max_size=100), cluster=one_node)
    assert RULE.explain is not None
    explanation = list(RULE.explain(typed, parse_release("2.8.2"), RULE.ask(typed, parse_release("2.8.2"))["steps"]))[2]
    assert explanation.reasons[1:] == (
        "t-0 #0: 180 B > 100 B, but the first is always taken → taken",
        "t-1 #1: 180 + 180 B > 100 B → no room left, the visit ends",
    )


def test_append_explanation_names_reason_of_new_batch_and_sticky_switch() -> None:
    explanation = explained("4.4.0", append(None, 110), append(None, 110), append(None, 110))
    # Of the two that are led, t-1 is the first in Java's order, and the draw is 0.
    assert explanation[0].reasons == (
        "t-1: nothing queued → a new batch is needed",
        "t-1: 180 B < batch.size 200 → t stays",
    )
    assert explanation[1].reasons == (
        "t-1: #0, 180 B, has no room for it, and is closed → a new batch is needed",
        "t-1: 360 B ≥ batch.size 200, its last batch is open → t stays",
    )
    assert explanation[2].reasons[1] == "t-1: 360 B ≥ batch.size 200, its last batch is full or gone → t switches"


def test_explanation_shows_exhausted_buffer_and_step_without_effect() -> None:
    explanation = explained("4.4.0", *[append(0, 190)] * 5, op("complete", batch=0), op("flush"), op("flushed"))
    assert explanation[4].answer == "raises BufferExhaustedException"
    assert explanation[4].reasons == ("t-0: #2, 260 B, is full → a new batch is needed",)
    assert dict(explanation[4].state)["memory"].endswith("of 1,000 B free")
    assert explanation[5].reasons == ("no effect in this state or release",)
    assert explanation[7].reasons == explanation[5].reasons


def test_explanation_shows_expired_completed_and_split_batches() -> None:
    steps = (append(0), op("advance", ms=100), op("expire"), op("complete", batch=0))
    explanation = explained("4.4.0", *steps)
    assert explanation[2].answer == "expired: #0"
    assert explanation[2].reasons == ("t-0 #0: queued → expired, to be completed",)
    assert explanation[3].reasons == ("t-0 #0: expired, to be completed → done",)
    split = explained("4.4.0", append(0), append(0), DRAIN, op("split", batch=0))[3]
    assert split.reasons == ("t-0 #0: in flight → done", "t-0 #1 is a piece: 2 records")
    assert split.mark == "split → 1 #0"


# Each answers a quarter of the histories.
EXPLAINED = ["0.10.0.1", "2.0.1", "3.3.2", "4.4.0"]


@pytest.mark.parametrize("version", EXPLAINED)
def test_recording_explanation_reasons_leaves_accumulator_answers_unchanged(version: str, histories: list[Any]) -> None:
    from kafka_conformance.rules.record_accumulator.adapter import History
    from kafka_reference.accumulator.accumulator import RecordAccumulator

    at = parse_release(version)
    for asked in histories[EXPLAINED.index(version) :: len(EXPLAINED)]:
        try:
            history = History(RecordAccumulator, asked, at)
        except (JavaException, NotInThisRelease):
            continue
        history.accumulator.state.reasons = []
        assert [history.take(step) for step in asked.steps] == RULE.ask(asked, at)["steps"]
