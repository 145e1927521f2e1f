"""The scripts of partitioners, explained: scripts whose course follows from the rules by hand."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from kafka_conformance.core.timeline import Explained
from kafka_conformance.rules import RULES
from kafka_reference.releases import parse_release

NODES = [{"id": 0}, {"id": 1}]
TWO = {"nodes": NODES, "partitions": [{"id": 0, "leader": 0}, {"id": 1, "leader": 1}]}
ONE = {"nodes": NODES, "partitions": [{"id": 0, "leader": 0}, {"id": 1, "leader": None}]}
ASKED = {"op": "partition", "topic": "t", "key": None}


def explained(slug: str, version: str, question: dict[str, Any]) -> list[Explained]:
    rule, at = RULES[slug], parse_release(version)
    typed = msgspec.json.decode(json.dumps(question), type=rule.question)
    assert rule.explain is not None
    return list(rule.explain(typed, at, rule.ask(typed, at)["steps"]))


def filled(previous: int) -> dict[str, Any]:
    return {"op": "new_batch", "topic": "t", "previous": previous}


@pytest.mark.parametrize("slug", ["default-partitioner", "uniform-sticky-partitioner"])
def test_explanation_of_sticky_partitioner_names_kept_and_new_partitions(slug: str) -> None:
    steps = [ASKED, ASKED, filled(1), filled(0), {"op": "cluster", "cluster": ONE}, filled(0)]
    explanation = explained(slug, "2.8.2", {"seed": 0, "cluster": ONE, "steps": steps})
    assert [one.reasons for one in explanation] == [
        ("t had none → partition 0",),
        ("t keeps partition 0, nothing is drawn",),
        ("t is at 0, not at 1", "t keeps partition 0, nothing is drawn"),
        ("t is at 0, whose batch it was", "t keeps partition 0, nothing is drawn"),
        (),
        ("t is at 0, whose batch it was", "t keeps partition 0, nothing is drawn"),
    ]
    assert {one.state for one in explanation} == {(("t", "partition 0"),)}
    drawn = explained(slug, "2.8.2", {"seed": 7, "cluster": TWO, "steps": [ASKED]})
    assert drawn[0].reasons[0] == "1 draw, 2 of 2 partitions led"


def test_explanation_gives_key_hash_as_reason_for_default_but_not_uniform_sticky_partitioner() -> None:
    question = {"seed": 0, "cluster": ONE, "steps": [{**ASKED, "key": "666f6f"}]}
    (explanation,) = explained("default-partitioner", "2.8.2", question)
    assert explanation.reasons == ("its key decides, by its hash, among 2 partitions",)
    assert explanation.step == 'a record to t, key "foo" (666f6f)'
    (explanation,) = explained("uniform-sticky-partitioner", "2.8.2", question)
    assert explanation.reasons == ("t had none → partition 0",)


def test_explanation_shows_partition_counter_by_topic_in_2_3_and_shared_in_0_10() -> None:
    explanation = explained("default-partitioner", "2.3.1", {"seed": 0, "cluster": TWO, "steps": [ASKED, ASKED]})
    first = int(explanation[0].state[0][1].removeprefix("next number "))
    assert explanation[1].reasons == (f"t: next number {first} → {first + 1}",)
    (shared, *_) = explained("default-partitioner", "0.10.0.1", {"seed": 0, "cluster": TWO, "steps": [ASKED]})
    assert shared.state[0][0] == "every topic"


def test_round_robin_explanation_shows_announced_batch_only_in_3_9_2() -> None:
    question = {"cluster": TWO, "steps": [ASKED, filled(0), ASKED]}
    explanation = explained("round-robin-partitioner", "3.9.2", question)
    assert explanation[1].state == (("t", "next number 1"), ("announced for t", "partition 0"))
    assert explanation[2].reasons[0] == "announced for t is forgotten"
    assert [one.state for one in explained("round-robin-partitioner", "4.4.0", question)] == [
        (("t", "next number 1"),),
        (("t", "next number 1"),),
        (("t", "next number 2"),),
    ]


def test_explanation_of_builtin_partitioner_shows_bytes_switches_and_load_table() -> None:
    steps = [
        {"op": "append", "bytes": 60, "enable_switch": True},
        {"op": "append", "bytes": 60, "enable_switch": False},
        {"op": "append", "bytes": 60, "enable_switch": True},
        {"op": "load", "queue_sizes": [0, 3], "partition_ids": [0, 1], "length": 2},
    ]
    question = {"batch_size": 100, "rack_aware": False, "rack": "", "cluster": TWO, "draws": [0, 1], "steps": steps}
    explanation = explained("builtin-partitioner", "4.3.1", question)
    # The first peek chooses a partition before any bytes count; 180 bytes leave it, and 120 wanted to.
    assert [one.reasons[:2] for one in explanation] == [
        ("several available", "below the size"),
        ("may not leave", "this stay: bytes, of batch.size 100: 60 → 120"),
        ("left at the size", "left later than wanted"),
        ("load", "table had none → ends [4, 5] for partitions [0, 1]"),
    ]
    assert dict(explanation[1].state)["this stay"] == "bytes, of batch.size 100: 120"
    assert dict(explanation[2].state) == {"current": "partition 1", "this stay": "bytes, of batch.size 100: 0"}
    assert dict(explanation[3].state)["table"] == "ends [4, 5] for partitions [0, 1]"
    assert explanation[2].mark == "append 60 B → 1"


def test_explanation_of_sent_record_names_partition_and_switch_at_limit() -> None:
    steps = [
        {"op": "send", "bytes": 60},
        {"op": "send", "bytes": 60, "enable_switch": False},
        {"op": "send", "bytes": 60},
    ]
    question = {"batch_size": 100, "rack_aware": False, "rack": "", "cluster": TWO, "draws": [0, 1], "steps": steps}
    explanation = explained("builtin-partitioner", "4.3.1", question)
    assert [one.step for one in explanation] == [
        "a record of 60 B is sent",
        "a record of 60 B is sent, with no switch allowed",
        "a record of 60 B is sent",
    ]
    assert [one.mark for one in explanation] == ["send 60 B → 0", "send 60 B, stay → 0", "send 60 B → 0"]
    assert "the record that crosses the limit" in explanation[2].reasons
    assert "current: partition 0 → 1" in explanation[2].reasons
    assert explanation[2].answer == "partition 0"
