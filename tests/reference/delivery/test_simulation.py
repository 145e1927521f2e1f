"""Scenarios of the page on delivery, simulated in several releases."""

from __future__ import annotations

import doctest

import pytest

from kafka_reference import delivery
from kafka_reference.delivery import Fault, InvalidProducer, InvalidScenario, Kind, Outcome, Scenario, simulate
from kafka_reference.delivery.faults import FOLLOWERS
from kafka_reference.delivery.produce_errors import PRODUCE_ERRORS, Moment
from kafka_reference.idempotence.errors import produce_errors

IN_FLIGHT = "max.in.flight.requests.per.connection"
ONE = {IN_FLIGHT: "1", "enable.idempotence": "false", "retries": "3"}
RELEASES = ["0.10.0.1", "0.11.0.3", "1.1.1", "2.4.1", "3.0.0", "4.4.0"]
IDEMPOTENT = {"enable.idempotence": "true", "acks": "all"}


def outcome(version: str, config: dict[str, str], *faults: Fault, records: int = 3, **partition: int) -> Outcome:
    found = simulate(Scenario(config, records, faults, **partition), version)
    assert isinstance(found, Outcome)
    return found


def fault(kind: Kind, request: int, error: str | None = None) -> Fault:
    return Fault(kind, request, error)


@pytest.mark.parametrize("version", RELEASES)
@pytest.mark.parametrize("acks", ["0", "1", "all"])
def test_scenario_without_faults_writes_every_record_once(version: str, acks: str) -> None:
    found = outcome(version, {**ONE, "acks": acks})
    assert (found.log, found.acknowledged) == ((0, 1, 2), (0, 1, 2))
    assert (found.lost, found.doubled, found.reordered, found.failed, found.unanswered) == ((), (), (), (), ())


@pytest.mark.parametrize("version", RELEASES)
def test_acks_0_acknowledges_the_record_of_a_lost_request(version: str) -> None:
    found = outcome(version, {**ONE, "acks": "0"}, fault(Kind.LOSE_REQUEST, 2))
    assert (found.log, found.acknowledged, found.lost) == ((0, 2), (0, 1, 2), (1,))


@pytest.mark.parametrize("version", RELEASES)
def test_acks_1_loses_unreplicated_record_when_leader_crashes(version: str) -> None:
    found = outcome(version, {**ONE, "acks": "1"}, fault(Kind.CRASH_UNREPLICATED, 2))
    assert (found.log, found.acknowledged, found.lost) == ((0, 2), (0, 1, 2), (1,))


@pytest.mark.parametrize("version", RELEASES)
def test_acks_all_loses_no_record_when_leader_crashes_before_replication(version: str) -> None:
    found = outcome(version, {**ONE, "acks": "all"}, fault(Kind.CRASH_UNREPLICATED, 2))
    assert (found.log, found.lost, found.doubled) == ((0, 1, 2), (), ())


@pytest.mark.parametrize("version", RELEASES)
@pytest.mark.parametrize("acks", ["1", "all"])
def test_lost_response_duplicates_the_record_without_idempotence(version: str, acks: str) -> None:
    found = outcome(version, {**ONE, "acks": acks}, fault(Kind.LOSE_RESPONSE, 2))
    assert (found.log, found.doubled) == ((0, 1, 1, 2), (1,))


@pytest.mark.parametrize("version", RELEASES)
def test_record_that_failed_without_retries_is_in_the_log_after_lost_response(version: str) -> None:
    found = outcome(version, {**ONE, "acks": "1", "retries": "0"}, fault(Kind.LOSE_RESPONSE, 2))
    assert found.log == (0, 1, 2)
    assert [record for record, _ in found.failed] == [1]


@pytest.mark.parametrize("version", RELEASES)
def test_retry_with_several_requests_in_flight_reorders_records(version: str) -> None:
    several = {**ONE, IN_FLIGHT: "3", "acks": "all"}
    found = outcome(version, several, fault(Kind.REFUSE, 1, "NOT_LEADER_OR_FOLLOWER"))
    assert (found.log, found.reordered) == ((1, 2, 0), (0,))
    assert (
        outcome(version, {**several, IN_FLIGHT: "1"}, fault(Kind.REFUSE, 1, "NOT_LEADER_OR_FOLLOWER")).reordered == ()
    )


