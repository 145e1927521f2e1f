"""Keys by the million: Java's answers and the reference's, whole columns at once; Java is stood in for by tables."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kafka_conformance.rules import RULES
from kafka_conformance.rules.murmur2.question import Murmur2Question
from kafka_conformance.rules.partition_for_key.question import PartitionForKeyQuestion
from kafka_conformance.verify.columns import KeyFile, compare_column, key_file

MURMUR2, FOR_KEY = RULES["murmur2"], RULES["partition-for-key"]
# What Java answered: see tests/reference/test_murmur2.py.
THREE_BYTES = (np.array([0, 3, 6, 9], np.int32), np.frombuffer(b"\xff\x80\x7f\x00\x00\x00abc", np.uint8))
HASHES = [968261134, 1013532917, 479470107]
ONE_BYTE = (np.array([0, 1, 2, 3, 4], np.int32), np.frombuffer(b"\x00\x7f\x80\xff", np.uint8))
SHORT_HASHES = [375494588, 21296028, 857690492, -311467685]


class Java:
    """A release that answers a column with what it was given, and keeps what it was asked."""

    def __init__(self, answers: list[int]) -> None:
        self.answers, self.asked = answers, b""

    def bulk(self, _: str, keys: Path, results: Path) -> int:
        self.asked = keys.read_bytes()
        np.array(self.answers, "<i4").tofile(results)
        return 1


def swept(rule: Any, answers: list[int], column: tuple[Any, Any], argument: int = 0, **how: Any) -> Any:
    with key_file() as file:
        return compare_column(rule, rule.columns, Java(answers), file, column, argument, **how)  # type: ignore[arg-type]


def test_key_column_file_contains_counts_offsets_and_bytes_in_little_endian() -> None:
    java = Java(HASHES)
    with key_file() as file:
        compare_column(MURMUR2, MURMUR2.columns, java, file, THREE_BYTES, 12)  # type: ignore[arg-type]
    assert java.asked.hex() == (
        "0300000000000000" "0c00000000000000"  # keys, argument
        "00000000" "03000000" "06000000" "09000000"  # offsets
        "ff807f000000616263"
    )  # fmt: skip


@pytest.mark.parametrize(("column", "answers"), [(THREE_BYTES, HASHES), (ONE_BYTE, SHORT_HASHES)])
def test_bulk_hashes_equal_to_those_of_java_report_no_differing_question(
    column: tuple[Any, Any], answers: list[int]
) -> None:
    result = swept(MURMUR2, answers, column)
    assert (result.asked, result.differing, result.questions) == (len(answers), 0, ())


def test_key_whose_bulk_hash_differs_from_java_is_reported_as_a_question() -> None:
    result = swept(MURMUR2, [HASHES[0], HASHES[1] ^ 1, HASHES[2]], THREE_BYTES)
    assert (result.asked, result.differing, result.questions) == (3, 1, (Murmur2Question("000000"),))


def test_bulk_difference_of_partition_for_key_includes_partition_count() -> None:
    expected = [hashed & 0x7FFFFFFF for hashed in SHORT_HASHES]
    right = [positive % 12 for positive in expected]
    assert swept(FOR_KEY, right, ONE_BYTE, 12).differing == 0
    result = swept(FOR_KEY, [*right[:3], right[3] + 1], ONE_BYTE, 12)
    assert result.questions == (PartitionForKeyQuestion("ff", 12),)


def test_short_keys_are_also_compared_with_the_scalar_function(monkeypatch: pytest.MonkeyPatch) -> None:
    """The bulk code may be right where the function people import is wrong."""
    monkeypatch.setattr(
        "kafka_conformance.rules.murmur2.rule.murmur2", lambda key: 0 if key == b"\x80" else SHORT_HASHES[0]
    )
    result = swept(MURMUR2, SHORT_HASHES, ONE_BYTE)
    assert Murmur2Question("80") in result.questions


def test_bulk_comparison_reports_at_most_ten_of_many_differences() -> None:
    column = (np.arange(101, dtype=np.int32) * 4, np.zeros(400, np.uint8))
    result = swept(MURMUR2, [0] * 100, column)
    assert (result.asked, result.differing, len(result.questions)) == (100, 100, 10)


def test_bulk_comparison_reports_a_differing_hash_of_another_implementation() -> None:
    result = swept(MURMUR2, HASHES, THREE_BYTES, bulk=lambda *_: np.array([*HASHES[:2], 0], np.int32))
    assert result.questions == (Murmur2Question(b"abc".hex()),)


@pytest.mark.parametrize("answers", [[], HASHES[:2], [*HASHES, 0]])
def test_bulk_answers_fewer_or_more_than_keys_raise_error(answers: list[int]) -> None:
    with pytest.raises(Exception, match="3 keys asked"):
        swept(MURMUR2, answers, THREE_BYTES)


def test_key_file_removes_old_results_and_temporary_folder() -> None:
    with key_file() as file:
        file.results.write_bytes(b"\1\0\0\0")
        file.write(*THREE_BYTES, 0)
        assert not file.results.exists()
        room = file.keys.parent
    assert not room.exists()


def test_bulk_results_are_read_as_little_endian_java_ints(tmp_path: Path) -> None:
    file = KeyFile(tmp_path / "keys", tmp_path / "results")
    file.results.write_bytes(bytes.fromhex("ffffff7f00000080"))
    assert list(file.read()) == [2147483647, -2147483648]
