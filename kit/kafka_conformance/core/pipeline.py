"""Ask two, compare, count: the whole program, for one rule in one release.

Left is who is believed, right is who is judged. Questions go out in batches; every outcome is counted under what it
turned out to be, and every disagreement is kept with its question. Nothing is skipped quietly: an answerer that breaks
down is counted as such, and a rule whose required kinds of question were not all asked has not been judged.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
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
    Question,
    Unsupported,
    Verdict,
    judge,
    to_json,
)
from kafka_conformance.core.rule import Rule
from kafka_conformance.core.sources import Source, shrink
from kafka_reference.releases import Release

__all__ = ["BATCH", "Difference", "Pair", "Tally", "compare", "first_apart", "kind_of", "shape_of", "shrunk", "size_of"]

BATCH = 2000

# Who is believed answers here: mostly that is a wait for the JVM, in which the one who is judged can work.
_ASIDE = ThreadPoolExecutor(1, "believed")


@dataclass(frozen=True, slots=True)
class Difference:
    """A question that two answered differently; it may stand for others like it that were not kept."""

    question: Question
    expected: Answer
    actual: Answer
    times: int = 1


@dataclass(frozen=True, slots=True)
class Pair:
    """Two answerers and the releases each is asked about: the same one, but for ``diff``."""

    left: Answerer
    right: Answerer
    left_release: Release
    right_release: Release

    @property
    def names(self) -> tuple[str, str]:
        """How the two are called in reports."""
        return f"{self.left.name} {self.left_release}", f"{self.right.name} {self.right_release}"

    def verdicts(self, rule: Rule, questions: Sequence[Question]) -> list[Verdict]:
        """Both asked, at the same time, compared, one verdict for each question."""
        waits = _ASIDE.submit(self.left.answer, rule, self.left_release, questions)
        try:
            actual = self.right.answer(rule, self.right_release, questions)
        finally:  # nobody is left alone with a question: what the other one raises comes first
            expected = waits.result()
        return [judge(left, right, self.names) for left, right in zip(expected, actual, strict=True)]


@dataclass(slots=True)
class Tally:
    """What came out for one rule in one release."""

    rule: Rule
    asked: Counter[str] = field(default_factory=Counter)
    agreed: int = 0
    unsupported: int = 0
    labels: Counter[str] = field(default_factory=Counter)
    differences: list[Difference] = field(default_factory=list)
    errors: list[tuple[Question | None, str]] = field(default_factory=list)

    @property
    def total(self) -> int:
        """Questions put to both, but for those that this release has no answer to: these are ``unsupported``."""
        return self.asked.total()

    @property
    def differ(self) -> int:
        """Questions answered differently."""
        return sum(difference.times for difference in self.differences)

    @property
    def missing_labels(self) -> list[str]:
        """Kinds of question that had to be asked and were not."""
        return sorted(self.rule.required_labels - set(self.labels))

    def add(self, source: str, question: Question, verdict: Verdict) -> None:
        """Count one verdict."""
        self.asked[source] += not isinstance(verdict, Unsupported)
        match verdict:
            case Agrees():
                self.agreed += 1
            case Differs(expected, actual):
                self.differences.append(Difference(question, expected, actual))
            case Unsupported():
                self.unsupported += 1
            case Errored(who, what):
                self.errors.append((question, f"{who}: {what}"))
            case Crashed(who, lost):
                self.errors.append((question, f"{who}: {lost.what}"))


def compare(
    rule: Rule, pair: Pair, asked: Sequence[Source], advance: Callable[[int], None],
    *, enough: int | None = None, batch_size: int = BATCH,
) -> Tally:  # fmt: skip
    """Put every question of these sources to both; ``advance`` hears how many were answered.

    With ``enough``, the asking ends after the batch that brings so many differences: the tally says what was asked.
    """
    tally = Tally(rule)
    for source in asked:
        for batch in _batches(source.questions, batch_size):
            for question, verdict in zip(batch, pair.verdicts(rule, batch), strict=True):
                tally.add(source.name, question, verdict)
            advance(len(batch))
            if enough is not None and tally.differ >= enough:
                return tally
        tally.labels += source.labels
    return tally


def kind_of(rule: Rule, difference: Difference) -> str:
    """What kind of difference this is: the path the question takes, and what became of the answer.

    Of a script's answer that is the first step that differs: whatever follows may follow from that.
    """
    left, right = _shapes(difference)
    how = f"{left} → {right}" if left != right else f"another {left.removeprefix('raises ')}"
    return f"{rule.path(difference.question)}: {how}" if rule.path(difference.question) else how


def shrunk(
    rule: Rule, pair: Pair, found: Sequence[Difference], examples: int, seed: int,
    alike: Callable[[Difference], bool] | None = None,
) -> Difference:  # fmt: skip
    """The smallest difference like those ``found``: what the search from ``seed`` comes to, or one of them if smaller.

    Without ``alike``, those are alike whose answers have the same shapes as the first one's.
    """
    wanted = alike or (lambda other: _shapes(other) == _shapes(found[0]))
    seen: dict[Question, Difference | None] = {}

    def ask(question: Question) -> Difference | None:
        if question not in seen:
            (verdict,) = pair.verdicts(rule, [question])
            other = Difference(question, verdict.expected, verdict.actual) if isinstance(verdict, Differs) else None
            seen[question] = other if other is not None and wanted(other) else None
        return seen[question]

    smallest = shrink(rule, lambda question: ask(question) is not None, examples, seed)
    searched = None if smallest is None else ask(smallest)
    return min([*([searched] if searched else []), *found], key=size_of)


def size_of(difference: Difference) -> int:
    """How much there is to read in its question."""
    return len(to_json(difference.question))


def first_apart(difference: Difference) -> tuple[Answer | None, Answer | None]:
    """The two answers; of a script's, those to the first step that was answered differently. A step may answer null."""
    left, right = difference.expected, difference.actual
    if isinstance(left.get("steps"), list) and isinstance(right.get("steps"), list):
        nothing: Answer = {}
        for one, other in zip_longest(left["steps"], right["steps"], fillvalue=nothing):
            if one != other:
                return one, other
    return left, right


def _shapes(difference: Difference) -> tuple[str, str]:
    left, right = first_apart(difference)
    return shape_of(left), shape_of(right)


def shape_of(answer: Answer | None) -> str:
    """What sort of answer this is: the error it raises, or which fields it has."""
    if answer is None:
        return "null"
    if "raises" in answer:
        return f"raises {answer['raises']}"
    return " ".join(_sort_of(name, value) for name, value in sorted(answer.items())) or "nothing"


def _sort_of(name: str, value: object) -> str:
    """No partition below zero exists: UNKNOWN_PARTITION and its like are another sort of answer than a partition."""
    below = name == "partition" and isinstance(value, int) and value < 0
    return "partition below zero" if below else f"no {name}" if value is None else name


def _batches(questions: Sequence[Question], size: int) -> Iterator[list[Question]]:
    rest = iter(questions)
    while batch := list(islice(rest, size)):
        yield batch
