"""The scores that a certificate has are those of the record."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kafka_conformance.generated_mutants import certificate_scores
from kafka_conformance.generated_mutants.certificate_scores import with_scores
from kafka_conformance.generated_mutants.population import Population
from kafka_conformance.generated_mutants.record import GeneratedRow, Record
from kafka_reference.certificate import MutationScore, certificate
from kafka_reference.proven import proven_releases


def test_certificate_mutation_scores_cover_certified_rules_and_ignore_survivors_not_in_the_population(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    mutants = Population(proven_releases()).of("sequence-increment")
    survivors = (mutants[0].mutation.key, "kafka_reference.errors:f: a mutant that is not of this rule")
    rows = (GeneratedRow("sequence-increment", "f", 1, 10, 7, 1, survivors), GeneratedRow("isr", "f", 1, 0, 0, 0, ()))
    monkeypatch.setattr(certificate_scores, "shipped", lambda: Record(rows))
    shipped = certificate()
    made = replace(shipped, rows=tuple(row for row in shipped.rows if row.rule == "sequence-increment"))
    assert with_scores(made).scores == {"sequence-increment": MutationScore(9, 7, 8, 0, 0)}


def test_shipped_certificate_has_mutation_scores_of_the_shipped_record() -> None:
    assert certificate().scores == with_scores(certificate()).scores
