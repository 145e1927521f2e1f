"""``delivery``: options to a story, told in words; one clear line for what cannot be."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kafka_conformance.cli.commands import delivery
from kafka_conformance.core.errors import BadInput

LEFT_ALONE: dict[str, Any] = {
    "kafka": "newest", "who": "reference", "explain": False, "as_json": False, "refuse": (), "acks": None, "retries": None,
    "in_flight": None, "idempotence": None, "replicas": 3, "min_insync_replicas": 1, "records": 3, "lose_request": (),
    "lose_response": (), "crash_before": (), "crash_unreplicated": (), "crash_replicated": (), "restart_producer": (),
}  # fmt: skip


def said(capsys: pytest.CaptureFixture[str], **options: Any) -> str:
    assert delivery.run(**{**LEFT_ALONE, **options}) == 0
    return capsys.readouterr().out


def test_a_doubled_record_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    out = said(capsys, acks="1", in_flight="1", lose_response=(2,))
    assert "log           0 1 1 2" in out
    assert "doubled       1: in the log more than once" in out
    assert "arrives" not in out


def test_the_story_is_told_request_by_request(capsys: pytest.CaptureFixture[str]) -> None:
    out = said(capsys, explain=True, lose_response=(1,))
    assert "known, at 0: not written again" in out
    assert "Every record is there once, in order." in out


def test_a_producer_that_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    out = said(capsys, acks="1", idempotence="true", explain=True)
    assert "There is no such producer: ConfigException: Must set acks to all" in out


def test_json_is_a_line_of_the_protocol(capsys: pytest.CaptureFixture[str]) -> None:
    document = json.loads(said(capsys, as_json=True, acks="0", kafka="0.10.0.1", lose_request=(2,)))
    assert (document["rule"], document["kafka"]) == ("delivery", "0.10.0.1")
    assert document["question"]["faults"] == [{"op": "lose_request", "request": 2}]
    assert document["answer"]["lost"] == [1]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"refuse": ("x",)}, "--refuse x"),
        ({"refuse": ("2=nope",)}, "--refuse 2=nope"),
        ({"lose_request": (2,), "lose_response": (2,)}, "two faults at request 2"),
        ({"min_insync_replicas": 4}, "4 of 3 replicas"),
        ({"crash_before": (1, 2, 3)}, "3 crashes want 4 replicas"),
        ({"acks": "x" * 30}, "no story can be made of this"),
        ({"kafka": "banana"}, "banana"),
        ({"who": "nobody"}, "nobody"),
        ({"who": "mutant:signed-tail"}, "signed-tail"),
    ],
)
def test_bad_input_is_one_clear_line(options: dict[str, Any], words: str) -> None:
    with pytest.raises(BadInput, match=words) as raised:
        delivery.run(**{**LEFT_ALONE, **options})
    assert "\n" not in str(raised.value)
