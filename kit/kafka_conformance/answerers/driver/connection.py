"""One child process that speaks the protocol, from hello to end.

A connection is never asked again after it broke: its owner has to close it. Ids keep increasing from connection to
connection, so a late answer is never taken for one to a pending question.
"""

from __future__ import annotations

import shlex
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from kafka_conformance.answerers.driver.lines import (
    DriverHello,
    ProtocolViolation,
    ask_line,
    hello_line,
    read_answer,
    read_hello,
)
from kafka_conformance.answerers.driver.process import Child, End, OutputLine, Received, Show, Shown, TooLong, on_stderr
from kafka_conformance.answerers.driver.protocol_errors import Broke, lost, quoted
from kafka_conformance.core.protocol import Outcome, Question

__all__ = ["AnswerRoom", "Asked", "Command", "Connection", "Limits"]

_EXIT_S = 0.5
"""Time for a process whose standard output has ended to end too; one that does not has closed it."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of a driver.

    ``hello_s``, ``batch_s``, ``ending_s``: seconds to wait for the hello, for a batch of answers, and for the end.
    ``restarts`` and ``hangs`` are allowed for one rule, ``all_restarts`` and ``all_hangs`` for all rules together; and
    ``restarting_s`` seconds of starting and ending it, for all rules together. When these are used up, each further rule
    has one start. After ``in_a_row`` questions that ended it, without an answer between them, those like them are not asked.
    ``room`` is how many bytes of memory the answers to a rule may take, ``room_each`` for each question more.
    """

    hello_s: float = 30
    batch_s: float = 30
    ending_s: float = 2
    restarts: int = 30
    hangs: int = 4
    in_a_row: int = 4
    all_restarts: int = 60
    all_hangs: int = 8
    restarting_s: float = 7.5
    room: int = 2**24
    room_each: int = 2**13


@dataclass(frozen=True, slots=True)
class Command:
    """How a driver is started; ``show`` receives its standard error, line by line and sanitized."""

    words: tuple[str, ...]
    folder: Path | None = None
    show: Show = on_stderr

    def __str__(self) -> str:
        return quoted(shlex.join(self.words), 500)


@dataclass(frozen=True, slots=True)
class Asked:
    """A pending question."""

    id: str
    rule: str
    release: str
    question: Question


@dataclass(slots=True)
class AnswerRoom:
    """The memory that the answers to a rule may still take, in bytes."""

    left: int

    def take(self, line: bytes) -> bool:
        """Use as much as the answer in this line takes at most; False if there is not as much left."""
        values = line.count(b",") + line.count(b"{") + line.count(b"[")
        self.left -= len(line) + 64 * values
        return self.left >= 0


