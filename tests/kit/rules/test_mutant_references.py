"""The references of a mutant: permanent links to an issue, a pull request or a line of source."""

from __future__ import annotations

import re

import pytest

from kafka_conformance.core.mutant import Mutant
from kafka_conformance.rules.common.mutant_references import REFERENCES
from kafka_conformance.rules.mutants import MUTANTS

_ADDRESS = re.compile(r"https://github\.com/[\w.-]+/[\w.-]+/((issues|pull)/\d+|blob/([0-9a-f]{40}|\d[\d.]+)/[\w./-]+)")
CITING = [mutant for mutant in MUTANTS if mutant.references]


def test_no_reference_is_lost() -> None:
    assert len(CITING) >= 111
    assert set(REFERENCES) <= {mutant.slug for mutant in CITING}


@pytest.mark.parametrize("mutant", CITING, ids=lambda mutant: mutant.slug)
def test_references_are_distinct_permanent_addresses(mutant: Mutant) -> None:
    assert len(set(mutant.references)) == len(mutant.references)
    assert all(_ADDRESS.fullmatch(address) for address in mutant.references)
