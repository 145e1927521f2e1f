"""A child process and its pipes: lines in, lines out. Every wait has a limit, and no process is left running.

Three threads serve the pipes, so that a full pipe cannot block both sides: one writes pending input, one reads
standard output line by line, one shows standard error as it arrives and keeps the last lines. Each pipe is closed by the
thread that uses it. Lines wait in a short queue: a child that floods it is blocked and does not fill the kit's memory.

The child runs in its own session: Ctrl-C reaches the kit alone, which ends the child and its process group. If the kit is
killed, the pipe of standard input closes, which ends a driver.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import queue
import re
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TypeAlias

from kafka_conformance.answerers.driver.protocol_errors import quoted

__all__ = ["LINE_LIMIT", "Child", "End", "Line", "Received", "Show", "TooLong", "on_stderr"]

LINE_LIMIT = 2**23  # the longest right answers in tests have half a million bytes
SHOWN_LINES = 200
_QUEUED = 32
_KEPT = 50
_POLL_S = 0.05
_LAST_S = 0.5  # for what is in the pipe of a child that has ended
_JOIN_S = 2.0

# Node.js ends with its version, Go and Java with where it was: the line that says what broke is before that.
_ERROR = re.compile(r"(Error|Exception)\b(?! at)|^(panic|fatal|error)\b|\bpanicked at\b", re.IGNORECASE)

Show: TypeAlias = Callable[[str], None]

# An interrupt may arrive before the caller has the child: children that still run when the kit ends are killed.
_RUNNING: set[Child] = set()


@dataclass(frozen=True, slots=True)
class Line:
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


Received: TypeAlias = Line | TooLong | End


def on_stderr(line: str) -> None:
    """Print a line of a driver's standard error, already sanitized, to standard error.

    GitHub's runner takes ``##[`` for a command anywhere in a line, so it is split.
    """
    print(f"driver: {line.replace('##[', '# #[')}", file=sys.stderr, flush=True)


class Child:
    """A child process. Raises OSError or ValueError if it cannot be started."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        folder: Path | None = None,
        show: Show = on_stderr,
        line_limit: int = LINE_LIMIT,
    ) -> None:
        self._show, self._line_limit = show, line_limit
        self._outgoing: queue.Queue[bytes | None] = queue.Queue()
        self._received: queue.Queue[Received] = queue.Queue(_QUEUED)
        self._stopped = threading.Event()
        self._words: deque[str] = deque(maxlen=_KEPT)
        self._killed = False
        self._threads: list[threading.Thread] = []
        self._process = subprocess.Popen(
            list(command), cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            start_new_session=True,
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
        """The last line of standard error that names an error, else the last line, shortened and sanitized."""
        words = list(self._words)  # at once: it is still being written
        return next((line for line in reversed(words) if _ERROR.search(line)), words[-1] if words else "")

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
            if self._process.poll() is not None:  # a grandchild may keep the pipe open
                ended_at = ended_at or now
                if now > ended_at + _LAST_S:
                    return End()

    def code(self, wait_s: float) -> int | None:
        """Return the exit code, negative for a signal; None if the process still runs after ``wait_s``."""
        try:
            return self._process.wait(wait_s)
        except subprocess.TimeoutExpired:
            return None

    def end(self, wait_s: float) -> None:
        """Close the input, wait ``wait_s`` for the process to end, then kill it and its group."""
        self.end_input()
        try:
            self.code(wait_s)
        finally:
            self.kill()

    def kill(self) -> None:
        """Kill the process and its group; does nothing the second time."""
        if self._killed:
            return
        self._stopped.set()
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._killed = True
        self.end_input()
        self._process.wait()  # nothing survives SIGKILL
        limit = time.monotonic() + _JOIN_S  # but what left its group may hold the pipes open
        for thread in self._threads:
            thread.join(max(0.0, limit - time.monotonic()))
        _RUNNING.discard(self)

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
                if text.strip() and not self._enqueue(Line(text.strip())):
                    return
            self._enqueue(TooLong(text) if len(text) > self._line_limit else End(text.strip()))

    def _enqueue(self, received: Received) -> bool:
        while not self._stopped.is_set():
            with contextlib.suppress(queue.Full):
                self._received.put(received, timeout=_POLL_S)
                return True
        return False

    def _read_stderr(self, pipe: IO[bytes]) -> None:
        shown = 0
        with pipe:
            while text := pipe.readline(4096):
                if not (words := quoted(text, 500)):
                    continue
                self._words.append(words)
                shown += 1
                if shown <= SHOWN_LINES:
                    with contextlib.suppress(OSError, ValueError):  # standard error is closed: keep reading
                        self._show(words if shown < SHOWN_LINES else "(further lines are not shown)")


@atexit.register
def _end_all() -> None:
    for child in tuple(_RUNNING):
        child.kill()
