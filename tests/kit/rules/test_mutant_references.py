"""The references of a mutant: permanent links to an issue, a pull request or a line of source."""

from __future__ import annotations

import pkgutil
import re
from importlib import import_module

import pytest

from kafka_conformance import rules
from kafka_conformance.core.mutant import Mutant
from kafka_conformance.rules.mutants import MUTANTS

_ADDRESS = re.compile(r"https://github\.com/[\w.-]+/[\w.-]+/((issues|pull)/\d+|blob/([0-9a-f]{40}|\d[\d.]+)/[\w./-]+)")
CITING = [mutant for mutant in MUTANTS if mutant.references]
MODULES = [
    module.name
    for module in pkgutil.walk_packages(rules.__path__, "kafka_conformance.rules.")
    if "mutants" in module.name
]


def test_at_least_111_mutants_cite_a_github_issue_or_source_line() -> None:
    assert len(CITING) >= 111


@pytest.mark.parametrize("mutant", CITING, ids=lambda mutant: mutant.slug)
def test_links_cited_by_a_mutant_are_distinct_permanent_github_links(mutant: Mutant) -> None:
    assert len(set(mutant.references)) == len(mutant.references)
    assert all(_ADDRESS.fullmatch(address) for address in mutant.references)


@pytest.mark.parametrize("name", MODULES)
def test_docstring_of_every_mutant_module_has_at_least_six_words(name: str) -> None:
    assert len((import_module(name).__doc__ or "").split()) >= 6, (
        f"{name}: open its docstring with the mistakes it holds"
    )
