"""How the texts of a configuration become values, and which bad one is complained about: the part before any rule.

Every definition is looked at, in an order that is part of what a user sees, since the first bad value ends it:

============ ===========================================================================================================
to 0.10.2    the order of a hash map of names: ``acks``, ``retries``, ``max.in.flight.requests.per.connection``
0.11 on      the order they are defined in: ``retries``, ``acks``, ``max.in.flight.requests.per.connection``,
             ``enable.idempotence``, ``transaction.timeout.ms``, ``transactional.id``, and from 4.1 on
             ``transaction.two.phase.commit.enable``
============ ===========================================================================================================

A name that is not defined in a release is no error: it is ignored, with a warning.

Blanks around a text, and whatever else is below U+0021, do not count. A boolean is ``true`` or ``false`` in any case
(to Java, ``ſ`` is an ``s`` there). An int is digits, of any script that has them, after at most one sign. What cannot be
read is complained about as it was written; what was read and is not valid, as it was read.

A setting whose value is null is set, to nothing. That is an error where the definition looks at values (``retries``,
``acks``, ``max.in.flight.requests.per.connection``), and passes where it does not.

Java source mirrored: ``ConfigDef.parse``, ``parseType``, ``Range``, ``ValidString``, ``NonEmptyString``, and the
definitions of ``ProducerConfig``, 0.10.0.1 to 4.4.0.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from kafka_reference.errors import ConfigException
from kafka_reference.releases import Release, Spans, since

__all__ = ["Value", "parsed"]

Value = bool | int | str | None

_INT_MIN, _INT_MAX = -(2**31), 2**31 - 1
_NOT_COUNTED = "".join(map(chr, range(0x21)))
_DIGITS = re.compile(r"[+-]?[0-9]+", re.ASCII)
_ACKS = ("all", "-1", "0", "1")


def _boolean(name: str, text: str) -> bool:
    word = text.strip(_NOT_COUNTED).upper()
    if word not in ("TRUE", "FALSE"):
        raise _invalid(name, text, "Expected value to be either true or false")
    return word == "TRUE"


def _integer(name: str, text: str) -> int:
    digits = "".join(map(_digit, text.strip(_NOT_COUNTED)))
    # An int has ten digits at most; zeros in front are as many as one likes.
    if _DIGITS.fullmatch(digits) and len(digits.lstrip("+-").lstrip("0")) <= 10:
        number = int(digits)
        if _INT_MIN <= number <= _INT_MAX:
            return number
    raise _invalid(name, text, "Not a number of type INT")


def _digit(sign: str) -> str:
    """An ASCII digit for a digit of any script; Java looks at 16 bits at a time, so beyond them nothing is a digit."""
    number = unicodedata.decimal(sign, None) if sign <= "\uffff" else None
    return sign if number is None else str(number)


def _string(_: str, text: str) -> str:
    return text.strip(_NOT_COUNTED)


def _at_least(least: int) -> Callable[[str, Value], None]:
    def check(name: str, value: Value) -> None:
        if value is None:
            raise _invalid(name, value, "Value must be non-null")
        if isinstance(value, int) and value < least:
            raise _invalid(name, value, f"Value must be at least {least}")

    return check


def _one_of_the_acks(name: str, value: Value) -> None:
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
    """A name, the releases that define it, its default by releases, how a text of it is read, what of that is valid."""

    name: str
    releases: Spans
    read: Callable[[str, str], Value]
    valid: Callable[[str, Value], None]
    defaults: tuple[tuple[Spans, Value], ...]


_EVER = since("0.10.0.0")
_IDEMPOTENCE = since("0.11.0.0")
_RETRIES_0, _RETRIES_MAX = since("0.10.0.0", until="2.0.1"), since("2.1.0")
_ACKS_1, _ACKS_ALL = since("0.10.0.0", until="2.8.2"), since("3.0.0")
_OFF, _ON = since("0.11.0.0", until="2.8.2"), since("3.0.0")

_DEFINITIONS = (
    _Definition("retries", _EVER, _integer, _at_least(0), ((_RETRIES_0, 0), (_RETRIES_MAX, _INT_MAX))),
    _Definition("acks", _EVER, _string, _one_of_the_acks, ((_ACKS_1, "1"), (_ACKS_ALL, "all"))),
    _Definition("max.in.flight.requests.per.connection", _EVER, _integer, _at_least(1), ((_EVER, 5),)),
    _Definition("enable.idempotence", _IDEMPOTENCE, _boolean, _anything, ((_OFF, False), (_ON, True))),
    _Definition("transaction.timeout.ms", _IDEMPOTENCE, _integer, _anything, ((_IDEMPOTENCE, 60000),)),
    _Definition("transactional.id", _IDEMPOTENCE, _string, _non_empty, ((_IDEMPOTENCE, None),)),
    _Definition("transaction.two.phase.commit.enable", since("4.1.0"), _boolean, _anything, ((since("4.1.0"), False),)),
)
_HASHED = since("0.10.0.0", until="0.10.2.2")
_HASH_ORDER = ("acks", "retries", "max.in.flight.requests.per.connection")


@lru_cache(maxsize=64)
def _defined(at: Release) -> tuple[tuple[_Definition, Value], ...]:
    """The release's definitions, each with its default, in the order in which they are looked at."""

    def found() -> Iterator[tuple[_Definition, Value]]:
        for one in _DEFINITIONS:
            if at in one.releases:
                yield one, next(value for spans, value in one.defaults if at in spans)

    return tuple(sorted(found(), key=lambda pair: _HASH_ORDER.index(pair[0].name)) if at in _HASHED else found())


def parsed(config: Mapping[str, str | None], at: Release) -> dict[str, Value]:
    """The values of every setting that release ``at`` defines, by name.

    Raises ConfigException, in Kafka's words, for the first bad one.
    """
    values: dict[str, Value] = {}
    for definition, default in _defined(at):
        name, value = definition.name, default
        if name in config:
            text = config[name]
            value = None if text is None else definition.read(name, text)
        definition.valid(name, value)
        values[name] = value
    return values
