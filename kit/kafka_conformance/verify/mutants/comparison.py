"""Mutants compared with Java: the tally of each, and the verdict on all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby, islice, tee

from kafka_conformance.answerers.recorded_outcomes import CachedAnswerer
from kafka_conformance.answerers.reference import ReferenceAnswerer
from kafka_conformance.cases.store import Case, frozen
from kafka_conformance.core.mutant import Mutant
from kafka_conformance.core.pipeline import Comparison, Judgement, Tally, tally
from kafka_conformance.core.progress import Steps
from kafka_conformance.core.protocol import Answered
from kafka_conformance.core.rule import Rule
from kafka_conformance.core.sources import Source
from kafka_conformance.rules import RULES
from kafka_conformance.rules.release_mutants import ReleaseMutant

__all__ = ["MutantFailures", "compare_mutants", "telling_apart", "verdict"]

_ENOUGH, _BATCH = 25, 250


@dataclass(frozen=True, slots=True)
class MutantFailures:
    """What failed in a comparison of mutants with Java."""

    alive: Sequence[str]
    """The mutants whose every answer is Java's."""
    bare: Sequence[str]
    """The rules without a mutant."""
    errors: Sequence[Judgement]
    """The questions that Java could not answer."""

    @property
    def exit_code(self) -> int:
        """2 if Java could not answer, else 1 if a mutant is alive or a rule has none, else 0."""
        return 2 if self.errors else 1 if self.alive or self.bare else 0


def compare_mutants(
    rule: Rule, mutants: Sequence[Mutant], java: CachedAnswerer, questions: Iterator[Source], progress: Steps
) -> dict[str, Tally]:
    """Return the tally of each mutant, by its slug; one that differs in 25 questions is asked no more.

    Java answers each question once for all mutants of a release. A mutant that confuses two releases is asked the frozen
    questions that Java answered differently in the two: often a rare question alone shows a change.
    """
    (kept,) = tee(questions, 1)  # its copies begin where it stands: questions that no mutant is asked are not made
    tallies = {}
    for release, group in groupby(sorted(mutants, key=lambda mutant: mutant.release), lambda mutant: mutant.release):
        for mutant in group:
            progress.doing(mutant.slug)
            comparison = Comparison(java, ReferenceAnswerer(mutant.slug, mutant.ask), release)
            asked = telling_apart(rule, mutant) if isinstance(mutant, ReleaseMutant) else copy(kept)
            tallies[mutant.slug] = tally(rule, comparison, asked, enough=_ENOUGH, batch_size=_BATCH)
            progress.advance()
        java.forget(rule, release)
    return tallies


def telling_apart(rule: Rule, mutant: ReleaseMutant) -> Iterator[Source]:
    """Yield at most 25 frozen questions that Java answered differently in the two releases of a mutant."""
    newer, older = str(mutant.release), str(mutant.older)
    pairs = ((cases.get(newer), cases.get(older)) for cases in _by_question(rule.slug).values())
    told = (one for one, other in pairs if one is not None and other is not None and one.answer != other.answer)
    yield Source("frozen", tuple(case.typed_question(rule) for case in islice(told, _ENOUGH)))


@lru_cache(maxsize=1)
def _by_question(rule: str) -> dict[bytes, dict[str, Case]]:
    """Return the frozen cases of a rule by question and release."""
    found: dict[bytes, dict[str, Case]] = {}
    shipped = frozen(RULES[rule])
    for case in () if shipped is None else shipped.cases:
        found.setdefault(bytes(case.question), {}).update(dict.fromkeys(case.releases, case))
    return found


def verdict(slugs: Sequence[str], results: Sequence[tuple[Mutant, Tally]]) -> MutantFailures:
    """Return the verdict on the mutants of these rules.

    A mutant that fails to answer is not killed: only an answer that differs from Java's is.
    """
    return MutantFailures(
        [mutant.slug for mutant, counts in results if not counts.differ],
        [slug for slug in slugs if not any(mutant.rule == slug for mutant, _ in results)],
        [each for _, counts in results for each in counts.errors if not isinstance(each.expected, Answered)],
    )
