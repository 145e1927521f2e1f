"""The pipeline of every command: questions go to two answerers, and their outcomes become a stream of judgements.

::

    source of questions ──► two answerers (expected, actual) ──► judgements ──► consumers (tally, shrinker, reports)

The expected answerer is the authority; the actual one is under test. Every question yields one judgement: an answerer
that fails is counted as an error, and a rule whose required kinds of question were not all asked is not verified.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import islice, zip_longest

from kafka_conformance.core.answerer import Answerer
from kafka_conformance.core.protocol import (
    Agrees,
    Answer,
    Crashed,
    Differs,
    Errored,
    Outcome,
    Question,
    Unsupported,
    Verdict,
    judge,
    to_json,
)
from kafka_conformance.core.rule import Rule
from kafka_conformance.core.sources import Source, shrink
from kafka_reference.releases import Release

__all__ = [
    "BATCH",
    "Comparison",
    "Difference",
    "Judgement",
    "SearchStopped",
    "Tally",
    "batches",
    "error_line",
    "first_difference",
    "group_by_kind",
    "kind_of",
    "search_kind",
    "shape_of",
    "shrink_difference",
    "size_of",
    "tally",
]

BATCH = 2000
"""Questions that an answerer receives at once."""

# The expected answerer is mostly Java: the actual one works while this thread waits for the JVM.
_EXPECTED_THREAD = ThreadPoolExecutor(1, "expected")
# Questions that are answered sooner than another thread is awake. A shrinker asks one at a time.
_FEW = 4


@dataclass(frozen=True, slots=True)
class Judgement:
    """One question of a source, the outcomes of both answerers, and the verdict."""

    source: str
    question: Question
    expected: Outcome
    actual: Outcome
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class Difference:
    """A question with two different answers; ``times`` counts the questions it stands for."""

    question: Question
    expected: Answer
    actual: Answer
    times: int = 1
    source: str = ""


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two answerers, each with the release it is asked about; ``actual_release`` defaults to ``release``.

    A subclass may ask differently (:meth:`outcomes`) or judge differently (:meth:`verdict`).
    """

    expected: Answerer
    actual: Answerer
    release: Release
    actual_release: Release | None = None

    @property
    def names(self) -> tuple[str, str]:
        """The names of both answerers in reports, each with its release."""
        return f"{self.expected.name} {self.release}", f"{self.actual.name} {self.actual_release or self.release}"

    def judgements(self, rule: Rule, source: Source, batch_size: int = BATCH) -> Iterator[Judgement]:
        """Ask both answerers every question of a source, in batches; yield one judgement for each question."""
        for batch in batches(source.questions, batch_size):
            for question, expected, actual in zip(batch, *self.outcomes(rule, batch), strict=True):
                yield Judgement(source.name, question, expected, actual, self.verdict(rule, question, expected, actual))

    def judge_one(self, rule: Rule, question: Question) -> Judgement:
        """Return the judgement of a single question."""
        (judgement,) = self.judgements(rule, Source("", (question,)))
        return judgement

    def outcomes(self, rule: Rule, questions: Sequence[Question]) -> tuple[Sequence[Outcome], Sequence[Outcome]]:
        """Ask both answerers at the same time, or one after the other where that is faster than to start a thread."""
        if len(questions) <= _FEW:
            return (
                self.expected.answer(rule, self.release, questions),
                self.actual.answer(rule, self.actual_release or self.release, questions),
            )
        waiting = _EXPECTED_THREAD.submit(self.expected.answer, rule, self.release, questions)
        try:
            actual = self.actual.answer(rule, self.actual_release or self.release, questions)
        finally:  # an error of the expected answerer comes first, and no thread outlives the batch
            expected = waiting.result()
        return expected, actual

    def verdict(self, rule: Rule, question: Question, expected: Outcome, actual: Outcome) -> Verdict:  # noqa: ARG002
        """Compare two outcomes."""
        return judge(expected, actual, self.names)


def batches(questions: Iterable[Question], size: int = BATCH) -> Iterator[list[Question]]:
    """Cut questions into lists of ``size``; the last one may be shorter."""
    rest = iter(questions)
    while batch := list(islice(rest, size)):
        yield batch


@dataclass(slots=True)
class Tally:
    """Counts of the judgements of one rule in one release; differences and errors are kept."""

    rule: Rule
    asked: Counter[str] = field(default_factory=Counter)
    agreed: int = 0
    unsupported: int = 0
    labels: Counter[str] = field(default_factory=Counter)
    differences: list[Difference] = field(default_factory=list)
    errors: list[Judgement] = field(default_factory=list)

    @property
    def total(self) -> int:
        """Questions that both answerers received, without the ``unsupported`` ones."""
        return self.asked.total()

    @property
    def differ(self) -> int:
        """Questions with two different answers."""
        return sum(difference.times for difference in self.differences)

    @property
    def missing_labels(self) -> list[str]:
        """Required kinds of question that were not asked."""
        return sorted(self.rule.required_labels - set(self.labels))

    def add(self, judgement: Judgement) -> None:
        """Count one judgement."""
        self.asked[judgement.source] += not isinstance(judgement.verdict, Unsupported)
        match judgement.verdict:
            case Agrees():
                self.agreed += 1
            case Differs(expected, actual):
                self.differences.append(Difference(judgement.question, expected, actual, source=judgement.source))
            case Unsupported():
                self.unsupported += 1
            case Errored() | Crashed():
                self.errors.append(judgement)

    def error_lines(self, most: int) -> list[str]:
        """Return the first ``most`` errors, each as the answerer's name and its message."""
        return [error_line(each.verdict) for each in self.errors[:most]]