@pytest.mark.parametrize("version", RELEASES[1:])
@pytest.mark.parametrize(
    "kind", [kind for kind in Kind if kind not in {Kind.REFUSE, Kind.RESTART_PRODUCER} | FOLLOWERS]
)
@pytest.mark.parametrize("request_", [1, 2, 3, 4])
def test_one_loss_crash_or_error_after_append_leaves_idempotent_records_once_and_in_order(
    version: str, kind: Kind, request_: int
) -> None:
    error = "NOT_LEADER_OR_FOLLOWER" if kind is Kind.REFUSE_AFTER_APPEND else None
    found = outcome(version, IDEMPOTENT, fault(kind, request_, error), records=4)
    assert found.log == (0, 1, 2, 3)


@pytest.mark.parametrize("version", RELEASES)
@pytest.mark.parametrize(
    ("kind", "error", "is_appended"),
    [
        (Kind.REFUSE, "NOT_ENOUGH_REPLICAS", False),
        (Kind.REFUSE, "NOT_LEADER_OR_FOLLOWER", False),
        (Kind.REFUSE, "NOT_ENOUGH_REPLICAS_AFTER_APPEND", True),
        (Kind.REFUSE, "REQUEST_TIMED_OUT", True),
        (Kind.REFUSE_AFTER_APPEND, "REQUEST_TIMED_OUT", True),
        (Kind.REFUSE_AFTER_APPEND, "NOT_LEADER_OR_FOLLOWER", True),
        (Kind.REFUSE_AFTER_APPEND, "UNKNOWN_TOPIC_OR_PARTITION", True),
    ],
)
def test_retry_duplicates_the_record_only_if_the_error_follows_the_append(
    version: str, kind: Kind, error: str, is_appended: bool
) -> None:
    found = outcome(version, {**ONE, "acks": "all"}, fault(kind, 3, error), records=4)
    assert (found.log, found.doubled) == (((0, 1, 2, 2, 3), (2,)) if is_appended else ((0, 1, 2, 3), ()))
    assert (found.requests[2].result, found.requests[2].offset) == (error, 2 if is_appended else None)


def test_idempotent_retry_after_error_following_the_append_is_a_duplicate() -> None:
    errors = [fault(Kind.REFUSE, 2, "REQUEST_TIMED_OUT"), fault(Kind.REFUSE_AFTER_APPEND, 3, "NOT_LEADER_OR_FOLLOWER")]
    found = outcome("4.4.0", {IN_FLIGHT: "1"}, *errors)
    assert [(one.result, one.offset) for one in found.requests][1:4] == [
        ("REQUEST_TIMED_OUT", 1), ("NOT_LEADER_OR_FOLLOWER", 1), ("duplicate", 1),
    ]  # fmt: skip
    assert found.log == (0, 1, 2)


def test_error_after_append_without_retries_fails_a_record_that_is_in_the_log() -> None:
    found = outcome("4.4.0", {**ONE, "retries": "0"}, fault(Kind.REFUSE, 2, "NOT_ENOUGH_REPLICAS_AFTER_APPEND"))
    assert (found.failed, found.log) == (((1, "NotEnoughReplicasAfterAppendException"),), (0, 1, 2))


@pytest.mark.parametrize(
    ("version", "config", "kind", "error", "message"),
    [
        ("4.4.0", {}, Kind.REFUSE, "NETWORK_EXCEPTION", "use lose-request or lose-response"),
        ("4.4.0", {}, Kind.REFUSE, "PRODUCER_FENCED", "a transaction coordinator answers with it"),
        ("4.4.0", {"acks": "1"}, Kind.REFUSE, "REQUEST_TIMED_OUT", "only requests with acks=all wait for followers"),
        ("4.4.0", {"acks": "0"}, Kind.REFUSE, "NOT_ENOUGH_REPLICAS", "only requests with acks=all wait for followers"),
        ("2.8.2", {}, Kind.REFUSE_AFTER_APPEND, "NOT_LEADER_OR_FOLLOWER", "only requests with acks=all wait"),
        ("4.4.0", ONE, Kind.REFUSE, "OUT_OF_ORDER_SEQUENCE_NUMBER", "only requests of an idempotent producer"),
        ("4.4.0", {}, Kind.REFUSE, "UNKNOWN_PRODUCER_ID", "no broker of release 4.4.0 .* 1.0.0 to 2.4.x do"),
        ("2.8.2", IDEMPOTENT, Kind.REFUSE, "CLUSTER_AUTHORIZATION_FAILED", "no broker of release 2.8.2"),
        ("4.4.0", {}, Kind.REFUSE_AFTER_APPEND, "MESSAGE_TOO_LARGE", "no broker gives it after an append: use refuse"),
    ],
)
def test_scenario_with_error_that_brokers_never_return_to_such_a_request_raises_invalid_scenario(
    version: str, config: dict[str, str], kind: Kind, error: str, message: str
) -> None:
    with pytest.raises(InvalidScenario, match=message):
        simulate(Scenario(config, 3, [fault(kind, 2, error)]), version)


