"""The page on draws: its numbers are those of the reference, and its tables name every rule with draws."""

from __future__ import annotations

import doctest
import json
import re
import shutil
import subprocess
from pathlib import Path

import msgspec
import pytest

from kafka_conformance.answerers.driver.lines import DriverHelloLine
from kafka_conformance.gate.admissible import RULES_WITH_DRAWS
from kafka_conformance.gate.statistical import scenarios
from kafka_conformance.rules import RULES
from kafka_reference.java.thread_local_random import SeededDraws

PAGE = (Path(__file__).parents[3] / "kit" / "docs" / "draws.md").read_text(encoding="utf-8")
SEEDS = [
    (int(seed.strip('"')), [int(draw) for draw in draws.split("|")])
    for seed, draws in re.findall(r'^\| `("?-?\d+"?)` \| ([-\d| ]+) \|$', PAGE, re.MULTILINE)
]


def first_draws(seed: int) -> list[int]:
    draws = SeededDraws(seed)
    return [draws.next() for _ in range(4)]


def test_python_of_the_draws_page_gives_the_results_shown() -> None:
    examples = doctest.DocTestParser().get_doctest(PAGE, {}, "draws.md", "draws.md", 0)
    assert len(examples.examples) > 20
    assert doctest.DocTestRunner().run(examples).failed == 0


def test_seed_table_of_the_draws_page_equals_the_reference() -> None:
    assert len(SEEDS) == 5
    assert [(seed, first_draws(seed)) for seed, _ in SEEDS] == SEEDS


@pytest.mark.skipif(shutil.which("node") is None, reason="Node.js is not installed")
def test_javascript_of_the_draws_page_gives_draws_of_the_reference() -> None:
    (code,) = re.findall(r"```javascript\n(.*?)```", PAGE, re.DOTALL)
    asked = [[str(seed), k] for seed, _ in SEEDS for k in (1, 2, 3, 4)]
    call = f"console.log(JSON.stringify({json.dumps(asked)}.map(([seed, k]) => draw(seed, k))))"
    ran = subprocess.run(["node", "-e", code + call], capture_output=True, text=True, timeout=60, check=True)
    assert json.loads(ran.stdout) == [draw for _, draws in SEEDS for draw in draws]


def test_draws_page_lists_every_rule_with_a_draws_or_seed_field() -> None:
    named = dict(re.findall(r"^\| `([a-z-]+)` \| `(draws|seed)` \|", PAGE, re.MULTILINE))
    fields = {slug: set(rule.question.__struct_fields__) & {"draws", "seed"} for slug, rule in RULES.items()}
    assert named == {slug: found.pop() for slug, found in fields.items() if found}


def test_draws_page_lists_the_same_rules_for_each_driver_grade_as_the_gate_allows() -> None:
    (hello,) = re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)
    assert set(msgspec.json.decode(hello, type=DriverHelloLine).hello.grades) <= RULES_WITH_DRAWS
    rows = dict(re.findall(r"^\| `(admissible|statistical)` \| [^|]* \| ([^|]*) \|$", PAGE, re.MULTILINE))
    assert set(re.findall(r"`([^`]+)`", rows["admissible"])) == RULES_WITH_DRAWS
    statistical = {slug for slug, rule in RULES.items() if scenarios(rule, 1)}
    assert set(re.findall(r"`([^`]+)`", rows["statistical"])) == statistical


def test_links_within_the_draws_page_resolve() -> None:
    anchors = {
        re.sub(r"[^a-z0-9 -]", "", head.lower()).replace(" ", "-")
        for head in re.findall(r"^#+ (.*)$", PAGE, re.MULTILINE)
    }
    assert set(re.findall(r"\(#([^)]*)\)", PAGE)) <= anchors
