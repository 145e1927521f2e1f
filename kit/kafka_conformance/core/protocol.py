"""What is asked and what comes back: the protocol, version 1, as types and as JSON lines.

One line asks, ``{"id", "rule", "release", "question"}``; one line answers, ``{"id", "answer"}`` or ``{"id",
"unsupported": why}`` or ``{"id", "failed": what}``. A connection opens with a hello each way. Bytes are lower-case hex,
Java's null is null, an error the rule itself raises is an answer: ``{"raises": name}``, with ``"message"`` where Java's
text is Kafka's own.

A question is a frozen struct, one type for each rule, which refuses unknown fields: a misspelt field that
counts as absent would make a comparison that cannot fail. An answer is a plain JSON object, compared as a whole.

Questions are named by content: the first 16 hex digits of the sha256 of rule, release and question, with sorted keys
and no spaces.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Final, TypeAlias, TypeVar

import msgspec

from kafka_reference.errors import JavaException

__all__ = [
    "PROTOCOL",
    "Agrees",
    "Answer",
    "Answered",
    "Ask",
    "Crashed",
    "Differs",
    "Errored",
    "Failed",
    "Hex",
    "Int32",
    "Lost",
    "Outcome",
    "Question",
    "Unsupported",
    "Verdict",
    "answered",
    "exception_answer",
    "judge",
    "question_id",
    "to_json",
]

PROTOCOL: Final = 1

# Not `$` alone: a line feed may follow that, in Python's regular expressions though not in JSON Schema's.
Hex: TypeAlias = Annotated[str, msgspec.Meta(pattern=r"^([0-9a-f]{2})*$(?![\s\S])")]
Int32: TypeAlias = Annotated[int, msgspec.Meta(ge=-(2**31), le=2**31 - 1)]
Answer: TypeAlias = dict[str, Any]
T = TypeVar("T")


class Question(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a rule is asked; each rule has its own subclass."""


class Ask(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One line that asks: the question is still raw JSON, since its type depends on the rule."""

    id: str
    rule: str
    release: str
    question: msgspec.Raw


@dataclass(frozen=True, slots=True)
class Answered:
    """There is an answer; it may be that the rule raises."""

    answer: Answer


@dataclass(frozen=True, slots=True)
class Unsupported:
    """The answerer does not implement this rule, or not in this release."""

    why: str


@dataclass(frozen=True, slots=True)
class Failed:
    """The answerer failed on this question, which is not evidence about the rule."""

    what: str


@dataclass(frozen=True, slots=True)
class Lost:
    """The answerer broke the protocol or ended, so this question has no answer.

    ``error`` is the name of the protocol error, ``hint`` what the driver's author should change; ``asked`` is False for a
    question that the answerer did not receive, because too many others had ended it.
    """

    error: str
    what: str
    hint: str
    asked: bool = True


Outcome: TypeAlias = Answered | Unsupported | Failed | Lost


@dataclass(frozen=True, slots=True)
class Agrees:
    """Both answered, the same."""


@dataclass(frozen=True, slots=True)
class Differs:
    """Both answered, not the same."""

    expected: Answer
    actual: Answer


@dataclass(frozen=True, slots=True)
class Errored:
    """One of the two broke down, so nothing was compared."""

    who: str
    what: str


@dataclass(frozen=True, slots=True)
class Crashed:
    """One of the two ended or broke the protocol over the question, so nothing was compared."""

    who: str
    lost: Lost


Verdict: TypeAlias = Agrees | Differs | Errored | Crashed | Unsupported


def judge(expected: Outcome, actual: Outcome, names: tuple[str, str]) -> Verdict:
    """Compare two outcomes; ``names`` are the answerers' names."""
    match expected, actual:
        case Answered(left), Answered(right):
            # As JSON: to Python, true is 1 and 1.0 is 1.
            return Agrees() if left == right and to_json(left) == to_json(right) else Differs(left, right)
        case Lost() as lost, _:
            return Crashed(names[0], lost)
        case _, Lost() as lost:
            return Crashed(names[1], lost)
        case Failed(what), _:
            return Errored(names[0], what)
        case _, Failed(what):
            return Errored(names[1], what)
        case Unsupported(why), Unsupported():
            return Unsupported(why)
        # One has an answer and the other has none: whatever that is, it is not agreement.
        case Unsupported(why), _:
            return Errored(names[0], why)
        case _, Unsupported(why):
            return Errored(names[1], why)
    raise AssertionError("an outcome is one of four")


def exception_answer(error: JavaException, *, with_message: bool = True) -> Answer:
    """Return the answer that stands for a Java exception: its name, and its message if Kafka wrote one."""
    message = {"message": error.message} if with_message and error.message is not None else {}
    return {"raises": error.java_name, **message}


def answered(take: Callable[..., T], *arguments: Any, with_message: bool = True) -> T | Answer:
    """Return ``take(*arguments)``, or the answer that stands for the Java exception it raised."""
    try:
        return take(*arguments)
    except JavaException as error:
        return exception_answer(error, with_message=with_message)


def to_json(value: Any) -> bytes:
    """``value`` as one line of JSON with sorted keys: equal values, equal bytes."""
    return msgspec.json.encode(value, order="sorted")


def question_id(rule: str, version: str, question: Question) -> str:
    """The name of a question in a release, by content."""
    return hashlib.sha256(to_json([rule, version, question])).hexdigest()[:16]
