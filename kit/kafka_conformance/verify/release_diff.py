"""What Java itself answers differently from one release to the next: the same questions, put to each in turn.

A change is named by the path a question takes through its rule and the shapes of the two answers, so that a hundred
questions that show one thing are one change. Releases in which a rule begins or ends are no changes of it, and are said
apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kafka_conformance.core.answerer import Answerer
from kafka_conformance.core.pipeline import BATCH, Difference, Pair, kind_of, shrunk, size_of
from kafka_conformance.core.progress import Steps
from kafka_conformance.core.protocol import Answered, Differs, Errored, Outcome, Unsupported, judge
from kafka_conformance.core.rule import Rule
from kafka_conformance.core.sources import Source
from kafka_reference.releases import Release

__all__ = ["Change", "Compared", "compare_releases", "shrink_changes"]


@dataclass(frozen=True, slots=True)
class Change:
    """One kind of change: its name, the smallest question that showed it, and how many did."""

    kind: str
    example: Difference
    count: int


@dataclass(frozen=True, slots=True)
class Compared:
    """A rule in two releases: how many questions both answered, what changed, what could not be compared."""

    rule: Rule
    releases: tuple[Release, Release]
    asked: int
    changes: tuple[Change, ...]
    errors: tuple[str, ...]

    @property
    def summary(self) -> str:
        """One line."""
        first, second = self.releases
        said = f"{self.rule.slug}: {self.asked:,} questions to {first} and {second}"
        absent = [str(at) for at in self.releases if not self.rule.has_java(at)]
        if absent:
            return f"{self.rule.slug}: there is no such rule in {' and '.join(absent)}"
        if self.errors:
            return f"{said}: {len(self.errors):,} could not be judged: {self.errors[0]}"
        count = len(self.changes)
        return f"{said}: {count} {'kind' if count == 1 else 'kinds'} of change" if count else f"{said}: no change"


def compare_releases(
    rule: Rule, java: Answerer, releases: Sequence[Release], asked: Sequence[Source], progress: Steps
) -> list[Compared]:
    """Each release against the one before it in ``releases``; every release is asked once."""
    questions = [question for source in asked for question in source.questions]
    compared, before = [], None
    for at in releases:
        progress.doing(f"{rule.slug} in {at}")
        outcomes = _asked(rule, java, at, questions)
        if before is not None:
            compared.append(_compared(rule, (before[0], at), questions, before[1], outcomes))
        before = at, outcomes
        progress.advance()
    return compared


def shrink_changes(compared: Compared, java: Answerer, examples: int, seed: int) -> list[Change]:
    """The same changes with examples as small as Hypothesis makes them, each shrunk within its own kind."""
    first, second = compared.releases
    pair = Pair(java, java, first, second)

    def smaller(change: Change) -> Change:
        def alike(other: Difference) -> bool:
            return kind_of(compared.rule, other) == change.kind

        return Change(change.kind, shrunk(compared.rule, pair, [change.example], examples, seed, alike), change.count)

    return [smaller(change) for change in compared.changes]


def _asked(rule: Rule, java: Answerer, at: Release, questions: Sequence[object]) -> list[Outcome] | None:
    if not rule.has_java(at):
        return None
    outcomes: list[Outcome] = []
    for first in range(0, len(questions), BATCH):
        outcomes += java.answer(rule, at, questions[first : first + BATCH])  # type: ignore[arg-type]
    return outcomes


def _compared(
    rule: Rule, releases: tuple[Release, Release], questions: Sequence[object],
    left: list[Outcome] | None, right: list[Outcome] | None,
) -> Compared:  # fmt: skip
    if left is None or right is None:
        return Compared(rule, releases, 0, (), ())
    kinds: dict[str, list[Difference]] = {}
    errors, asked = [], 0
    for question, before, after in zip(questions, left, right, strict=True):
        if isinstance(before, Unsupported) or isinstance(after, Unsupported):
            continue  # about what one of the two releases does not have
        asked += isinstance(before, Answered) and isinstance(after, Answered)
        match judge(before, after, (str(releases[0]), str(releases[1]))):
            case Differs(expected, actual):
                difference = Difference(question, expected, actual)  # type: ignore[arg-type]
                kinds.setdefault(kind_of(rule, difference), []).append(difference)
            case Errored(who, what):
                errors.append(f"{who}: {what}")
    changes = tuple(Change(kind, min(found, key=size_of), len(found)) for kind, found in sorted(kinds.items()))
    return Compared(rule, releases, asked, changes, tuple(errors))
