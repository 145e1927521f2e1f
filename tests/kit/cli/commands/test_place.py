"""``place``: one key by every known rule."""

from __future__ import annotations

import base64
import json
import subprocess
import sys
import zlib
from typing import Any

import pytest
from click.testing import CliRunner

pytest.importorskip("numpy")
pytest.importorskip("pyarrow")

from kafka_conformance.cli.main import app
from kafka_conformance.core.errors import BadInput
from kafka_reference import partition_for_key

KEY = "order-4711"


def output(*words: str) -> str:
    done = CliRunner().invoke(app, ["place", *words], standalone_mode=False)
    if done.exception is not None:
        raise done.exception
    assert done.return_value == 0
    return done.stdout


def document(*words: str) -> Any:
    return json.loads(output(*words, "--json"))


def ways(*words: str) -> set[tuple[str, str]]:
    return {(each["rule"], each["view"]) for each in document(*words)["places"]}


def test_place_command_lists_default_partitioners_of_clients_with_partition_of_the_key() -> None:
    places = {each["rule"]: each for each in document(KEY, "--partitions", "25")["places"]}
    assert places["murmur2"]["partition"] == partition_for_key(KEY.encode(), 25)
    assert "java" in places["murmur2"]["clients"]
    assert places["librdkafka-consistent"]["partition"] == zlib.crc32(KEY.encode()) % 25
    assert "librdkafka" in places["librdkafka-consistent"]["clients"]
    assert all(each["clients"] and each["view"] == "whole" for each in places.values())


@pytest.mark.parametrize("count", [1, 2, 7, 25, 1000, 2**31 - 1])
def test_place_seen_option_lists_only_partitioners_that_can_give_the_seen_partition(count: int) -> None:
    seen = partition_for_key(KEY.encode(), count)
    found = document(KEY, "--partitions", str(count), "--seen", str(seen))
    assert {each["partition"] for each in found["places"]} <= {seen, None}
    assert ("murmur2", "whole") in {(each["rule"], each["view"]) for each in found["places"]}
    assert len(found["places"]) <= found["tried"]


def test_place_command_finds_partitioner_that_hashed_a_windowed_key_without_the_window() -> None:
    windowed = b"user-1" + (1_700_000_000_000).to_bytes(8, "big")
    seen = str(partition_for_key(b"user-1", 997))
    assert ("murmur2", "window") in ways(windowed.hex(), "--key-encoding", "hex", "--partitions", "997", "--seen", seen)


def test_place_command_lists_partitioners_if_numpy_numba_pyarrow_and_pyspark_are_missing() -> None:
    script = (
        "import sys; sys.modules.update(numpy=None, numba=None, pyarrow=None, pyspark=None);"
        " from kafka_conformance.cli.main import app; app(['place', 'order-4711', '--partitions', '25'])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    assert "murmur2" in done.stdout


def test_place_command_decodes_hex_and_base64_keys_before_hashing() -> None:
    plain = ways(KEY, "--partitions", "25", "--seen", "3")
    for encoding, text in (("hex", KEY.encode().hex()), ("base64", base64.b64encode(KEY.encode()).decode())):
        assert ways(text, "--key-encoding", encoding, "--partitions", "25", "--seen", "3") == plain


@pytest.mark.parametrize(
    ("rule", "partition"), [("string-hash-code-text-masked", 166), ("string-hash-code-masked", 77)]
)
def test_place_command_distinguishes_string_hash_code_of_characters_from_that_of_utf8_bytes(
    rule: str, partition: int
) -> None:
    found = document("Zoë", "--partitions", "1000", "--seen", str(partition))["places"]
    assert rule in {each["rule"] for each in found}
    assert len({each["rule"] for each in found} & {"string-hash-code-text-masked", "string-hash-code-masked"}) == 1


def test_empty_key_has_null_partition_only_by_the_rules_librdkafka_consistent_and_any_partition() -> None:
    for seen in ("0", "1", "2"):
        places = document("", "--partitions", "3", "--seen", seen)["places"]
        assert all(each["drawn"] is (each["partition"] is None) for each in places)
        assert {each["rule"] for each in places if each["partition"] is None} == {
            "librdkafka-consistent",
            "any-partition",
        }


def test_place_command_prints_client_defaults_first_and_the_chance_of_a_false_match() -> None:
    lines = output(KEY, "--partitions", "2", "--seen", str(partition_for_key(KEY.encode(), 2))).splitlines()
    assert lines[1].startswith("murmur2")
    assert "the first 20 are listed, --json lists all" in lines[-1]
    assert lines[-1].endswith("A wrong one fits one key in 2: kafka-conformance audit judges all keys of a topic")


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["zz", "--partitions", "3", "--key-encoding", "hex"], "KEY 'zz' is not hex"),
        (["z", "--partitions", "3", "--key-encoding", "base64"], "KEY 'z' is not base64"),
        (["z", "--partitions", "3", "--seen", "3"], "a topic with 3 partitions has none of this number"),
    ],
)
def test_place_command_with_undecodable_key_or_partition_out_of_range_is_refused(words: list[str], why: str) -> None:
    with pytest.raises(BadInput, match=why):
        output(*words)
