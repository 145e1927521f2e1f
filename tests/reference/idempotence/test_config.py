"""Effective producer settings: a row for each change, as Java answered."""

from __future__ import annotations

import pytest

from kafka_jars.pins import load
from kafka_reference.behaviour import overridden
from kafka_reference.errors import ConfigException, NullPointerException
from kafka_reference.idempotence.config import ProducerOutcome, producer_outcome
from kafka_reference.idempotence.config_behaviour import ProducerConfigBehaviour

MOST = 2**31 - 1
IN_FLIGHT = "max.in.flight.requests.per.connection"
RETRIES = "Must set retries to non-zero when using the idempotent producer."
ACKS = "Must set acks to all in order to use the idempotent producer. Otherwise we cannot guarantee idempotence."
ID = "Cannot set a transactional.id without also enabling idempotence."
FIVE = "Must set max.in.flight.requests.per.connection to at most 5 to use the idempotent producer."
Config = dict[str, "str | None"]


def outcome(
    idempotent: bool, acks: int, retries: int, in_flight: int = 5, *, transactional: bool = False
) -> ProducerOutcome:
    return ProducerOutcome(idempotent, transactional, acks, retries, in_flight, in_flight == 1)


def refused(version: str, config: Config) -> str:
    with pytest.raises(ConfigException) as raised:
        producer_outcome(config, version)
    assert raised.value.message is not None
    return raised.value.message


@pytest.mark.parametrize(
    ("version", "nothing", "asked"),
    [
        ("0.10.2.2", outcome(False, 1, 0), outcome(False, 1, 0)),
        ("0.11.0.0", outcome(False, 1, 0), outcome(True, -1, MOST, 1)),
        ("1.0.0", outcome(False, 1, 0), outcome(True, -1, MOST)),
        ("2.1.0", outcome(False, 1, MOST), outcome(True, -1, MOST)),
        ("3.0.0", outcome(False, -1, MOST), outcome(True, -1, MOST)),
        ("3.0.1", outcome(True, -1, MOST), outcome(True, -1, MOST)),
        ("3.1.0", outcome(False, -1, MOST), outcome(True, -1, MOST)),
        ("3.1.1", outcome(True, -1, MOST), outcome(True, -1, MOST)),
        ("4.4.0", outcome(True, -1, MOST), outcome(True, -1, MOST)),
    ],
)
def test_default_and_idempotent_producers_have_acks_retries_and_in_flight_of_the_release(
    version: str, nothing: ProducerOutcome, asked: ProducerOutcome
) -> None:
    """KAFKA-13598 is in two rows: 3.0.0 and 3.1.0, each followed by a release with the fix."""
    assert producer_outcome({}, version) == nothing
    assert producer_outcome({"enable.idempotence": "true"}, version) == asked


# Each conflict alone: with enable.idempotence unset it is off, with true it is an error.
@pytest.mark.parametrize("conflict", ["retries 0", "acks 1", f"{IN_FLIGHT} 6"])
@pytest.mark.parametrize("version", ["3.0.1", "3.1.1", "3.9.2"])
def test_conflicting_setting_disables_default_idempotence_and_throws_if_requested(version: str, conflict: str) -> None:
    name, value = conflict.split()
    assert not producer_outcome({name: value}, version).idempotent
    message = {"retries": RETRIES, "acks": ACKS, IN_FLIGHT: FIVE}[name]
    assert refused(version, {name: value, "enable.idempotence": "true"}) == message


def test_six_in_flight_requests_throw_unless_idempotence_is_disabled_since_4_0() -> None:
    message = (
        "To use the idempotent producer, max.in.flight.requests.per.connection must be set to at most 5."
        " Current value is 6."
    )
    for config in ({}, {"enable.idempotence": "true"}, {"acks": "1"}, {"retries": "0"}):
        assert refused("4.0.0", {IN_FLIGHT: "6", **config}) == message
    assert producer_outcome({IN_FLIGHT: "6", "enable.idempotence": "false"}, "4.0.0") == outcome(False, -1, MOST, 6)


def test_idempotence_in_0_11_allows_only_one_request_in_flight() -> None:
    message = (
        "Must set max.in.flight.requests.per.connection to 1 in orderto use the idempotent producer."
        " Otherwise we cannot guarantee idempotence."
    )
    assert refused("0.11.0.3", {"enable.idempotence": "true", IN_FLIGHT: "5"}) == message
    assert producer_outcome({"enable.idempotence": "true", IN_FLIGHT: "5"}, "1.0.0").idempotent


@pytest.mark.parametrize(
    ("version", "order"),
    [
        ("2.0.1", [RETRIES, FIVE, ACKS]),
        ("2.1.0", [FIVE, RETRIES, ACKS]),
        ("2.4.1", [FIVE, RETRIES, ACKS]),
        ("2.5.0", [RETRIES, ACKS, FIVE]),
        ("3.9.2", [RETRIES, ACKS, FIVE]),
    ],
)
def test_config_exception_names_first_of_several_idempotence_conflicts_in_check_order(
    version: str, order: list[str]
) -> None:
    wrong: dict[str, tuple[str, str]] = {RETRIES: ("retries", "0"), ACKS: ("acks", "1"), FIVE: (IN_FLIGHT, "6")}
    for at in range(len(order)):
        config: Config = {"enable.idempotence": "true", **dict(wrong[each] for each in order[at:])}
        assert refused(version, config) == order[at]


