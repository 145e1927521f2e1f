"""The everyday questions of a gate, and the nearest ones of generated questions, are answered as Java answers them."""

from __future__ import annotations

import pytest

from kafka_conformance.answerers.java import JavaAnswerer
from kafka_conformance.answerers.reference import ReferenceAnswerer
from kafka_conformance.core.pipeline import Comparison, tally
from kafka_conformance.core.rule import Rule
from kafka_conformance.core.sources import Source, collect
from kafka_conformance.oracle.oracle import Oracle
from kafka_conformance.rules import RULES
from kafka_reference.releases import parse_release


@pytest.mark.parametrize("rule", [rule for rule in RULES.values() if [*rule.plain()]], ids=lambda rule: rule.slug)
@pytest.mark.parametrize("version", ["2.8.2", "4.4.0"])
def test_java_and_reference_agree_on_typical_production_inputs(oracle: Oracle, rule: Rule, version: str) -> None:
    release = parse_release(version)
    if release not in rule.releases:
        pytest.skip(f"{rule.slug} is not a rule of release {release}")
    asked = dict.fromkeys([*rule.plain(), *map(rule.nearest, collect(rule, 100, 1))])
    comparison = Comparison(JavaAnswerer(oracle), ReferenceAnswerer(), release)
    counts = tally(rule, comparison, [Source("everyday", tuple(asked))])
    assert (counts.differ, counts.error_lines(3)) == (0, [])
    assert counts.agreed == counts.total > 0
