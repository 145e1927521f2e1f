"""One child that speaks the protocol, from its hello to its end: what it said, and how it broke the protocol if it did.

Nothing here asks again: whoever holds a connection that broke has to end it. Ids are numbered on from connection to
connection, so an id from before is never taken for one that waits.
"""

from __future__ import annotations

import shlex
import signal
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from kafka_conformance.answerers.driver.lines import DriverHello, NotSo, ask_line, hello_line, read_answer, read_hello
from kafka_conformance.answerers.driver.process import Child, End, Heard, Line, Show, TooLong, on_stderr
from kafka_conformance.answerers.driver.protocol_errors import Broke, lost, quoted
from kafka_conformance.core.protocol import Outcome, Question

__all__ = ["Asked", "Command", "Connection", "Limits"]


@dataclass(frozen=True, slots=True)
class Limits:
    """How long a hello, a batch and an ending may take; how often a rule may have the driver restarted, and hang it."""

    hello_s: float = 30
    batch_s: float = 30
    ending_s: float = 2
    restarts: int = 30
    hangs: int = 4


@dataclass(frozen=True, slots=True)
class Command:
    """How a driver is started; ``show`` gets what it writes to standard error, line by line and harmless."""

    words: tuple[str, ...]
    folder: Path | None = None
    show: Show = on_stderr

    def __str__(self) -> str:
        return quoted(shlex.join(self.words), 500)


@dataclass(frozen=True, slots=True)
class Asked:
    """A question under way."""

    id: str
    rule: str
    release: str
    question: Question


class Connection:
    """A driver that was started. :meth:`open` before anything else, :meth:`close` whatever happened."""

    def __init__(self, command: Command, limits: Limits) -> None:
        self._command, self._limits = command, limits
        self._child: Child | None = None
        self._gone: set[str] = set()

    def open(self) -> DriverHello | Broke:
        """Start the driver and hear its hello."""
        try:
            self._child = Child(self._command.words, folder=self._command.folder, show=self._command.show)
        except (OSError, ValueError) as error:
            why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
            return Broke(lost("unstartable", f"the driver {self._command} cannot be started: {quoted(why)}"))
        self._child.send(hello_line())
        limit_s = self._limits.hello_s
        heard = self._child.hear(time.monotonic() + limit_s)
        if heard is None:
            late = self._after_input()
            said = f"the driver did not say hello within {limit_s:g} s"
            if isinstance(late, Line | End) and _is_json(_text(late)):
                return Broke(lost("unflushed", f"{said}, and did when its input was closed"))
            return Broke(lost("mute", said))
        line = self._line(heard, lambda text: _reads(read_hello, text), "before it said hello")
        if isinstance(line, Broke):
            return line
        try:
            return read_hello(line)
        except NotSo as wrong:
            return Broke(lost(wrong.trouble, str(wrong)))

    def put(self, batch: Sequence[Asked], outcomes: dict[str, Outcome]) -> Broke | None:
        """Ask all of ``batch``; what is answered goes to ``outcomes``. Returns how the connection broke, if it did."""
        child, waiting = self._running(), {one.id: one for one in batch}
        child.send(b"".join(ask_line(one.id, one.rule, one.release, one.question) for one in batch))
        until = time.monotonic() + self._limits.batch_s
        while waiting:
            heard = child.hear(until)
            if heard is None:
                return self._hangs(waiting, len(batch))
            if (broke := self._take(heard, waiting, outcomes)) is not None:
                return broke
        return None

    def finish(self) -> Broke | None:
        """End the driver's input, and hear whether it says anything that nobody asked for before it ends."""
        child = self._running()
        child.end_input()
        until = time.monotonic() + self._limits.ending_s
        broke = None
        while broke is None:
            heard = child.hear(until)
            if heard is None or heard == End():
                break
            broke = self._take(heard, {}, {})
        return broke

    def close(self, *, at_once: bool = False) -> None:
        """End the driver, and everything it started."""
        if self._child is not None:
            if at_once:
                self._child.kill()
            else:
                self._child.end(self._limits.ending_s)
        self._child = None  # not before: an interrupt would leave it running

    def _running(self) -> Child:
        if self._child is None:
            raise RuntimeError("this connection is not open")
        return self._child

    def _take(self, heard: Heard, waiting: dict[str, Asked], outcomes: dict[str, Outcome]) -> Broke | None:
        """One line of the driver's, while these wait."""
        line = self._line(heard, lambda text: _reads(read_answer, text), "before it had answered everything")
        if isinstance(line, Broke):
            return line
        try:
            name, outcome = read_answer(line)
        except NotSo as wrong:
            return Broke(lost(wrong.trouble, str(wrong)), wrong.name if wrong.name in waiting else None)
        if name in self._gone:
            return Broke(lost("twice", f"the driver answered a question twice, the one with the id {name}"), name)
        if waiting.pop(name, None) is None:
            return Broke(lost("stranger", f"the driver answered an id that nobody asked: {quoted(name)}"))
        self._gone.add(name)
        outcomes[name] = outcome
        return None

    def _line(self, heard: Heard, whole: Callable[[bytes], bool], when: str) -> bytes | Broke:
        match heard:
            case Line(text):
                return text
            case End(rest) if rest and whole(rest):
                return rest
            case End():
                return Broke(lost("died", self._death(when)))
            case TooLong(text):
                return Broke(
                    lost("long", f"the driver wrote a line of more than {len(text) - 1:,} bytes: {quoted(text)}")
                )

    def _hangs(self, waiting: dict[str, Asked], of: int) -> Broke:
        """The limit has passed: whether all answers come at the end of the input tells two mistakes apart."""
        rule = next(iter(waiting.values())).rule
        many = "a question" if len(waiting) == 1 else f"{len(waiting)} of {of} questions"
        said = f"the driver did not answer {many} of {rule} within {self._limits.batch_s:g} s"
        heard = self._after_input()
        until = time.monotonic() + self._limits.ending_s
        while waiting and heard is not None and self._take(heard, waiting, {}) is None:
            heard = self._running().hear(until)
        if not waiting:
            return Broke(lost("unflushed", f"{said}, and did when its input was closed"))
        return Broke(lost("hangs", f"{said}{self._words()}"))

    def _after_input(self) -> Heard | None:
        child = self._running()
        child.end_input()
        return child.hear(time.monotonic() + self._limits.ending_s)

    def _death(self, when: str) -> str:
        child = self._running()
        code = child.code(self._limits.ending_s)
        child.join_words(self._limits.ending_s)
        if code is None:
            return f"the driver closed its standard output {when}{self._words()}"
        how = _signal(-code) if code < 0 else f"with exit code {code}"
        return f"the driver ended {how} {when}{self._words()}"

    def _words(self) -> str:
        words = self._running().last_words
        return f"; its standard error says {quoted(words)}" if words else ""


def _text(heard: Line | End) -> bytes:
    return heard.text if isinstance(heard, Line) else heard.rest


def _reads(read: Callable[[bytes], object], text: bytes) -> bool:
    try:
        read(text)
    except NotSo:
        return False
    return True


def _is_json(text: bytes) -> bool:
    """Whatever came was meant as a line of the protocol."""
    try:
        read_hello(text)
    except NotSo as wrong:
        return wrong.trouble != "noise"
    return True


def _signal(number: int) -> str:
    try:
        return f"by {signal.Signals(number).name}"
    except ValueError:
        return f"by signal {number}"
