"""Exports that are text: what people's tools print of a topic."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from click.testing import CliRunner

from kafka_conformance.audit.engines.local.export import LocalExport
from kafka_conformance.audit.engines.local.text_rows import TEXT_FORMS
from kafka_conformance.cli.main import app
from kafka_conformance.core.errors import BadInput

KCAT = b"""{"topic":"t","partition":1,"offset":7,"tstype":"create","ts":1700000000000,"broker":0,"key":"a","payload":"x"}
{"topic":"t","partition":0,"offset":3,"tstype":"create","ts":1700000000001,"broker":0,"key":null,"payload":"y"}
"""
CONSOLE = b"""CreateTime:1700000000000\tPartition:1\tOffset:7\ta\tx
LogAppendTime:1700000000001\tPartition:0\tOffset:3\tnull\ty
"""
CSV = b"""partition,offset,timestamp,key
1,7,1700000000000,a
0,3,1700000000001,
"""
EXPECTED = {(1, 7): (1_700_000_000_000, b"a"), (0, 3): (1_700_000_000_001, None)}


def read(path: Path, form: str, content: bytes, **options: Any) -> dict[tuple[int, int], tuple[int, bytes | None]]:
    path.write_bytes(content)
    found = {}
    export = LocalExport(str(path), form, 4, **options)
    for block in export.blocks(export.spans):
        rows = zip(block.offsets.tolist(), block.timestamps_ms.tolist(), block.keys.to_pylist(), strict=True)
        found |= {(block.partition, offset): (time, key) for offset, time, key in rows}
    return found


@pytest.mark.parametrize(("form", "content"), [("json", KCAT), ("console-consumer", CONSOLE), ("csv", CSV)])
def test_kcat_console_consumer_and_csv_exports_are_read_plain_or_gzipped(
    tmp_path: Path, form: str, content: bytes
) -> None:
    assert read(tmp_path / "t", form, content) == EXPECTED
    assert read(tmp_path / "t", form, content.rstrip()) == EXPECTED
    assert read(tmp_path / "t.gz", form, gzip.compress(content)) == EXPECTED


@pytest.mark.parametrize("form", TEXT_FORMS)
@pytest.mark.parametrize("content", [b"", b"\n"])
def test_empty_text_export_has_no_records(tmp_path: Path, form: str, content: bytes) -> None:
    assert read(tmp_path / "t", form, content) == {}


def test_console_consumer_key_may_contain_any_bytes_except_tab(tmp_path: Path) -> None:
    for key in (b"", b" ", b"a:b", b"Offset:9", b"Partition:x", b"CreateTime:", b"\xff\r"):
        line = b"NO_TIMESTAMP\tPartition:2\tOffset:5\tDelivery:1\tNO_HEADERS\t" + key
        assert read(tmp_path / "t", "console-consumer", line) == {(2, 5): (-1, key)}


HEADED = b"CreateTime:5\tPartition:0\tOffset:%d\t%b\t%b"


@pytest.mark.parametrize("behind", [b"", b"\tvalue"])
@pytest.mark.parametrize("headers", [(b"NO_HEADERS",) * 3, (b"trace:1,b:", b"NO_HEADERS", b"trace:2")])
def test_headers_printed_by_console_consumer_are_not_read_as_keys(
    tmp_path: Path, headers: tuple[bytes, ...], behind: bytes
) -> None:
    keys = b"a", b"user:7", b"null"
    given = [HEADED % (at, *each) + behind for at, each in enumerate(zip(headers, keys, strict=True))]
    expected = {(0, 0): (5, b"a"), (0, 1): (5, b"user:7"), (0, 2): (5, None)}
    assert read(tmp_path / "t", "console-consumer", b"\n".join(given)) == expected


def test_console_field_that_may_be_headers_or_key_raises_unless_another_line_decides(tmp_path: Path) -> None:
    lines = b"\n".join(HEADED % (at, b"user:%d" % at, b"x") for at in range(3))
    with pytest.raises(
        BadInput,
        match=r"cannot tell whether b'user:0' after the offset is headers or a key: print with print.headers=false",
    ):
        read(tmp_path / "t", "console-consumer", lines)
    told_by_one = lines + b"\n" + HEADED % (3, b"user", b"x")
    assert {key for _, key in read(tmp_path / "t", "console-consumer", told_by_one).values()} == {
        b"user:0", b"user:1", b"user:2", b"user",
    }  # fmt: skip


@pytest.mark.parametrize("lines", [
    HEADED % (0, b"a:1", b"k") + b"\tv\n" + HEADED % (1, b"a:1", b"k"), b"Partition:0\tOffset:1\tNO_HEADERS",
    b"\n".join([HEADED % (0, b"k", b"v")] * 1000 + [HEADED % (1, b"NO_HEADERS", b"v")]),
    b"Partition:0\tOffset:1", b"Partition:0\ta", b"Offset:x\tPartition:0\ta", b"a\tvalue",
    b"Partition:0\tOffset:1\ta\nPartition:0\tOffset:2\ta\tb", b"Partition:0\tOffset:1\ta\tb\tc\td",
    b"Partition:0\tOffset:1\ta\nb", b"Partition:0\tOffset:" + b"9" * 20 + b"\ta",
])  # fmt: skip
def test_unexpected_console_consumer_line_raises_an_error_with_the_line_number(tmp_path: Path, lines: bytes) -> None:
    number = 1 + lines.count(b"\n")
    with pytest.raises(BadInput, match=rf"line {number} of .*t is not what kafka-console-consumer prints with"):
        read(tmp_path / "t", "console-consumer", lines)


def test_csv_keys_may_contain_quotes_line_breaks_and_leading_zeros(tmp_path: Path) -> None:
    content = b'offset,partition,id\r\n1,2,"a,""b"""\r\n2,2,"a\n\nb"\r\n3,2,007\r\n'
    found = read(tmp_path / "t", "csv", content, key="id")
    assert found == {(2, 1): (-1, b'a,"b"'), (2, 2): (-1, b"a\n\nb"), (2, 3): (-1, b"007")}


