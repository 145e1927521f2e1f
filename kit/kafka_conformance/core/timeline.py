"""A question in readable form: what its fields say, and, for a rule with steps, what happened at each of them and why.

A rule joins the timeline by one function, ``Rule.explain``: it takes the question, the release, and an implementation's
answers to the steps, and gives one :class:`Explained` for each step. The state and the reasons are those of the reference,
which the function runs through the question; only the answers are the implementation's. A rule without steps may explain
the parts of its one answer in the same way. A rule with steps and without such a function is shown by
``rules.common.step_text.plain_steps``: step and answer, no state.

All texts are unescaped; the code that prints them makes them harmless (``reports.harmless``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from kafka_reference.releases import Release

__all__ = ["NOTHING", "Box", "Explain", "Explained", "Lane"]


@dataclass(frozen=True, slots=True)
class Box:
    """Something that stands in a lane. ``kind`` is one of "open", "full", "retry", "sent", "ended", "lost", "held"."""

    name: str
    kind: str
    description: str


@dataclass(frozen=True, slots=True)
class Lane:
    """A row of the state, as a partition: what is queued, front to back, and what is out of the queue."""

    name: str
    queue: tuple[Box, ...]
    out: tuple[Box, ...] = ()


@dataclass(frozen=True, slots=True)
class Explained:
    """One step: the clock after it (None without a clock), the request, the answer, the reasons, and the state.

    ``mark`` is the step in a few words, for a figure; ``state`` holds names, each with a text.
    """

    time_ms: int | None
    step: str
    answer: str
    mark: str
    reasons: tuple[str, ...] = ()
    state: tuple[tuple[str, str], ...] = ()
    lanes: tuple[Lane, ...] = ()


# The answer to a step that only has to be taken.
NOTHING = "–"

Explain: TypeAlias = Callable[[Any, Release, Sequence[Any]], Iterator[Explained]]
