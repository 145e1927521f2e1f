"""Stories told by the reference: each of the article's, in a release it is told for and in today's."""

from __future__ import annotations

import pytest

from kafka_reference.delivery import Fault, InvalidScenario, Kind, Outcome, Scenario, simulate
from kafka_reference.delivery.messages import Refused

IN_FLIGHT = "max.in.flight.requests.per.connection"
ONE = {IN_FLIGHT: "1", "enable.idempotence": "false", "retries": "3"}
ERAS = ["0.10.0.1", "0.11.0.3", "1.1.1", "2.4.1", "3.0.0", "4.4.0"]
IDEMPOTENT = {"enable.idempotence": "true", "acks": "all"}


def end(version: str, config: dict[str, str], *faults: Fault, records: int = 3, **partition: int) -> Outcome:
    found = simulate(Scenario(config, records, faults, **partition), version)
    assert isinstance(found, Outcome)
    return found


def at(kind: Kind, request: int, error: str | None = None) -> Fault:
    return Fault(kind, request, error)


@pytest.mark.parametrize("version", ERAS)
@pytest.mark.parametrize("acks", ["0", "1", "all"])
def test_without_a_fault_everything_is_there_once(version: str, acks: str) -> None:
    found = end(version, {**ONE, "acks": acks})
    assert (found.log, found.acknowledged) == ((0, 1, 2), (0, 1, 2))
    assert (found.lost, found.doubled, found.reordered, found.failed, found.unanswered) == ((), (), (), (), ())


@pytest.mark.parametrize("version", ERAS)
def test_acks_0_loses_what_the_network_loses_and_is_told_nothing(version: str) -> None:
    found = end(version, {**ONE, "acks": "0"}, at(Kind.LOSE_REQUEST, 2))
    assert (found.log, found.acknowledged, found.lost) == ((0, 2), (0, 1, 2), (1,))


@pytest.mark.parametrize("version", ERAS)
def test_acks_1_loses_what_no_follower_had(version: str) -> None:
    found = end(version, {**ONE, "acks": "1"}, at(Kind.CRASH_UNREPLICATED, 2))
    assert (found.log, found.acknowledged, found.lost) == ((0, 2), (0, 1, 2), (1,))


@pytest.mark.parametrize("version", ERAS)
def test_acks_all_loses_nothing_then(version: str) -> None:
    found = end(version, {**ONE, "acks": "all"}, at(Kind.CRASH_UNREPLICATED, 2))
    assert (found.log, found.lost, found.doubled) == ((0, 1, 2), (), ())


@pytest.mark.parametrize("version", ERAS)
@pytest.mark.parametrize("acks", ["1", "all"])
def test_a_lost_response_doubles(version: str, acks: str) -> None:
    found = end(version, {**ONE, "acks": acks}, at(Kind.LOSE_RESPONSE, 2))
    assert (found.log, found.doubled) == ((0, 1, 1, 2), (1,))


@pytest.mark.parametrize("version", ERAS)
def test_without_retries_the_application_is_told_and_it_is_there_all_the_same(version: str) -> None:
    found = end(version, {**ONE, "acks": "1", "retries": "0"}, at(Kind.LOSE_RESPONSE, 2))
    assert found.log == (0, 1, 2)
    assert [record for record, _ in found.failed] == [1]


@pytest.mark.parametrize("version", ERAS)
def test_a_retry_with_others_in_flight_reorders(version: str) -> None:
    several = {**ONE, IN_FLIGHT: "3", "acks": "all"}
    found = end(version, several, at(Kind.REFUSE, 1, "NOT_LEADER_OR_FOLLOWER"))
    assert (found.log, found.reordered) == ((1, 2, 0), (0,))
    assert end(version, {**several, IN_FLIGHT: "1"}, at(Kind.REFUSE, 1, "NOT_LEADER_OR_FOLLOWER")).reordered == ()


@pytest.mark.parametrize("version", ERAS[1:])
@pytest.mark.parametrize("kind", [kind for kind in Kind if kind not in (Kind.REFUSE, Kind.RESTART_PRODUCER)])
@pytest.mark.parametrize("request_", [1, 2, 3, 4])
def test_idempotence_keeps_each_once_and_in_order(version: str, kind: Kind, request_: int) -> None:
    found = end(version, IDEMPOTENT, at(kind, request_), records=4)
    assert found.log == (0, 1, 2, 3)