def error_line(verdict: Verdict) -> str:
    """Return an error as one line: the answerer's name and its message."""
    match verdict:
        case Errored(name, what):
            return f"{name}: {what}"
        case Crashed(name, lost):
            return f"{name}: {lost.what}"
    return str(verdict)


def tally(
    rule: Rule, comparison: Comparison, sources: Iterable[Source], *, enough: float = float("inf"),
    batch_size: int = BATCH,
) -> Tally:  # fmt: skip
    """Count the judgements of all sources, or of as many as it takes to find ``enough`` differences."""
    counts = Tally(rule)
    for source in sources:
        for judgement in comparison.judgements(rule, source, batch_size):
            counts.add(judgement)
            if len(counts.differences) >= enough:
                return counts
        counts.labels += source.labels
    return counts


def kind_of(rule: Rule, difference: Difference) -> str:
    """Name the kind of a difference: the path of its question, and the shapes of both answers.

    The shapes of a script's answers are those of the first step that differs: later steps may follow from it.
    """
    expected, actual = map(shape_of, first_difference(difference))
    change = f"{expected} → {actual}" if expected != actual else f"another {expected.removeprefix('raises ')}"
    return f"{path}: {change}" if (path := rule.path(difference.question)) else change


def group_by_kind(rule: Rule, differences: Sequence[Difference]) -> dict[str, list[Difference]]:
    """Sort differences into kinds, in the order in which the kinds were found."""
    kinds: dict[str, list[Difference]] = {}
    for difference in differences:
        kinds.setdefault(kind_of(rule, difference), []).append(difference)
    return kinds


class SearchStopped(BaseException):  # Hypothesis takes an Exception for a failed example, and shrinks that
    """Ends a search for a smaller difference."""


def search_kind(
    rule: Rule, comparison: Comparison, kind: str, examples: int, seed: int,
    belongs: Callable[[Difference], bool] = lambda _: True,
) -> tuple[Difference | None, list[Difference]]:  # fmt: skip
    """Search for the smallest difference of a kind that ``belongs``, by Hypothesis from ``seed``.

    Returns the smallest, or None if the search finds no difference of this kind; and all that the search asked. If an
    answerer raises SearchStopped, the search ends with what it has found.
    """
    asked: dict[Question, Difference | None] = {}

    def is_kind(question: Question) -> bool:
        if question not in asked:
            verdict = comparison.judge_one(rule, question).verdict
            other = Difference(question, verdict.expected, verdict.actual) if isinstance(verdict, Differs) else None
            is_one = other is not None and kind_of(rule, other) == kind and belongs(other)
            asked[question] = other if is_one else None
        return asked[question] is not None

    try:
        question = shrink(rule, is_kind, examples, seed)
        smallest = None if question is None else asked[question]
    except SearchStopped:
        smallest = min(filter(None, asked.values()), key=size_of, default=None)
    return smallest, [each for each in asked.values() if each is not None]


def shrink_difference(
    rule: Rule, comparison: Comparison, found: Sequence[Difference], examples: int, seed: int,
    belongs: Callable[[Difference], bool] = lambda _: True,
) -> Difference:  # fmt: skip
    """Return the smallest difference of the same kind as ``found``: from a search, or the smallest of ``found``.

    ``belongs`` says whether a difference of that kind, as the search finds it, may stand for ``found``.
    """
    searched, _ = search_kind(rule, comparison, kind_of(rule, found[0]), examples, seed, belongs)
    mine = [difference for difference in found if belongs(difference)] or found
    return min([*([searched] if searched else []), *mine], key=size_of)


def size_of(difference: Difference) -> int:
    """Return the size of a difference: the length of its question as JSON."""
    return len(to_json(difference.question))


def first_difference(difference: Difference) -> tuple[Answer | None, Answer | None]:
    """Return both answers; for a script, both answers to the first step that differs. A step may answer null."""
    expected, actual = difference.expected, difference.actual
    if isinstance(expected.get("steps"), list) and isinstance(actual.get("steps"), list):
        nothing: Answer = {}
        for one, other in zip_longest(expected["steps"], actual["steps"], fillvalue=nothing):
            if one != other:
                return one, other
    return expected, actual


def shape_of(answer: Answer | None) -> str:
    """Return the shape of an answer: the error it raises, or the names of its fields."""
    if answer is None:
        return "null"
    if "raises" in answer:
        return f"raises {answer['raises']}"
    return " ".join(_field_shape(name, value) for name, value in sorted(answer.items())) or "nothing"


def _field_shape(name: str, value: object) -> str:
    """No partition below zero exists: UNKNOWN_PARTITION and the like are another shape than a partition."""
    below = name == "partition" and isinstance(value, int) and value < 0
    return "partition below zero" if below else f"no {name}" if value is None else name
