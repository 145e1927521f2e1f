"""Domains: what no user can bring about is out, with the reason; what users do every day is in."""

from __future__ import annotations

import json
from itertools import islice
from typing import Any

import msgspec
import pytest

from kafka_conformance.core.rule import Rule
from kafka_conformance.core.sources import collect
from kafka_conformance.gate.statistical import scenarios
from kafka_conformance.rules import RULES

_LED = {"nodes": [{"id": 0}], "partitions": [{"id": 0, "leader": 0}, {"id": 1, "leader": None}]}
_GAP = {"nodes": [{"id": 0}], "partitions": [{"id": 0, "leader": 0}, {"id": 2, "leader": 0}]}
_TURNED = {"nodes": [{"id": 0}], "partitions": [{"id": 1, "leader": 0}, {"id": 0, "leader": 0}]}
_EMPTY: dict[str, Any] = {"nodes": [{"id": 0}], "partitions": []}
_LOAD = {"op": "load", "queue_sizes": [0, 3], "partition_ids": [0, 1], "racks": None, "length": 2}


def _placed(partition: int | None = None, cluster: Any = _LED, returns: int | None = None) -> dict[str, Any]:
    plugged = None if returns is None else {"returns": returns}
    config = {"ignore_keys": False, "partitioner": plugged}
    return {"record": {"partition": partition, "key": "6b"}, "config": config, "cluster": cluster}


def _script(*steps: Any, cluster: Any = _LED, **more: Any) -> dict[str, Any]:
    return {"cluster": cluster, "steps": steps, **more}


def _builtin(*steps: Any, batch_size: int = 100, cluster: Any = _LED) -> dict[str, Any]:
    return _script(*steps, cluster=cluster, batch_size=batch_size, draws=[0])


def _broker(*steps: Any) -> dict[str, Any]:
    return {"config": {"producer_id_expiration_ms": 1}, "steps": steps}


def _append(epoch: int = 0, first_sequence: int = 0, producer_id: int = 7) -> dict[str, Any]:
    numbers = {"producer_id": producer_id, "epoch": epoch, "first_sequence": first_sequence}
    return {"op": "append", **numbers, "records": 1}


def _marker(**changes: Any) -> dict[str, Any]:
    return {"op": "marker", "producer_id": 7, "epoch": 0, "commit": True, **changes}


_SENDER = {
    "idempotence": True, "acks": "all", "retries": 5, "max_in_flight": 5, "batch_size": 100, "linger_ms": 0,
    "request_timeout_ms": 30, "delivery_timeout_ms": 30, "retry_backoff_ms": 0, "retry_backoff_max_ms": 0,
}  # fmt: skip


def _sender(*steps: Any, leaders: Any = (0,), **changes: Any) -> dict[str, Any]:
    return {"config": {**_SENDER, **changes}, "leaders": leaders, "draws": [], "steps": steps}


_ACCUMULATOR = {
    "batch_size": 100, "linger_ms": 5, "retry_backoff_ms": 10, "retry_backoff_max_ms": 10, "delivery_timeout_ms": 30,
    "buffer_memory": 250, "adaptive": True, "availability_timeout_ms": 0,
}  # fmt: skip


def _history(*steps: Any, cluster: Any = _LED, **changes: Any) -> dict[str, Any]:
    return _script(*steps, cluster=cluster, config={**_ACCUMULATOR, **changes}, draws=[])


