"""Stories in words: each fault on the wire, each thing a leader does, each thing a producer hears."""

from __future__ import annotations

from collections.abc import Sequence

from kafka_conformance.rules.delivery.explain_text import ends_in_words, requests_in_words, setting_in_words
from kafka_conformance.rules.delivery.question import KINDS, AskedFault, AskedPartition, AskedProducer, DeliveryQuestion
from kafka_conformance.rules.delivery.rule import RULE
from kafka_reference.releases import NEWEST

NOT_IDEMPOTENT = AskedProducer("1", "3", "1", "false")


def rows(*faults: AskedFault, producer: AskedProducer = NOT_IDEMPOTENT) -> list[Sequence[str]]:
    question = DeliveryQuestion(producer, AskedPartition(), 2, faults)
    return list(requests_in_words(question, RULE.ask(question, NEWEST)))


def test_setting() -> None:
    said = setting_in_words(DeliveryQuestion(NOT_IDEMPOTENT, AskedPartition(5, 2), 1))
    assert said == (
        "1 record, acks=1, retries=3, max.in.flight.requests.per.connection=1, enable.idempotence=false, 5 replicas, "
        "min.insync.replicas=2"
    )
    assert setting_in_words(DeliveryQuestion()).startswith("3 records, nothing configured, ")


def test_what_happens_at_a_fault() -> None:
    told = {op: rows(AskedFault(op, 1, "NOT_LEADER_OR_FOLLOWER" if op == "refuse" else None))[0][2:] for op in KINDS}
    assert told == {
        "lose_request": ("the connection is cut before it arrives", "never there", "the connection is gone"),
        "lose_response": (
            "arrives; the connection is cut before its response does", "written at 0", "the connection is gone",
        ),
        "refuse": ("arrives", "refused: NOT_LEADER_OR_FOLLOWER", "NOT_LEADER_OR_FOLLOWER"),
        "crash_before": ("the leader crashes first", "never there", "the connection is gone"),
        "crash_unreplicated": (
            "arrives; the leader crashes before a follower has it", "written at 0, and lost with it",
            "acknowledged; then the connection is gone",
        ),
        "crash_replicated": (
            "arrives; the leader crashes once followers have it", "written at 0",
            "acknowledged; then the connection is gone",
        ),
        "restart_producer": (
            "arrives; the producer ends before it hears of it", "written at 0", "a new producer begins",
        ),
    }  # fmt: skip


def test_acks_0_wants_no_response() -> None:
    assert rows(producer=AskedProducer("0"))[0] == ("1", "0", "arrives", "written at 0", "no response is wanted")


def test_numbers_of_an_idempotent_producer() -> None:
    told = rows(AskedFault("lose_response", 1), producer=AskedProducer())
    assert told[1] == (
        "2",
        "0, producer 7, epoch 0, sequence 0",
        "arrives",
        "known, at 0: not written again",
        "acknowledged",
    )


def test_ends() -> None:
    answer = {
        "log": [1, 1, 0], "acknowledged": [0, 1, 4], "failed": [[2, "TimeoutException"], [1, "X"]], "unanswered": [3],
        "lost": [4], "doubled": [1], "reordered": [0],
    }  # fmt: skip
    assert list(ends_in_words(answer)) == [
        "log           1 1 0",
        "acknowledged  0 1 4",
        "failed        2: TimeoutException, and not in the log",
        "failed        1: X, and yet in the log",
        "unanswered    3: nobody told the application what became of it",
        "lost          4: acknowledged, and not in the log",
        "doubled       1: in the log more than once",
        "reordered     0: in the log behind a later one",
    ]
    assert list(ends_in_words({"raises": "ConfigException"})) == ["There is no such producer: ConfigException"]
