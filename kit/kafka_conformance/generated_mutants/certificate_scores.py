"""The scores of the record that ships, as a certificate has them."""

from __future__ import annotations

from dataclasses import replace

from kafka_conformance.generated_mutants.population import Population
from kafka_conformance.generated_mutants.record import shipped
from kafka_conformance.generated_mutants.scores import score_of
from kafka_reference.certificate import Certificate, MutationScore
from kafka_reference.proven import proven_releases

__all__ = ["with_scores"]


def with_scores(made: Certificate) -> Certificate:
    """Return a certificate with the scores of its rules that are on record."""
    population, rules = Population(proven_releases()), set(made.rules())
    found = {row.rule: score_of(row, population.of(row.rule)) for row in shipped().rows if row.rule in rules}
    scores = {
        slug: MutationScore(
            score.frozen + score.fresh + len(score.alive),
            score.frozen,
            score.frozen + score.fresh,
            score.equivalent,
            score.unreachable,
        )
        for slug, score in found.items()
    }
    return replace(made, scores=scores)
