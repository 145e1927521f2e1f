"""Protocol errors: what can go wrong between the kit and a driver, with a hint for the driver's author.

==============  ==========================================================================================
unstartable     the command cannot be started
mute            no hello within the limit
version         the hello names another protocol version
hello           the hello does not have the protocol's shape, or names an unknown rule
hangs           questions are not answered within the limit of their batch
unflushed       answers arrive only after the input is closed
noise           a line on standard output is not JSON
indented        an object on standard output is spread over several lines
nan             a line has a number that JSON does not have: NaN, Infinity
encoding        a line is not plain UTF-8
duplicate       an object has a field twice
shape           a line of JSON is not an answer
stranger        an answer to an unknown id
twice           a second answer to an id
long            a line is too long, or all answers to a rule are
died            the driver ended, or closed its standard output, before it had answered everything
==============  ==========================================================================================

A driver's output is hostile text. It enters a message through :func:`quoted` only, which shortens and sanitizes it.
"""

from __future__ import annotations

from dataclasses import dataclass

from kafka_conformance.core.protocol import PROTOCOL, Lost
from kafka_conformance.core.sanitize import harmless

__all__ = ["HINTS", "Broke", "lost", "one_line", "quoted"]

_QUOTED = 160

_HELLO = f'{{"hello": {{"protocol": {PROTOCOL}, "name": …, "version": …, "language": …, "rules": […]}}}}'

HINTS = {
    "unstartable": "check that the command is installed and spelled correctly; it is started without a shell",
    "mute": f"read a line of standard input, answer it with {_HELLO} as one line, and flush standard output",
    "version": f"speak protocol {PROTOCOL}, or use the release of kafka-conformance that supports yours",
    "hello": f"the first line must be {_HELLO}, with rules as kafka-conformance names them",
    "hangs": 'answer every question, with "failed" if nothing else, and flush after every line; if the driver is slow, '
    "raise --timeout",
    "unflushed": "answer each line as it arrives and flush standard output after it; do not wait for the end of the input",
    "noise": "write only protocol lines to standard output; use standard error for everything else",
    "indented": "write each object as one line: without indentation and line feeds",
    "nan": 'JSON has neither NaN nor Infinity: answer what the page of the rule says, or "failed"',
    "encoding": "write UTF-8 without a byte order mark",
    "duplicate": "write each field of an object once; readers of JSON take different ones",
    "shape": 'answer {"id": …, "answer": {…}}, or "unsupported": "why" or "failed": "what broke" in place of the answer',
    "stranger": "return the id unchanged, as a string",
    "twice": "write exactly one line for each question",
    "long": "write one line for each question, ending with a line feed, and nothing else",
    "died": 'keep reading until the input ends, and answer "failed" where something breaks; standard error shows what broke',
}


@dataclass(frozen=True, slots=True)
class Broke:
    """The connection broke: the protocol error, and the id of the question that caused it, if that is known."""

    lost: Lost
    culprit: str | None = None


def lost(error: str, what: str) -> Lost:
    """Return the outcome of a question that a protocol error of this name prevented from being answered."""
    return Lost(error, what, HINTS[error])


def one_line(outcome: Lost) -> str:
    """Return what happened and the hint, as one line."""
    return f"{outcome.what}: {outcome.hint}"


def quoted(text: bytes | str, most: int = _QUOTED) -> str:
    """Return a driver's text, cut to ``most`` characters and sanitized for a terminal."""
    words = text if isinstance(text, str) else text[: 4 * most].decode(errors="replace")
    words = harmless(words[: most + 1].strip())
    return words if len(words) <= most else f"{words[:most]}…"
