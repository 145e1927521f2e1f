"""Generated mutants by rule."""

from __future__ import annotations

from kafka_conformance.generated_mutants.population import OUTSIDE, Population
from kafka_conformance.rules import RULES
from kafka_reference.proven import proven_releases

SLUGS = ("sequence-decrement", "sequence-increment", "murmur2", "partition-for-key")
POPULATION = Population(proven_releases(), {slug: RULES[slug] for slug in SLUGS})


def test_no_generated_mutant_belongs_to_two_rules() -> None:
    keys = [mutant.mutation.key for slug in SLUGS for mutant in POPULATION.of(slug)]
    assert len(keys) > 150
    assert len(set(keys)) == len(keys)


def test_generated_mutant_lists_owning_rule_first_then_rules_that_reach_the_code() -> None:
    for slug in SLUGS:
        assert all(mutant.rules[0] == slug for mutant in POPULATION.of(slug))
    rules = {one.mutation.place: one.rules for slug in SLUGS for one in POPULATION.of(slug)}
    assert rules["decrement"] == ("sequence-decrement",)
    assert set(rules["int32"]) >= {"sequence-decrement", "sequence-increment"}


def test_modules_outside_gate_questions_yield_no_mutants() -> None:
    assert not {one.mutation.module for slug in SLUGS for one in POPULATION.of(slug)} & set(OUTSIDE)


def test_rule_with_behaviour_record_of_a_package_owns_mutants_of_the_package() -> None:
    rules = {slug: RULES[slug] for slug in ("log-segment", "record-batch")}
    mutants = Population(proven_releases(), rules).of("log-segment")
    shared = [one for one in mutants if one.mutation.module.startswith("kafka_reference.record_batch.")]
    assert {one.mutation.module for one in shared} > {"kafka_reference.record_batch.encode"}
    assert {one.siblings for one in shared} == {("record-batch",)}


def test_rule_that_only_calls_a_package_owns_no_mutants_of_the_package() -> None:
    population = Population(proven_releases(), {slug: RULES[slug] for slug in ("consumer-fetch", "record-batch")})
    decoder = "kafka_reference.record_batch.records"
    assert decoder not in {one.mutation.module for one in population.of("consumer-fetch")}
    decoding = [one for one in population.of("record-batch") if one.mutation.module == decoder]
    assert {one.rules for one in decoding} == {("record-batch", "consumer-fetch")}
