"""The options that say what is judged, from files to the result: key formats and the user's own partitioners."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from kafka_conformance.audit.attribution.block import Block
from kafka_conformance.audit.attribution.candidates import register
from kafka_conformance.audit.engines.finished_run import finished_audit
from kafka_conformance.audit.engines.local.export import LocalExport
from kafka_conformance.audit.engines.local.run import audit_locally
from kafka_conformance.audit.plan import AuditRequest
from kafka_conformance.audit.result import Audit, Deleted
from kafka_conformance.audit.topics import Span
from kafka_conformance.cli.main import app
from kafka_conformance.core.errors import BadInput, KitError
from kafka_conformance.core.progress import Steps
from kafka_reference import partition_for_key


def audited(folder: Path, records: list[tuple[int, bytes]], *words: str, code: int) -> Audit:
    """Audit these records (partition and key, in the order of their times) with the command."""
    ends: dict[int, int] = {}
    rows: list[dict[str, Any]] = []
    for time, (partition, key) in enumerate(records):
        rows.append(
            {"partition": partition, "offset": ends.get(partition, 0), "timestamp_ms": 1_000 + time, "key": key}
        )
        ends[partition] = ends.get(partition, 0) + 1
    pq.write_table(pa.Table.from_pylist(rows), folder / "topic.parquet")
    command = ["audit", str(folder / "topic.parquet"), "--format", "parquet", "--partitions", "12", "--engine", "local",
               "--folder", str(folder / "run"), "--json", *words]  # fmt: skip
    result = CliRunner().invoke(app, command, standalone_mode=False)
    if result.exception:
        raise result.exception
    assert result.return_value == code
    return msgspec.json.decode(result.stdout, type=Audit)


def confluent(number: int, key: bytes) -> bytes:
    return b"\0" + number.to_bytes(4, "big") + key


def test_audit_with_confluent_key_format_reports_keys_split_by_schema_id(tmp_path: Path) -> None:
    names = [b"user-%d" % number for number in range(500)]
    keys = [confluent(number, name) for number in (7, 9) for name in names] + [b"plain"]
    records = [(partition_for_key(key, 12), key) for key in keys]
    found = audited(tmp_path, records, "--key-format", "confluent", code=1)
    assert (found.offending, found.splits.keys) == (0, 0), "every whole key is where Java puts it"
    framing = found.framing
    assert framing is not None
    apart = [name for name in names if len({partition_for_key(confluent(n, name), 12) for n in (7, 9)}) == 2]
    assert (framing.framed, framing.unframed, framing.keys, framing.several) == (1000, 1, 501, 500)
    assert (framing.split, framing.records) == (len(apart), 2 * len(apart))
    assert [bytes.fromhex(one.key) for one in framing.earliest] == apart[:100]
    assert [(one.form, one.place.partition) for one in framing.earliest[0].places] == [
        (f"schema id {number}", partition_for_key(confluent(number, apart[0]), 12)) for number in (7, 9)
    ]


def test_audit_without_key_format_does_not_look_for_schema_ids_in_keys(tmp_path: Path) -> None:
    records = [(partition_for_key(key, 12), key) for key in (b"user-%d" % number for number in range(100))]
    assert audited(tmp_path, records, code=0).framing is None


@pytest.fixture
def own_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    source = (
        "import hashlib\n\ndef sha(key, n):\n    return int.from_bytes(hashlib.sha256(key).digest()[:8], 'big') % n\n"
    )
    (tmp_path / "partitioners_of_mine.py").write_text(source)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    yield tmp_path / "partitioners_of_mine.py"
    register(())
    sys.modules.pop("partitioners_of_mine", None)


def test_audit_attributes_records_to_a_custom_partitioner_and_resuming_raises_if_the_code_changed(
    tmp_path: Path, own_module: Path
) -> None:
    keys = [b"user-%d" % number for number in range(3000)]
    records = [(int.from_bytes(hashlib.sha256(key).digest()[:8], "big") % 12, key) for key in keys]
    mine = "partitioners_of_mine:sha"
    found = audited(tmp_path, records, "--candidate", mine, "--expect", mine, code=0)
    assert {str(share.placed): share.attributed for share in found.shares} == {f"{mine}@12": 3000}
    own_module.write_text(own_module.read_text() + "# changed\n")
    with pytest.raises(BadInput, match="candidates is"):
        audited(tmp_path, records, "--candidate", mine, "--expect", mine, code=0)


def placed(count: int) -> list[tuple[int, bytes]]:
    return [(partition_for_key(key, 12), key) for key in (b"user-%d" % (number % 700) for number in range(count))]


def test_audit_of_a_time_window_counts_only_records_within_the_window(tmp_path: Path) -> None:
    found = audited(tmp_path, placed(3000), "--from", "1970-01-01T00:00:02Z", "--to", "1970-01-01T00:00:03Z", code=0)
    assert found.records == 1000, "a record a millisecond, from 1,000 on"
    assert found.selection == "--from 1970-01-01T00:00:02Z --to 1970-01-01T00:00:03Z"
    assert found.notes[0].startswith("only the records of a window are judged: --from 1970")


def test_audit_resumed_without_the_time_window_of_the_run_folder_raises_an_error(tmp_path: Path) -> None:
    audited(tmp_path, placed(3000), "--from", "1970-01-01T00:00:02Z", "--to", "1970-01-01T00:00:03Z", code=0)
    with pytest.raises(BadInput, match="selection is"):
        audited(tmp_path, placed(3000), code=0)


def test_audit_of_an_offset_window_counts_only_offsets_within_the_window(tmp_path: Path) -> None:
    found = audited(tmp_path, placed(3000), "--from", "offset:3:100", "--to", "offset:150", code=0)
    lines = {line.partition: (line.first_offset, line.end_offset, line.records) for line in found.by_partition}
    assert lines[3] == (100, 150, 50)
    assert lines[4] == (0, 150, 150)


def test_audit_of_a_key_sample_has_all_records_of_the_sampled_keys(tmp_path: Path) -> None:
    found = audited(tmp_path, placed(7000), "--sample", "20%", code=0)
    assert 0.13 < found.records / 7000 < 0.27
    assert found.records % 10 == 0, "all ten records of a key"
    assert found.reading is not None
    assert found.reading.without_record == 0
    assert found.notes[0].startswith("only about 20 % of the keys are judged, chosen by a hash of the key (--sample)")


class Shrinking(LocalExport):
    """A topic of which retention deletes the first 40 records of partition 3 after it was sampled."""

    def earliest(self) -> dict[int, int]:
        return {3: 40}

    def blocks(self, spans: Mapping[int, Span]) -> Iterator[Block]:
        if 3 in spans and spans[3].first < 40:
            raise KitError("offset out of range")
        yield from super().blocks(spans)


def test_records_deleted_by_retention_are_reported_and_remaining_records_judged(tmp_path: Path) -> None:
    whole = audited(tmp_path, placed(3000), code=0)
    source = Shrinking(str(tmp_path / "topic.parquet"), "parquet", 12)
    request = AuditRequest(source.name, "", chunk_records=1000)
    found = audit_locally(source, request, str(tmp_path / "shrinking"), Steps("audit", 1))
    assert found.deleted == (Deleted(3, 0, 40),)
    assert "40 offsets were deleted after this run had begun, before they were read" in found.notes[0]
    assert found.records == whole.records - 40
    assert found.reading is not None
    assert found.reading.without_record == 0
    assert finished_audit(str(tmp_path / "shrinking")) == msgspec.structs.replace(found, took_s=0)


def reported(folder: Path, *words: str) -> tuple[int, str]:
    result = CliRunner().invoke(app, ["audit", "--folder", str(folder), "--report-only", *words], standalone_mode=False)
    if result.exception:
        raise result.exception
    return result.return_value, result.stdout


@pytest.mark.parametrize("kept", [True, False])
def test_report_only_recreates_reports_from_the_run_folder(tmp_path: Path, kept: bool) -> None:
    records = [(0, b"lost")] * 3 + placed(3000)
    words = "--key-format", "json", "--to", "offset:200", "--chunk", "1000"
    found = audited(tmp_path, records, *words, code=1)
    (tmp_path / "topic.parquet").unlink()
    if not kept:
        (tmp_path / "run" / "audit.json").unlink()
    code, out = reported(tmp_path / "run", "--json", "--html", str(tmp_path / "page.html"))
    again = msgspec.json.decode(out, type=Audit)
    assert code == 1
    assert msgspec.structs.replace(again, took_s=0) == msgspec.structs.replace(found, took_s=0)
    assert "are not where" in (tmp_path / "page.html").read_text()
    assert (tmp_path / "run" / "audit.json").exists()
    assert "are not where" in reported(tmp_path / "run")[1]


def test_report_only_of_a_missing_unfinished_or_malformed_run_raises_a_distinct_error(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"run holds no audit: give the --folder of a finished one$"):
        reported(tmp_path / "run")
    audited(tmp_path, placed(3000), "--chunk", "1000", code=0)
    (tmp_path / "run" / "audit.json").unlink()
    (tmp_path / "run" / "chunks" / "chunk-000002" / "_SUCCESS").unlink()
    with pytest.raises(BadInput, match=r"chunk 3 of \d is not finished: run the audit again, without --report-only$"):
        reported(tmp_path / "run")
    (tmp_path / "run" / "audit.json").write_text("{}")
    with pytest.raises(BadInput, match=r"audit.json is not the result of an audit by this version: "):
        reported(tmp_path / "run")
