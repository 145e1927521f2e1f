"""Scripts as JSON: what is read is what was written, and a bad one is one line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kafka_conformance.core.errors import BadInput
from kafka_conformance.replication.script_json import load_script, read_script, write_script
from kafka_reference.cluster.script import (
    BrokerId,
    ClusterScript,
    Continue,
    Elect,
    Kill,
    Pause,
    Produce,
    SetMinInsyncReplicas,
    Settle,
    SetUncleanElection,
    Start,
)

EVERY_EVENT = ClusterScript(
    (
        Produce(-1, 2, wait=False), Produce(0), Produce(1), Produce(2), Pause(1), Continue(1), Kill(2), Start(2),
        SetMinInsyncReplicas(3), SetUncleanElection(True), SetUncleanElection(False), Elect("preferred"),
        Elect("unclean"), Settle(),
    ),
    replicas=(3, 1, 2),
    min_insync_replicas=2,
    unclean_leader_election=True,
)  # fmt: skip


def test_cluster_script_round_trips_through_json() -> None:
    assert read_script(write_script(EVERY_EVENT)) == EVERY_EVENT


@pytest.mark.parametrize("replicas", [(3,), (2, 1)])
def test_script_with_fewer_replicas_than_min_insync_round_trips(replicas: tuple[BrokerId, ...]) -> None:
    script = ClusterScript((Produce(-1), Settle(), Pause(replicas[0])), replicas, min_insync_replicas=7)
    assert read_script(write_script(script)) == script


def test_cluster_script_json_with_only_events_has_default_replicas_and_settings() -> None:
    read = read_script('{"events": [{"produce": "all"}, {"settle": true}]}')
    assert read == ClusterScript((Produce(-1), Settle()))


@pytest.mark.parametrize(
    ("document", "words"),
    [
        ("{", "Input data was truncated"),
        ({}, "missing required field `events`"),
        ({"events": []}, "0 events: expected 1 to 1000"),
        ({"events": [{}]}, "event 0 is 0 events: expected exactly one of produce, pause"),
        ({"events": [{"settle": True}, {"pause": 1, "settle": True}]}, "event 1 is 2 events"),
        ({"events": [{"pause": 4}]}, r"Invalid enum value 4 - at `\$.events\[0\].pause`"),
        ({"events": [{"paws": 1}]}, "unknown field `paws`"),
        ({"events": [{"produce": 1, "records": 0}]}, "event 0: 0 records"),
        ({"events": [{"settle": True, "wait": False}]}, "event 0: records and wait belong to a produce event"),
        ({"events": [{"min.insync.replicas": -1}]}, "event 0: min.insync.replicas -1: Kafka accepts 1 to"),
        (
            {"events": [{"settle": True}], "min.insync.replicas": 0},
            "min.insync.replicas 0: Kafka accepts 1 to 2147483647",
        ),
        ({"events": [{"settle": True}], "replicas": [1, 2, 2]}, r"replicas \[1, 2, 2\]: expected one to three"),
        ({"events": [{"settle": True}], "replicas": []}, r"replicas \[\]: expected one to three"),
        (
            {"events": [{"pause": 2}], "replicas": [3, 1]},
            r"event 0: broker 2 has no replica: expected one of \[3, 1\]",
        ),
        ({"events": [{"pause": 1}, {"pause": 1}]}, "event 1: pause broker 1, which is paused"),
        ({"events": [{"kill": 1}, {"kill": 1}]}, "event 1: kill broker 1, which is killed already"),
        ({"events": [{"kill": 1}, {"continue": 1}]}, "event 1: continue broker 1, which is killed"),
        ({"events": [{"start": 1}]}, "event 0: start broker 1, which runs"),
        (
            {"events": [{"kill": 1}, {"kill": 2}, {"pause": 3}, {"produce": 1}]},
            "event 3: a request while no broker runs",
        ),
    ],
)
def test_invalid_cluster_script_raises_one_line_bad_input_with_the_file_name(
    document: Any, words: str, tmp_path: Path
) -> None:
    file = tmp_path / "script.json"
    file.write_text(document if isinstance(document, str) else json.dumps(document), encoding="utf-8")
    with pytest.raises(BadInput, match=words) as raised:
        load_script(file)
    assert str(raised.value).startswith(f"script {file}: ")
    assert "\n" not in str(raised.value)


def test_missing_cluster_script_file_raises_bad_input_with_the_reason(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"none.json cannot be read: No such file or directory$"):
        load_script(tmp_path / "none.json")