_RECORD = {"op": "append", "partition": 0, "key": None, "value": "00", "timestamp": 0}
_BATCH = {"op": "new_batch", "topic": "t", "previous": 1}
_SPREAD: dict[str, Any] = {"partitioner": "builtin", "seed": 1, "records": 3, "batch_records": 2}
_IN: list[tuple[str, Any]] = [
    ("murmur2", {"key": ""}),
    ("murmur2", {"key": "80" * 70_000}),
    ("partition-for-key", {"key": "", "partitions": 1}),
    ("partition-for-key", {"key": "6b", "partitions": 10_000}),
    ("producer-partition", _placed()),
    ("producer-partition", _placed(1)),
    ("producer-partition", _placed(-1)),
    ("producer-partition", _placed(returns=-1)),
    ("default-partitioner", _script({"op": "partition", "topic": "t"}, _BATCH, seed=1)),
    ("round-robin-partitioner", _script({"op": "partition", "topic": "t"}, _BATCH)),
    ("builtin-partitioner", _builtin(_LOAD, {"op": "append", "bytes": 0, "enable_switch": True})),
    ("builtin-partitioner", _builtin({"op": "load", "queue_sizes": None})),
    ("builtin-partitioner", _builtin({"op": "send", "bytes": 7}, {"op": "send", "bytes": 2**31 - 62})),
    ("sticky-distribution", {**_SPREAD, "cluster": _LED, "queue_sizes": [0, 5]}),
    ("sequence-increment", {"sequence": 2**31 - 1, "by": 1}),
    ("sequence-decrement", {"sequence": 0, "by": 0}),
    ("record-sizes", {"records": [{"timestamp": 5}], "batch_size": 0, "ratio": 0.5}),
    ("record-sizes", {"records": [{}], "measured": [{"offset_delta": 64, "timestamp_delta": -3, "value": 2**30}]}),
    ("record-accumulator", _history(_RECORD, {"op": "drain", "nodes": [0], "max_size": 9})),
    ("producer-sequences", _sender({"op": "append", "partition": 0})),
    ("producer-sequences", _sender(idempotence=False, acks="0", retries=0, max_in_flight=9)),
    ("broker-producer-state", _broker(_append(), _append(-1, -1, -1), _marker(), {"op": "look"})),
    ("idempotence-config", {"config": {"acks": "no such", "retries": None}}),
]  # fmt: skip
_OUT: list[tuple[str, Any, str]] = [
    ("murmur2", {"key": None}, "without a key"),
    ("partition-for-key", {"key": None, "partitions": 3}, "without a key"),
    ("partition-for-key", {"key": "6b", "partitions": 0}, "at least one partition"),
    ("partition-for-key", {"key": "6b", "partitions": -7}, "at least one partition"),
    ("partition-for-key", {"key": "6b", "partitions": 2**31 - 1}, "no request"),
    ("producer-partition", _placed(cluster=_EMPTY), "at least one partition"),
    ("producer-partition", _placed(cluster=_GAP), "without gaps"),
    ("producer-partition", _placed(cluster=_TURNED), "in order"),
    ("producer-partition", _placed(2), "not there"),
    ("default-partitioner", _script(cluster=_GAP, seed=1), "without gaps"),
    ("uniform-sticky-partitioner", _script({"op": "cluster", "cluster": _EMPTY}, seed=1), "at least one partition"),
    ("uniform-sticky-partitioner", _script({**_BATCH, "previous": -1}, seed=1), "new batch"),
    ("round-robin-partitioner", _script({**_BATCH, "previous": 2}), "new batch"),
    ("builtin-partitioner", _builtin(batch_size=0), "batch size"),
    ("builtin-partitioner", _builtin(batch_size=2**31 - 1), "batch size"),
    ("builtin-partitioner", _builtin({"op": "append", "bytes": -1, "enable_switch": True}), "2\\^31"),
    ("builtin-partitioner", _builtin({"op": "send", "bytes": 6}), "7 bytes"),
    ("builtin-partitioner", _builtin({"op": "send", "bytes": 2**31 - 1}), "2\\^31"),
    ("builtin-partitioner", _builtin({**_LOAD, "length": 3}), "queues"),
    ("builtin-partitioner", _builtin({**_LOAD, "length": -1}), "queues"),
    ("builtin-partitioner", _builtin({**_LOAD, "queue_sizes": [0, -1]}), "batches"),
    ("builtin-partitioner", _builtin({**_LOAD, "partition_ids": [0, 5]}), "of the topic"),
    ("sticky-distribution", {**_SPREAD, "cluster": _LED, "queue_sizes": [0, 2**31 - 1]}, "queue"),
    ("sticky-distribution", {**_SPREAD, "cluster": _GAP}, "without gaps"),
    ("sequence-increment", {"sequence": -1, "by": 1}, "0 to 2\\^31-1"),
    ("sequence-increment", {"sequence": 1, "by": 0}, "at least one record"),
    ("sequence-increment", {"sequence": 9, "by": 2147483640}, "bytes"),
    ("sequence-decrement", {"sequence": 9, "by": 2147483640}, "bytes"),
    ("sequence-decrement", {"sequence": 1, "by": -1}, "0 or more"),
    ("record-sizes", {"records": [{"timestamp": -1}]}, "timestamp"),
    ("record-sizes", {"records": [{}], "ratio": 1e9}, "ratio"),
    ("record-sizes", {"records": [{}], "measured": [{"offset_delta": -1}]}, "offset"),
    ("record-sizes", {"records": [{}], "measured": [{"key": 2**31 - 1}]}, "2\\^31"),
    ("record-sizes", {"records": [{}], "observed": [[1000, 1]]}, "7 bytes"),
    ("record-sizes", {"records": [{}], "observed": [[100_000, 63]]}, "codec"),
    ("record-accumulator", _history(cluster=_GAP), "without gaps"),
    ("record-accumulator", _history({**_RECORD, "partition": 2}), "of the topic"),
    ("record-accumulator", _history({"op": "drain", "nodes": [9], "max_size": 9}), "brokers"),
    ("record-accumulator", _history({"op": "latency", "node": 9, "can_drain": True}), "brokers"),
    ("record-accumulator", _history({"op": "mute", "partition": 5}), "of the topic"),
    ("record-accumulator", _history(ratio=-50.0), "ratio"),
    ("producer-sequences", _sender(acks="1"), "idempotent"),
    ("producer-sequences", _sender(retries=0), "idempotent"),
    ("producer-sequences", _sender(max_in_flight=6), "idempotent"),
    ("producer-sequences", _sender(delivery_timeout_ms=20), "delivery timeout"),
    ("producer-sequences", _sender({"op": "append", "partition": 1}), "of the topic"),
    ("producer-sequences", _sender(leaders=()), "at least one partition"),
    ("broker-producer-state", _broker(_append(epoch=-1)), "epoch"),
    ("broker-producer-state", _broker(_append(first_sequence=-1)), "sequence"),
    ("broker-producer-state", _broker(_append(producer_id=-1)), "neither"),
    ("broker-producer-state", _broker(_marker(origin="client")), "coordinator"),
    ("broker-producer-state", _broker(_marker(coordinator_epoch=-2)), "coordinator"),
    ("broker-producer-state", _broker({"op": "request", "batches": [_append(epoch=-1)]}), "epoch"),
    ("broker-producer-state", _broker({"op": "load", "bytes": "0001"}), "file"),
]  # fmt: skip