@pytest.mark.parametrize(("content", "message"), [
    (b"partition,offset\n1,2\n", "has no column key: name it with --key-column; its columns are partition, offset"),
    (b"partition,offset,key\n1,2\n", "line 2 of .*t has another number of fields than the first line"),
    (b"partition,offset,key\n1,2,a,b\n", "line 2 of .*t has another number of fields than the first line"),
    (b"partition,offset,key\n1,2,\xff\n", "line 2 of .*t is not CSV: "),
    (b'partition,offset,key\n1,2,"a"b\n', "line 2 of .*t is not CSV: "),
])  # fmt: skip
def test_malformed_csv_raises_an_error_that_names_the_line_or_the_missing_column(
    tmp_path: Path, content: bytes, message: str
) -> None:
    with pytest.raises(BadInput, match=message):
        read(tmp_path / "t", "csv", content)


def test_csv_audit_needs_no_format_option_and_raises_an_error_with_the_spark_engine(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(CSV)
    words = ["audit", str(path), "--partitions", "4", "--folder", str(tmp_path / "run")]
    ran = CliRunner().invoke(app, words, standalone_mode=False)
    assert "Cannot tell: 1 distinct key" in ran.output, ran.exception
    refused = CliRunner().invoke(app, [*words, "--engine", "spark"]).exception
    assert str(refused) == "--engine spark does not read csv: use --engine local, or write Parquet or JSON lines"


def test_console_consumer_keys_are_stored_as_binary(tmp_path: Path) -> None:
    (tmp_path / "t").write_bytes(CONSOLE)
    assert LocalExport(str(tmp_path / "t"), "console-consumer", 4)._rows["key"].type == pa.binary()
