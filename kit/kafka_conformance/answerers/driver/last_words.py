"""The last words of a driver on standard error: the lines that say what broke, or the last line.

A panic or traceback has one line that says what broke, and up to hundreds that say where. The headline is kept as soon as it
is read, with the lines that belong to it, so that a long trace does not push it out:

========= ===================================================== ==========================================================
language  headline                                              with it
========= ===================================================== ==========================================================
Rust      ``thread 'main' panicked at src/main.rs:2:5:``        the next line, which is the message
Go        ``panic: index out of range``                         ``[signal SIGSEGV: …]``
cgo       ``SIGSEGV: segmentation violation``                   ``signal arrived during cgo execution``
C++       ``terminate called after throwing …``                 ``what():  no``
Java      ``Exception in thread "main" java.lang.Error: no``    ``Caused by: …``
others    a line that names an Error or Exception
========= ===================================================== ==========================================================
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from kafka_conformance.answerers.driver.protocol_errors import quoted

__all__ = ["DETAILED", "LastWords"]

DETAILED = 2**20
_TAIL = 2**16
_LONGEST_LINE = 4096
_LONGEST = 300
_LINES = 3

_HEADLINE = re.compile(
    rb"(Error|Exception)\b(?! at)|^(panic|fatal|error)\b(?!\()|\bpanicked at\b|^SIG[A-Z]+: |^terminate called |"
    rb"Assertion .*fail",
    re.IGNORECASE,
)
_WITH_IT = re.compile(
    rb"^\s*(\[signal |signal arrived during |what\(\): |Caused by: |panic: )|^fatal error: unexpected signal"
)
# Where it broke: a stack frame, or a second panic that only follows from the first.
_PLACE = re.compile(
    rb"^\s+at |^\s*\d+: |^\s+(\^|~)|^\s*File \"|^\s*\.\.\. \d+ more|^goroutine |^stack backtrace:|^note: |"
    rb"panic in a function that cannot unwind|panicked at (library|/rustc)/|failed to initiate panic|non-unwinding panic"
)


class _Words(NamedTuple):
    """What is kept of the lines so far: the headline with what belongs to it, and the last line."""

    found: tuple[bytes, ...] = ()
    last: bytes = b""
    message_follows: bool = False

    def after(self, line: bytes) -> _Words:
        """Return what is kept after one more line."""
        if not line.strip():
            return self
        if self.message_follows:
            return _Words((*self.found, line), line)
        if _PLACE.search(line):
            return _Words(self.found, line)
        if self.found and len(self.found) < _LINES and _WITH_IT.search(line):
            return _Words((*self.found, line), line)
        if _HEADLINE.search(line):
            return _Words((line,), line, b" panicked at " in line and line.rstrip().endswith(b":"))
        return _Words(self.found, line)


class LastWords:
    """Standard error, line by line: ``show`` receives each line, and ``str`` returns the lines worth repeating.

    After the first :data:`DETAILED` bytes only the end is kept, and nothing is shown, so that a flood costs no time.
    """

    def __init__(self, show: Callable[[bytes], object] = bool) -> None:
        self._show = show
        self._words = _Words()
        self._rest = b""
        self._read = 0

    def add(self, chunk: bytes) -> None:
        """Take the next bytes of standard error."""
        self._read += len(chunk)
        if self._read > DETAILED:
            self._rest = (self._rest + chunk)[-_TAIL:]
            return
        *lines, self._rest = (self._rest + chunk).split(b"\n")
        if len(self._rest) > _LONGEST_LINE:
            lines.append(self._rest)
            self._rest = b""
        for line in lines:
            self._show(line)
            self._words = self._words.after(line[:_LONGEST_LINE])

    def end(self) -> None:
        """Show a last line without an end."""
        if self._rest and self._read <= DETAILED:
            self._show(self._rest)

    def __str__(self) -> str:
        """Return the headline with what belongs to it, else the last line; shortened and sanitized."""
        words = self._words
        for line in self._rest.split(b"\n"):
            words = words.after(line[:_LONGEST_LINE])
        text = "; ".join(quoted(line, _LONGEST) for line in words.found or (words.last,))
        return quoted(text.replace(":; ", ": "), _LONGEST)
