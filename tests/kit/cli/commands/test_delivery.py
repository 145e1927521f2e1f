"""``delivery``: options become a scenario, its outcome is printed; bad options are one clear line."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kafka_conformance.cli.commands import delivery
from kafka_conformance.core.errors import BadInput

DEFAULTS: dict[str, Any] = {
    "kafka": "newest", "answerer_name": "reference", "explain": False, "as_json": False, "refuse": (), "acks": None,
    "retries": None, "in_flight": None, "idempotence": None, "replicas": 3, "min_insync_replicas": 1, "records": 3,
    "lose_request": (), "lose_response": (), "crash_before": (), "crash_unreplicated": (),
    "crash_replicated": (), "restart_producer": (),
}  # fmt: skip


def printed(capsys: pytest.CaptureFixture[str], **options: Any) -> str:
    assert delivery.run(**{**DEFAULTS, **options}) == 0
    return capsys.readouterr().out


def test_a_doubled_record_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    out = printed(capsys, acks="1", in_flight="1", lose_response=(2,))
    assert "log           0 1 1 2" in out
    assert "doubled       1: in the log more than once" in out
    assert "arrives" not in out


def test_explain_prints_each_request(capsys: pytest.CaptureFixture[str]) -> None:
    out = printed(capsys, explain=True, lose_response=(1,))
    assert "duplicate of 0, not appended" in out
    assert "Every record is in the log once, in order." in out


def test_an_invalid_producer(capsys: pytest.CaptureFixture[str]) -> None:
    assert delivery.run(**{**DEFAULTS, "acks": "1", "idempotence": "true", "explain": True}) == 2
    out = capsys.readouterr().out
    assert "The producer cannot be constructed: ConfigException: Must set acks to all" in out


def test_json_is_a_line_of_the_protocol(capsys: pytest.CaptureFixture[str]) -> None:
    document = json.loads(printed(capsys, as_json=True, acks="0", kafka="0.10.0.1", lose_request=(2,)))
    assert (document["rule"], document["kafka"]) == ("delivery", "0.10.0.1")
    assert document["question"]["faults"] == [{"op": "lose_request", "request": 2}]
    assert document["answer"]["lost"] == [1]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"refuse": ("x",)}, "--refuse x"),
        ({"refuse": ("2=nope",)}, "--refuse 2=nope"),
        ({"lose_request": (2,), "lose_response": (2,)}, "two faults at request 2"),
        ({"min_insync_replicas": 4}, "min.insync.replicas 4 with 3 replicas: choose 1 to 3"),
        ({"crash_before": (1, 2, 3)}, "3 crashes with 3 replicas: set at least 4"),
        ({"lose_response": (99,)}, "--lose-response 99: the producer sends 3 requests here: choose 1 to 3"),
        ({"refuse": ("9",)}, "--refuse 9: the producer sends 3 requests"),
        ({"acks": "x" * 30}, "impossible scenario"),
        ({"kafka": "banana"}, "banana"),
        ({"answerer_name": "nobody"}, "nobody"),
        ({"answerer_name": "mutant:signed-tail"}, "signed-tail"),
    ],
)
def test_bad_input_is_one_clear_line(options: dict[str, Any], words: str) -> None:
    with pytest.raises(BadInput, match=words) as raised:
        delivery.run(**{**DEFAULTS, **options})
    assert "\n" not in str(raised.value)
