"""The lines between the kit and a driver, as types: what the kit writes, and what it takes from a driver.

Either line that opens says ``hello``. After that the kit asks (``protocol.Ask``) and the driver answers each id once, in
any order, with one of three outcomes. A field that is not known is refused: a misspelt ``grades`` that counted as absent
would hold a driver to something else than it said. So is a number beyond ±2^53, which a reader of JSON may have rounded: it
is a string in this protocol.
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
    "NotSo",
    "UnsupportedLine",
    "ask_line",
    "hello_line",
    "read_answer",
    "read_hello",
]  # fmt: skip

LARGEST = 2**53

# A line may be no JSON, not even UTF-8, or nested deeper than Python can follow.
UNREADABLE = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)


class NotSo(ValueError):
    """A line is not of the protocol: the trouble's word, what is wrong, and whose answer it was meant to be."""

    def __init__(self, trouble: str, what: str, name: str | None = None) -> None:
        super().__init__(what)
        self.trouble, self.name = trouble, name


class _Line(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One line, or a part of it."""


class KitHello(_Line, frozen=True):
    """What the kit says of itself."""

    protocol: Literal[1]


class KitHelloLine(_Line, frozen=True):
    """The kit's first line."""

    hello: KitHello


class DriverHello(_Line, frozen=True):
    """What a driver says of itself, the rules it answers, and how it wants to be graded where that is not exactly."""

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
    """The driver does not have this rule, or not in this release."""

    id: str
    unsupported: str


class FailedLine(_Line, frozen=True):
    """The driver broke down over this question."""

    id: str
    failed: str


_Said: TypeAlias = AnswerLine | UnsupportedLine | FailedLine
_KINDS: Mapping[str, type[_Said]] = {"answer": AnswerLine, "unsupported": UnsupportedLine, "failed": FailedLine}


def hello_line() -> bytes:
    """The kit's first line, with its end."""
    return msgspec.json.encode(KitHelloLine(KitHello(PROTOCOL))) + b"\n"


def ask_line(name: str, rule: str, release: str, question: Question) -> bytes:
    """A line that asks, with its end."""
    return msgspec.json.encode(Ask(name, rule, release, msgspec.Raw(msgspec.json.encode(question)))) + b"\n"


def read_hello(line: bytes) -> DriverHello:
    """A driver's first line. Raises NotSo."""
    said = _json(line)
    hello = said.get("hello") if isinstance(said, dict) else None
    spoken = hello.get("protocol") if isinstance(hello, dict) else None
    if type(spoken) is int and spoken != PROTOCOL:
        raise NotSo("version", f"the driver speaks protocol {quoted(str(spoken))}, not {PROTOCOL}")
    if hello is None:
        raise NotSo("hello", f"the driver's first line is no hello: {quoted(line)}")
    try:
        read = msgspec.json.decode(line, type=DriverHelloLine).hello
    except UNREADABLE as error:
        raise NotSo("hello", f"the driver's hello is not of protocol {PROTOCOL}: {quoted(str(error))}") from error
    if unknown := [slug for slug in (*read.rules, *read.grades) if slug not in RULES]:
        raise NotSo("hello", f"the driver's hello names a rule that there is not: {quoted(', '.join(unknown))}")
    return read


def read_answer(line: bytes) -> tuple[str, Outcome]:
    """The id that is answered, and its outcome. Raises NotSo."""
    said = _json(line)
    name = said.get("id") if isinstance(said, dict) else None
    name = name if isinstance(name, str) else None
    if not isinstance(said, dict):
        raise NotSo("shape", f"the driver wrote JSON that is no object: {quoted(line)}")
    kinds = [kind for kind in _KINDS if kind in said]
    if len(kinds) != 1:
        found = " and ".join(kinds) if kinds else "no outcome"
        raise NotSo("shape", f"the driver wrote a line with {found} in it: {quoted(line)}", name)
    try:
        read = msgspec.json.decode(line, type=_KINDS[kinds[0]])
    except UNREADABLE as error:
        raise NotSo(
            "shape", f"the driver wrote a line that is no answer, {quoted(str(error))}: {quoted(line)}", name
        ) from error
    return read.id, _outcome(read)


def _outcome(said: _Said) -> Outcome:
    match said:
        case AnswerLine(answer=answer):
            _hold_numbers(answer, said.id)
            return Answered(answer)
        case UnsupportedLine(unsupported=why):
            return Unsupported(quoted(why))
        case FailedLine(failed=what):
            return Failed(quoted(what))


def _hold_numbers(answer: Answer, name: str) -> None:
    """Every number lies within ±2^53. Raises NotSo."""
    rest: list[Any] = [answer]
    while rest:
        value = rest.pop()
        if isinstance(value, dict):
            rest.extend(value.values())
        elif isinstance(value, list):
            rest.extend(value)
        elif isinstance(value, int | float) and abs(value) > LARGEST:
            raise NotSo(
                "shape", f"the driver wrote {quoted(str(value))}, which is beyond ±2^53 and has to be a string", name
            )


def _json(line: bytes) -> Any:
    try:
        return msgspec.json.decode(line)
    except UNREADABLE as error:
        raise NotSo("noise", f"the driver wrote to standard output what is not JSON: {quoted(line)}") from error
