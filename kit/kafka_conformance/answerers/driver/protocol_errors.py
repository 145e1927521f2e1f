"""What can go wrong between the kit and a driver: one word for each trouble, and what its author should mend.

==============  ==========================================================================================
unstartable     the command cannot be started
mute            no hello within the limit
version         its hello is of another protocol
hello           its hello is not of the protocol's shape, or names a rule that there is not
hangs           questions are not answered within the limit of their batch
unflushed       they are not either, and the answers come once its input is closed
noise           a line on standard output that is not JSON
shape           a line of JSON that is no answer
stranger        an answer to an id that nobody asked
twice           a second answer to an id
long            a line that is too long
died            it ended, or closed its standard output, before it had answered everything
==============  ==========================================================================================

A driver's words are hostile text. They come into a message by :func:`quoted` only, which cuts them and makes them
harmless.
"""

from __future__ import annotations

from dataclasses import dataclass

from kafka_conformance.core.protocol import PROTOCOL, Lost
from kafka_conformance.core.sanitize import harmless

__all__ = ["MENDS", "Broke", "lost", "one_line", "quoted"]

_QUOTED = 160

_HELLO = f'{{"hello": {{"protocol": {PROTOCOL}, "name": …, "version": …, "language": …, "rules": […]}}}}'

MENDS = {
    "unstartable": "check that the command is installed and spelled right; it is started without a shell",
    "mute": f"read a line of standard input, answer it with {_HELLO} as one line, and flush standard output",
    "version": f"speak protocol {PROTOCOL}, or use the release of kafka-conformance that speaks yours",
    "hello": f"the first line has to be {_HELLO}, its rules as kafka-conformance names them",
    "hangs": "answer every question, if only with failed, and flush after every line; if it is slow, give it more time",
    "unflushed": "answer each line as it comes and flush standard output after it, without waiting for the end of the input",
    "noise": "write nothing but the protocol to standard output; standard error is free for everything else",
    "shape": 'answer {"id": …, "answer": {…}}, or "unsupported": "why" or "failed": "what broke" in place of the answer',
    "stranger": "send the id back as it came, as a string",
    "twice": "write one line for each question, and no more",
    "long": "write one line for each question, with a line feed at its end, and nothing that was not asked",
    "died": 'keep reading until the input ends, and answer "failed" where something breaks; standard error says what broke',
}


@dataclass(frozen=True, slots=True)
class Broke:
    """The connection broke: why, and the id of the question that is known to be at fault, if one is."""

    lost: Lost
    culprit: str | None = None


def lost(trouble: str, what: str) -> Lost:
    """The trouble of this word."""
    return Lost(trouble, what, MENDS[trouble])


def one_line(trouble: Lost) -> str:
    """What happened and what to mend, as one line."""
    return f"{trouble.what}: {trouble.mend}"


def quoted(text: bytes | str, most: int = _QUOTED) -> str:
    """What somebody else wrote, cut to ``most`` characters, with nothing in it that a terminal obeys."""
    words = text if isinstance(text, str) else text[: 4 * most].decode(errors="replace")
    words = harmless(words[: most + 1].strip())
    return words if len(words) <= most else f"{words[:most]}…"
