"""Parse the values of a configuration as Kafka's ``ConfigDef`` does, and report the first invalid one.

A name that is not defined is ignored. Leading and trailing characters up to U+0020 are trimmed from texts. A boolean is
``true`` or ``false`` in any case (Java upper-cases ``ſ`` to ``S``). A number is at most one sign, then digits of any script.
The error for an unreadable text contains it as written, the error for an invalid value contains it as parsed.

A value that is not text has to be of the setting's type. An int is an Integer if it fits in 32 bits, else a Long, which no
INT setting takes. A STRING setting takes no number: ``acks`` is ``"1"``, never ``1``. These errors have the text that Kafka
uses since 0.10.2.0.

A setting whose value is null is set, to null. This is an error if the definition validates values, and passes otherwise.

Java source mirrored: ``ConfigDef.parse``, ``parseType``, ``Range``, ``ValidString``, ``NonEmptyString``, every release.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from kafka_reference.errors import ConfigException
from kafka_reference.java.int32 import INT_MAX, INT_MIN

__all__ = [
    "Definition",
    "Value",
    "anything",
    "at_least",
    "boolean",
    "integer",
    "invalid",
    "long",
    "one_of",
    "parse",
    "string",
]

Value: TypeAlias = bool | int | str | None

_TRIMMED = "".join(map(chr, range(0x21)))
_DIGITS = re.compile(r"[+-]?[0-9]+", re.ASCII)
_LONG_MIN, _LONG_MAX = -(2**63), 2**63 - 1
_JAVA_CLASSES = {bool: "java.lang.Boolean", float: "java.lang.Double", str: "java.lang.String"}


@dataclass(frozen=True, slots=True)
class Definition:
    """A setting: its name, how its value is parsed, how the result is validated, and its default."""

    name: str
    parse: Callable[[str, object], Value]
    validate: Callable[[str, Value], None]
    default: Value


def parse(config: Mapping[str, object], definitions: Iterable[Definition]) -> dict[str, Value]:
    """Return the value of every defined setting, by name. Raises ConfigException, with Kafka's text, for an invalid one."""
    values: dict[str, Value] = {}
    for definition in definitions:
        name, value = definition.name, definition.default
        if name in config:
            given = config[name]
            value = None if given is None else definition.parse(name, given)
        definition.validate(name, value)
        values[name] = value
    return values


def boolean(name: str, value: object) -> bool:
    """Parse a BOOLEAN. Raises ConfigException."""
    word = value.strip(_TRIMMED).upper() if isinstance(value, str) else value
    if word in ("TRUE", "FALSE") or isinstance(word, bool):
        return word in ("TRUE", True)
    raise invalid(name, value, "Expected value to be either true or false")


def integer(name: str, value: object) -> int:
    """Parse an INT. Raises ConfigException."""
    return _number(name, value, INT_MIN, INT_MAX, "INT", "a 32-bit integer")


def long(name: str, value: object) -> int:  # unreached: for settings that questions have parsed
    """Parse a LONG. Raises ConfigException."""
    return _number(name, value, _LONG_MIN, _LONG_MAX, "LONG", "a 64-bit integer (long)")


def _number(name: str, value: object, least: int, most: int, kind: str, what: str) -> int:
    if isinstance(value, str):
        digits = "".join(map(_digit, value.strip(_TRIMMED)))
        # A number has as many digits as the largest one at most, and any number of leading zeros.
        if _DIGITS.fullmatch(digits) and len(digits.lstrip("+-").lstrip("0")) <= len(str(most)):
            number = int(digits)
            if least <= number <= most:
                return number
        raise invalid(name, value, f"Not a number of type {kind}")
    # unreached: questions have texts
    if isinstance(value, int) and not isinstance(value, bool) and least <= value <= most:
        return value
    # unreached: questions have texts
    raise invalid(name, value, f"Expected value to be {what}, but it was a {_java_class(value)}")


def _digit(sign: str) -> str:
    """Return the ASCII digit for a digit of any script. Java reads 16 bits at a time: beyond U+FFFF nothing is a digit."""
    number = unicodedata.decimal(sign, None) if sign <= "\uffff" else None
    return sign if number is None else str(number)


def string(name: str, value: object) -> str:
    """Parse a STRING. Raises ConfigException."""
    if isinstance(value, str):
        return value.strip(_TRIMMED)
    # unreached: questions have texts
    raise invalid(name, value, f"Expected value to be a string, but it was a {_java_class(value)}")


def _java_class(value: object) -> str:  # unreached: questions have texts
    if isinstance(value, int) and not isinstance(value, bool):
        fits = "Integer" if INT_MIN <= value <= INT_MAX else "Long" if _LONG_MIN <= value <= _LONG_MAX else ""
        return f"java.lang.{fits}" if fits else "java.math.BigInteger"
    return _JAVA_CLASSES.get(type(value), type(value).__name__)


def at_least(least: int) -> Callable[[str, Value], None]:
    """Return a validator for numbers of at least ``least``."""

    def check(name: str, value: Value) -> None:
        if value is None:
            raise invalid(name, value, "Value must be non-null")
        if isinstance(value, int) and value < least:
            raise invalid(name, value, f"Value must be at least {least}")

    return check


def one_of(*texts: str) -> Callable[[str, Value], None]:
    """Return a validator for one of these texts."""

    def check(name: str, value: Value) -> None:
        if value not in texts:
            raise invalid(name, value, f"String must be one of: {', '.join(texts)}")

    return check


def anything(_: str, __: Value) -> None:
    """Accept every value."""


def invalid(name: str, value: object, why: str) -> ConfigException:
    """Return the error for an invalid value, with Kafka's text."""
    shown = "null" if value is None else str(value).lower() if isinstance(value, bool) else value
    return ConfigException(f"Invalid value {shown} for configuration {name}: {why}")
