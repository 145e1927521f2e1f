"""Which mutants ``selftest`` asks: all of a rule whose record does not hold, and one of every other rule.

The one mutant tests the machinery that asks and compares in each run: no fingerprint covers that. It is one that people
wrote, because those made from eras are asked frozen questions alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kafka_conformance.core.mutant import Mutant
from kafka_conformance.rules.release_mutants import ReleaseMutant
from kafka_conformance.verify.mutants.record import Record, proven_rows

__all__ = ["MutantSelection", "select_all", "select_changed"]


@dataclass(frozen=True)
class MutantSelection:
    """The mutants to ask."""

    mutants: tuple[Mutant, ...]
    """In the order of the code."""
    whole: tuple[str, ...]
    """The rules whose mutants are all asked."""
    sampled: tuple[str, ...] = ()
    """The rules with one mutant that is asked."""
    left_out: int = 0
    """How many mutants are not asked."""

    @property
    def summary(self) -> str:
        """What is asked, in a line."""
        rest = f"{self.left_out} were killed before by the same code"
        sampled = len(self.sampled)
        if not self.whole:
            return f"no rule has changed: one mutant of each of {sampled} rules; {rest}"
        words = f"{_count(len(self.mutants) - sampled, 'mutant')} of {_count(len(self.whole), 'changed rule')}"
        return f"{words}, one mutant of each of {sampled} others; {rest}" if sampled else words


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def select_all(rules: Sequence[str], mutants: Sequence[Mutant]) -> MutantSelection:
    """Select every mutant of these rules."""
    return MutantSelection(tuple(mutant for mutant in mutants if mutant.rule in rules), tuple(rules))


def select_changed(rules: Sequence[str], mutants: Sequence[Mutant], record: Record) -> MutantSelection:
    """Select every mutant of these rules that ``record`` has no row of that holds; of the others the quickest to kill."""
    every = select_all(rules, mutants).mutants
    proven = proven_rows(record, every)
    written = {mutant.slug for mutant in every if not isinstance(mutant, ReleaseMutant)}
    quickest = {row.quickest(written).mutant for row in proven.values()}
    asked = tuple(mutant for mutant in every if mutant.rule not in proven or mutant.slug in quickest)
    whole = tuple(rule for rule in rules if rule not in proven)
    return MutantSelection(asked, whole, tuple(rule for rule in rules if rule in proven), len(every) - len(asked))
