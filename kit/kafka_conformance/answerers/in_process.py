"""A Python callable as an answerer: ``python:pkg.mod:answerer``, called as ``answerer(rule, release, question)``.

It gets the question as a driver does, as plain JSON values, and returns the answer's fields, or None if it does not support
that. If it raises, the question has failed. It may describe itself in attributes: ``rules`` (slugs it answers), ``grades``
(by slug), ``name``, ``version``.

The callable runs in a separate thread. Python cannot kill a thread. So when a batch takes longer than the limit, its open
questions are Lost, and so is everything that is asked afterwards. A driver, which is a process, loses only the question at
fault.
"""

from __future__ import annotations

import importlib
import json
import queue
import sys
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import TracebackType
from typing import Any, Self, TypeAlias

import msgspec

from kafka_conformance.answerers.driver.protocol_errors import quoted
from kafka_conformance.core import events
from kafka_conformance.core.errors import BadInput
from kafka_conformance.core.files import working_folder
from kafka_conformance.core.protocol import Answered, Failed, Lost, Outcome, Question, Unsupported
from kafka_conformance.core.rule import Rule
from kafka_conformance.rules import RULES
from kafka_reference.releases import Release

__all__ = ["PREFIX", "CallableAnswerer", "InProcess", "imported"]

PREFIX = "python:"
BATCH = 256
_MEND = "see why it does not return; nothing more was asked, since a thread of Python cannot be ended"

InProcess: TypeAlias = Callable[[str, str, dict[str, Any]], dict[str, Any] | None]


class CallableAnswerer:
    """A callable, as a context manager. Raises BadInput for invalid attributes."""

    def __init__(self, answerer: InProcess, named: str, *, timeout_s: float = 30) -> None:
        self._answerer, self._timeout_s = answerer, timeout_s
        self._hung: Lost | None = None
        name, version = (_text_of(answerer, field) for field in ("name", "version"))
        self.description = events.Target(
            name or quoted(named.removeprefix(PREFIX)), version, "python", quoted(named, 500)
        )
        self.rules = _rules_of(answerer)
        self.grades = _grades_of(answerer)
        self._work: queue.SimpleQueue[tuple[list[tuple[str, str, Any]], queue.SimpleQueue[Outcome]] | None] = (
            queue.SimpleQueue()
        )
        threading.Thread(target=self._run, daemon=True, name="in-process answerer").start()

    @property
    def name(self) -> str:
        """What it calls itself, or how it was named."""
        return self.description.name

    def answer(self, rule: Rule, release: Release, questions: Sequence[Question]) -> list[Outcome]:
        """The outcomes, one for each question."""
        if self.rules is not None and rule.slug not in self.rules:
            return [Unsupported(f"{self.name} does not name {rule.slug} in its rules")] * len(questions)
        outcomes: list[Outcome] = []
        for start in range(0, len(questions), BATCH):
            outcomes += self._batch(rule.slug, str(release), questions[start : start + BATCH])
        return outcomes

    def finish(self) -> None:
        """Do nothing: a callable writes no more after its last answer."""

    def close(self) -> None:
        """End the thread, unless the callable holds it."""
        self._work.put(None)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _batch(self, rule: str, release: str, questions: Sequence[Question]) -> list[Outcome]:
        if self._hung is not None:
            return [self._hung] * len(questions)
        done: queue.SimpleQueue[Outcome] = queue.SimpleQueue()
        # As JSON and back: plain values, a copy for every call, and what a driver would have got.
        plain = [(rule, release, msgspec.json.decode(msgspec.json.encode(question))) for question in questions]
        self._work.put((plain, done))
        outcomes = _within(self._timeout_s, done, len(questions))
        if len(outcomes) < len(questions):
            what = f"{self.name} did not answer a question of {rule}, its batch taking more than {self._timeout_s:g} s"
            # It answers in order: the first one without an answer is at fault, and the others were not asked.
            outcomes.append(Lost("hangs", what, _MEND))
            self._hung = Lost("hangs", f"{what}; after that it was not asked any more", _MEND, asked=False)
            outcomes += [self._hung] * (len(questions) - len(outcomes))
        return outcomes

    def _run(self) -> None:
        while (work := self._work.get()) is not None:
            asked, done = work
            for rule, release, question in asked:
                if self._hung is not None:  # it came back after all, too late
                    return
                done.put(_outcome(self._answerer, rule, release, question))


