"""How texts are parsed: the values and the messages of Java's ConfigDef."""

from __future__ import annotations

from typing import Any

import pytest

from kafka_reference.errors import ConfigException
from kafka_reference.idempotence.config_behaviour import ProducerConfigBehaviour
from kafka_reference.idempotence.config_def import parse_config

IN_FLIGHT = "max.in.flight.requests.per.connection"


def parse(config: dict[str, str | None], version: str = "4.4.0") -> dict[str, Any]:
    return parse_config(config, ProducerConfigBehaviour.of(version))


def read(version: str, **config: str | None) -> dict[str, Any]:
    return parse({name.replace("_", "."): text for name, text in config.items()}, version)


def refused(config: dict[str, str | None], version: str = "4.4.0") -> str:
    with pytest.raises(ConfigException) as raised:
        parse(config, version)
    assert raised.value.message is not None
    return raised.value.message


@pytest.mark.parametrize(
    ("text", "value"), [("7", 7), ("+7\x00", 7), (" \t7\n", 7), ("007", 7), ("\u0663", 3), ("2147483647", 2**31 - 1)]
)
def test_int_setting_accepts_sign_whitespace_and_unicode_digits_like_java(text: str, value: int) -> None:
    assert read("4.4.0", retries=text)["retries"] == value


@pytest.mark.parametrize(
    "text", ["2147483648", "-2147483649", "", "+", "5.0", "many", "\u00a01", "--1", "1_0", "\U0001d7d9", "1" + 11 * "0"]
)
def test_invalid_int_setting_is_refused_with_java_message(text: str) -> None:
    assert refused({"retries": text}) == f"Invalid value {text} for configuration retries: Not a number of type INT"


@pytest.mark.parametrize(
    ("text", "value"), [("true", True), (" TRUE\t", True), ("False", False), ("fal\u017fe", False)]
)
def test_boolean_setting_ignores_case_and_whitespace_like_java(text: str, value: bool) -> None:
    assert read("4.4.0", enable_idempotence=text)["enable.idempotence"] is value


@pytest.mark.parametrize("text", ["", "1", "yes", "truee"])
def test_invalid_boolean_setting_is_refused_with_java_message(text: str) -> None:
    assert refused({"enable.idempotence": text}) == (
        f"Invalid value {text} for configuration enable.idempotence: Expected value to be either true or false"
    )


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("retries", "-1", "Invalid value -1 for configuration retries: Value must be at least 0"),
        ("retries", None, "Invalid value null for configuration retries: Value must be non-null"),
        ("acks", "ALL", "Invalid value ALL for configuration acks: String must be one of: all, -1, 0, 1"),
        ("acks", " 2 ", "Invalid value 2 for configuration acks: String must be one of: all, -1, 0, 1"),
        ("acks", None, "Invalid value null for configuration acks: String must be one of: all, -1, 0, 1"),
        (IN_FLIGHT, "0", f"Invalid value 0 for configuration {IN_FLIGHT}: Value must be at least 1"),
        ("transactional.id", " ", "Invalid value  for configuration transactional.id: String must be non-empty"),
    ],
)
def test_setting_out_of_range_or_null_is_refused_with_java_message(name: str, text: str | None, message: str) -> None:
    assert refused({name: text}) == message


def test_null_is_accepted_for_settings_without_validator() -> None:
    config: dict[str, str | None] = {
        "enable.idempotence": None,
        "transactional.id": None,
        "transaction.timeout.ms": None,
    }
    assert parse(config).items() >= config.items()


# Of two invalid texts the first in the order of definitions is reported; up to 0.10.2.x in the order of a hash map.
def test_config_exception_names_first_of_two_invalid_settings_in_definition_order_since_0_11() -> None:
    both: dict[str, str | None] = {"acks": "2", "retries": "-1"}
    assert "acks" in refused(both, "0.10.2.2")
    assert "retries" in refused(both, "0.11.0.0")
    assert "retries" in refused(both, "4.4.0")
    assert "acks" in refused({IN_FLIGHT: "0", "acks": "2"})


def test_setting_name_undefined_in_a_release_is_ignored() -> None:
    assert "enable.idempotence" not in read("0.10.2.2", enable_idempotence="maybe")
    assert "transaction.two.phase.commit.enable" not in read("4.0.2", transaction_two_phase_commit_enable="maybe")
    assert refused({"transaction.two.phase.commit.enable": "maybe"}, "4.1.0")


@pytest.mark.parametrize(
    ("version", "acks", "retries", "idempotence"),
    [
        ("0.10.0.1", "1", 0, None),
        ("0.11.0.0", "1", 0, False),
        ("2.0.1", "1", 0, False),
        ("2.1.0", "1", 2**31 - 1, False),
        ("2.8.2", "1", 2**31 - 1, False),
        ("3.0.0", "all", 2**31 - 1, True),
        ("4.4.0", "all", 2**31 - 1, True),
    ],
)
def test_defaults_of_acks_retries_in_flight_and_idempotence_are_those_of_the_release(
    version: str, acks: str, retries: int, idempotence: bool | None
) -> None:
    values = read(version)
    assert (values["acks"], values["retries"], values[IN_FLIGHT]) == (acks, retries, 5)
    assert values.get("enable.idempotence") is idempotence
