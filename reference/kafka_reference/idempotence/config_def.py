"""Parse the texts of a producer configuration, and report the first invalid one.

Settings are parsed in the order of their definitions: ``retries``, ``acks``, ``max.in.flight.requests.per.connection``,
``enable.idempotence``, ``transaction.timeout.ms``, ``transactional.id``, ``transaction.two.phase.commit.enable`` (since
4.1.0). Up to 0.10.2.x there are three, in the order of a hash map of names: ``acks``, ``retries``,
``max.in.flight.requests.per.connection``. The first invalid value is reported and ends the parsing. A name that the release
does not define is ignored.

Leading and trailing characters up to U+0020 are trimmed. A boolean is ``true`` or ``false`` in any case (Java upper-cases
``ſ`` to ``S``). An int is at most one sign, then digits of any script. The error for an unreadable text contains it as
written, the error for an invalid value contains it as parsed.

A setting whose value is null is set, to null. This is an error if the definition validates values (``retries``, ``acks``,
``max.in.flight.requests.per.connection``), and passes otherwise.

Java source mirrored: ``ConfigDef.parse``, ``parseType``, ``Range``, ``ValidString``, ``NonEmptyString``, and the
definitions of ``ProducerConfig``, 0.10.0.1 to 4.4.0.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

from kafka_reference.errors import ConfigException
from kafka_reference.idempotence.config_behaviour import (
    ACKS,
    IDEMPOTENCE,
    IN_FLIGHT,
    RETRIES,
    TRANSACTION_TIMEOUT,
    TRANSACTIONAL_ID,
    TWO_PHASE_COMMIT,
    ProducerConfigBehaviour,
)
from kafka_reference.java.int32 import INT_MAX, INT_MIN

__all__ = ["Value", "parse_config"]

Value: TypeAlias = bool | int | str | None

_TRIMMED = "".join(map(chr, range(0x21)))
_DIGITS = re.compile(r"[+-]?[0-9]+", re.ASCII)
_ACKS = ("all", "-1", "0", "1")


def _boolean(name: str, text: str) -> bool:
    word = text.strip(_TRIMMED).upper()
    if word not in ("TRUE", "FALSE"):
        raise _invalid(name, text, "Expected value to be either true or false")
    return word == "TRUE"


def _integer(name: str, text: str) -> int:
    digits = "".join(map(_digit, text.strip(_TRIMMED)))
    # An int has ten digits at most, and any number of leading zeros.
    if _DIGITS.fullmatch(digits) and len(digits.lstrip("+-").lstrip("0")) <= 10:
        number = int(digits)
        if INT_MIN <= number <= INT_MAX:
            return number
    raise _invalid(name, text, "Not a number of type INT")


def _digit(sign: str) -> str:
    """Return the ASCII digit for a digit of any script. Java reads 16 bits at a time: beyond U+FFFF nothing is a digit."""
    number = unicodedata.decimal(sign, None) if sign <= "\uffff" else None
    return sign if number is None else str(number)


def _string(_: str, text: str) -> str:
    return text.strip(_TRIMMED)


def _at_least(least: int) -> Callable[[str, Value], None]:
    def check(name: str, value: Value) -> None:
        if value is None:
            raise _invalid(name, value, "Value must be non-null")
        if isinstance(value, int) and value < least:
            raise _invalid(name, value, f"Value must be at least {least}")

    return check


def _valid_acks(name: str, value: Value) -> None:
    if value not in _ACKS:
        raise _invalid(name, value, f"String must be one of: {', '.join(_ACKS)}")


def _non_empty(name: str, value: Value) -> None:
    if value == "":
        raise _invalid(name, value, "String must be non-empty")


def _anything(_: str, __: Value) -> None:
    pass


def _invalid(name: str, value: Value, why: str) -> ConfigException:
    shown = "null" if value is None else value
    return ConfigException(f"Invalid value {shown} for configuration {name}: {why}")


@dataclass(frozen=True, slots=True)
class _Definition:
    """A setting: its name, how its text is parsed, how the value is validated, and its default."""

    name: str
    parse: Callable[[str, str], Value]
    validate: Callable[[str, Value], None]
    default: Value


@lru_cache(maxsize=64)
def _definitions(behaviour: ProducerConfigBehaviour) -> tuple[_Definition, ...]:
    """Return the definitions in the order in which they are parsed."""
    retries = _Definition(RETRIES, _integer, _at_least(0), behaviour.default_retries)
    acks = _Definition(ACKS, _string, _valid_acks, behaviour.default_acks)
    found = [acks, retries] if behaviour.parses_in_hash_order else [retries, acks]
    found.append(_Definition(IN_FLIGHT, _integer, _at_least(1), 5))
    if behaviour.defines_idempotence:
        found += [
            _Definition(IDEMPOTENCE, _boolean, _anything, behaviour.default_idempotence),
            _Definition(TRANSACTION_TIMEOUT, _integer, _anything, 60_000),
            _Definition(TRANSACTIONAL_ID, _string, _non_empty, None),
        ]
    if behaviour.defines_two_phase_commit:
        found.append(_Definition(TWO_PHASE_COMMIT, _boolean, _anything, False))
    return tuple(found)


def parse_config(config: Mapping[str, str | None], behaviour: ProducerConfigBehaviour) -> dict[str, Value]:
    """Return the value of every setting that the release defines, by name.

    Raises ConfigException, with Kafka's text, for the first invalid one.
    """
    values: dict[str, Value] = {}
    for definition in _definitions(behaviour):
        name, value = definition.name, definition.default
        if name in config:
            text = config[name]
            value = None if text is None else definition.parse(name, text)
        definition.validate(name, value)
        values[name] = value
    return values
