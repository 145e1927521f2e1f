"""The lines between the kit and a driver, as types: what the kit writes, and what it accepts from a driver.

The first line of either side is a ``hello``. After that the kit asks (``protocol.Ask``) and the driver answers each id
once, in any order, with one of three outcomes. An unknown field is refused: a misspelt ``grades`` must not silently change
how a driver is compared. A number beyond ±2^53 is refused too, since a JSON reader may have rounded it: it is a string in
this protocol.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

import msgspec

from kafka_conformance.answerers.driver.protocol_errors import quoted
from kafka_conformance.core.events import Grade
from kafka_conformance.core.protocol import PROTOCOL, Answer, Answered, Ask, Failed, Outcome, Question, Unsupported
from kafka_conformance.rules import RULES

__all__ = [
    "LARGEST",
    "UNREADABLE",
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

# A line may be no JSON, not even UTF-8, or nested deeper than Python can follow.
UNREADABLE = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)


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
            _check_numbers(answer, decoded.id)
            return Answered(answer)
        case UnsupportedLine(unsupported=why):
            return Unsupported(quoted(why))
        case FailedLine(failed=what):
            return Failed(quoted(what))


def _check_numbers(answer: Answer, name: str) -> None:
    """Check that every number lies within ±2^53. Raises ProtocolViolation."""
    rest: list[Any] = [answer]
    while rest:
        value = rest.pop()
        if isinstance(value, dict):
            rest.extend(value.values())
        elif isinstance(value, list):
            rest.extend(value)
        elif isinstance(value, int | float) and abs(value) > LARGEST:
            raise ProtocolViolation(
                "shape", f"the driver wrote {quoted(str(value))}, which is beyond ±2^53 and must be a string", name
            )


def _json(line: bytes) -> Any:
    try:
        return msgspec.json.decode(line)
    except UNREADABLE as error:
        raise ProtocolViolation(
            "noise", f"the driver wrote a line to standard output that is not JSON: {quoted(line)}"
        ) from error
