"""The cases that ship: sound, enough, every kind of question and every mutant covered, and the reference answers alike."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from kafka_conformance.answerers.reference import ReferenceAnswerer
from kafka_conformance.cases.check import damages
from kafka_conformance.cases.samples import kinds_of
from kafka_conformance.cases.store import Frozen, folder_of_cases, frozen
from kafka_conformance.core.protocol import Answered, to_json
from kafka_conformance.core.rule import Rule
from kafka_conformance.rules import RULES
from kafka_conformance.rules.mutants import written_mutants
from kafka_jars.pins import load
from kafka_reference.proven import lacks_proof
from kafka_reference.releases import parse_release

LARGEST_FOLDER = 24_000_000
_FREEZE = f"kafka-conformance freeze --folder {folder_of_cases()} --rules"


@pytest.fixture(scope="module")
def shipped() -> dict[str, Frozen]:
    found = {slug: frozen(rule) for slug, rule in RULES.items()}
    missing = [slug for slug, each in found.items() if each is None]
    assert not missing, f"no frozen cases of {', '.join(missing)}: {_FREEZE} {','.join(missing)}"
    return {slug: each for slug, each in found.items() if each is not None}


def test_shipped_frozen_cases_exceed_20_000_within_24_megabytes_in_one_file_per_rule(
    shipped: dict[str, Frozen],
) -> None:
    assert sum(len(each.cases) for each in shipped.values()) >= 20_000
    files = list(folder_of_cases().glob("*"))
    assert {path.name for path in files} == {f"{slug}.ndjson" for slug in RULES}, "one file for each rule"
    assert sum(path.stat().st_size for path in files) <= LARGEST_FOLDER


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
def test_shipped_frozen_cases_have_content_hash_ids_valid_questions_and_no_duplicates(
    shipped: dict[str, Frozen], rule: Rule
) -> None:
    assert list(damages(rule, shipped[rule.slug])) == []


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
def test_shipped_cases_of_each_rule_cover_every_required_label(shipped: dict[str, Frozen], rule: Rule) -> None:
    assert rule.required_labels <= {
        label for case in shipped[rule.slug].cases for label in kinds_of(rule, case.typed_question(rule))
    }


def test_every_mutant_is_killed_by_a_shipped_case_of_the_same_rule(shipped: dict[str, Frozen]) -> None:
    for slug, each in shipped.items():
        caught = {kill for case in each.cases for kill in case.kills}
        assert caught == {m.slug for m in written_mutants(RULES[slug])}, (
            f"kafka-conformance freeze --folder {folder_of_cases()} --rules {slug}"
        )


def test_shipped_frozen_cases_record_the_sha256_of_the_pinned_jar_of_each_release(shipped: dict[str, Frozen]) -> None:
    pins = load()
    for slug, rule in RULES.items():
        reported = shipped[slug].provenance
        has = [
            version
            for version in map(str, sorted(map(parse_release, pins.releases)))
            if rule.has_java(parse_release(version)) and not lacks_proof(parse_release(version), slug)
        ]
        jars = {
            version: (pins.brokers[version] if rule.broker else pins.releases[version])[0].sha256 for version in has
        }
        assert reported.jars == jars, slug
        assert list(reported.jars) == has, slug
        assert reported.java == rule.source


def test_every_release_has_at_least_40_frozen_cases_of_each_rule(shipped: dict[str, Frozen]) -> None:
    for slug, each in shipped.items():
        count = Counter(version for case in each.cases for version in case.releases)
        assert min(count[version] for version in each.provenance.jars) >= 40, slug


def test_reference_matches_java_answers_of_1000_sampled_frozen_cases(shipped: dict[str, Frozen]) -> None:
    """All of them in every release is what ``freeze --check`` holds to Java, and ``verify`` the reference."""
    everything = [(slug, case) for slug, each in shipped.items() for case in each.cases]
    for slug, case in random.Random(7).sample(everything, 1000):
        rule = RULES[slug]
        (outcome,) = ReferenceAnswerer().answer(rule, parse_release(case.release), [case.typed_question(rule)])
        assert isinstance(outcome, Answered), (slug, case.id, outcome)
        assert to_json(outcome.answer) == to_json(case.answer), (slug, case.id)
