"""``delivery``: options become a scenario, its outcome is printed; bad options are one clear line."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kafka_conformance.cli.commands import delivery
from kafka_conformance.core.errors import BadInput

DEFAULTS: dict[str, Any] = {
    "kafka": "newest", "answerer_name": "reference", "explain": False, "as_json": False, "refuse": (), "acks": None,
    "refuse_after_append": (), "retries": None, "in_flight": None, "idempotence": None, "replicas": 3,
    "min_insync_replicas": 1, "records": 3,
    "lose_request": (), "lose_response": (), "crash_before": (), "crash_unreplicated": (),
    "crash_replicated": (), "restart_producer": (), "stop_follower": (), "resume_follower": (), "shrink_isr": (),
    "shrink_isr_after_append": (), "unclean_leader_election": False,
}  # fmt: skip


def printed(capsys: pytest.CaptureFixture[str], **options: Any) -> str:
    assert delivery.run(**{**DEFAULTS, **options}) == 0
    return capsys.readouterr().out


def test_lost_response_with_acks_1_prints_the_duplicated_record(capsys: pytest.CaptureFixture[str]) -> None:
    out = printed(capsys, acks="1", in_flight="1", lose_response=(2,))
    assert "log           0 1 1 2" in out
    assert "doubled       1: in the log more than once" in out
    assert "arrives" not in out


def test_delivery_explain_prints_the_outcome_of_each_request(capsys: pytest.CaptureFixture[str]) -> None:
    out = printed(capsys, explain=True, lose_response=(1,))
    assert "duplicate of 0, not appended" in out
    assert "Every record is in the log once, in order." in out


def test_delivery_with_invalid_producer_settings_exits_with_2(capsys: pytest.CaptureFixture[str]) -> None:
    assert delivery.run(**{**DEFAULTS, "acks": "1", "idempotence": "true", "explain": True}) == 2
    out = capsys.readouterr().out
    assert "The producer cannot be constructed: ConfigException: Must set acks to all" in out


@pytest.mark.parametrize("error", ["NOT_ENOUGH_REPLICAS_AFTER_APPEND", "REQUEST_TIMED_OUT"])
def test_retry_without_idempotence_after_error_returned_after_append_prints_the_record_twice(
    capsys: pytest.CaptureFixture[str], error: str
) -> None:
    out = printed(capsys, acks="all", idempotence="false", in_flight="1", refuse=(f"1={error}",), records=2)
    assert "log           0 0 1" in out
    assert "Every record is in the log once" not in out


def test_min_insync_replicas_above_replica_count_fails_produce_in_3_6_2_but_not_in_newest(
    capsys: pytest.CaptureFixture[str],
) -> None:
    alone = {
        "acks": "all",
        "idempotence": "false",
        "retries": "1",
        "replicas": 1,
        "min_insync_replicas": 3,
        "records": 1,
    }
    assert "acknowledged  0" in printed(capsys, **alone)
    assert "failed        0: NotEnoughReplicasException" in printed(capsys, kafka="3.6.2", **alone)


def test_delivery_json_has_question_and_answer_of_the_driver_protocol(capsys: pytest.CaptureFixture[str]) -> None:
    document = json.loads(printed(capsys, as_json=True, acks="0", kafka="0.10.0.1", lose_request=(2,)))
    assert (document["rule"], document["kafka"]) == ("delivery", "0.10.0.1")
    assert document["question"]["faults"] == [{"op": "lose_request", "request": 2}]
    assert document["answer"]["lost"] == [1]


def test_delivery_with_follower_faults_prints_the_log_of_every_replica(capsys: pytest.CaptureFixture[str]) -> None:
    faults = {"stop_follower": ("1=1", "1=2"), "shrink_isr_after_append": (1,), "crash_before": (2,)}
    out = printed(capsys, in_flight="1", unclean_leader_election=True, explain=True, **faults)
    assert "log of 2" in out
    assert "lost          0: acknowledged, but not in the log" in out
    assert "replica 1     1 2; leader, in sync, high watermark 2" in out


def test_delivery_json_has_in_sync_replicas_only_if_followers_have_faults(capsys: pytest.CaptureFixture[str]) -> None:
    document = json.loads(printed(capsys, as_json=True, stop_follower=("2=1",), shrink_isr=(3,), acks="1"))
    assert document["question"]["faults"][0] == {"op": "stop_follower", "request": 2, "replica": 1}
    assert document["answer"]["partition"]["in_sync"] == [0, 2]
    assert "partition" not in json.loads(printed(capsys, as_json=True))["answer"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"refuse": ("x",)}, "--refuse x"),
        ({"refuse": ("2=nope",)}, "--refuse 2=nope"),
        ({"lose_request": (2,), "lose_response": (2,)}, "two faults at request 2"),
        ({"refuse_after_append": ("2=nope",)}, "--refuse-after-append 2=nope"),
        ({"refuse_after_append": ("2=CORRUPT_MESSAGE",)}, "no broker gives it after an append"),
        (
            {"refuse": ("2=NETWORK_EXCEPTION",)},
            "refuse 2=NETWORK_EXCEPTION: no broker answers a produce request with it",
        ),
        ({"refuse": ("2=REQUEST_TIMED_OUT",), "acks": "1"}, "only requests with acks=all wait"),
        ({"refuse": ("2=SUCH_AN_ERROR",)}, "unknown error 'SUCH_AN_ERROR'"),
        ({"crash_before": (1, 2, 3)}, "3 crashes with 3 replicas: set at least 4"),
        ({"lose_response": (99,)}, "--lose-response 99: the producer sends 3 requests here: choose 1 to 3"),
        ({"refuse": ("9",)}, "--refuse 9: the producer sends 3 requests"),
        ({"acks": "x" * 30}, "impossible scenario"),
        ({"stop_follower": ("2",)}, "--stop-follower 2: expected REQUEST=REPLICA, such as 2=1"),
        ({"resume_follower": ("2=9",)}, "--resume-follower 2=9: expected REQUEST=REPLICA"),
        ({"stop_follower": ("2=5",)}, "stop-follower of replica 5 with 3 replicas: choose 0 to 2"),
        ({"shrink_isr": (9,)}, "--shrink-isr 9: the producer sends 3 requests here"),
        ({"kafka": "banana"}, "banana"),
        ({"answerer_name": "nobody"}, "nobody"),
        ({"answerer_name": "mutant:signed-tail"}, "signed-tail"),
    ],
)
def test_delivery_with_impossible_fault_or_setting_is_refused_in_one_line(options: dict[str, Any], words: str) -> None:
    with pytest.raises(BadInput, match=words) as raised:
        delivery.run(**{**DEFAULTS, **options})
    assert "\n" not in str(raised.value)
