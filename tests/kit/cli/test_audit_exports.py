"""Exports as people's tools write them: the commands of the page, folders, and files without any record."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result
from mock_broker import mock_broker

from kafka_conformance.cli.main import app
from kafka_reference import partition_for_key

PAGE = Path(__file__).parents[3] / "kit" / "docs" / "audit.md"
KEYS = [b"order-%d" % number for number in range(60)]
RECORDS = [(partition_for_key(key, 4), key) for key in KEYS]


def audited(path: str | Path, *options: str) -> Result:
    words = ["audit", str(path), "--partitions", "4", "--engine", "local", *options]
    return CliRunner().invoke(app, words, standalone_mode=False)


def rows() -> list[dict[str, Any]]:
    """The records as rows of an export."""
    return [{"partition": partition, "offset": at, "key": key.decode()} for at, (partition, key) in enumerate(RECORDS)]


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.skipif(shutil.which("kcat") is None, reason="kcat is not installed")
def test_documented_kcat_command_exports_records_that_the_audit_finds_placed_as_java() -> None:
    found = re.search(r"\| kcat \| `([^`]*)` \| `audit ([^`]*)`", PAGE.read_text(encoding="utf-8"))
    assert found
    with mock_broker() as broker:
        broker.write("orders", [(partition, key, 5) for partition, key in RECORDS])
        recipe = found[1].replace("broker:9092", broker.bootstrap)
        command, _, file = recipe.partition(" > ")
        Path(file).write_bytes(subprocess.run(shlex.split(command), check=True, capture_output=True, timeout=60).stdout)
    ran = audited(*shlex.split(found[2].replace("--partitions 12", "")))
    assert "All 60 keyed records are where Java's producer puts them." in ran.output, ran.exception


def test_audit_of_spark_output_folder_detects_json_without_format_option(tmp_path: Path) -> None:
    sink = tmp_path / "orders"
    (sink / "_spark_metadata").mkdir(parents=True)
    (sink / "_spark_metadata" / "0").write_text("v1")
    (sink / "_SUCCESS").touch()
    for part in range(2):
        lines = [json.dumps(row) for row in rows()[part::2]]
        (sink / f"part-0000{part}-x.json").write_text("\n".join(lines))
    assert "All 60 keyed records are where Java's producer puts them." in audited(sink).output


@pytest.mark.parametrize("name", ["t.parquet", "t.json", "t.csv", "t.avro"])
def test_audit_of_zero_byte_export_file_reports_a_topic_without_records_and_exits_2(tmp_path: Path, name: str) -> None:
    if name.endswith("avro"):
        pytest.importorskip("fastavro")
    (tmp_path / name).touch()
    ran = audited(name)
    assert "The topic has no records." in ran.output, ran.exception
    assert ran.return_value == 2


def test_audit_ignores_a_zero_byte_parquet_file_in_a_folder_of_parquet_files(tmp_path: Path) -> None:
    (tmp_path / "t").mkdir()
    (tmp_path / "t" / "a.parquet").touch()
    pq.write_table(pa.Table.from_pylist(rows()), tmp_path / "t" / "b.parquet")
    assert "All 60 keyed records are where Java's producer puts them." in audited("t").output


def test_audit_reads_avro_exports_with_keys_of_type_bytes_or_string(tmp_path: Path) -> None:
    fastavro = pytest.importorskip("fastavro")
    for kind in ("bytes", "string"):
        fields = [
            {"name": "partition", "type": "int"}, {"name": "offset", "type": "long"},
            {"name": "timestamp", "type": {"type": "long", "logicalType": "timestamp-millis"}},
            {"name": "key", "type": ["null", kind]},
        ]  # fmt: skip
        schema = fastavro.parse_schema({"type": "record", "name": "Row", "fields": fields})
        written = [
            {**row, "timestamp": 1_700_000_000_000, "key": row["key"].encode() if kind == "bytes" else row["key"]}
            for row in rows()
        ]
        with (tmp_path / "t.avro").open("wb") as file:
            fastavro.writer(file, schema, written, codec="deflate")
        ran = audited("t.avro", "--json")
        found = json.loads(ran.stdout)
        assert (found["records"], found["keyed"], found["offending"]) == (60, 60, 0)


@pytest.mark.parametrize("content", [b"Obj", b"Obj\x01", b"{}", b"Obj\x01\x02\x16avro.schema\x02[\x00"])
def test_audit_of_damaged_avro_file_raises_error_that_names_the_file(tmp_path: Path, content: bytes) -> None:
    pytest.importorskip("fastavro")
    (tmp_path / "t.avro").write_bytes(content)
    assert "t.avro is not a readable Avro file: " in str(audited("t.avro").exception)
