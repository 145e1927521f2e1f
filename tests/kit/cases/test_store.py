"""Files of frozen cases: written whole, read whole, and one that was cut is refused."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from kafka_conformance.cases.store import Case, Provenance, frozen, read, write
from kafka_conformance.core.errors import BadInput, KitError
from kafka_conformance.rules import RULES

RULE = RULES["murmur2"]
CASE = Case("ab", "4.4.0", ("3.9.2", "4.4.0"), msgspec.Raw(b'{"key":"00"}'), {"hash": 1}, ("crc32",))
FROM = Provenance("murmur2", "Utils.murmur2", {"3.9.2": "00", "4.4.0": "01"}, "21", "0.1.0", 1, 10, 1)


def test_file_of_frozen_cases_round_trips(tmp_path: Path) -> None:
    write(tmp_path / "murmur2.ndjson", FROM, [CASE])
    found = frozen(RULE, tmp_path)
    assert found is not None
    assert found.provenance == FROM
    assert found.at("3.9.2") == found.at("4.4.0") == [CASE]
    assert found.at("2.8.2") == []
    assert found.cases[0].typed_question(RULE) == RULE.question("00")


def test_rule_without_a_case_file_has_no_frozen_cases(tmp_path: Path) -> None:
    assert frozen(RULE, tmp_path) is None


def test_truncated_empty_or_non_utf8_case_file_raises_bad_input(tmp_path: Path) -> None:
    path = tmp_path / "murmur2.ndjson"
    write(path, FROM, [])
    with pytest.raises(BadInput, match="it was cut"):
        read(path)
    path.write_bytes(b"\xff\n")
    with pytest.raises(BadInput, match="not a file of frozen cases"):
        read(path)
    path.write_bytes(b"")
    with pytest.raises(BadInput, match="not a file of frozen cases"):
        read(path)


def test_unwritable_file_of_cases_raises_kit_error(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("")
    with pytest.raises(KitError, match="cannot be written"):
        write(tmp_path / "taken" / "murmur2.ndjson", FROM, [CASE])


ORDER = ("0.11.0.3", "2.0.1", "2.8.2", "3.9.2", "4.4.0")


@pytest.mark.parametrize(
    ("releases", "written"),
    [
        (ORDER, '["0.11.0.3..4.4.0"]'),
        (ORDER[:2], '["0.11.0.3..2.0.1"]'),
        (ORDER[1:2], '["2.0.1"]'),
        (("0.11.0.3", "2.8.2", "3.9.2"), '["0.11.0.3","2.8.2..3.9.2"]'),
        (("0.11.0.3", "2.8.2", "4.4.0"), '["0.11.0.3","2.8.2","4.4.0"]'),
        (("2.0.1", "4.3.1"), '["2.0.1","4.3.1"]'),
    ],
)
def test_consecutive_releases_of_a_case_are_written_as_a_range(
    tmp_path: Path, releases: tuple[str, ...], written: str
) -> None:
    path = tmp_path / "murmur2.ndjson"
    provenance = msgspec.structs.replace(FROM, jars=dict.fromkeys(ORDER, "00"))
    case = msgspec.structs.replace(CASE, release=releases[-1], releases=releases)
    write(path, provenance, [case])
    assert f'"releases":{written}' in path.read_text()
    assert read(path).cases == (case,)


def test_case_file_with_unknown_release_in_a_range_raises_bad_input(tmp_path: Path) -> None:
    path = tmp_path / "murmur2.ndjson"
    write(path, FROM, [CASE])
    path.write_text(path.read_text().replace("3.9.2..4.4.0", "3.9.2..4.5.0"))
    with pytest.raises(BadInput, match="not a file of frozen cases"):
        read(path)


@pytest.mark.parametrize("number", [2, -1])
def test_case_file_with_mutant_index_out_of_range_raises_bad_input(tmp_path: Path, number: int) -> None:
    path = tmp_path / "murmur2.ndjson"
    other = msgspec.structs.replace(CASE, id="cd", kills=("crc32", "adler32"))
    write(path, msgspec.structs.replace(FROM, cases=2), [CASE, other])
    assert [case.kills for case in read(path).cases] == [("crc32",), ("crc32", "adler32")]
    assert path.read_text().count("crc32") == 1, "named once"
    path.write_text(path.read_text().replace('"kills":[1]', f'"kills":[{number}]'))
    with pytest.raises(BadInput, match="not a file of frozen cases"):
        read(path)
