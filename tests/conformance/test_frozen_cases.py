"""Frozen cases and the real Java: made, held to, and an answer that was broken on purpose is found."""

from __future__ import annotations

import msgspec
import pytest

from kafka_conformance.cases.check import damages, drifts
from kafka_conformance.cases.generation import GenerationPlan, freeze
from kafka_conformance.cases.store import Frozen
from kafka_conformance.cli.commands.freeze import OracleJava
from kafka_conformance.core.progress import Steps
from kafka_conformance.oracle.oracle import Oracle
from kafka_conformance.rules import RULES
from kafka_reference.releases import parse_release

pytestmark = pytest.mark.jvm

RELEASES = [parse_release("2.0.1"), parse_release("4.4.0")]


def test_cases_newly_frozen_from_java_pass_and_an_altered_answer_is_reported_per_release(oracle: Oracle) -> None:
    rules = [RULES["sequence-increment"], RULES["producer-partition"]]
    java = OracleJava(oracle)
    plan = GenerationPlan(rules, RELEASES, 60, 3, {rule.slug: 300 for rule in rules})
    found = {}
    for made in freeze(plan, java, Steps("", 0)):
        assert (made.failed, made.apart, made.missing_labels) == ((), (), ())
        assert len(made.frozen.cases) == 300
        assert list(damages(made.rule, made.frozen)) == []
        assert made.frozen.provenance.jars["4.4.0"] == oracle.open("4.4.0").jar_sha256
        found[made.rule.slug] = made.frozen
    unkilled = [line for line in drifts(found, RELEASES, java, Steps("", 0)) if "no case catches" not in line]
    assert unkilled == []
    sound = found["sequence-increment"]
    first, *rest = sound.cases
    wrong = msgspec.structs.replace(first, answer={"sequence": first.answer["sequence"] ^ 1})
    found["sequence-increment"] = Frozen(sound.provenance, (wrong, *rest))
    lines = [line for line in drifts(found, RELEASES, java, Steps("", 0)) if "Java returns" in line]
    assert [line.split(":")[0] for line in lines] == [f"sequence-increment {first.id} in {at}" for at in RELEASES]
