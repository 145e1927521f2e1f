"""Variables of cases: filled into requests, and named again in answers."""

from __future__ import annotations

from typing import Any

import pytest

from kafka_conformance.core.errors import BadInput
from kafka_conformance.wire.broker_gate.batches import decode_fields
from kafka_conformance.wire.broker_gate.variables import DROPPED, Variables, value_at

NOW = 1_795_000_000_000


@pytest.fixture
def variables() -> Variables:
    made = Variables("gate-1-case", NOW)
    made.bind("pid", 4000)
    made.bind("member", "m-1")
    return made


def test_request_template_is_filled_with_topic_names_times_and_bound_values(variables: Variables) -> None:
    request = {
        "a": ["$topic", "$topic.b", "$name.g"],
        "t": "$t+5",
        "p": "$pid",
        "x": "plain",
        "n": None,
        "b": {"$bytes": "0aff"},
    }
    assert variables.filled(request) == {
        "a": ["gate-1-case", "gate-1-case-b", "gate-1-case-g"], "t": NOW + 5, "p": 4000, "x": "plain", "n": None,
        "b": b"\x0a\xff",
    }  # fmt: skip


def test_batch_variables_are_filled_before_the_batch_is_encoded(variables: Variables) -> None:
    data = variables.filled({"$batches": [{"producerId": "$pid", "baseTimestamp": "$t+1"}]})
    (batch,) = decode_fields(data, lambda time: time)
    assert (batch["producerId"], batch["records"][0]["timestamp"]) == (4000, NOW + 1)


@pytest.mark.parametrize("name", ["$other", "$", "$t+x", "$id"])
def test_request_variable_without_bound_value_is_refused(variables: Variables, name: str) -> None:
    with pytest.raises(BadInput, match="has no value: no answer before has given one"):
        variables.filled({"a": [name]})


@pytest.mark.parametrize("text", ["0", "zz"])
def test_request_bytes_that_are_not_hexadecimal_are_refused(variables: Variables, text: str) -> None:
    with pytest.raises(BadInput, match="is not hexadecimal"):
        variables.filled({"$bytes": text})


def test_normalised_answer_replaces_run_specific_names_ids_and_times_by_variables(variables: Variables) -> None:
    answer = {
        "name": "gate-1-case", "other": "gate-1-case-b", "producerId": 4000, "memberId": "m-1", "timestamp": NOW + 7,
        "logAppendTimeMs": NOW + 3_600_000, "baseTimestamp": -1, "offset": 4000, "data": b"\x01",
    }  # fmt: skip
    assert variables.normalised(answer) == {
        "name": "$topic", "other": "$topic-b", "producerId": "$pid", "memberId": "$member", "timestamp": "$t+7",
        "logAppendTimeMs": "$time", "baseTimestamp": -1, "offset": 4000, "data": "01",
    }  # fmt: skip


def test_normalised_answer_keeps_error_codes_and_offsets_but_drops_throttle_time_and_host(variables: Variables) -> None:
    fields = {
        "errorCode": 0,
        "baseOffset": 1,
        "highWatermark": 2,
        "lastStableOffset": 3,
        "abortedTransactions": [],
        "memberEpoch": 4,
    }
    assert variables.normalised({**fields, "throttleTimeMs": 5, "host": "h"}) == fields
    assert not DROPPED & set(fields)


def test_normalised_answer_of_failed_partition_keeps_only_index_and_error(variables: Variables) -> None:
    failed = {"errorCode": 45, "baseOffset": 7, "logAppendTimeMs": 1, "index": 0}
    assert variables.normalised({"partitions": [failed, {"errorCode": 0, "baseOffset": 7, "index": 1}]}) == {
        "partitions": [{"errorCode": 45, "index": 0}, {"errorCode": 0, "baseOffset": 7, "index": 1}]
    }


@pytest.mark.parametrize("key", ["name", "topic", "partitionIndex", "index"])
def test_normalised_answer_sorts_topics_and_partitions(variables: Variables, key: str) -> None:
    low, high = ("a", "b") if key in {"name", "topic"} else (0, 1)
    assert variables.normalised([{key: high}, {key: low}]) == [{key: low}, {key: high}]


def test_normalised_answer_keeps_order_of_members_and_plain_lists(variables: Variables) -> None:
    assert variables.normalised({"members": [{"memberId": "b"}, {"memberId": "a"}], "ids": [2, 1]}) == {
        "members": [{"memberId": "b"}, {"memberId": "a"}], "ids": [2, 1],
    }  # fmt: skip


@pytest.mark.parametrize(
    ("path", "value"), [("a.1.b", 5), ("a.0.b", None), ("a.9", None), ("a.x", None), ("c", None), ("a.1", {"b": 5})]
)
def test_value_path_finds_nested_value_or_none_if_absent(path: str, value: Any) -> None:
    assert value_at({"a": [{}, {"b": 5}]}, path) == value
