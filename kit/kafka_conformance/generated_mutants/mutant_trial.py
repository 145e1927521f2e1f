"""Ask one mutant until a question kills it, in a process that does only this.

A mutant is killed by an answer that differs from the expected one, by an error where an answer is expected, and by a
question that takes longer than its limit: a gate sees each of them.
"""

from __future__ import annotations

import resource
import signal
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any, Literal, TypeAlias

import msgspec

from kafka_conformance.generated_mutants.mutated_modules import rule_anew
from kafka_conformance.generated_mutants.questions import FRESH, Asked, outcome_bytes
from kafka_conformance.rules import RULES

__all__ = ["Result", "Verdict", "ask_until_killed", "bound_memory"]

_LIMIT_S = 3.0  # of processor time: on a busy machine each question takes longer
_MORE_BYTES = 2 << 30
_PAGES = Path("/proc/self/statm")
Verdict: TypeAlias = Literal["frozen", "fresh", "survived", "invalid"]
"""Killed by a frozen case, or by a fresh question alone; survived; not executable at all, so no mutant."""


class Result(msgspec.Struct, frozen=True, omit_defaults=True):
    """What became of a mutant."""

    key: str
    """The mutation's key."""
    verdict: Verdict
    """How it ended."""
    asked: int = 0
    """How many questions it was asked."""
    killer: str = ""
    """The question that killed it: a frozen case, or a fresh question, with its release."""
    rule: str = ""
    """The rule of that question."""
    number: int = -1
    """The number of that question among those asked."""
    how: str = ""
    """What was seen: ``differs``, ``fails`` or ``takes too long``."""

    @property
    def question(self) -> str:
        """The fresh question that killed it, as JSON; empty if a frozen case did, or none."""
        return self.killer.removeprefix(FRESH).rpartition(" in ")[0] if self.verdict == "fresh" else ""

    @property
    def case(self) -> str:
        """The id of the frozen case that killed it; empty if none did."""
        return self.killer.rpartition(" in ")[0] if self.verdict == "frozen" else ""


class _TooLong(BaseException):
    """The limit of a question has passed; no ``except Exception`` of the reference takes it."""


def ask_until_killed(key: str, questions: Iterable[Asked]) -> Result:
    """Ask the mutant that is planted in this process."""
    reloaded: dict[str, Any] = {}
    asked = 0
    for asked, one in enumerate(questions, 1):
        if one.rule not in reloaded:
            reloaded[one.rule] = _rule_of(one.rule)
            if reloaded[one.rule] is None:
                return Result(key, "invalid", asked)
        how = _differs(reloaded[one.rule], one)
        if how:
            return Result(key, "frozen" if one.case else "fresh", asked, one.name, one.rule, asked - 1, how)
    return Result(key, "survived", asked)


def _rule_of(slug: str) -> Any:
    """Return a rule with the mistake; None if it cannot even be imported."""
    try:
        with _limited():
            return rule_anew(RULES[slug])
    except (Exception, _TooLong):  # noqa: BLE001  whatever a mistake raises
        return None


def _differs(rule: Any, one: Asked) -> str:
    reference = import_module("kafka_conformance.answerers.reference")
    try:
        with _limited():
            release = import_module("kafka_reference.releases").parse_release(one.release)
            question = msgspec.json.decode(one.question, type=rule.question)
            outcome = reference.outcome_of(rule.ask, question, release)
            if outcome_bytes(outcome) == one.expected:
                return ""
            return "fails" if type(outcome).__name__ == "Failed" else "differs"
    except _TooLong:
        return "takes too long"
    except Exception:  # noqa: BLE001  a mistake may break the answer itself
        return "fails"


@contextmanager
def _limited() -> Iterator[None]:
    def ring(*_: object) -> None:
        raise _TooLong

    before = signal.signal(signal.SIGPROF, ring)
    signal.setitimer(signal.ITIMER_PROF, _LIMIT_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def bound_memory() -> None:
    """Bound the memory of this process, where the system can: a mistake may append for ever."""
    try:
        used = int(_PAGES.read_text(encoding="ascii").split()[0]) * resource.getpagesize()
    except OSError:
        return
    _, most = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (used + _MORE_BYTES, most))
