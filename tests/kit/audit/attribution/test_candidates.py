"""The user's own partitioners: found with the evidence that the built-in rules need, and refused with one line."""

from __future__ import annotations

import hashlib
import random
import sys
from collections.abc import Iterator
from pathlib import Path

import audit_truth
import numpy as np
import pyarrow as pa
import pytest

from kafka_conformance.audit.attribution.block import Block, judge
from kafka_conformance.audit.attribution.candidates import (
    CustomCandidate,
    candidate_partitions,
    load_candidates,
    register,
    registered,
)
from kafka_conformance.audit.attribution.explanation import KeyColumn
from kafka_conformance.audit.attribution.presence import implies, present
from kafka_conformance.audit.initial_sample import examine
from kafka_conformance.audit.result import Placed
from kafka_conformance.core.errors import BadInput

SOURCE = """
import hashlib, random, threading

import helper_of_mine

calls = []

def by_sha(key, num_partitions):
    return helper_of_mine.number(key) % num_partitions

def by_last_digit(key, num_partitions):
    return key[-1] % num_partitions if key else 0

def ring(key, num_partitions):
    return int(helper_of_mine.number(key) / 2**64 * num_partitions)

def digits_only(key, num_partitions):
    return int(key) % num_partitions

def java(key, num_partitions):
    from kafka_reference import partition_for_key
    return partition_for_key(key, num_partitions)

def raises(key, num_partitions):
    raise LookupError("no such region")

def text(key, num_partitions):
    return "3"

def true(key, num_partitions):
    return True

def too_high(key, num_partitions):
    return num_partitions

def drawn(key, num_partitions):
    return random.randrange(num_partitions)

def one_argument(key):
    return 0

number = 5
"""
LOCKED = "import threading\nlock = threading.Lock()\ndef locked(key, n):\n    with lock:\n        return 0\n"
HELPER = "import hashlib\ndef number(key):\n    return int.from_bytes(hashlib.sha256(key).digest()[:8], 'big')\n"
KEYS = [b"customer-%d" % number for number in range(3000)]


def sha(key: bytes, count: int) -> int:
    return int.from_bytes(hashlib.sha256(key).digest()[:8], "big") % count


@pytest.fixture(autouse=True)
def own_modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name, source in (
        ("mine", SOURCE),
        ("helper_of_mine", HELPER),
        ("locked", LOCKED),
        ("broken", "import no_such"),
    ):
        (tmp_path / f"{name}.py").write_text(source)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    yield
    register(())
    for name in ("mine", "helper_of_mine", "locked", "broken"):
        sys.modules.pop(name, None)


def use(*names: str) -> tuple[CustomCandidate, ...]:
    register(load_candidates([f"mine:{name}" for name in names]))
    return registered()


def topic(*producers: tuple[object, int], keys: list[bytes] = KEYS, partitions: int = 12) -> KeyColumn:
    """Each key by one of these producers, in turns: a function or the slug of a built-in rule, and its partition count."""
    where = []
    for at, key in enumerate(keys):
        rule, count = producers[at % len(producers)]
        where.append(rule(key, count) if callable(rule) else audit_truth.place(str(rule), key, count))
    return audit_truth.column(keys, np.array(where, np.int32), partitions)


def found(keys: KeyColumn, expected: str = "murmur2") -> set[str]:
    return {str(placed) for placed in present(keys, Placed(expected, keys.count))}


def test_custom_partitioner_is_found_alone_mixed_and_at_an_old_partition_count() -> None:
    assert found(topic((sha, 12))) == set(), "unknown without --candidate"
    use("by_sha")
    assert found(topic((sha, 12))) == {"mine:by_sha@12"}
    assert found(topic((sha, 12), ("librdkafka-consistent", 12))) == {"mine:by_sha@12", "librdkafka-consistent@12"}
    assert found(topic((sha, 3), (sha, 12))) == {"mine:by_sha@3", "mine:by_sha@12"}
    assert found(topic((sha, 12)), "mine:by_sha") == {"mine:by_sha@12"}


def test_custom_partitioner_is_not_named_in_topics_of_other_producers() -> None:
    use("by_sha", "ring", "by_last_digit")
    draws = random.Random(3)
    assert found(topic(("murmur2", 12))) == {"murmur2@12"}
    assert found(topic(("sarama-hash", 12), ("murmur2", 12))) == {"murmur2@12", "sarama-hash@12"}
    assert found(topic((lambda _, n: draws.randrange(n), 12))) == set()


def test_keys_that_a_custom_partitioner_hashes_equally_count_as_one_piece_of_evidence() -> None:
    """Six digits are six pieces of evidence, however many keys end in them."""
    use("by_last_digit")
    keys = [b"customer-%d%d" % (number, number % 6) for number in range(3000)]
    assert found(topic((lambda key, n: key[-1] % n, 12), keys=keys)) == set()
    keys = [b"customer-%d%c" % (number, 33 + number % 90) for number in range(3000)]
    assert found(topic((lambda key, n: key[-1] % n, 12), keys=keys)) & {"mine:by_last_digit@12", "last-byte@12"}