def test_every_produce_error_is_assigned_to_before_or_after_the_append() -> None:
    names = {name for version in RELEASES for name in produce_errors(version)} - {"NONE"}
    assert names == set(PRODUCE_ERRORS)
    assert {name for name, given in PRODUCE_ERRORS.items() if given.moment is Moment.AFTER} == {
        "REQUEST_TIMED_OUT", "NOT_ENOUGH_REPLICAS_AFTER_APPEND",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("version", "acks", "result"),
    [
        ("3.6.2", "all", "NOT_ENOUGH_REPLICAS"), ("3.6.2", "1", "written"), ("3.6.2", "0", "written"),
        ("3.7.0", "all", "written"), ("4.4.0", "all", "written"), ("4.4.0", "1", "written"),
    ],
)  # fmt: skip
@pytest.mark.parametrize(("replicas", "needed"), [(1, 2), (1, 9), (2, 3), (3, 4)])
def test_min_isr_above_replica_count_is_capped_since_3_7_and_refuses_acks_all_before(
    version: str, acks: str, result: str, replicas: int, needed: int
) -> None:
    found = outcome(version, {**ONE, "acks": acks}, replicas=replicas, min_insync_replicas=needed)
    assert {one.result for one in found.requests} == {result}
    assert found.log == ((0, 1, 2) if result == "written" else ())


@pytest.mark.parametrize("version", RELEASES[2:])
def test_idempotent_batches_sent_after_a_refused_batch_get_out_of_order_errors(version: str) -> None:
    three_in_flight = {**IDEMPOTENT, IN_FLIGHT: "3"}
    found = outcome(version, three_in_flight, fault(Kind.REFUSE, 2, "NOT_LEADER_OR_FOLLOWER"), records=4)
    assert found.log == (0, 1, 2, 3)
    assert [one.result for one in found.requests][1:4] == [
        "NOT_LEADER_OR_FOLLOWER",
        *["OUT_OF_ORDER_SEQUENCE_NUMBER"] * 2,
    ]


@pytest.mark.parametrize(("version", "log"), [("2.4.1", (0, 1, 2)), ("2.5.1", (1, 2)), ("4.4.0", (1, 2))])
def test_first_idempotent_batch_refused_with_later_batches_in_flight_fails_since_2_5(
    version: str, log: tuple[int, ...]
) -> None:
    """KIP-360: an unknown producer may start at any sequence, so the second batch is appended and the first never is."""
    found = outcome(version, IDEMPOTENT, fault(Kind.REFUSE, 1, "NOT_LEADER_OR_FOLLOWER"))
    assert found.log == log
    assert [record for record, _ in found.failed] == ([] if 0 in log else [0])


@pytest.mark.parametrize(
    ("version", "lost", "unanswered"),
    [("1.1.1", (6, 7), (4,)), ("2.0.1", (6, 7), (4,)), ("2.3.1", (), ()), ("4.4.0", (), ())],
)
def test_failed_batches_of_previous_producer_id_lose_acknowledged_records_up_to_2_2(
    version: str, lost: tuple[int, ...], unanswered: tuple[int, ...]
) -> None:
    errors = [fault(Kind.REFUSE, 1, "OUT_OF_ORDER_SEQUENCE_NUMBER"), fault(Kind.REFUSE, 2, "MESSAGE_TOO_LARGE")]
    found = outcome(version, IDEMPOTENT, *errors, records=8)
    assert (found.lost, found.unanswered) == (lost, unanswered)


@pytest.mark.parametrize("version", RELEASES[1:])
def test_restarted_producer_with_new_id_duplicates_a_record(version: str) -> None:
    found = outcome(version, {**IDEMPOTENT, IN_FLIGHT: "1"}, fault(Kind.RESTART_PRODUCER, 2))
    assert (found.log, found.doubled) == ((0, 1, 1, 2), (1,))
    assert [one.batch.producer_id for one in found.requests] == [7, 7, 8, 8]


