"""``place``: one key by every rule of a producer that is known."""

from __future__ import annotations

import json
import zlib
from pathlib import Path

import pytest

from kafka_reference import partition_for_key
from kafka_reference.partitioning import place
from kafka_reference.partitioning.places import ANY, CLIENTS, NAMED, RULES

KEY = b"order-4711"
PACKAGES = json.loads(Path(__file__).with_name("package_hashes.json").read_text(encoding="utf-8"))
DEFAULTS = {
    "murmur2": {"java", "aiokafka", "franz-go", "kafka-python", "kafkajs", "krafka", "no-kafka"},
    "librdkafka-consistent": {
        "librdkafka", "confluent-kafka", "confluent-kafka-go", "node-rdkafka", "pgstream", "rust-rdkafka", "ruby-kafka",
    },
    "sarama-hash": {"sarama", "goka"},
    "kafkajs-legacy": {"kafkajs-1"},
    "unsigned": {"platformatic-kafka"},
    "murmur3-no-seed-unsigned": {"node-sinek"},
    "murmur3-unsigned": {"node-sinek-9.0"},
    "constant-0": {"kafka-node"},
    "string-hash-code-abs-or-zero": {"spring-cloud-stream"},
    "string-hash-code-abs": {"maxwell"},
    "xxhash-unsigned": {"kafka-rust"},
    "phash2-unsigned": {"brod"},
    "any-partition": {"kafka-go", "pykafka"},
}  # fmt: skip


@pytest.mark.parametrize("count", [1, 2, 7, 25, 1000, 2**31 - 1])
def test_placements_of_a_key_list_java_first_then_client_defaults_then_other_rules(count: int) -> None:
    places = place(KEY, count)
    assert (places[0].rule, places[0].partition) == ("murmur2", partition_for_key(KEY, count))
    assert {client for one in places for client in one.clients} == set(CLIENTS)
    kinds = [bool(one.clients) for one in places]
    assert kinds == sorted(kinds, reverse=True)
    by_rule = {one.rule: one.partition for one in places}
    assert by_rule["librdkafka-consistent"] == zlib.crc32(KEY) % count
    assert by_rule[ANY] is None
    assert len(by_rule) == len(places)


def test_default_placement_rule_of_each_client_matches_the_expected_table() -> None:
    assert {one.rule: set(one.clients) for one in place(KEY, 25) if one.clients} == DEFAULTS
    assert {client: rule for rule, clients in DEFAULTS.items() for client in clients} == CLIENTS


@pytest.mark.parametrize("client", PACKAGES["partitions"])
@pytest.mark.parametrize("count", [7, 12])
def test_partitions_of_goka_and_pgstream_equal_those_their_packages_returned(client: str, count: int) -> None:
    keys = [bytes.fromhex(key) for key in PACKAGES["keys"]]
    placed = [next(one.partition for one in place(key, count) if client in one.clients) for key in keys]
    assert placed == PACKAGES["partitions"][client][str(count)]


def test_place_with_a_seen_partition_returns_only_rules_giving_that_partition_or_any() -> None:
    everything = place(KEY, 25)
    for seen in range(25):
        assert place(KEY, 25, seen=seen) == tuple(one for one in everything if one.partition in (None, seen))


def test_empty_key_has_no_fixed_partition_in_librdkafka_and_is_hashed_by_java() -> None:
    places = {one.rule: one.partition for one in place(b"", 12)}
    assert places["librdkafka-consistent"] is None
    assert places["murmur2"] == partition_for_key(b"", 12)


def test_placement_rules_not_applicable_to_the_key_are_omitted() -> None:
    assert {one.rule for one in place(b"42", 5)} >= {"text-integer", "first-byte"}
    assert not {one.rule for one in place(KEY, 5)} & {"text-integer", "int32-big-endian", "long-hash-code-masked"}


@pytest.mark.parametrize(
    ("rule", "key", "by_count"),
    [
        ("string-hash-code-abs-or-zero", b"polygenelubricants", {7: 0, 12: 0}),  # the hash code is the lowest int
        ("string-hash-code-abs", b"polygenelubricants", {7: 2**31 % 7, 12: 2**31 % 12}),
        ("string-hash-code-text-masked", b"polygenelubricants", {7: 0, 12: 0}),
        ("string-hash-code-floor-mod", b"polygenelubricants", {7: -(2**31) % 7, 12: -(2**31) % 12}),
        ("int32-big-endian", b"\xff\xff\xff\xff", {7: 6, 12: 11}),
    ],
)
def test_suffix_of_rule_name_selects_how_the_hash_sign_is_dropped(
    rule: str, key: bytes, by_count: dict[int, int]
) -> None:
    assert {count: RULES[rule].partition(key, count) for count in by_count} == by_count


def test_every_named_rule_and_client_default_is_a_defined_placement_rule() -> None:
    assert set(NAMED.values()) <= RULES.keys()
    assert set(CLIENTS.values()) - {ANY, "constant-0"} <= RULES.keys()


@pytest.mark.parametrize(
    ("key", "count", "seen", "why"),
    [
        ("order-4711", 25, None, "key of place is 'order-4711': expected bytes"),
        (None, 25, None, "expected bytes"),
        (KEY, 0, None, "num_partitions"),
        (KEY, 3, 3, "expected a partition of the topic, 0 to 2"),
        (KEY, 3, -1, "seen"),
    ],
)
def test_place_with_wrong_key_partition_count_or_seen_partition_raises_with_reason(
    key: bytes, count: int, seen: int | None, why: str
) -> None:
    with pytest.raises((TypeError, ValueError), match=why):
        place(key, count, seen=seen)
