from __future__ import annotations

from kafka_conformance.core.suggestion import did_you_mean


def test_suggestion_names_one_or_two_similar_names_joined_by_or() -> None:
    assert did_you_mean("murmur-2", ["murmur2", "delivery"]) == "did you mean murmur2?"
    assert did_you_mean("record", ["records", "recorder", "delivery"]) == "did you mean records or recorder?"


def test_suggestion_of_four_similar_names_has_the_three_closest() -> None:
    names = ["record", "recorder", "recorders", "recorded-by", "delivery"]
    assert did_you_mean("records", names) == "did you mean record, recorders or recorder?"


def test_suggestion_without_similar_name_lists_all_names_or_the_given_hint() -> None:
    assert did_you_mean("x", ["murmur2", "delivery"]) == "expected one of murmur2, delivery"
    assert did_you_mean("x", ["murmur2"], "`selftest` lists them") == "`selftest` lists them"
