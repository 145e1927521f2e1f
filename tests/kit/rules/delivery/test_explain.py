"""The text of a scenario: each fault, each result at the leader, each response to the producer."""

from __future__ import annotations

from collections.abc import Sequence

from kafka_conformance.rules.delivery.explain import columns, outcome_text, request_rows, setting_text
from kafka_conformance.rules.delivery.question import (
    NETWORK_KINDS,
    AskedFault,
    AskedPartition,
    AskedProducer,
    DeliveryQuestion,
)
from kafka_conformance.rules.delivery.rule import RULE
from kafka_reference.releases import NEWEST

NOT_IDEMPOTENT = AskedProducer("1", "3", "1", "false")


def rows(*faults: AskedFault, producer: AskedProducer = NOT_IDEMPOTENT) -> list[Sequence[str]]:
    question = DeliveryQuestion(producer, AskedPartition(), 2, faults)
    return list(request_rows(question, RULE.ask(question, NEWEST)))


def test_delivery_setting_text_names_producer_settings_and_replicas() -> None:
    text = setting_text(DeliveryQuestion(NOT_IDEMPOTENT, AskedPartition(5, 2), 1))
    assert text == (
        "1 record, acks=1, retries=3, max.in.flight.requests.per.connection=1, enable.idempotence=false, 5 replicas, "
        "min.insync.replicas=2"
    )
    assert setting_text(DeliveryQuestion()).startswith("3 records, default settings, ")


def test_request_row_shows_fault_leader_outcome_and_response() -> None:
    shown = {
        op: rows(AskedFault(op, 1, "NOT_LEADER_OR_FOLLOWER" if op.startswith("refuse") else None))[0][2:]
        for op in NETWORK_KINDS
    }
    assert shown == {
        "lose_request": ("connection closes before it arrives", "not received", "connection closed"),
        "lose_response": (
            "arrives; connection closes before the response", "appended at 0", "connection closed",
        ),
        "refuse": ("arrives", "refused: NOT_LEADER_OR_FOLLOWER", "NOT_LEADER_OR_FOLLOWER"),
        "refuse_after_append": ("arrives", "in the log at 0, not acknowledged", "NOT_LEADER_OR_FOLLOWER"),
        "crash_before": ("leader crashes before it arrives", "not received", "connection closed"),
        "crash_unreplicated": (
            "arrives; leader crashes before replication", "appended at 0, lost in the crash",
            "acknowledged; connection closed",
        ),
        "crash_replicated": (
            "arrives; leader crashes after replication", "appended at 0", "acknowledged; connection closed",
        ),
        "restart_producer": ("arrives; producer ends before the response", "appended at 0", "new producer starts"),
    }  # fmt: skip


def test_request_row_with_acks_0_shows_no_response() -> None:
    assert rows(producer=AskedProducer("0"))[0] == ("1", "0", "arrives", "appended at 0", "no response with acks=0")


def test_request_row_shows_producer_id_epoch_sequence_and_duplicate() -> None:
    shown = rows(AskedFault("lose_response", 1), producer=AskedProducer())
    assert shown[1] == (
        "2",
        "0, producer 7, epoch 0, sequence 0",
        "arrives",
        "duplicate of 0, not appended",
        "acknowledged",
    )


def test_outcome_text_shows_outcomes_of_records_or_exception_of_the_producer_constructor() -> None:
    answer = {
        "log": [1, 1, 0], "acknowledged": [0, 1, 4], "failed": [[2, "TimeoutException"], [1, "X"]], "unanswered": [3],
        "lost": [4], "doubled": [1], "reordered": [0],
    }  # fmt: skip
    assert list(outcome_text(answer)) == [
        "log           1 1 0",
        "acknowledged  0 1 4",
        "failed        2: TimeoutException, not in the log",
        "failed        1: X, but in the log",
        "unanswered    3: neither acknowledged nor failed",
        "lost          4: acknowledged, but not in the log",
        "doubled       1: in the log more than once",
        "reordered     0: in the log behind a later record",
    ]
    assert list(outcome_text({"raises": "ConfigException"})) == ["The producer cannot be constructed: ConfigException"]


def stopped(*others: AskedFault, partition: AskedPartition) -> DeliveryQuestion:
    stops = tuple(AskedFault("stop_follower", 1, replica=replica) for replica in range(1, partition.replicas))
    return DeliveryQuestion(AskedProducer("all", "9", "1", "false"), partition, 2, (*stops, *others))


def test_request_row_shows_leader_isr_and_high_watermark_after_request() -> None:
    question = stopped(
        AskedFault("shrink_isr_after_append", 1), AskedFault("crash_before", 2), AskedFault("resume_follower", 4, replica=1),
        partition=AskedPartition(2),
    )  # fmt: skip
    answer = RULE.ask(question, NEWEST)
    assert columns(answer)[5:] == ("leads", "ISR", "HW", "log of 0", "log of 1")
    first, second, third, fourth = request_rows(question, answer)
    assert first[2:] == (
        "replica 1 stops; arrives; lag time passes", "appended at 0", "acknowledged", "0", "0", "1", "0", "empty",
    )  # fmt: skip
    assert second[2:] == (
        "leader crashes before it arrives", "not received", "connection closed", "none", "0", "none", "0", "empty",
    )  # fmt: skip
    assert third[2:5] == ("no replica leads; connection closes", "not received", "connection closed")
    assert fourth[2:] == ("replica 1 is back; arrives", "appended at 1", "acknowledged", "0", "0 1", "2", "0 1", "0 1")
    assert list(outcome_text(answer))[-2:] == [
        "replica 0     0 1; leader, in sync, high watermark 2",
        "replica 1     0 1; in sync, high watermark 2",
    ]


def test_record_whose_acks_time_out_before_isr_shrinks_is_shown_as_not_acknowledged() -> None:
    question = stopped(AskedFault("shrink_isr", 2), partition=AskedPartition(2))
    first, second, *_ = request_rows(question, RULE.ask(question, NEWEST))
    assert first[3:5] == ("in the log at 0, not acknowledged", "REQUEST_TIMED_OUT")
    assert second[2] == "lag time passes; arrives"


def test_outcome_text_reports_partition_without_leader() -> None:
    producer, partition = AskedProducer("0", None, "1"), AskedPartition(2)
    stops = AskedFault("stop_follower", 1, replica=1), AskedFault("shrink_isr_after_append", 1)
    question = DeliveryQuestion(producer, partition, 2, (*stops, AskedFault("crash_before", 2)))
    answer = RULE.ask(question, NEWEST)
    assert list(outcome_text(answer))[-1] == "No replica leads."
    assert answer["log"] == [0]


def test_unclean_leader_election_is_named_in_setting_text_and_adds_replica_log_columns() -> None:
    question = DeliveryQuestion(partition=AskedPartition(unclean_leader_election=True))
    assert setting_text(question).endswith("min.insync.replicas=1, unclean.leader.election.enable=true")
    assert columns(RULE.ask(question, NEWEST))[-1] == "log of 2"
    assert columns(RULE.ask(DeliveryQuestion(), NEWEST))[-1] == "producer"
