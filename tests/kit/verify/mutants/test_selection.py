"""Which mutants are asked: all of a changed rule, one of every other."""

from __future__ import annotations

import pytest

from kafka_conformance.core.mutant import Mutant
from kafka_conformance.rules import RULES
from kafka_conformance.rules.mutants import MUTANTS
from kafka_conformance.verify.fingerprint import mutants_fingerprint
from kafka_conformance.verify.mutants.record import Kill, MutantRow, Record
from kafka_conformance.verify.mutants.selection import MutantSelection, select_all, select_changed

SLUGS = ["murmur2", "partition-for-key"]
MURMUR2, KEYED = ([mutant for mutant in MUTANTS if mutant.rule == slug] for slug in SLUGS)
# Later mutants are killed sooner.
KILLS = tuple(Kill(mutant.slug, str(mutant.release), 100 - number, 25) for number, mutant in enumerate(MURMUR2))
ROW = MutantRow("murmur2", mutants_fingerprint(RULES["murmur2"]), 1, 2000, KILLS)


def test_select_all_returns_mutants_of_the_rules_in_registry_order() -> None:
    assert select_all(SLUGS[::-1], MUTANTS) == MutantSelection((*MURMUR2, *KEYED), tuple(SLUGS[::-1]))


def test_rule_with_valid_mutant_record_runs_only_the_quickest_mutant() -> None:
    asked = select_changed(SLUGS, MUTANTS, Record((ROW,)))
    assert asked == MutantSelection((MURMUR2[-1], *KEYED), ("partition-for-key",), ("murmur2",), len(MURMUR2) - 1)


def test_added_mutant_selects_all_mutants_of_that_rule_and_only_the_quickest_of_others() -> None:
    more = Mutant("one-more", "partition-for-key", "none", RULES["partition-for-key"].ask)
    assert select_changed(SLUGS, (*MUTANTS, more), Record((ROW,))).mutants == (MURMUR2[-1], *KEYED, more)
    more = Mutant("one-more", "murmur2", "none", RULES["murmur2"].ask)
    assert select_changed(["murmur2"], (*MUTANTS, more), Record((ROW,))).mutants == (*MURMUR2, more)


def test_empty_mutant_record_selects_all_mutants() -> None:
    asked = select_changed(SLUGS, MUTANTS, Record())
    assert (asked.mutants, asked.left_out) == ((*MURMUR2, *KEYED), 0)


@pytest.mark.parametrize(
    ("whole", "sampled", "mutants", "text"),
    [
        (("a", "b"), ("c", "d", "e"), 15,
         "12 mutants of 2 changed rules, one mutant of each of 3 others; 7 were killed before by the same code"),
        (("a",), (), 1, "1 mutant of 1 changed rule"),
        ((), ("a", "b"), 2, "no rule has changed: one mutant of each of 2 rules; 7 were killed before by the same code"),
    ],
)  # fmt: skip
def test_selection_summary_counts_changed_and_sampled_rules(
    whole: tuple[str, ...], sampled: tuple[str, ...], mutants: int, text: str
) -> None:
    assert MutantSelection((MURMUR2[0],) * mutants, whole, sampled, 7 if sampled else 0).summary == text
