"""What Java answers differently from one release to the next, by the same questions to each.

A change is a kind of difference, so that a hundred questions that show one change count once. A release in which a rule
begins or ends is not a change of the rule; it is reported apart.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from kafka_conformance.answerers.recorded_outcomes import CachedAnswerer
from kafka_conformance.core.answerer import Answerer
from kafka_conformance.core.pipeline import (
    Comparison,
    Difference,
    Tally,
    group_by_kind,
    shrink_difference,
    size_of,
    tally,
)
from kafka_conformance.core.progress import Steps
from kafka_conformance.core.protocol import Outcome, Question, Unsupported, Verdict
from kafka_conformance.core.rule import Rule
from kafka_conformance.core.sources import Source
from kafka_reference.releases import Release

__all__ = ["KindOfChange", "ReleaseDiff", "compare_releases", "shrink_changes"]


@dataclass(frozen=True, slots=True)
class KindOfChange:
    """One kind of change: its name, the smallest question that shows it, and how many questions do."""

    kind: str
    example: Difference
    count: int


@dataclass(frozen=True, slots=True)
class ReleaseDiff:
    """A rule in two releases: the counts of the comparison, and what changed."""

    releases: tuple[Release, Release]
    tally: Tally
    changes: tuple[KindOfChange, ...]

    @property
    def rule(self) -> Rule:
        """The rule."""
        return self.tally.rule

    @property
    def asked(self) -> int:
        """Questions that both releases answered."""
        return self.tally.agreed + self.tally.differ

    @property
    def summary(self) -> str:
        """The result in one line."""
        first, second = self.releases
        absent = [str(release) for release in self.releases if not self.rule.has_java(release)]
        if absent:
            return f"{self.rule.slug}: the rule does not exist in {' and '.join(absent)}"
        asked, count = f"{self.rule.slug}: {self.asked:,} questions to {first} and {second}", len(self.changes)
        if self.tally.errors:
            (error,) = self.tally.error_lines(1)
            return f"{asked}: {len(self.tally.errors):,} could not be judged: {error}"
        return f"{asked}: {count} {'kind' if count == 1 else 'kinds'} of change" if count else f"{asked}: no change"


class _ReleaseComparison(Comparison):
    """Skips what one of the two releases does not have: that is a beginning or an end, and not a change."""

    def verdict(self, rule: Rule, question: Question, expected: Outcome, actual: Outcome) -> Verdict:
        absent = next((each for each in (expected, actual) if isinstance(each, Unsupported)), None)
        return absent or super().verdict(rule, question, expected, actual)


def compare_releases(
    rule: Rule, java: Answerer, releases: Sequence[Release], sources: Sequence[Source], progress: Steps
) -> Iterator[ReleaseDiff]:
    """Compare each release with the one before it in ``releases``; every release is asked once."""
    cached = CachedAnswerer(java)
    progress.advance()
    for first, second in pairwise(releases):
        progress.doing(f"{rule.slug} in {second}")
        exists = rule.has_java(first) and rule.has_java(second)
        counts = tally(rule, _ReleaseComparison(cached, cached, first, second), sources if exists else ())
        kinds = sorted(group_by_kind(rule, counts.differences).items())
        changes = tuple(KindOfChange(kind, min(found, key=size_of), len(found)) for kind, found in kinds)
        yield ReleaseDiff((first, second), counts, changes)
        cached.forget(rule, first)
        progress.advance()


def shrink_changes(diff: ReleaseDiff, java: Answerer, examples: int, seed: int) -> list[KindOfChange]:
    """Return the same changes, each with its example shrunk within its own kind."""
    comparison = Comparison(java, java, *diff.releases)
    return [
        KindOfChange(
            change.kind, shrink_difference(diff.rule, comparison, [change.example], examples, seed), change.count
        )
        for change in diff.changes
    ]
