"""Files of cases, and the one that ships."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafka_conformance.core.errors import BadInput
from kafka_conformance.wire.broker_gate.case import (
    BrokerCase,
    Frozen,
    Provenance,
    Recorded,
    Step,
    Until,
    frozen,
    read,
    write,
)
from kafka_conformance.wire.broker_gate.variables import Variables
from kafka_conformance.wire.codec.messages import shipped_codec

HEAD = '{"jars":{"4.4.0":"aa"},"seed":1}\n'
CASE = BrokerCase("a/b", "title", [Step("Fetch", 12, {"x": 1}, {"pid": "producerId"}, Until("a.0", 5))], [],
            [Recorded(("4.3.1", "4.4.0"), [{"errorCode": 0}])])  # fmt: skip


def test_broker_gate_cases_written_to_file_are_read_back_equal(tmp_path: Path) -> None:
    made = Frozen(Provenance({"4.4.0": "aa"}, 1), (CASE,))
    write(made, tmp_path / "cases.ndjson")
    assert read(tmp_path / "cases.ndjson") == made


def test_case_returns_recorded_answers_of_requested_release_or_none() -> None:
    assert CASE.answers_of("4.3.1") == [{"errorCode": 0}]
    assert CASE.answers_of("3.9.2") is None


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", 1), ("{}\n", 1), (HEAD + "no json\n", 2), (HEAD + '{"id":"a"}\n', 2), (HEAD + "\xff\n", 2),
        (HEAD + '{"id":"a","title":"t","steps":[],"colour":1}\n', 2),
        (HEAD + '{"id":"a","title":"t","steps":[{"api":"Fetch","version":"x","request":{}}]}\n', 2),
    ],
)  # fmt: skip
def test_damaged_case_file_is_refused_with_line_number(tmp_path: Path, text: str, line: int) -> None:
    path = tmp_path / "cases.ndjson"
    path.write_text(text, encoding="latin-1")
    with pytest.raises(BadInput, match=f"line {line}, is not a case of the gate of brokers: ") as raised:
        read(path)
    assert "\n" not in str(raised.value)


def test_shipped_broker_gate_cases_number_700_or_more_in_sorted_order() -> None:
    ids = [case.id for case in frozen().cases]
    assert len(ids) >= 700
    assert ids == sorted(set(ids))


def test_shipped_case_answers_cover_4_4_0_and_only_releases_with_a_jar() -> None:
    jars = frozen().provenance.jars
    assert all(len(sha256) == 64 for sha256 in jars.values())
    for case in frozen().cases:
        named = [release for each in case.expected for release in each.releases]
        assert sorted(set(named)) == sorted(named), case.id
        assert set(named) <= set(jars), case.id
        assert "4.4.0" in named, case.id


@pytest.mark.parametrize("case", frozen().cases[::20], ids=lambda case: case.id)
def test_requests_of_every_twentieth_shipped_case_encode_with_shipped_message_schemas(case: BrokerCase) -> None:
    variables = Variables("t", 1_795_000_000_000)
    for name in ("pid", "other", "again"):
        variables.bind(name, 5)
    for name in ("member", "id"):
        variables.bind(name, "AAAAAAAAAAAAAAAAAAAAAA")
    for member in range(3):
        variables.bind(f"epoch-{member}", 1)
        variables.bind(f"own-{member}", [])
    for step in case.steps:
        assert shipped_codec().encode_request(step.api, step.version, variables.filled(step.request), 1, "c")
