"""Which releases are meant, and what is not a release."""

from __future__ import annotations

import pytest

from kafka_conformance.core.errors import BadInput
from kafka_conformance.oracle.session import chosen_releases, fresh_seed, named_release, split, spread
from kafka_jars.pins import Jar, Pins
from kafka_reference.releases import parse_release

SHA256 = "0a" * 32
PINS = Pins({version: (Jar("g:a:" + version, SHA256),) for version in ("3.9.2", "0.10.0.1", "3.10.0")}, (), ())


def chosen(named: str) -> list[str]:
    return list(map(str, chosen_releases(named, PINS)))


def test_release_argument_all_selects_pinned_releases_in_version_order() -> None:
    assert chosen("all") == ["0.10.0.1", "3.9.2", "3.10.0"]


def test_release_argument_with_newest_and_exact_versions_keeps_order() -> None:
    assert chosen("newest") == ["3.10.0"]
    assert chosen("4.4.0, newest ,0.10.0.1,") == ["4.4.0", "3.10.0", "0.10.0.1"]


def test_release_argument_spread_selects_newest_patch_per_minor_release() -> None:
    versions = ["4.4.0", "0.10.2.2", "0.10.0.0", "3.9.10", "0.10.0.1", "3.9.2", "1.0.0", "1.0.2", "4.3.1"]
    assert list(map(str, spread(map(parse_release, versions)))) == [
        "0.10.0.1", "0.10.2.2", "1.0.2", "3.9.10", "4.3.1", "4.4.0",
    ]  # fmt: skip
    assert chosen("spread") == chosen("all")
    assert chosen("3.9.1,spread") == ["3.9.1", *chosen("all")]


@pytest.mark.parametrize("named", ["", " ", ",", " , "])
def test_empty_list_of_releases_raises_bad_input(named: str) -> None:
    with pytest.raises(BadInput, match="no release named: give exact ones"):
        chosen(named)


@pytest.mark.parametrize("named", ["3.x", "4.4", "latest", "4.4.0,3.x", "4.4.0;3.9.2", "4.4.0 3.9.2"])
def test_malformed_release_name_raises_bad_input_with_examples(named: str) -> None:
    with pytest.raises(BadInput, match=r"is not a Kafka release: name one exactly, like 4\.4\.0 or 0\.10\.0\.1"):
        chosen(named)


def test_release_named_twice_is_selected_once() -> None:
    assert chosen("3.10.0,newest") == ["3.10.0"]


def test_exact_release_name_is_parsed_and_a_pattern_raises_bad_input() -> None:
    assert named_release("4.4.0").numbers == (4, 4, 0)
    with pytest.raises(BadInput, match=r"'4\.x' is not a Kafka release"):
        named_release("4.x")


def test_comma_separated_names_are_split_and_stripped_with_empty_parts_dropped() -> None:
    assert list(split("murmur2, partition-for-key,,")) == ["murmur2", "partition-for-key"]
    assert list(split("")) == []


def test_fresh_seeds_differ_and_are_unsigned_32_bit_integers() -> None:
    seeds = {fresh_seed() for _ in range(20)}
    assert len(seeds) > 10
    assert all(0 <= seed < 2**32 for seed in seeds)
