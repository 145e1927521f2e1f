"""``changes`` and ``findings``: their order, the advice for each change, and bad input."""

from __future__ import annotations

import json
from typing import Any

import pytest
from click.testing import CliRunner

from kafka_conformance.cli.main import app
from kafka_conformance.core.errors import BadInput
from kafka_conformance.findings.upgrades import ADVICE
from kafka_conformance.gate.harm import RANKS
from kafka_conformance.rules import RULES

FIELDS = {
    f"{record.__name__}.{one.name}" for rule in RULES.values() for record in rule.behaviours for one in record.changes()
}
RECORDS = {field.partition(".")[0] for field in FIELDS}


def printed(*words: str) -> dict[str, Any]:
    result = CliRunner().invoke(app, [*words, "--json"], catch_exceptions=False)
    document: dict[str, Any] = json.loads(result.stdout)
    return document


def test_every_behaviour_record_with_fields_has_advice() -> None:
    assert ADVICE.keys() >= RECORDS
    assert {name for name in ADVICE if "." in name} <= FIELDS


def test_changes_for_producers_are_listed_most_harmful_first() -> None:
    found = printed("changes", "2.8.2", "3.9.2", "--role", "producer")["changes"]
    assert all("producer" in one["roles"] and one["action"] for one in found)
    keys = [(one["what"] == "ends", RANKS[one["severity"]]) for one in found]
    assert keys == sorted(keys)
    assert any(one["title"].startswith("The default of acks. 1 → all") for one in found)


def test_findings_of_release_hold_in_it_for_the_role_only() -> None:
    found = {one["finding"]: one for one in printed("findings", "--kafka", "3.6.2", "--role", "producer")["findings"]}
    assert all("producer" in one["roles"] for one in found.values())
    newer = {one["finding"] for one in printed("findings", "--kafka", "4.4.0", "--role", "producer")["findings"]}
    assert found.keys() - newer


@pytest.mark.parametrize(
    ("words", "error"),
    [
        ("changes 2.8.2 2.8.2", "2.8.2 twice"),
        ("changes 3.9.2 2.8.2", "name the older one first"),
        ("changes 2.8.2 9.9.9", "unknown release '9.9.9'"),
        ("findings --kafka 2.8.9", "unknown release '2.8.9'"),
    ],
)
def test_unknown_same_or_reversed_release_is_refused(words: str, error: str) -> None:
    with pytest.raises(BadInput, match=error):
        CliRunner().invoke(app, words.split(), catch_exceptions=False)