def test_new_leader_answers_retry_of_replicated_batch_as_duplicate() -> None:
    found = outcome("4.4.0", {}, fault(Kind.CRASH_REPLICATED, 2))
    assert "duplicate" in [one.result for one in found.requests]
    assert found.log == (0, 1, 2)


def test_acks_all_is_refused_while_isr_is_below_min_insync_replicas() -> None:
    found = outcome("4.4.0", {}, fault(Kind.CRASH_BEFORE, 1), replicas=3, min_insync_replicas=3)
    assert "NOT_ENOUGH_REPLICAS" in [one.result for one in found.requests]
    assert found.log == (0, 1, 2)
    assert "NOT_ENOUGH_REPLICAS" not in [
        one.result for one in outcome("4.4.0", {}, fault(Kind.CRASH_BEFORE, 1)).requests
    ]


def test_lost_response_duplicates_record_in_3_0_0_and_in_4_4_0_only_with_acks_1() -> None:
    assert outcome("4.4.0", {}, fault(Kind.LOSE_RESPONSE, 2)).doubled == ()
    assert outcome("3.0.0", {}, fault(Kind.LOSE_RESPONSE, 2)).doubled == (1,)
    assert outcome("4.4.0", {"acks": "1"}, fault(Kind.LOSE_RESPONSE, 2)).doubled == (1,)


def test_simulation_with_2_billion_in_flight_requests_ends_after_all_records() -> None:
    assert outcome("3.9.2", {IN_FLIGHT: "2147483647", "enable.idempotence": "false"}).log == (0, 1, 2)


def test_simulation_of_invalid_producer_config_returns_config_exception() -> None:
    found = simulate(Scenario({"acks": "1", "enable.idempotence": "true"}, 1), "4.4.0")
    assert isinstance(found, InvalidProducer)
    assert (found.error, found.message) == (
        "ConfigException",
        "Must set acks to all in order to use the idempotent producer. Otherwise we cannot guarantee idempotence.",
    )


@pytest.mark.parametrize(
    ("faults", "partition", "message"),
    [
        ([fault(Kind.LOSE_REQUEST, 0)], {}, "numbered from 1"),
        ([fault(Kind.LOSE_REQUEST, 2), fault(Kind.LOSE_RESPONSE, 2)], {}, "two faults at request 2"),
        ([fault(Kind.REFUSE, 2)], {}, "refuse with no error: refuse and"),
        ([fault(Kind.LOSE_REQUEST, 2, "NONE")], {}, "lose-request with error NONE: refuse and"),
        (
            [fault(Kind.CRASH_BEFORE, 1), fault(Kind.CRASH_BEFORE, 2)],
            {"replicas": 2},
            "2 crashes with 2 replicas: set at least 3",
        ),
        ([], {"min_insync_replicas": 0}, "min.insync.replicas 0: Kafka accepts 1 or more"),
        ([], {"replicas": 0}, "0 replicas: a partition has at least 1"),
        ([Fault(Kind.STOP_FOLLOWER, 1)], {}, "stop-follower with no replica"),
        ([Fault(Kind.SHRINK_ISR, 1, replica=1)], {}, "shrink-isr with replica 1"),
        ([Fault(Kind.STOP_FOLLOWER, 1, replica=3)], {}, "stop-follower of replica 3 with 3 replicas: choose 0 to 2"),
        ([Fault(Kind.SHRINK_ISR, 0)], {}, "numbered from 1"),
        (
            [Fault(Kind.SHRINK_ISR_AFTER_APPEND, 2), Fault(Kind.CRASH_BEFORE, 2)],
            {},
            "the leader crashes at request 2, before replica.lag.time.max.ms has passed",
        ),
    ],
)
def test_scenario_with_impossible_faults_or_partition_settings_raises_invalid_scenario_with_reason(
    faults: list[Fault], partition: dict[str, int], message: str
) -> None:
    with pytest.raises(InvalidScenario, match=message):
        simulate(Scenario({}, 3, faults, **partition))


def test_docstring_examples_of_delivery_simulation_module_pass() -> None:
    assert doctest.testmod(delivery.simulation) == (0, 3)
