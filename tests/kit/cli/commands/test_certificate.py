"""``certificate``: the table, and whether it proves the code that is installed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kafka_conformance.cli.commands.certificate import run
from kafka_conformance.core.errors import BadInput
from kafka_conformance.verify.certificate import last_certificate
from kafka_reference.certificate import from_json, reference_fingerprint

ROW: dict[str, Any] = {
    "rule": "murmur2", "release": "4.4.0", "asked": 1374, "agreed": 1374, "sources": {"edges": 374, "hypothesis": 1000},
    "jar_sha256": "0123456789abcdef" * 4, "pinned": True,
}  # fmt: skip
DOCUMENT: dict[str, Any] = {
    "made": "2026-11-30", "kit": "0.1.0", "seed": 7, "jvm": "17.0.9 (PATH)", "reference_sha256": "0" * 64,
    "rows": [ROW, {**ROW, "release": "3.6.1", "pinned": False}],
}  # fmt: skip


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def written(path: Path, **changes: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({**DOCUMENT, **changes}), encoding="utf-8")
    return path


def shown(capsys: pytest.CaptureFixture[str]) -> str:
    return " ".join(capsys.readouterr().out.split())


def test_certificate_table_shows_counts_jar_sha256_and_unpinned_mark(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(folder / "it.json", reference_sha256=reference_fingerprint())
    assert run(files=[path], shipped=False, markdown=False, write=None, verbose=True) == 0
    said = shown(capsys)
    assert "4.4.0 1 1,374 1,374 0123456789ab" in said
    assert "3.6.1 (unpinned) 1 1,374 1,374 0123456789ab" in said
    assert "murmur2: 374 edges; 1,000 hypothesis" in said
    assert "made 2026-11-30 by kit 0.1.0, seed 7, JVM 17.0.9 (PATH)" in said
    assert said.endswith("it proves the code that is installed")


def test_certificate_for_other_reference_code_than_installed_exits_1_and_suggests_verify(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(files=[written(folder / "it.json")], shipped=False, markdown=False, write=None) == 1
    assert shown(capsys).endswith("it proves OTHER code than is installed: run verify")


def test_certificate_without_files_shows_the_last_certificate_in_the_cache(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KAFKA_CONFORMANCE_CACHE", str(folder / "cache"))
    written(last_certificate(), seed=4711)
    run(files=(), shipped=False, markdown=False, write=None)
    assert "seed 4711" in shown(capsys)


def test_certificate_markdown_prints_one_table_row_per_rule(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(files=[written(folder / "it.json")], shipped=False, markdown=True, write=None) == 0
    line, *_ = capsys.readouterr().out.splitlines()[2:]
    assert line.startswith("| `murmur2` | 6 of 6 (100 %) | 24 of 24 (100 %) | nothing |")
    assert line.endswith("| 2: 4.4.0 to 3.6.1 | 1,374 | all |")


def test_missing_certificate_is_refused_with_the_command_to_run(folder: Path) -> None:
    with pytest.raises(BadInput, match=r"there is no certificate at .*nowhere\.json: run verify first"):
        run(files=[folder / "nowhere.json"], shipped=False, markdown=False, write=None)


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"{}", b"5", b"\xff\xfe", b'{"rows": []}', b'{"rows": [{}]}'])
def test_certificate_file_with_invalid_content_is_refused(folder: Path, content: bytes) -> None:
    path = folder / "it.json"
    path.write_bytes(content)
    with pytest.raises(BadInput, match=r"it\.json (is not a certificate|cannot be read): "):
        run(files=[path], shipped=False, markdown=False, write=None)


def test_certificate_path_that_is_a_folder_is_refused(folder: Path) -> None:
    with pytest.raises(BadInput, match="it is a folder, not a file"):
        run(files=[folder], shipped=False, markdown=False, write=None)


@pytest.mark.parametrize(
    "field", [{"asked": "many"}, {"sources": None}, {"jar_sha256": 5}, {"sources": {"frozen": "x"}}]
)
def test_certificate_row_with_field_of_wrong_type_is_refused(folder: Path, field: dict[str, Any]) -> None:
    rows = [{**ROW, **field}]
    with pytest.raises(BadInput, match="is not a certificate"):
        run(files=[written(folder / "it.json", rows=rows)], shipped=False, markdown=False, write=None)


def test_certificates_of_several_releases_are_merged_into_one_file(folder: Path) -> None:
    parts = [
        written(
            folder / f"{version}.json", rows=[{**ROW, "release": version}], reference_sha256=reference_fingerprint()
        )
        for version in ("4.4.0", "0.11.0.3")
    ]
    assert run(files=parts, shipped=False, markdown=False, write=folder / "all.json") == 0
    made = from_json((folder / "all.json").read_text())
    assert [one.release for one in made.rows] == ["0.11.0.3", "4.4.0"]


def test_merge_of_certificates_with_other_seed_or_duplicate_rows_is_refused(folder: Path) -> None:
    one, other = written(folder / "one.json"), written(folder / "other.json", seed=4711)
    with pytest.raises(BadInput, match="their seed is"):
        run(files=[one, other], shipped=False, markdown=False, write=None)
    with pytest.raises(BadInput, match="two of the certificates have a row for"):
        run(files=[one, one], shipped=False, markdown=False, write=None)
