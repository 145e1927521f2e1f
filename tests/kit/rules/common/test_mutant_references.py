"""Addresses, as data: who cites them exists, and they are addresses."""

from __future__ import annotations

import re

import pytest

from kafka_conformance.rules.common.mutant_references import THREADS
from kafka_conformance.rules.mutants import MUTANTS

_ADDRESS = re.compile(r"https://github\.com/[\w.-]+/[\w.-]+/((issues|pull)/\d+|blob/([0-9a-f]{40}|\d[\d.]+)/[\w./-]+)")


def test_who_cites_exists_and_has_its_threads() -> None:
    assert set(THREADS) <= {mutant.slug for mutant in MUTANTS}
    assert {mutant.slug: mutant.threads for mutant in MUTANTS if mutant.threads} == THREADS


@pytest.mark.parametrize("slug", THREADS)
def test_each_is_an_issue_a_pull_request_or_a_line_of_source(slug: str) -> None:
    assert THREADS[slug]
    assert len(set(THREADS[slug])) == len(THREADS[slug])
    assert all(_ADDRESS.fullmatch(address) for address in THREADS[slug])