@pytest.mark.parametrize(("version", "message"), [("2.8.2", ACKS), ("3.0.0", ACKS), ("3.0.2", ID), ("4.4.0", ID)])
def test_acks_1_with_transactional_id_names_the_id_in_the_error_since_3_0_1(version: str, message: str) -> None:
    assert refused(version, {"acks": "1", "transactional.id": "id"}) == message


@pytest.mark.parametrize("version", ["0.11.0.0", "2.8.2", "3.0.0", "3.0.1", "4.4.0"])
def test_transactional_id_makes_producer_idempotent_and_refuses_disabled_idempotence(version: str) -> None:
    ends = producer_outcome({"transactional.id": "id"}, version)
    assert ends == outcome(True, -1, MOST, 1 if version == "0.11.0.0" else 5, transactional=True)
    assert refused(version, {"transactional.id": "id", "enable.idempotence": "false"}) == ID


def test_idempotent_producer_with_acks_minus_1_retries_1_and_one_in_flight_guarantees_order() -> None:
    ends = producer_outcome({"acks": "-1", "retries": "1", IN_FLIGHT: "1", "enable.idempotence": "true"})
    assert ends == outcome(True, -1, 1, 1)
    assert ends.guarantee_order


@pytest.mark.parametrize("version", ["2.4.1", "4.4.0"])
def test_disabled_idempotence_keeps_configured_acks_retries_and_in_flight(version: str) -> None:
    config: Config = {"enable.idempotence": "false", "acks": "0", "retries": "0", IN_FLIGHT: "7"}
    assert producer_outcome(config, version) == outcome(False, 0, 0, 7)


def test_two_phase_commit_with_transaction_timeout_throws_since_4_1_after_idempotence_checks() -> None:
    config: Config = {"transaction.two.phase.commit.enable": "true", "transaction.timeout.ms": "60000"}
    assert producer_outcome(config, "4.0.2").idempotent, "not defined yet"
    assert refused("4.1.0", config).startswith("Cannot set transaction.timeout.ms when")
    assert refused("4.1.0", {**config, "enable.idempotence": "false"}).startswith(
        "Cannot set transaction.timeout.ms when"
    )
    assert refused("4.1.0", {**config, "transactional.id": "id", "acks": "1"}) == ID, "reported first"
    assert producer_outcome({**config, "transaction.two.phase.commit.enable": "false"}, "4.1.0").idempotent


# A null timeout is read before all checks, before the last one, after all.
@pytest.mark.parametrize(
    ("version", "first"), [("0.11.0.0", 0), ("2.4.1", 0), ("2.5.0", 2), ("3.1.0", 2), ("3.1.1", 3), ("3.9.2", 3)]
)
def test_null_transaction_timeout_throws_npe_before_or_after_checks_by_release(version: str, first: int) -> None:
    wrong = [("retries", "0"), ("acks", "1"), (IN_FLIGHT, "6")]
    for at, (name, value) in enumerate(wrong):
        config: Config = {"enable.idempotence": "true", "transaction.timeout.ms": None, name: value}
        with pytest.raises(ConfigException if at < first else NullPointerException):
            producer_outcome(config, version)
    with pytest.raises(NullPointerException):
        producer_outcome({"enable.idempotence": "true", "transaction.timeout.ms": None}, version)
    assert producer_outcome({"enable.idempotence": "false", "transaction.timeout.ms": None}, version)


def test_null_transactional_id_enables_idempotence_and_null_enable_idempotence_throws_npe() -> None:
    asked = producer_outcome({"transactional.id": None}, "2.8.2")
    assert (asked.idempotent, asked.transactional) == (True, False)
    assert refused("4.4.0", {"transactional.id": None, "enable.idempotence": "false"}) == ID
    with pytest.raises(NullPointerException):
        producer_outcome({"enable.idempotence": None}, "4.4.0")


def test_check_order_of_every_release_with_idempotence_has_retries_acks_and_in_flight() -> None:
    defining = [one for one in map(ProducerConfigBehaviour.of, load().releases) if one.defines_idempotence]
    assert len(defining) > 70
    assert all({"retries", "acks", IN_FLIGHT} <= set(behaviour.check_order) for behaviour in defining)


def test_setting_that_is_undefined_in_a_release_is_ignored() -> None:
    with overridden(ProducerConfigBehaviour, defines_two_phase_commit=False):
        config: Config = {"transaction.two.phase.commit.enable": "true", "transaction.timeout.ms": "1"}
        assert producer_outcome(config, "4.1.0").idempotent