def test_builtin_partitioner_is_named_over_an_equivalent_custom_one_unless_custom_is_expected() -> None:
    use("java")
    assert found(topic(("murmur2", 12))) == {"murmur2@12"}
    assert found(topic(("murmur2", 12)), "mine:java") == {"mine:java@12"}


def test_naming_a_custom_partitioner_takes_eleven_keys_not_five_but_six_if_expected() -> None:
    use("by_sha")
    few = KEYS[:5]
    members, doubt = examine(topic((sha, 12), keys=few), Placed("murmur2", 12))
    assert members == ()
    assert doubt is not None
    assert doubt.fitting == ("mine:by_sha",)
    assert doubt.needed == 11
    assert examine(topic((sha, 12), keys=KEYS[:11]), Placed("murmur2", 12)) == ((Placed("mine:by_sha", 12),), None)
    members, doubt = examine(topic((sha, 12), keys=few), Placed("mine:by_sha", 12))
    assert doubt is not None
    assert doubt.needed == 6
    use("java")
    doubt = examine(topic(("murmur2", 12), keys=few), Placed("murmur2", 12))[1]
    assert doubt is not None
    assert "mine:java" not in doubt.fitting, "it is murmur2"


def test_block_written_by_a_custom_partitioner_is_attributed_and_not_misplaced_if_expected() -> None:
    use("by_sha")
    keys = [key for key in (b"k%d" % number for number in range(3000)) if sha(key, 12) == 4]
    offsets = np.arange(len(keys), dtype=np.int64)
    block = Block(4, offsets, offsets, pa.array(keys, pa.binary()))
    placed = Placed("mine:by_sha", 12)
    judged = judge(block, 12, Placed("murmur2", 12), (placed,))
    assert judged.summary.attributed == {str(placed): len(keys)}
    assert judge(block, 12, placed, (placed,)).summary.offending == 0
    doubtful = judge(block, 12, placed, doubtful=True).summary
    assert doubtful.explains[str(placed)] == len(keys)


def test_custom_partitioner_result_for_12_partitions_determines_that_for_3_only_if_modulo() -> None:
    use("by_sha", "ring")
    assert implies(Placed("mine:by_sha", 12), Placed("mine:by_sha", 3))
    assert not implies(Placed("mine:ring", 12), Placed("mine:ring", 3))


def test_custom_partitioner_with_helper_module_runs_where_neither_can_be_imported() -> None:
    candidates = use("by_sha")
    register(())
    sys.modules.pop("mine")
    sys.modules.pop("helper_of_mine")
    sys.path[:] = [path for path in sys.path if path != str(Path.cwd())]
    register(candidates)
    offsets, data = np.array([0, 1, 3, 4], np.int32), np.frombuffer(b"abba", np.uint8)
    assert candidate_partitions("mine:by_sha", offsets, data, 12).tolist() == [
        sha(key, 12) for key in (b"a", b"bb", b"a")
    ]
    assert len(candidates[0].version) == 64


def test_error_names_the_key_for_which_a_custom_partitioner_raises() -> None:
    use("digits_only")
    assert found(topic((lambda key, n: int(key) % n, 12), keys=[b"%d" % number for number in range(500)]))
    with pytest.raises(
        BadInput, match=r"--candidate mine:digits_only raises ValueError: .* for the key b'customer-0' and 12"
    ):
        found(topic(("librdkafka-consistent", 12)))


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("mine", "--candidate 'mine': expected MODULE:FUNCTION"),
        (":f", "expected MODULE:FUNCTION"),
        ("no_such_module:f", "no_such_module cannot be imported from {here}: ModuleNotFoundError"),
        ("broken:f", "broken cannot be imported from {here}: ModuleNotFoundError: No module named 'no_such'"),
        ("mine:nothing", "the module mine has no nothing"),
        (
            "mine:number",
            "--candidate mine:number is of type int: expected a function (key: bytes, num_partitions: int)",
        ),
        (
            "mine:raises",
            "mine:raises raises LookupError: no such region for the key b'42' and 1 partition; it raised for every",
        ),
        ("mine:one_argument", "mine:one_argument raises TypeError: "),
        ("mine:text", "--candidate mine:text returns '3' for the key b'42' and 1 partition: expected an int"),
        ("mine:true", "--candidate mine:true returns True for the key b'42' and 1 partition: expected an int"),
        ("mine:too_high", "--candidate mine:too_high returns 1 for the key b'42' and 1 partition: expected 0 to 0"),
        ("mine:drawn", "for the same key"),
        ("locked:locked", "--candidate locked:locked cannot be sent to Spark's workers: "),
    ],
)
def test_unusable_candidate_option_raises_a_one_line_error_that_names_the_fault(name: str, line: str) -> None:
    with pytest.raises(BadInput) as raised:
        load_candidates([name])
    assert line.format(here=Path.cwd()) in str(raised.value)
    assert "\n" not in str(raised.value)


def test_out_of_range_result_of_a_custom_partitioner_raises_with_key_and_partition_count() -> None:
    with pytest.raises(BadInput, match=r"returns 7 for the key b'42' and 7 partitions: expected 0 to 6$"):
        load_candidates(["mine:too_high"], 7)
