"""The lines between the kit and a driver, as types: what the kit writes, and what it accepts from a driver.

The first line of either side is a ``hello``. After that the kit asks (``protocol.Ask``) and the driver answers each id
once, in any order, with one of three outcomes. An unknown field is refused: a misspelt ``grades`` must not silently change
how a driver is compared. So is a field that an object has twice, of which every reader takes another one. A number beyond
±2^53 is refused too, since a JSON reader may have rounded it: it is a string in this protocol.
"""

from __future__ import annotations

import codecs
import contextlib
import json
import re
from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

import msgspec

from kafka_conformance.answerers.driver.protocol_errors import quoted
from kafka_conformance.core.decoding import UNREADABLE
from kafka_conformance.core.events import Grade
from kafka_conformance.core.protocol import PROTOCOL, Answered, Ask, Failed, Outcome, Question, Unsupported
from kafka_conformance.rules import RULES

__all__ = [
    "DEEPEST",
    "LARGEST",
    "AnswerLine",
    "DriverHello",
    "DriverHelloLine",
    "FailedLine",
    "KitHello",
    "KitHelloLine",
    "ProtocolViolation",
    "UnsupportedLine",
    "ask_line",
    "hello_line",
    "read_answer",
    "read_hello",
]  # fmt: skip

LARGEST = 2**53
DEEPEST = 100

_DIGITS = 20
_ID = re.compile(rb'"id"\s*:\s*"(q[0-9]+)"')
_FIRST_FIELD = re.compile(rb'\{\s*"[^"]*"\s*:')
_NUMBER = re.compile(rb"-?[0-9.]+(?:[eE][+-]?[0-9]+)?")


class ProtocolViolation(ValueError):
    """A line violates the protocol: the name of the error, what is wrong, and the id of the question it was meant for."""

    def __init__(self, error: str, what: str, name: str | None = None) -> None:
        super().__init__(what)
        self.error, self.name = error, name


