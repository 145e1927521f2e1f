"""The page of a rule that has neither steps, nor a domain, nor exceptions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from kafka_conformance.core.mutant import Mutant
from kafka_conformance.reports import rule_page as module
from kafka_conformance.reports.rule_page import RuleExample, rule_page
from kafka_conformance.rules import RULES
from kafka_conformance.rules.common.sequences import SequenceQuestion

RULE = replace(RULES["sequence-increment"], optional_labels={"wraps": "sequences | that wrap"})
EXAMPLE = RuleExample(SequenceQuestion(1, 2), {"sequence": 3}, "28 releases, 0.11.0.3 to 4.4.0", ("does not wrap",))
MUTANT = Mutant("grows", RULE.slug, "never wraps", RULE.ask, references=("https://example.org/1",))


@pytest.fixture
def page() -> str:
    return rule_page(RULE, [EXAMPLE], [], frozenset({"does not wrap"}), ["it is | negative"], [MUTANT])


def sections(page: str) -> Iterator[str]:
    return (line for line in page.splitlines() if line.startswith("## "))


def test_rule_page_omits_sections_without_content(page: str) -> None:
    assert list(sections(page)) == [
        "## Question", "## Answer", "## Kinds of question", "## In domain", "## Examples", "## Known mistakes",
    ]  # fmt: skip


def test_rule_page_lists_required_optional_and_out_of_domain_labels(page: str) -> None:
    assert "an implementation that answers questions of these kinds: `does not wrap`." in page
    assert "out of domain](#in-domain): `below 0`." in page
    assert "| `wraps` | sequences \\| that wrap |" in page
    assert "- It is \\| negative." in page


def test_rule_page_shows_example_question_as_json_and_mutant_with_web_link(page: str) -> None:
    assert '```json\n{"sequence": 1, "by": 2}\n```\n\nAnswer in 28 releases, 0.11.0.3 to 4.4.0:' in page
    assert "| `grows` | Never wraps. | <https://example.org/1> |" in page


def test_rule_page_shows_exception_message_with_control_characters_escaped() -> None:
    thrown = [{"raises": "ConfigException", "message": "a\x1b[2J | b"}]
    page = rule_page(RULE, [EXAMPLE], thrown, frozenset(), [], [MUTANT])
    assert "| `ConfigException` | a\\x1b[2J \\| b |" in page


def test_page_of_rule_without_a_domain_module_states_that_every_question_is_in_domain(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "find_spec", lambda _: None)
    page = rule_page(RULE, [EXAMPLE], [], frozenset(), [], [MUTANT])
    assert "## In domain\n\nEvery question: a user of some client can bring it about.\n\n## Examples" in page


def test_long_json_on_rule_page_has_a_line_per_entry() -> None:
    value = {"name": "x", "steps": [{"op": "a" * 60}, {"op": "b" * 60}], "few": [1, 2]}
    assert module._laid_out(value) == (
        f'{{\n "name": "x",\n "steps": [\n  {{"op": "{"a" * 60}"}},\n  {{"op": "{"b" * 60}"}}\n ],\n "few": [1, 2]\n}}'
    )
