"""Names of tests state subject, condition and outcome, without private terms; and no assert holds whatever happens."""

from __future__ import annotations

import ast
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PRONOUNS = frozenset({"it", "its", "nobody", "somebody", "them", "they", "whoever"})
PRIVATE = frozenset(
    {
        *(
            "alike",
            "anew",
            "believed",
            "beside",
            "fate",
            "gone",
            "heard",
            "hears",
            "knows",
            "mend",
            "mended",
            "mends",
            "met",
            "party",
        ),
        *("said", "stories", "story", "stranger", "strangers", "told", "trouble", "troubles", "vain", "what"),
    }
)
"""Words that the project once used in a sense of its own; the field has others."""


def fault(name: str) -> str:
    """What is wrong with the name of a test; empty if nothing is."""
    words = name.removeprefix("test_").split("_")
    if len(words) < 4:
        return "fewer than four words: state subject, condition and outcome"
    vague = sorted({*words} & (PRONOUNS | PRIVATE))
    return f"{', '.join(vague)}: name the subject" if vague else ""


def test_every_test_name_has_four_words_and_no_pronoun_or_private_term() -> None:
    faults = []
    count = 0
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
                count += 1
                if why := fault(node.name):
                    faults.append(f"{path.relative_to(ROOT)}::{node.name}: {why}")
    assert count > 3000
    assert not faults, "\n".join(faults)


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("test_partition_of_null_key_stays_until_batch_is_full", ""),
        ("test_paths", "fewer than four words"),
        ("test_a_page_is_written", ""),
        ("test_it_says_what_it_selects", "it, what: name the subject"),
        ("test_a_changed_jar_is_told_with_a_hint", "told: name the subject"),
    ],
)
def test_check_of_test_names_reports_short_names_pronouns_and_private_terms(name: str, why: str) -> None:
    assert fault(name).startswith(why)
    assert bool(fault(name)) == bool(why)


def test_no_assert_ends_in_a_conditional_value_that_is_always_true() -> None:
    """``assert code == 2 if killed else {0}`` checks nothing unless ``killed``: the second value is true."""
    values = ast.Set | ast.Tuple | ast.List | ast.Dict | ast.Name | ast.JoinedStr | ast.Constant
    faults = [
        f"{path.relative_to(ROOT)}:{node.lineno}: {ast.unparse(node)}"
        for path in sorted((ROOT / "tests").rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Assert) and isinstance(node.test, ast.IfExp) and isinstance(node.test.orelse, values)
        if not (isinstance(node.test.orelse, ast.Constant) and node.test.orelse.value is False)
    ]
    assert not faults, "\n".join(faults)


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="no git repository")
def test_tests_referenced_by_scripts_and_pages_exist() -> None:
    listed = ["git", "grep", "-hoE", r"tests/[a-z0-9_/]+\.py::test_\w+", "--", "ci", "kit", "tests", "tox.ini", "*.md"]
    named = subprocess.run(listed, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    assert len(named) > 5
    missing = [
        one for one in named
        if not re.search(rf"def {one.partition('::')[2]}\(", (ROOT / one.partition("::")[0]).read_text(encoding="utf-8"))
    ]  # fmt: skip
    assert missing == []