@pytest.mark.parametrize("version", ERAS[2:])
def test_idempotent_batches_behind_a_refused_one_are_out_of_order_until_it_comes(version: str) -> None:
    one_known = {**IDEMPOTENT, IN_FLIGHT: "3"}
    found = end(version, one_known, at(Kind.REFUSE, 2, "NOT_LEADER_OR_FOLLOWER"), records=4)
    assert found.log == (0, 1, 2, 3)
    assert [one.came for one in found.requests][1:4] == [
        "NOT_LEADER_OR_FOLLOWER",
        *["OUT_OF_ORDER_SEQUENCE_NUMBER"] * 2,
    ]


@pytest.mark.parametrize(("version", "log"), [("2.4.1", (0, 1, 2)), ("2.5.1", (1, 2)), ("4.4.0", (1, 2))])
def test_since_2_5_a_refused_first_batch_is_lost_to_those_behind_it(version: str, log: tuple[int, ...]) -> None:
    """KIP-360: an unknown producer may begin with any sequence, so the second batch does, and the first never can again."""
    found = end(version, IDEMPOTENT, at(Kind.REFUSE, 1, "NOT_LEADER_OR_FOLLOWER"))
    assert found.log == log
    assert [record for record, _ in found.failed] == ([] if 0 in log else [0])


@pytest.mark.parametrize("version", ERAS[1:])
def test_a_producer_that_begins_anew_is_not_recognised(version: str) -> None:
    found = end(version, {**IDEMPOTENT, IN_FLIGHT: "1"}, at(Kind.RESTART_PRODUCER, 2))
    assert (found.log, found.doubled) == ((0, 1, 1, 2), (1,))
    assert [one.batch.producer_id for one in found.requests] == [7, 7, 8, 8]


def test_a_new_leader_knows_the_producers_of_what_it_has() -> None:
    found = end("4.4.0", {}, at(Kind.CRASH_REPLICATED, 2))
    assert "duplicate" in [one.came for one in found.requests]
    assert found.log == (0, 1, 2)


def test_acks_all_wants_enough_replicas() -> None:
    found = end("4.4.0", {}, at(Kind.CRASH_BEFORE, 1), replicas=3, min_insync_replicas=3)
    assert "NOT_ENOUGH_REPLICAS" in [one.came for one in found.requests]
    assert found.log == (0, 1, 2)
    assert "NOT_ENOUGH_REPLICAS" not in [one.came for one in end("4.4.0", {}, at(Kind.CRASH_BEFORE, 1)).requests]


def test_the_default_is_idempotent_today_and_was_not() -> None:
    assert end("4.4.0", {}, at(Kind.LOSE_RESPONSE, 2)).doubled == ()
    assert end("3.0.0", {}, at(Kind.LOSE_RESPONSE, 2)).doubled == (1,)
    assert end("4.4.0", {"acks": "1"}, at(Kind.LOSE_RESPONSE, 2)).doubled == (1,)


def test_many_in_flight_take_no_longer_than_there_are_records() -> None:
    assert end("3.9.2", {IN_FLIGHT: "2147483647", "enable.idempotence": "false"}).log == (0, 1, 2)


def test_there_is_no_such_producer() -> None:
    found = simulate(Scenario({"acks": "1", "enable.idempotence": "true"}, 1), "4.4.0")
    assert isinstance(found, Refused)
    assert (found.error, found.message) == (
        "ConfigException",
        "Must set acks to all in order to use the idempotent producer. Otherwise we cannot guarantee idempotence.",
    )


@pytest.mark.parametrize(
    ("faults", "partition", "said"),
    [
        ([at(Kind.LOSE_REQUEST, 0)], {}, "counted from 1"),
        ([at(Kind.LOSE_REQUEST, 2), at(Kind.LOSE_RESPONSE, 2)], {}, "two faults at request 2"),
        ([at(Kind.REFUSE, 2)], {}, "an error goes with refuse"),
        ([at(Kind.LOSE_REQUEST, 2, "NONE")], {}, "an error goes with refuse"),
        ([at(Kind.CRASH_BEFORE, 1), at(Kind.CRASH_BEFORE, 2)], {"replicas": 2}, "2 crashes want 3 replicas"),
        ([], {"replicas": 2, "min_insync_replicas": 3}, "3 of 2 replicas"),
    ],
)
def test_stories_that_cannot_be(faults: list[Fault], partition: dict[str, int], said: str) -> None:
    with pytest.raises(InvalidScenario, match=said):
        simulate(Scenario({}, 3, faults, **partition))
