"""Every rule there is, held to what the kit needs of one."""

from __future__ import annotations

import re
import sys
from subprocess import PIPE, run

import pytest

from kafka_conformance.core.errors import BadInput
from kafka_conformance.rules import RULES, java_classes, named
from kafka_conformance.rules.mutants import MUTANTS
from kafka_jars import ORACLE_SOURCES
from kafka_jars.pins import load
from kafka_reference.releases import NEWEST, parse_release

PINNED = sorted(map(parse_release, load().releases))


def test_published_placement_rule_slugs_are_registered() -> None:
    assert {"murmur2", "partition-for-key", "producer-partition"} <= set(RULES)


def test_rule_lookup_by_slug_imports_only_the_requested_rule() -> None:
    code = (
        "import sys; from kafka_conformance.rules import RULES, named; from kafka_conformance.rules.mutants import MUTANTS;"
        "assert 'murmur2' in RULES and RULES['murmur2'].slug and named(['murmur2']);"
        "print([name.split('.')[2] for name in sys.modules if name.startswith('kafka_conformance.rules.')"
        " and name.endswith('.rule')])"
    )
    assert run([sys.executable, "-c", code], stdout=PIPE, check=True, text=True).stdout == "['murmur2']\n"


def test_registry_lists_rules_by_area_and_slug_without_duplicates() -> None:
    assert list(RULES) == [rule.slug for rule in sorted(RULES.values(), key=lambda rule: (rule.area, rule.slug))]
    assert [rule.slug for rule in named(["time-index", "murmur2", "murmur2"])] == ["murmur2", "time-index"]
    assert len(RULES) == len(set(RULES))
    assert "none" not in RULES
    assert RULES.get("none") is None


@pytest.mark.parametrize("slug", RULES)
def test_rule_has_slug_title_source_https_links_and_strict_question_type(slug: str) -> None:
    rule = RULES[slug]
    assert rule.slug == slug
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", slug)
    assert rule.title
    assert rule.source
    assert all(link.startswith("https://") for link in rule.links)
    assert rule.question.__struct_config__.forbid_unknown_fields
    assert rule.question.__struct_config__.frozen


@pytest.mark.parametrize("slug", RULES)
def test_rule_has_a_java_oracle_class_in_exactly_the_declared_releases(slug: str) -> None:
    rule = RULES[slug]
    assert any(at in rule.releases for at in PINNED)
    for at in PINNED:
        assert rule.has_java(at) == (at in rule.releases), at


@pytest.mark.parametrize("slug", RULES)
def test_every_rule_has_at_least_one_mutant(slug: str) -> None:
    """A comparison that cannot fail is none: there is a mutant of every rule."""
    assert any(mutant.rule == slug for mutant in MUTANTS), f"add a mutant: rules/{slug.replace('-', '_')}/mutants.py"


@pytest.mark.parametrize("slug", RULES)
def test_every_rule_has_a_harness_description_that_ends_with_a_period(slug: str) -> None:
    assert RULES[slug].harness.endswith("."), (
        f"state in harness= of {slug} what of its Java half is the kit's own logic"
    )


@pytest.mark.parametrize("at", PINNED, ids=str)
def test_java_oracle_sources_exist_for_rules_of_a_release(at: object) -> None:
    classes = java_classes(at)  # type: ignore[arg-type]
    assert {"murmur2", "partition-for-key", "producer-partition"} <= set(classes)
    for name in classes.values():
        package, simple = name.removeprefix("kafkaoracle.").split(".")
        assert (ORACLE_SOURCES / "release" / package / f"{simple}.java").is_file()


def test_rules_requested_by_name_are_returned_in_registry_order() -> None:
    assert [rule.slug for rule in named([])] == list(RULES)
    assert [rule.slug for rule in named(["producer-partition", "murmur2"])] == ["murmur2", "producer-partition"]


@pytest.mark.parametrize("slugs", [["murmur3"], ["murmur2", "murmur3"], ["Murmur2"]])
def test_unknown_rule_raises_bad_input_with_a_suggestion(slugs: list[str]) -> None:
    with pytest.raises(BadInput, match=f"unknown rule '{slugs[-1]}': did you mean murmur2"):
        named(slugs)


def test_newest_release_constant_equals_newest_pinned_release() -> None:
    assert PINNED[-1] == NEWEST
