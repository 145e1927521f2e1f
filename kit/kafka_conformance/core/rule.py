"""A rule: the type of its questions, their sources, the reference that answers them, and the Java class that does."""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf
from typing import TYPE_CHECKING, Any, TypeAlias

from kafka_conformance.core.protocol import Answer, Outcome, Question
from kafka_conformance.core.timeline import Explain
from kafka_reference.behaviour import Behaviour
from kafka_reference.releases import Release, Spans

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

__all__ = ["Area", "AskJava", "ByParts", "Columns", "Harmless", "Rule", "Space"]

AskJava: TypeAlias = Callable[[str, Sequence[dict[str, Any]]], Sequence[Outcome]]
"""Another rule's slug and questions, not typed yet, to Java's outcomes."""

ByParts: TypeAlias = Callable[[AskJava, Release, Sequence[Any]], list[Outcome]]
"""Puts questions to Java by way of other rules."""

Harmless: TypeAlias = Callable[[Any, Answer, Answer], tuple[Answer, tuple[str, ...]]]
"""A question, its expected answer and an actual one, to the actual answer without what no user notices, and what that is."""


@dataclass(frozen=True, slots=True)
class Space:
    """A finite set of questions, all of which are asked; the name describes the set."""

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


class Area(enum.IntEnum):
    """What part of Kafka a rule belongs to; rules are listed in this order."""

    PLACEMENT = 1
    ACCUMULATOR = 2
    IDEMPOTENCE = 3
    BROKER = 4
    DELIVERY = 5
    ASSIGNMENT = 6
    LOG = 7
    REPLICATION = 8


@dataclass(frozen=True, slots=True)
class Rule:
    """A named behaviour: a pure function from a question to an answer, with all the kit needs to ask it."""

    slug: str
    """The name of the rule; it never changes."""
    title: str
    area: Area
    releases: Spans
    """The releases that have the rule."""
    question: type[Question]
    ask: Callable[[Any, Release], Answer]
    """The reference: a question and a release give an answer's fields. Raises JavaException where Kafka throws."""
    strategy: Callable[[], SearchStrategy[Any]]
    spaces: tuple[Space, ...]
    labels: Callable[[Any], Iterator[str]]
    """The kinds of question that a question belongs to."""
    required_labels: frozenset[str]
    """Kinds of question that every run must have asked before it claims anything."""
    java: tuple[tuple[Spans, str], ...]
    """The oracle's Java class, by span of releases."""
    source: str
    """The Java method that is mirrored."""
    links: tuple[str, ...]
    columns: Columns | None = None
    path: Callable[[Any], str] = lambda _: ""
    """The branch of the rule that a question takes; differences on one path are one finding."""
    share: float = 1
    """Multiplies the number of generated examples: a history can go wrong in more ways than a single call."""
    broker: bool = False
    """Whether classes of the broker answer, whose jars are then loaded too."""
    codecs: bool = False
    """Whether records are compressed, so that the release's snappy, lz4 and zstd are loaded too."""
    by_parts: ByParts | None = None
    """In place of a Java class: puts the question to Java as questions of other rules."""
    explain: Explain | None = None
    """Walks through the steps of a question, for rules that have steps or ``parts``."""
    parts: Callable[[Any, Answer], Sequence[Any]] | None = None
    """For a rule without steps: what each row of the timeline shows of an answer; nothing of one that threw."""
    harness: str = ""
    """What of the Java half is the kit's own logic and not Kafka's, in a sentence."""
    behaviours: tuple[type[Behaviour], ...] = ()
    """The behaviour records that the reference of this rule reads."""
    unobservable: frozenset[str] = frozenset()
    """Fields of these records that no question of the rule can show, as ``Record.field``."""
    shows_with: Mapping[str, str] = field(default_factory=dict)
    """Fields that show only where another one holds: between two releases, only if it holds in both."""
    domain: Callable[[Any], str] = lambda _: ""
    """Why no user of any Kafka client can bring a question about; "" for a question in domain."""
    endless: Callable[[Any, Release], str] = lambda *_: ""
    """Why a question has no answer within a bounded number of steps, of the reference and of Java; "" for all others."""
    nearest: Callable[[Any], Any] = lambda question: question
    """The question in domain that is most like one out of domain; the same question where there is none."""
    plain: Callable[[], Iterable[Question]] = tuple
    """Everyday questions in domain, which a gate asks besides the frozen cases."""
    optional_labels: Mapping[str, str] = field(default_factory=dict)
    """Kinds of question that a client may lack, with what it lacks; a gate needs answers to all other kinds."""
    optional_parts: Mapping[str, str] = field(default_factory=dict)
    """Parts of an answer that a client may leave out, with what it lacks: paths of fields, lists passed over, as
    ``batches.iterated``; the answer to a step is named by its ``op``: ``steps.look``. They only read: what is left out
    changes no other part."""
    half: Callable[[Any], str] = lambda _: ""
    """The half of the rule that a question asks, where an implementation may have one alone; each half is judged apart."""
    harmless: Harmless = lambda _, __, actual: (actual, ())
    """Takes out of an actual answer the differences that no user notices; everything else in it is compared."""

    def examples_of(self, usual: int, most: float = inf) -> int:
        """Return how many questions its strategy generates: its share of the usual number, at most ``most`` times that."""
        return round(usual * min(self.share, most))

    def has_java(self, release: Release) -> bool:
        """Return whether Java answers this rule in this release."""
        return release in self.releases if self.by_parts is not None else self.java_class(release) is not None

    def java_class(self, release: Release) -> str | None:
        """Return the oracle's class for this rule in this release, or None where Kafka has no such rule."""
        return next((name for spans, name in self.java if release in spans), None)
