from __future__ import annotations

import pytest

from kafka_reference.releases import NEWEST, Release, parse_release, since


def test_release_name_round_trips_through_parse_release() -> None:
    assert parse_release("4.4.0").numbers == (4, 4, 0)
    assert str(parse_release("0.10.0.1")) == "0.10.0.1"
    assert parse_release(parse_release("3.9.2")) == parse_release("3.9.2") == Release((3, 9, 2))
    assert str(NEWEST) == "4.4.0"


def test_releases_are_sorted_by_version_numbers() -> None:
    named = ["3.10.0", "0.10.0.1", "4.0.0", "3.9.2", "0.11.0.3", "1.1.1", "0.9.0.1"]
    assert [str(each) for each in sorted(map(parse_release, named))] == [
        "0.9.0.1", "0.10.0.1", "0.11.0.3", "1.1.1", "3.9.2", "3.10.0", "4.0.0",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "name", ["", "3.x", "newest", "4", "4.4", "4.4.0.1.2", "4.4.0-rc1", "v4.4.0", " 4.4.0", "4.4.0\n", "4..0", "-4.4.0"]
)
def test_malformed_release_name_raises_value_error(name: str) -> None:
    with pytest.raises(ValueError, match="is not a Kafka release: name one exactly, like"):
        parse_release(name)


def test_span_of_releases_includes_both_ends() -> None:
    span = since("2.4.0", until="3.9.2")
    held = [name for name in ("2.3.1", "2.4.0", "3.0.0", "3.9.2", "3.9.3", "4.0.0") if parse_release(name) in span]
    assert held == ["2.4.0", "3.0.0", "3.9.2"]
    assert parse_release("2.3.99") not in since("2.4.0")
    assert parse_release("99.0.0") in since("2.4.0")


# KAFKA-17632 was fixed in 3.9.2 and not in 4.0.0, which came out before: "newer" does not say who has a fix.
def test_union_of_two_release_spans_contains_only_releases_with_a_backported_fix() -> None:
    fixed = since("3.9.2", until="3.9.2") | since("4.0.2")
    assert [name for name in ("3.9.1", "3.9.2", "4.0.0", "4.0.2", "4.4.0") if parse_release(name) in fixed] == [
        "3.9.2", "4.0.2", "4.4.0",
    ]  # fmt: skip
    assert str(fixed) == "3.9.2, since 4.0.2"


def test_release_span_with_malformed_end_raises_value_error() -> None:
    with pytest.raises(ValueError, match=r"3\.x"):
        since("3.0.0", until="3.x")


def test_release_span_until_2_2_x_includes_every_patch_release() -> None:
    line = since("2.1.0", until="2.2.x")
    assert parse_release("2.2.2") in line
    assert parse_release("2.3.0") not in line
    assert str(line) == "2.1.0 to 2.2.x"
