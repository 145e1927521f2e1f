"""What a rule is to the kit: a question's type, where questions come from, who answers them, and where Java does it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, Any, TypeAlias

from kafka_conformance.protocol import Answer, Outcome, Question
from kafka_conformance.rules.explained import Explain
from kafka_reference.releases import Release, Spans

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

__all__ = ["AskJava", "ByParts", "Columns", "Rule", "Space"]

AskJava: TypeAlias = Callable[[str, Sequence[dict[str, Any]]], Sequence[Outcome]]
"""Another rule's slug and questions, not typed yet, to Java's outcomes."""

ByParts: TypeAlias = Callable[[AskJava, Release, Sequence[Any]], list[Outcome]]
"""Puts questions to Java by way of other rules."""


@dataclass(frozen=True, slots=True)
class Space:
    """A finite set of questions, asked whole: its name says of what, since "exhaustive" alone says nothing."""

    name: str
    questions: Callable[[], Iterable[Question]]


@dataclass(frozen=True, slots=True)
class Columns:
    """Keys by the million: one int32 answer for each key of a column.

    ``arguments`` are asked one after another (partition counts; a rule without one has a single 0). ``reference`` takes
    offsets, data and an argument, and gives NumPy int32; ``scalar`` takes one key and an argument.
    """

    arguments: tuple[int, ...]
    reference: Callable[[Any, Any, int], Any]
    scalar: Callable[[bytes, int], int]
    question: Callable[[bytes, int], Question]
    field: str


@dataclass(frozen=True, slots=True)
class Rule:
    """A named behaviour. ``slug`` is stable for ever.

    ``ask`` is the reference: a question and a release in, an answer's fields out, or a JavaRaises. ``labels`` says what
    kind of question one is; those in ``always`` must have been asked in every run that claims anything. ``path`` names
    the branch of the rule a question takes: differences on one path are one finding. ``java`` names the oracle's class
    by span of releases. ``share`` is how many times the usual number of examples ``verify`` asks of the strategy: a
    history that goes wrong in many ways is worth more of them than a question that can go wrong in one. ``broker`` says
    that Java answers with classes of the broker, whose jars are then loaded too. ``by_parts``, in place of a class of its
    own, puts a question to Java as questions of other rules. ``explain`` walks through the steps of a
    question, for rules that have steps.
    """

    slug: str
    title: str
    releases: Spans
    question: type[Question]
    ask: Callable[[Any, Release], Answer]
    strategy: Callable[[], SearchStrategy[Any]]
    spaces: tuple[Space, ...]
    labels: Callable[[Any], Iterator[str]]
    always: frozenset[str]
    java: tuple[tuple[Spans, str], ...]
    source: str
    links: tuple[str, ...]
    columns: Columns | None = None
    path: Callable[[Any], str] = lambda _: ""
    share: float = 1
    broker: bool = False
    by_parts: ByParts | None = None
    explain: Explain | None = None

    def examples_of(self, usual: int, most: float = inf) -> int:
        """How many examples its strategy is asked for: its share of the usual number, or ``most`` times that."""
        return round(usual * min(self.share, most))

    def has_java(self, at: Release) -> bool:
        """Whether Java answers this rule in this release."""
        return at in self.releases if self.by_parts is not None else self.java_class(at) is not None

    def java_class(self, at: Release) -> str | None:
        """The oracle's class for this rule in this release, or None where Kafka has no such rule."""
        return next((name for spans, name in self.java if at in spans), None)
