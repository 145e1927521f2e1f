"""Sample questions: few, short, of different kinds, the same for the same seed."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kafka_conformance.cases.samples import kinds_of, samples
from kafka_conformance.core.errors import BadInput
from kafka_conformance.core.protocol import to_json
from kafka_conformance.rules import RULES
from kafka_reference.releases import NEWEST


@pytest.mark.parametrize("slug", ["murmur2", "round-robin-partitioner", "sticky-distribution"])
def test_sample_questions_have_distinct_kinds_and_are_sorted_by_length(slug: str) -> None:
    found = samples(RULES[slug], NEWEST, 4)
    kinds = [set(sample.kinds) for sample in found]
    assert len({frozenset(kind) for kind in kinds}) == 4
    assert len(set().union(*kinds)) >= 8
    sizes = [len(to_json(sample.question)) for sample in found]
    assert sizes == sorted(sizes)
    assert len(sizes) == 4


def test_sample_questions_are_out_of_domain_only_if_every_question_of_the_kind_is() -> None:
    several = samples(RULES["partition-for-key"], NEWEST, 30)
    assert not any(sample.out_of_domain for sample in several)
    null = samples(RULES["partition-for-key"], NEWEST, 2, kind="null key")
    assert [sample.out_of_domain for sample in null] == ["a record without a key is not hashed"] * 2


def test_sample_of_questions_depends_only_on_the_seed() -> None:
    rule = RULES["partition-for-key"]
    assert samples(rule, NEWEST, 5, seed=3) == samples(rule, NEWEST, 5, seed=3)
    assert samples(rule, NEWEST, 5, seed=3) != samples(rule, NEWEST, 5, seed=4)


def test_samples_of_a_requested_kind_all_have_that_kind() -> None:
    found = samples(RULES["murmur2"], NEWEST, 7, kind="hash below zero")
    assert len(found) == 7
    assert all("hash below zero" in sample.kinds for sample in found)


def test_samples_beyond_the_frozen_cases_are_generated() -> None:
    cases_of_this_kind = 201  # there are 200 frozen cases
    assert len(samples(RULES["sticky-distribution"], NEWEST, cases_of_this_kind)) == cases_of_this_kind


def test_kinds_of_a_sample_question_are_the_labels_of_the_given_rule() -> None:
    rule = RULES["murmur2"]
    (sample,) = samples(rule, NEWEST, 1)
    assert kinds_of(rule, sample.question) == frozenset(rule.labels(sample.question)) == frozenset(sample.kinds)
    assert kinds_of(replace(rule, labels=lambda _: iter(["other"])), sample.question) == {"other"}


@pytest.mark.parametrize(
    ("kind", "hint"),
    [("hash bellow zero", "did you mean 'hash below zero'\\?"), ("zzzz", "expected one of 0 bytes, 1 bytes, ")],
)
def test_samples_of_unknown_question_kind_raise_bad_input_with_suggestion_or_list_of_kinds(
    kind: str, hint: str
) -> None:
    with pytest.raises(BadInput, match=f"^murmur2 has no kind of question '{kind}': {hint}"):
        samples(RULES["murmur2"], NEWEST, 1, kind=kind)
