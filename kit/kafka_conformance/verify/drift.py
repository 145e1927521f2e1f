"""What a new release changed: its Java and its predecessor's answer the same questions.

The reference is not asked, since it does not have the release. A rule is *moved* if a class, constructor, method or field
that the oracle needs was not found in the new release: then the kit has to be adapted before it can compare.
"""

from __future__ import annotations

import enum
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from kafka_conformance.core.answerer import Answerer
from kafka_conformance.core.errors import KitError, OracleFault, WrongRelease
from kafka_conformance.core.pipeline import (
    Comparison,
    Judgement,
    Tally,
    error_line,
    group_by_kind,
    size_of,
    tally,
)
from kafka_conformance.core.protocol import Failed, Lost, Outcome, Question, Unsupported, Verdict
from kafka_conformance.core.rule import Rule
from kafka_conformance.core.sources import Source
from kafka_conformance.oracle.missing_names import Absence, absences
from kafka_conformance.verify.release_diff import KindOfChange, ReleaseDiff, shrink_changes
from kafka_jars.errors import JarChanged, JarError, JarNotPublished
from kafka_reference.releases import Release

__all__ = ["Drift", "DriftOutcome", "exit_code", "find_drift", "shrunk"]

_SHOWN = 3


class DriftOutcome(enum.Enum):
    """What was found of a rule."""

    SAME = "same"
    CHANGED = "changed"
    MOVED = "moved"
    UNJUDGED = "could not judge"
    NEW = "new"
    ABSENT = "not a rule of either"


@dataclass(frozen=True, slots=True)
class Drift:
    """A rule in a release and in its predecessor: what was found, the counts, and the differences by kind."""

    rule: Rule
    predecessor: Release
    release: Release
    tally: Tally
    changes: tuple[KindOfChange, ...] = ()
    """One for each kind of difference."""
    moved: tuple[str, ...] = ()
    """What of Kafka was not found in the release."""
    unjudged: tuple[str, ...] = ()
    """Why nothing, or not everything, was compared."""
    compared: bool = True
    """False if the predecessor has no such rule."""

    @property
    def finding(self) -> DriftOutcome:
        """The finding; what the kit cannot compare counts more than what differs, since it may hide more."""
        if not self.compared:
            return DriftOutcome.NEW if self.rule.has_java(self.release) else DriftOutcome.ABSENT
        if self.moved:
            return DriftOutcome.MOVED
        if self.changes:
            return DriftOutcome.CHANGED
        return DriftOutcome.UNJUDGED if self.unjudged else DriftOutcome.SAME

    @property
    def asked(self) -> int:
        """Questions that both releases answered."""
        return self.tally.agreed + self.tally.differ

    @property
    def differ(self) -> int:
        """Questions with two different answers."""
        return self.tally.differ


def exit_code(findings: Iterable[DriftOutcome]) -> int:
    """Return 1 if a rule changed or moved, else 2 if one could not be judged or none was compared, else 0."""
    found = set(findings)
    if found & {DriftOutcome.CHANGED, DriftOutcome.MOVED}:
        return 1
    return 0 if DriftOutcome.SAME in found and DriftOutcome.UNJUDGED not in found else 2


class _DriftComparison(Comparison):
    """Leaves out what the predecessor does not have: there is nothing to compare with."""

    def verdict(self, rule: Rule, question: Question, expected: Outcome, actual: Outcome) -> Verdict:
        return expected if isinstance(expected, Unsupported) else super().verdict(rule, question, expected, actual)


def find_drift(rule: Rule, java: Answerer, predecessor: Release, release: Release, sources: Sequence[Source]) -> Drift:
    """Ask Java of both releases every question of ``sources``, and return what was found. Raises JvmLost, JarChanged."""
    nothing = Drift(rule, predecessor, release, Tally(rule))
    if not rule.has_java(predecessor):
        return replace(nothing, compared=False)
    first = next(chain.from_iterable(source.questions for source in sources), None)
    if first is None:
        return replace(nothing, unjudged=("there are no questions: raise --examples",))
    # One question to each release alone: a release that cannot be opened shows by its error.
    for side in (predecessor, release):
        try:
            java.answer(rule, side, [first])
        except JarChanged:
            raise
        except (OracleFault, WrongRelease, JarError) as error:
            return _unopened(nothing, side, error)
    return _compared(nothing, tally(rule, _DriftComparison(java, java, predecessor, release), sources))


def shrunk(drift: Drift, java: Answerer, examples: int, seed: int) -> list[KindOfChange]:
    """Return the changes with the smallest examples, each shrunk within its kind."""
    smallest = sorted(drift.changes, key=lambda change: size_of(change.example))[:_SHOWN]
    diff = ReleaseDiff((drift.predecessor, drift.release), drift.tally, tuple(smallest))
    return sorted(shrink_changes(diff, java, examples, seed), key=lambda change: size_of(change.example))


def _unopened(nothing: Drift, side: Release, error: KitError | JarError) -> Drift:
    """Return the drift of a rule for which one of the releases cannot be opened."""
    if side == nothing.predecessor:
        return replace(nothing, unjudged=(f"{side}: {error}",))
    if isinstance(error, JarNotPublished):
        return replace(nothing, moved=(str(error).partition(": is that")[0],))
    return _with_absences(nothing, absences(str(error)), f"{side}: {error}")


def _compared(nothing: Drift, counts: Tally) -> Drift:
    kinds = sorted(group_by_kind(counts.rule, counts.differences).items())
    changes = tuple(KindOfChange(kind, min(found, key=size_of), len(found)) for kind, found in kinds)
    found = replace(nothing, tally=counts, changes=changes)
    newly = [each for each in counts.errors if not isinstance(each.expected, Failed | Lost)]
    before = [each for each in counts.errors if isinstance(each.expected, Failed | Lost)]
    reasons = [_reason(each) for each in (before, newly) if each]
    if not counts.agreed and not counts.differences and not reasons:
        reasons.append(f"no question has an answer in {nothing.predecessor}")
    elif counts.missing_labels and not reasons:
        reasons.append(f"no question of the kinds {', '.join(counts.missing_labels)} was asked: raise --examples")
    if not newly:
        return replace(found, unjudged=tuple(reasons))
    named = Counter(absence for each in newly for absence in absences(_failure(each.actual)))
    return _with_absences(found, [absence for absence, _ in named.most_common()], *reasons)


def _with_absences(drift: Drift, missing: Sequence[Absence], *otherwise: str) -> Drift:
    """Add what is missing of Kafka; without any, why the release could not be judged."""
    moved = tuple(absence.what for absence in missing if absence.kafkas)
    others = tuple(f"{absence}: it is of a library that the kit does not load" for absence in missing)
    return replace(drift, moved=moved, unjudged=() if moved else others or otherwise)


def _reason(errors: Sequence[Judgement]) -> str:
    count = len(errors)
    return f"{count:,} {'question has' if count == 1 else 'questions have'} no answer: {error_line(errors[0].verdict)}"


def _failure(outcome: Outcome) -> str:
    match outcome:
        case Failed(text) | Unsupported(text):
            return text
    return ""
