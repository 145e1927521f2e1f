"""The pages of the rules: as they would be written now, complete, and with links that lead somewhere."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import msgspec
import pytest

from kafka_conformance.answerers.reference import ReferenceAnswerer
from kafka_conformance.cases.rule_pages import write_page
from kafka_conformance.core.protocol import Answered, to_json
from kafka_conformance.reports.rule_page import index_page
from kafka_conformance.reports.type_docs import anchor
from kafka_conformance.rules import RULES
from kafka_conformance.rules.mutants import MUTANTS
from kafka_conformance.rules.summaries import rule_summary
from kafka_reference.releases import parse_release

FOLDER = Path(__file__).parents[3] / "kit" / "docs" / "rules"
AGAIN = "run: kafka-conformance rules --write kit/docs/rules"


def page(slug: str) -> str:
    return (FOLDER / f"{slug}.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("slug", RULES)
def test_committed_rule_page_equals_generated_page(slug: str) -> None:
    assert page(slug) == write_page(RULES[slug]), AGAIN


def test_committed_rule_index_equals_generated_index_without_extra_files() -> None:
    assert page("README") == index_page(RULES.values()), AGAIN
    assert {path.stem for path in FOLDER.iterdir()} == {"README", *RULES}


@pytest.mark.parametrize("slug", RULES)
def test_rule_page_lists_all_question_fields_labels_optional_parts_mutants_and_links(slug: str) -> None:
    rule, text = RULES[slug], page(slug)
    heads = re.findall(r"^## (.*)$", text, re.MULTILINE)
    wanted = [
        "Question",
        "Steps",
        "Answer",
        "Exceptions",
        "Kinds of question",
        "Optional parts of the answer",
        "In domain",
        "Examples",
        "Known mistakes",
    ]
    assert [head for head in wanted if head in heads] == heads
    assert set(wanted) - set(heads) <= {"Steps", "Exceptions", "Optional parts of the answer"}
    assert all(f"| `{part}` | {lacks} |" in text for part, lacks in rule.optional_parts.items())
    assert set(rule.question.__struct_encode_fields__) <= set(re.findall(r"^\| `([^`]+)` \|", text, re.MULTILINE))
    assert all(f"`{kind}`" in text for kind in rule.required_labels)
    assert all(f"| `{mutant.slug}` |" in text for mutant in MUTANTS if mutant.rule == slug)
    assert all(f"| {lacks} |" in text for kind, lacks in rule.optional_labels.items() if kind in rule.required_labels)
    assert all(link in text for link in rule.links)


@pytest.mark.parametrize("slug", RULES)
def test_rule_page_begins_with_rule_python_call_java_method_and_impact(slug: str) -> None:
    text = page(slug)
    head = text[: text.index("|  |  |")]
    assert all(f"[`{method.name}`]({method.address})" in head for method in rule_summary(slug).java)
    assert re.search(r"\n\*\*The rule\.\*\* .*\n\n```python\n", head)
    assert re.search(r"\n```\n\n\*\*In Java\*\*, Kafka .*\n\n\*\*If an implementation differs\.\*\* .*\n\n$", head)


@pytest.mark.parametrize("slug", RULES)
def test_rule_page_imports_define_exactly_the_callables_that_the_example_calls(slug: str) -> None:
    (block,) = re.findall(r"```python\n(.*?)\n```", page(slug), re.DOTALL)
    imports, _, calls = block.partition("\n\n")
    names: dict[str, Any] = {}
    exec(imports, names)  # noqa: S102  the lines that the page shows
    shown = re.findall(r"^([\w.]+)\(", calls, re.MULTILINE)
    assert shown
    assert all(callable(eval(name, names)) for name in shown)  # noqa: S307
    assert {name.partition(".")[0] for name in shown} == names.keys() - {"__builtins__"}


@pytest.mark.parametrize("slug", RULES)
def test_examples_on_rule_page_have_current_reference_answers(slug: str) -> None:
    rule = RULES[slug]
    examples = re.findall(r"```json\n(.*?)```\n\nAnswer in ([^\n]*):\n\n```json\n(.*?)```", page(slug), re.DOTALL)
    assert examples
    for question, releases, answer in examples:
        typed = msgspec.json.decode(question, type=rule.question)
        newest = parse_release(releases.rpartition(" ")[2])
        (outcome,) = ReferenceAnswerer().answer(rule, newest, [typed])
        assert isinstance(outcome, Answered)
        assert json.loads(to_json(outcome.answer)) == json.loads(answer)


@pytest.mark.parametrize("slug", [*RULES, "README"])
def test_links_of_rule_pages_resolve_to_files_and_headings(slug: str) -> None:
    for link in re.findall(r"\]\((?!https://github\.com/apache/kafka/blob/)([^)]+)\)", page(slug)):
        path, _, section = link.partition("#")
        target = (FOLDER / path).resolve() if path else FOLDER / f"{slug}.md"
        assert target.is_file(), link
        if section:
            heads = re.findall(r"^#+ (.*)$", target.read_text(encoding="utf-8"), re.MULTILINE)
            assert section in {anchor(head) for head in heads}, link
