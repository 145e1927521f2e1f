"""The run of the reference in the newest release, by which questions are labelled.

Many labels say what happens to a question in the newest release. :func:`newest_answer` runs the reference for them, and
within :func:`keep_run` the answer is kept, so that one run both labels a question and answers it. Labels that need more
than the answer give a :class:`Watch`, which looks at the reference's state between two steps and changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass
from threading import RLock, get_ident
from typing import Any, TypeAlias

from kafka_conformance.core.protocol import Answer, Question
from kafka_reference.releases import NEWEST, Release

__all__ = ["NewestRun", "Watch", "keep_run", "newest_answer"]

_Ask: TypeAlias = Callable[[Any, Release], Answer]


@dataclass(slots=True)
class NewestRun:
    """The last run that answered a question in the newest release."""

    ask: _Ask | None = None
    question: Question | None = None
    answer: Answer | None = None

    def answer_of(self, ask: _Ask, question: Question, release: Release) -> Answer | None:
        """Return the answer of ``ask`` to this question in this release, or None if this is another run."""
        is_this = self.ask is ask and self.question is question and release == NEWEST
        return self.answer if is_this else None


class Watch:
    """What looks at a history while the reference takes its steps: a class with a method ``take(step)``."""

    def begin(self, history: Any) -> None:
        """Look at the history before its first step."""

    def before(self, history: Any, step: Any) -> Any:
        """Return what :meth:`after` needs of the state before a step."""

    def after(self, history: Any, step: Any, before: Any, answer: Any) -> None:
        """Look at the history after a step."""


_kept: ContextVar[NewestRun | None] = ContextVar("kept", default=None)
# A watch replaces methods of a class for the whole process.
_one_watch = RLock()


@contextmanager
def keep_run() -> Iterator[NewestRun]:
    """Keep the last run of :func:`newest_answer` within the block."""
    run = NewestRun()
    token = _kept.set(run)
    try:
        yield run
    finally:
        _kept.reset(token)


def newest_answer(ask: _Ask, question: Question, history: type | None = None, watch: Watch | None = None) -> Answer:
    """Return the answer of ``ask`` in the newest release; ``watch`` looks at each ``history`` that it makes.

    Raises what ``ask`` raises.
    """
    with nullcontext() if history is None or watch is None else _watching(history, watch):
        answer = ask(question, NEWEST)
    run = _kept.get()
    if run is not None:
        run.ask, run.question, run.answer = ask, question, answer
    return answer


@contextmanager
def _watching(history: type, watch: Watch) -> Iterator[None]:
    """Replace the constructor and ``take`` of ``history`` within the block, for this thread.

    Another thread may take steps meanwhile: the oracle's asks the reference which questions have no end.
    """
    own: Any = history
    thread = get_ident()
    with _one_watch:
        create, take = own.__init__, own.take

        def watched_create(self: Any, *arguments: Any, **named: Any) -> None:
            create(self, *arguments, **named)
            if get_ident() == thread:
                watch.begin(self)

        def watched_take(self: Any, step: Any) -> Any:
            if get_ident() != thread:
                return take(self, step)
            before = watch.before(self, step)
            answer = take(self, step)
            watch.after(self, step, before, answer)
            return answer

        own.__init__, own.take = watched_create, watched_take
        try:
            yield
        finally:
            own.__init__, own.take = create, take