def imported(named: str) -> InProcess:
    """The callable of ``python:pkg.mod:answerer``, the current directory coming first. Raises BadInput."""
    module, colon, attribute = named.removeprefix(PREFIX).partition(":")
    if not (module and colon and attribute):
        raise BadInput(f"{quoted(named)} names no callable: it has to be python:package.module:answerer")
    if (here := str(working_folder())) not in sys.path:
        sys.path.insert(0, here)
    try:
        found: Any = importlib.import_module(module)
    except (Exception, SystemExit) as error:
        raise BadInput(f"{quoted(named)} cannot be imported from {here}: {_line(error)}") from error
    for part in attribute.split("."):
        if (found := getattr(found, part, None)) is None:
            raise BadInput(f"{quoted(named)}: the module {module} has no {attribute}")
    if not callable(found):
        raise BadInput(f"{quoted(named)} is {_a(found)}, and has to be callable: answerer(rule, release, question)")
    return found  # type: ignore[no-any-return]


def _outcome(answerer: InProcess, rule: str, release: str, question: dict[str, Any]) -> Outcome:
    try:
        returned: Any = answerer(rule, release, question)
        if returned is None:
            return Unsupported("it returned None")
        if not isinstance(returned, dict):
            return Failed(f"it returned {_a(returned)}, and an answer is a dict")
        # The standard library's writer: msgspec's would take bytes and sets, which JSON does not have.
        return Answered(msgspec.json.decode(json.dumps(returned, allow_nan=False)))
    except BaseException as error:  # noqa: BLE001  whatever it raises, its thread has to answer
        return Failed(_line(error))


def _within(limit_s: float, done: queue.SimpleQueue[Outcome], many: int) -> list[Outcome]:
    until = time.monotonic() + limit_s
    outcomes: list[Outcome] = []
    try:
        while len(outcomes) < many:
            outcomes.append(done.get(timeout=max(0.0, until - time.monotonic())))
    except queue.Empty:
        pass
    return outcomes


def _text_of(answerer: InProcess, field: str) -> str:
    value = getattr(answerer, field, "")
    return quoted(value) if isinstance(value, str) else ""


def _rules_of(answerer: InProcess) -> frozenset[str] | None:
    rules = getattr(answerer, "rules", None)
    if rules is None:
        return None
    if isinstance(rules, str) or not isinstance(rules, Iterable) or not all(isinstance(slug, str) for slug in rules):
        raise BadInput(f"the answerer's rules are {_a(rules)}, and have to be the slugs it answers")
    return frozenset(_known(rules, "rules"))


def _grades_of(answerer: InProcess) -> Mapping[str, events.Grade]:
    grades = getattr(answerer, "grades", None) or {}
    try:
        read = msgspec.convert(grades, type=dict[str, events.Grade])
    except msgspec.ValidationError as error:
        raise BadInput(f"the answerer's grades are not valid: {quoted(str(error))}") from error
    _known(read, "grades")
    return read


def _known(slugs: Iterable[str], field: str) -> list[str]:
    slugs = list(slugs)
    if unknown := [slug for slug in slugs if slug not in RULES]:
        raise BadInput(f"the answerer's {field} name unknown rules: {quoted(', '.join(unknown))}")
    return slugs


def _line(error: BaseException) -> str:
    first = next(iter(str(error).strip().splitlines()), "")
    return quoted(f"{type(error).__name__}: {first}" if first else type(error).__name__)


def _a(value: object) -> str:
    name = type(value).__name__
    return f"an {name}" if name[:1] in "aeiou" else f"a {name}"