class _Line(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A line, or a part of one."""


class KitHello(_Line, frozen=True):
    """The content of the kit's hello."""

    protocol: Literal[1]


class KitHelloLine(_Line, frozen=True):
    """The kit's first line."""

    hello: KitHello


class DriverHello(_Line, frozen=True):
    """A driver's name, version and language, the rules it answers, and weaker grades by rule."""

    protocol: Literal[1]
    name: str
    version: str
    language: str
    rules: tuple[str, ...]
    grades: dict[str, Grade] = {}


class DriverHelloLine(_Line, frozen=True):
    """A driver's first line."""

    hello: DriverHello


class AnswerLine(_Line, frozen=True):
    """An answer; ``{"raises": …}`` is one too."""

    id: str
    answer: dict[str, Any]


class UnsupportedLine(_Line, frozen=True):
    """The driver does not support this question."""

    id: str
    unsupported: str


class FailedLine(_Line, frozen=True):
    """The driver failed on this question."""

    id: str
    failed: str


_Outcome: TypeAlias = AnswerLine | UnsupportedLine | FailedLine
_KINDS: Mapping[str, type[_Outcome]] = {"answer": AnswerLine, "unsupported": UnsupportedLine, "failed": FailedLine}


def hello_line() -> bytes:
    """Return the kit's first line, with its line feed."""
    return msgspec.json.encode(KitHelloLine(KitHello(PROTOCOL))) + b"\n"


def ask_line(name: str, rule: str, release: str, question: Question) -> bytes:
    """Return the line of a question, with its line feed."""
    return msgspec.json.encode(Ask(name, rule, release, msgspec.Raw(msgspec.json.encode(question)))) + b"\n"


def read_hello(line: bytes) -> DriverHello:
    """Read a driver's first line. Raises ProtocolViolation."""
    decoded = _json(line)
    _check_values(decoded, None)
    hello = decoded.get("hello") if isinstance(decoded, dict) else None
    version = hello.get("protocol") if isinstance(hello, dict) else None
    if type(version) is int and version != PROTOCOL:
        raise ProtocolViolation("version", f"the driver speaks protocol {quoted(str(version))}, not {PROTOCOL}")
    if hello is None:
        raise ProtocolViolation("hello", f"the driver's first line is not a hello: {quoted(line)}")
    try:
        read = msgspec.json.decode(line, type=DriverHelloLine).hello
    except UNREADABLE as error:
        raise ProtocolViolation(
            "hello", f"the driver's hello does not match protocol {PROTOCOL}: {quoted(str(error))}"
        ) from error
    if unknown := [slug for slug in (*read.rules, *read.grades) if slug not in RULES]:
        raise ProtocolViolation("hello", f"the driver's hello names an unknown rule: {quoted(', '.join(unknown))}")
    return read


def read_answer(line: bytes) -> tuple[str, Outcome]:
    """Read an answer: its id and outcome. Raises ProtocolViolation."""
    decoded = _json(line)
    name = decoded.get("id") if isinstance(decoded, dict) else None
    name = name if isinstance(name, str) else None
    _check_values(decoded, name)
    if not isinstance(decoded, dict):
        raise ProtocolViolation("shape", f"the driver wrote JSON that is not an object: {quoted(line)}")
    kinds = [kind for kind in _KINDS if kind in decoded]
    if len(kinds) != 1:
        found = " and ".join(kinds) if kinds else "no outcome"
        raise ProtocolViolation("shape", f"the driver wrote a line with {found} in it: {quoted(line)}", name)
    try:
        read = msgspec.json.decode(line, type=_KINDS[kinds[0]])
    except UNREADABLE as error:
        raise ProtocolViolation(
            "shape", f"the driver wrote a line that is not an answer ({quoted(str(error))}): {quoted(line)}", name
        ) from error
    return read.id, _outcome(read)


def _outcome(decoded: _Outcome) -> Outcome:
    match decoded:
        case AnswerLine(answer=answer):
            return Answered(answer)
        case UnsupportedLine(unsupported=why):
            return Unsupported(quoted(why))
        case FailedLine(failed=what):
            return Failed(quoted(what))


def _check_values(decoded: Any, name: str | None) -> None:
    """Check that every number lies within ±2^53, and that nothing is nested too deep. Raises ProtocolViolation."""
    rest: list[tuple[Any, int]] = [(decoded, 0)]
    while rest:
        value, depth = rest.pop()
        if depth > DEEPEST:
            raise _too_deep(name)
        if isinstance(value, dict):
            rest.extend((each, depth + 1) for each in value.values())
        elif isinstance(value, list):
            rest.extend((each, depth + 1) for each in value)
        elif isinstance(value, int | float) and abs(value) > LARGEST:
            raise _too_large(str(value), name)


def _json(line: bytes) -> Any:
    """Decode a line. Raises ProtocolViolation for no JSON, and for JSON that readers do not agree on."""
    if (encoding := _other_encoding(line)) is not None:
        raise ProtocolViolation("encoding", f"the driver wrote a line {encoding}: {quoted(line)}")
    try:
        decoded = msgspec.json.decode(line)
    except RecursionError as error:
        raise _too_deep(_name_in(line)) from error
    except msgspec.ValidationError as error:  # the only one without a type: a number that fits no type
        number = max(_NUMBER.findall(line), key=len, default=b"a number")
        raise _too_large(number.decode(), _name_in(line)) from error
    except UNREADABLE as error:
        raise _not_json(line) from error
    _check_fields(line)
    return decoded


def _not_json(line: bytes) -> ProtocolViolation:
    """Return what is wrong with a line that is not JSON, as precisely as it shows."""
    with contextlib.suppress(*UNREADABLE):
        msgspec.json.decode(line.decode(errors="replace"))
        what = f"the driver wrote a line that is not UTF-8: {quoted(line)}"
        return ProtocolViolation("encoding", what, _name_in(line))
    if (number := _number_without_json(line)) is not None:
        what = f"the driver wrote {number}, which is not a number in JSON: {quoted(line)}"
        return ProtocolViolation("nan", what, _name_in(line))
    if _begins_object(line.strip()):
        what = f"the driver wrote a line that begins an object and does not end it: {quoted(line)}"
        return ProtocolViolation("indented", what, _name_in(line))
    return ProtocolViolation("noise", f"the driver wrote a line to standard output that is not JSON: {quoted(line)}")


def _begins_object(line: bytes) -> bool:
    """Return whether a line is the first one of an object that is laid out over several."""
    return line == b"{" or (line.endswith((b",", b"{", b"[")) and _FIRST_FIELD.match(line) is not None)


def _number_without_json(line: bytes) -> str | None:
    """Return NaN, Infinity or -Infinity if a line is JSON but for one of them."""
    found: list[str] = []

    def note(name: str) -> None:
        found.append(name)

    try:
        json.loads(line, parse_constant=note)
    except (ValueError, RecursionError):
        return None
    return found[0] if found else None


def _other_encoding(line: bytes) -> str | None:
    """Return how a line is encoded if it is not plain UTF-8, as its first bytes show."""
    if line.startswith(codecs.BOM_UTF8):
        return "that begins with a byte order mark"
    if line.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) or line[:4].count(0) == 2:
        return "in UTF-16"
    return None


def _check_fields(line: bytes) -> None:
    """Check that no object has a field twice. Raises ProtocolViolation."""

    def fields(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        made = dict(pairs)
        if len(made) < len(pairs):
            names = [name for name, _ in pairs]
            twice = next(name for name in names if names.count(name) > 1)
            raise ProtocolViolation(
                "duplicate",
                f"the driver wrote an object with the field {quoted(twice)} twice: {quoted(line)}",
                _name_in(line),
            )
        return made

    json.loads(line, object_pairs_hook=fields)


def _name_in(line: bytes) -> str | None:
    """Return the id in a line that cannot be decoded, if it has just one."""
    found = set(_ID.findall(line))
    return found.pop().decode() if len(found) == 1 else None


def _too_large(number: str, name: str | None) -> ProtocolViolation:
    shown = number if len(number) <= _DIGITS else f"{number[:_DIGITS]}… ({len(number):,} characters)"
    return ProtocolViolation(
        "shape", f"the driver wrote {quoted(shown)}, which is beyond ±2^53 and must be a string", name
    )


def _too_deep(name: str | None) -> ProtocolViolation:
    return ProtocolViolation("shape", f"the driver wrote JSON that is nested deeper than {DEEPEST} levels", name)