def _reason(slug: str, question: Any) -> str:
    rule = RULES[slug]
    return rule.domain(msgspec.json.decode(json.dumps(question), type=rule.question))


@pytest.mark.parametrize(("slug", "question"), _IN)
def test_question_that_real_clients_can_cause_is_in_domain(slug: str, question: Any) -> None:
    assert _reason(slug, question) == ""


@pytest.mark.parametrize(("slug", "question", "why"), _OUT)
def test_question_that_no_real_client_can_cause_is_out_of_domain_with_reason(
    slug: str, question: Any, why: str
) -> None:
    with pytest.raises(AssertionError, match=why):
        raise AssertionError(_reason(slug, question))


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
def test_everyday_and_statistical_questions_are_in_domain_and_everyday_ones_are_equal_each_time(rule: Rule) -> None:
    asked = [*rule.plain(), *(question for one in scenarios(rule, 1) for question in one.questions[:3])]
    assert {rule.domain(question) for question in asked} <= {""}
    assert list(islice(rule.plain(), 50)) == list(islice(rule.plain(), 50))


@pytest.mark.parametrize(
    "slug",
    ["murmur2", "partition-for-key", "producer-partition", "default-partitioner", "uniform-sticky-partitioner",
     "round-robin-partitioner", "builtin-partitioner", "sequence-increment", "sequence-decrement"],
)  # fmt: skip
def test_nearest_question_is_in_domain_and_unchanged_if_already_inside(slug: str) -> None:
    rule = RULES[slug]
    asked = collect(rule, 60, 1)
    assert any(map(rule.domain, asked))
    assert {rule.domain(rule.nearest(question)) for question in asked} == {""}
    assert all(rule.nearest(question) == question for question in asked if not rule.domain(question))


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
def test_optional_labels_have_a_reason_and_are_a_proper_subset_of_required_labels(rule: Rule) -> None:
    assert set(rule.optional_labels) <= rule.required_labels
    assert rule.required_labels - set(rule.optional_labels)
    assert all(rule.optional_labels.values())
