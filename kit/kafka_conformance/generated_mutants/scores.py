"""The score of a rule: the share of its generated mutants that are killed, of those that a question can kill."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kafka_conformance.generated_mutants.explanations import explain
from kafka_conformance.generated_mutants.mutant_trial import Result
from kafka_conformance.generated_mutants.mutations import Mutation
from kafka_conformance.generated_mutants.population import Mutant
from kafka_conformance.generated_mutants.record import GeneratedRow

__all__ = ["FROZEN", "GATE", "Score", "row_of", "score_of"]

GATE, FROZEN = 0.99, 0.97
"""The shares that a default gate, and frozen cases alone, have to kill."""


@dataclass(frozen=True)
class Score:
    """The generated mutants of one rule, counted."""

    rule: str
    frozen: int
    """Killed by frozen cases."""
    fresh: int
    """Killed by fresh questions alone."""
    equivalent: int
    """Survivors that answer like the reference, by their explanation."""
    unreachable: int
    """Survivors that no question reaches, by their explanation."""
    alive: tuple[Mutation, ...]
    """Survivors without an explanation."""

    @property
    def by_gate(self) -> float:
        """The share that a default gate kills."""
        return self._share(self.frozen + self.fresh)

    @property
    def by_frozen(self) -> float:
        """The share that frozen cases kill."""
        return self._share(self.frozen)

    @property
    def is_enough(self) -> bool:
        """Whether enough are killed."""
        return self.by_gate >= GATE and self.by_frozen >= FROZEN

    def _share(self, killed: int) -> float:
        every = self.frozen + self.fresh + len(self.alive)
        return killed / every if every else 1.0


def row_of(
    slug: str, fingerprint: str, seed: int, mutants: Sequence[Mutant], known: Mapping[str, Result]
) -> GeneratedRow:
    """Return the row of a rule whose mutants all have a result."""
    results = [known[mutant.mutation.key] for mutant in mutants]
    count = Counter(result.verdict for result in results)
    survivors = tuple(result.key for result in results if result.verdict == "survived")
    return GeneratedRow(
        slug, fingerprint, seed, len(results) - count["invalid"], count["frozen"], count["fresh"], survivors
    )


def score_of(row: GeneratedRow, mutants: Sequence[Mutant]) -> Score:
    """Return the score of a row; ``mutants`` are those of its rule."""
    by_key = {mutant.mutation.key: mutant.mutation for mutant in mutants}
    survivors = [by_key[key] for key in row.survivors if key in by_key]
    kinds = [(mutation, explain(mutation)) for mutation in survivors]
    count = Counter(found.kind for _, found in kinds if found is not None)
    alive = tuple(mutation for mutation, found in kinds if found is None)
    return Score(row.rule, row.frozen, row.fresh, count["equivalent"], count["unreachable"], alive)
