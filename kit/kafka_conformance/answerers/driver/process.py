"""A child process and its pipes: lines in, lines out. Every wait has a limit, and no process is left running.

Three threads serve the pipes, so that a full pipe cannot block both sides: one writes pending input, one reads
standard output line by line, one shows standard error as it arrives and keeps the last lines. Each pipe is closed by the
thread that uses it. Lines wait in a short queue: a child that floods it is blocked and does not fill the kit's memory.

The child runs in its own session: Ctrl-C reaches the kit alone, which ends the child and everything it started
(:mod:`.descendants`). If the kit is killed, the pipe of standard input closes, which ends a driver.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import queue
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TypeAlias

from kafka_conformance.answerers.driver.descendants import kill_marked, marked_environment
from kafka_conformance.answerers.driver.last_words import LastWords
from kafka_conformance.answerers.driver.protocol_errors import quoted
from kafka_conformance.core.streams import say_error

__all__ = [
    "LINE_LIMIT",
    "SHOWN_LINES",
    "Child",
    "End",
    "OutputLine",
    "Received",
    "Show",
    "Shown",
    "TooLong",
    "on_stderr",
]

LINE_LIMIT = 2**20  # the longest right answers in tests have half a million bytes
SHOWN_LINES = 200
_QUEUED = 8
_POLL_S = 0.05
_CHUNK = 2**16
_LAST_S = 0.5  # for what is in the pipe of a child that has ended
_JOIN_S = 2.0

Show: TypeAlias = Callable[[str], None]

# An interrupt may arrive before the caller has the child: children that still run when the kit ends are killed.
_RUNNING: set[Child] = set()


@dataclass(frozen=True, slots=True)
class OutputLine:
    """A line of standard output, without its end; never an empty one."""

    text: bytes


@dataclass(frozen=True, slots=True)
class TooLong:
    """The beginning of a line that did not end within the limit."""

    text: bytes


@dataclass(frozen=True, slots=True)
class End:
    """Standard output has ended, or the child has; ``rest`` is a last line that had no end."""

    rest: bytes = b""


Received: TypeAlias = OutputLine | TooLong | End


def on_stderr(line: str) -> None:
    """Print a line of a driver's standard error, already sanitized, to standard error.

    GitHub's runner takes ``##[`` for a command anywhere in a line, so it is split.
    """
    say_error(f"driver: {line.replace('##[', '# #[')}")


class Shown:
    """Shows the first lines of the standard error of all processes of a command, :data:`SHOWN_LINES` in all."""

    def __init__(self, show: Show = on_stderr) -> None:
        self._show, self._left = show, SHOWN_LINES

    def __call__(self, line: bytes) -> None:
        """Show a line, sanitized, unless as many were shown."""
        if self._left <= 0 or not (words := quoted(line, 500)):
            return
        self._left -= 1
        with contextlib.suppress(OSError, ValueError):  # standard error is closed: keep reading
            self._show(words if self._left else "(further lines are not shown)")


class Child:
    """A child process. Raises OSError or ValueError if it cannot be started."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        folder: Path | None = None,
        show: Show | Shown = on_stderr,
        line_limit: int = LINE_LIMIT,
    ) -> None:
        self._line_limit = line_limit
        self._outgoing: queue.Queue[bytes | None] = queue.Queue()
        self._received: queue.Queue[Received] = queue.Queue(_QUEUED)
        self._stopped = threading.Event()
        self._last_words = LastWords(show if isinstance(show, Shown) else Shown(show))
        self._environment = marked_environment()
        self._killed = False
        self._threads: list[threading.Thread] = []
        self._process = subprocess.Popen(
            list(command), cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            start_new_session=True, env=self._environment,
        )  # fmt: skip
        _RUNNING.add(self)
        pipes = (self._process.stdin, self._process.stdout, self._process.stderr)
        work = (self._write, self._read, self._read_stderr)
        self._threads = [
            threading.Thread(target=task, args=(pipe,), daemon=True, name=f"driver{task.__name__}")
            for task, pipe in zip(work, pipes, strict=True)
        ]
        for thread in self._threads:
            thread.start()

    @property
    def pid(self) -> int:
        """The id of the process and of its group."""
        return self._process.pid

    @property
    def last_error_line(self) -> str:
        """The lines of standard error that say what broke, else the last one, shortened and sanitized."""
        return str(self._last_words)

    def send(self, lines: bytes) -> None:
        """Queue these lines for standard input, without waiting."""
        self._outgoing.put(lines)

    def end_input(self) -> None:
        """Close standard input after everything queued is written."""
        self._outgoing.put(None)

    def receive(self, until: float) -> Received | None:
        """Return the next line of standard output; None if there is none by ``until``, on the monotonic clock."""
        ended_at: float | None = None
        while True:
            now = time.monotonic()
            with contextlib.suppress(queue.Empty):
                return self._received.get(timeout=max(0.0, min(_POLL_S, until - now)))
            if now >= until:
                return None
            if self._process.poll() is not None:
                if ended_at is None:
                    ended_at = now
                    self._kill_all()  # what it started may keep the pipe open
                if now > ended_at + _LAST_S:
                    return End()

    def code(self, wait_s: float) -> int | None:
        """Return the exit code, negative for a signal; None if the process still runs after ``wait_s``."""
        try:
            return self._process.wait(wait_s)
        except subprocess.TimeoutExpired:
            return None

    def end(self, wait_s: float) -> None:
        """Close the input, wait ``wait_s`` for the process to end, then kill it and what it started."""
        self.end_input()
        try:
            self.code(wait_s)
        finally:
            self.kill()

    def kill(self) -> None:
        """Kill the process and everything it started; does nothing the second time."""
        if self._killed:
            return
        self._stopped.set()
        self._kill_all()
        self._killed = True
        self.end_input()
        self._process.wait()  # nothing survives SIGKILL
        limit = time.monotonic() + _JOIN_S  # but a descendant that was not found may hold the pipes open
        for thread in self._threads:
            thread.join(max(0.0, limit - time.monotonic()))
        _RUNNING.discard(self)

    def _kill_all(self) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        kill_marked(self._environment)

    def join_stderr(self, wait_s: float) -> None:
        """Wait until standard error is read to its end."""
        self._threads[2].join(wait_s)

    def _write(self, pipe: IO[bytes]) -> None:
        with contextlib.suppress(OSError), pipe:
            while (lines := self._outgoing.get()) is not None:
                pipe.write(lines)
                pipe.flush()

    def _read(self, pipe: IO[bytes]) -> None:
        with pipe:
            while (text := pipe.readline(self._line_limit + 1)).endswith(b"\n"):
                if text.strip() and not self._enqueue(OutputLine(text.strip())):
                    return
            self._enqueue(TooLong(text) if len(text) > self._line_limit else End(text.strip()))

    def _enqueue(self, received: Received) -> bool:
        while not self._stopped.is_set():
            with contextlib.suppress(queue.Full):
                self._received.put(received, timeout=_POLL_S)
                return True
        return False

    def _read_stderr(self, pipe: IO[bytes]) -> None:
        with pipe:
            while chunk := os.read(pipe.fileno(), _CHUNK):
                self._last_words.add(chunk)
        self._last_words.end()


@atexit.register
def _end_all() -> None:
    for child in tuple(_RUNNING):
        child.kill()
