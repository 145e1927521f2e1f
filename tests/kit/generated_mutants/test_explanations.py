"""Why mutants survive."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from kafka_conformance.generated_mutants import explanations
from kafka_conformance.generated_mutants.explanations import explain, unused
from kafka_conformance.generated_mutants.mutations import Module, Mutation
from kafka_conformance.generated_mutants.record import shipped
from kafka_conformance.verify.fingerprint import Sources

CODE = """
def f(x):
    if x < 1:
        raise ValueError("x")
    if x > 9:  # unreached: nobody has ten
        return 10
    # unreached: a remark above
    y = 4
    return y + 3
"""


@pytest.fixture
def mutations(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Mutation, ...]]:
    monkeypatch.setattr(explanations, "installed_sources", lambda: Sources({"m.a": CODE}, {}))
    explanations._unreached.cache_clear()
    yield Module("m.a", CODE, []).mutations
    explanations._unreached.cache_clear()


def test_surviving_mutants_are_explained_by_argument_checks_and_unreached_comments(
    mutations: tuple[Mutation, ...],
) -> None:
    reasons = {one.line: (found := explain(one)) and found.reason for one in mutations}
    refusal = "refuses an argument or a question: there is no answer to compare"
    assert reasons == {3: refusal, 4: refusal, 5: "nobody has ten", 6: "nobody has ten", 8: "a remark above", 9: None}


def test_every_explanation_names_a_surviving_mutant_of_the_record() -> None:
    assert unused([key for row in shipped().rows for key in row.survivors]) == []


def test_explanation_with_exact_mutant_key_matches_no_numbered_duplicate_but_key_prefix_does(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    one = explanations.Explanation(("m.a:f: 0 → 1", "m.a:g: x → "), "equivalent", "So.")
    monkeypatch.setattr(explanations, "explanations", lambda: (one,))
    assert unused(["m.a:f: 0 → 1 #2"]) == list(one.mutants)
    assert unused(["m.a:f: 0 → 1", "m.a:g: x → y #2"]) == []