class Connection:
    """A started driver. Call :meth:`open` first, and :meth:`close` in any case.

    ``overhead_s`` is the time spent on its start and on its end, from its last answer, in seconds.
    """

    def __init__(
        self, command: Command, limits: Limits, shown: Shown | None = None, *, quotes_stderr: bool = True
    ) -> None:
        self._command, self._limits, self._quotes_stderr = command, limits, quotes_stderr
        self._shown = shown or Shown(command.show)
        self.overhead_s = 0.0
        self._child: Child | None = None
        self._answered: set[str] = set()

    def open(self) -> DriverHello | Broke:
        """Start the driver and read its hello."""
        with self._overhead():
            return self._open()

    def _open(self) -> DriverHello | Broke:
        try:
            self._child = Child(self._command.words, folder=self._command.folder, show=self._shown)
        except (OSError, ValueError) as error:
            why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
            return Broke(lost("unstartable", f"the driver {self._command} cannot be started: {quoted(why)}"))
        self._child.send(hello_line())
        limit_s = self._limits.hello_s
        received = self._child.receive(time.monotonic() + limit_s)
        if received is None:
            late = self._after_input()
            what = f"the driver sent no hello within {limit_s:g} s"
            if isinstance(late, OutputLine | End) and _is_json(_text(late)):
                return Broke(lost("unflushed", f"{what}, but did after its input was closed"))
            return Broke(lost("mute", what))
        line = self._line(received, lambda text: _reads(read_hello, text), "before its hello")
        if isinstance(line, Broke):
            return line
        self._quotes_stderr = True
        try:
            return read_hello(line)
        except ProtocolViolation as violation:
            return Broke(lost(violation.error, str(violation)))

    def put(self, batch: Sequence[Asked], outcomes: dict[str, Outcome], room: AnswerRoom | None = None) -> Broke | None:
        """Ask all of ``batch`` and put the answers into ``outcomes``, as far as they fit into ``room``.

        Returns how the connection broke, if it did.
        """
        child, pending = self._running(), {one.id: one for one in batch}
        child.send(b"".join(ask_line(one.id, one.rule, one.release, one.question) for one in batch))
        answered_at = time.monotonic()
        until = answered_at + self._limits.batch_s
        while pending:
            received = child.receive(until)
            if received is None:
                return self._hangs(pending, len(batch))
            if (broke := self._take(received, pending, outcomes, room)) is not None:
                self.overhead_s += time.monotonic() - answered_at
                return broke
            answered_at = time.monotonic()
        return None

    def finish(self) -> Broke | None:
        """Close the driver's input, and read whether it writes anything unexpected before it ends."""
        child = self._running()
        child.end_input()
        until = time.monotonic() + self._limits.ending_s
        broke = None
        with self._overhead():
            while broke is None:
                received = child.receive(until)
                if received is None or received == End():
                    break
                broke = self._take(received, {}, {})
        return broke

    def close(self, *, at_once: bool = False) -> None:
        """End the driver and all processes it started."""
        if self._child is not None:
            with self._overhead():
                if at_once:
                    self._child.kill()
                else:
                    self._child.end(self._limits.ending_s)
        self._child = None  # not before: an interrupt would leave it running

    @contextmanager
    def _overhead(self) -> Iterator[None]:
        begun = time.monotonic()
        try:
            yield
        finally:
            self.overhead_s += time.monotonic() - begun

    def _running(self) -> Child:
        if self._child is None:
            raise RuntimeError("this connection is not open")
        return self._child

    def _take(
        self,
        received: Received,
        pending: dict[str, Asked],
        outcomes: dict[str, Outcome],
        room: AnswerRoom | None = None,
    ) -> Broke | None:
        """Handle one line of the driver while these questions are pending."""
        line = self._line(received, lambda text: _reads(read_answer, text), "before it had answered everything")
        if isinstance(line, Broke):
            return line
        try:
            name, outcome = read_answer(line)
        except ProtocolViolation as violation:
            return Broke(lost(violation.error, str(violation)), violation.name if violation.name in pending else None)
        if name in self._answered:
            return Broke(lost("twice", f"the driver answered a question twice, the one with the id {name}"), name)
        if (asked := pending.pop(name, None)) is None:
            return Broke(lost("stranger", f"the driver answered an unknown id: {quoted(name)}"))
        if room is not None and not room.take(line):
            what = f"the driver's answers to {asked.rule} are too long: they take more memory than all right answers do"
            return Broke(lost("long", f"{what}; the last one has {len(line):,} bytes"), name)
        self._answered.add(name)
        outcomes[name] = outcome
        return None

    def _line(self, received: Received, whole: Callable[[bytes], bool], when: str) -> bytes | Broke:
        match received:
            case OutputLine(text):
                return text
            case End(rest) if rest and whole(rest):
                return rest
            case End():
                return Broke(lost("died", self._death(when)))
            case TooLong(text):
                return Broke(
                    lost("long", f"the driver wrote a line of more than {len(text) - 1:,} bytes: {quoted(text)}")
                )

    def _hangs(self, pending: dict[str, Asked], batch_size: int) -> Broke:
        """Handle a timeout: answers that arrive once the input is closed show a missing flush, otherwise it is a hang."""
        rule = next(iter(pending.values())).rule
        many = "a question" if len(pending) == 1 else f"{len(pending)} of {batch_size} questions"
        what = f"the driver did not answer {many} of {rule} within {self._limits.batch_s:g} s"
        received = self._after_input()
        until = time.monotonic() + self._limits.ending_s
        while pending and received is not None and self._take(received, pending, {}) is None:
            received = self._running().receive(until)
        if not pending:
            return Broke(lost("unflushed", f"{what}, but did after its input was closed"))
        return Broke(lost("hangs", f"{what}{self._words()}"))

    def _after_input(self) -> Received | None:
        child = self._running()
        child.end_input()
        return child.receive(time.monotonic() + self._limits.ending_s)

    def _death(self, when: str) -> str:
        child = self._running()
        code = child.code(min(_EXIT_S, self._limits.ending_s))
        child.kill()
        if code is None:
            return f"the driver closed its standard output {when}{self._words()}"
        how = _signal(-code) if code < 0 else f"with exit code {code}"
        return f"the driver ended {how} {when}{self._words()}"

    def _words(self) -> str:
        words = self._running().last_error_line if self._quotes_stderr else ""
        return f"; standard error: {words}" if words else ""


def _text(received: OutputLine | End) -> bytes:
    return received.text if isinstance(received, OutputLine) else received.rest


def _reads(read: Callable[[bytes], object], text: bytes) -> bool:
    try:
        read(text)
    except ProtocolViolation:
        return False
    return True


def _is_json(text: bytes) -> bool:
    """Return whether the text was meant as a protocol line."""
    try:
        read_hello(text)
    except ProtocolViolation as violation:
        return violation.error != "noise"
    return True


def _signal(number: int) -> str:
    try:
        return f"by {signal.Signals(number).name}"
    except ValueError:
        return f"by signal {number}"
