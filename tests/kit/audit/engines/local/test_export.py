"""Files read in this process: what they hold, by partition, and what cannot be read."""

from __future__ import annotations

import base64
import gzip
import os
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from kafka_conformance.audit.engines.choice import Engine, local_source
from kafka_conformance.audit.engines.local import export as export_module
from kafka_conformance.audit.engines.local import text_rows
from kafka_conformance.audit.engines.local.export import LocalExport, files_of, record_count
from kafka_conformance.audit.sources import ExportFiles
from kafka_conformance.audit.topics import Span
from kafka_conformance.core.errors import BadInput, KitError

MINUTE = datetime(2025, 3, 1, 0, 1, tzinfo=UTC)
ROWS = [(partition, offset, 1000 + offset, b"k%d" % offset) for partition in (2, 0) for offset in (9, 3, 7)]
NAMES = ("partition", "offset", "timestamp_ms", "key")
READ = {place[:2]: place[2:] for place in ROWS}


def parquet(path: Path, rows: list[tuple[Any, ...]], names: tuple[str, ...] = NAMES, **types: pa.DataType) -> str:
    columns = zip(*rows, strict=True) if rows else [()] * len(names)
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(
        pa.table({name: pa.array(list(column), types.get(name)) for name, column in zip(names, columns, strict=True)}),
        path,
    )
    return str(path)


def lines(path: Path, rows: list[dict[str, Any]]) -> str:
    path.write_bytes(b"\n".join(map(msgspec.json.encode, rows)))
    return str(path)


def read(export: LocalExport) -> dict[tuple[int, int], tuple[int, bytes | None]]:
    found = {}
    for block in export.blocks(export.spans):
        rows = zip(block.offsets.tolist(), block.timestamps_ms.tolist(), block.keys.to_pylist(), strict=True)
        found |= {(block.partition, offset): (time, key) for offset, time, key in rows}
    return found


def test_parquet_records_are_read_in_order_of_partition_and_offset(tmp_path: Path) -> None:
    parquet(tmp_path / "a" / "0.parquet", ROWS[:2])
    parquet(tmp_path / "a" / "below" / "1.parquet", ROWS[2:])
    (tmp_path / "a" / "_SUCCESS").touch()
    export = LocalExport(str(tmp_path / "a"), "parquet", 4)
    assert export.spans == {0: Span(3, 10), 1: Span(0, 0), 2: Span(3, 10), 3: Span(0, 0)}
    assert list(read(export).items()) == sorted(READ.items())
    (block,) = export.blocks({2: Span(4, 10)})
    assert (block.partition, block.offsets.tolist()) == (2, [7, 9])
    assert len(export.sample(1_000)) == 6
    assert 0 < len(export.sample(3)) < 6


def test_partition_column_in_hive_style_folder_names_is_read(tmp_path: Path) -> None:
    parquet(tmp_path / "a" / "partition=2" / "0.parquet", [row[1:] for row in ROWS[:3]], NAMES[1:])
    assert set(read(LocalExport(str(tmp_path / "a"), "parquet", 4))) == {(2, 3), (2, 7), (2, 9)}


@pytest.mark.parametrize(("form", "content"), [
    ("json", b'{"offset": 7, "key": "a"}\n{"offset": 8, "key": null}\n'), ("csv", b"offset,key\n7,a\n8,\n"),
])  # fmt: skip
def test_partition_in_the_folder_name_of_a_text_export_is_read(tmp_path: Path, form: str, content: bytes) -> None:
    """As Spark's ``partitionBy`` and Kafka Connect's object store sinks write: the file has no partition."""
    for partition in (0, 2):
        folder = tmp_path / "day=2025-01-01" / f"partition={partition}"
        folder.mkdir(parents=True)
        (folder / "part-0").write_bytes(content)
    export = local_source(ExportFiles(str(tmp_path), form, 4), Engine())
    assert isinstance(export, LocalExport)
    found = {place: key for place, (_, key) in read(export).items()}
    assert found == {(0, 7): b"a", (0, 8): None, (2, 7): b"a", (2, 8): None}


@pytest.mark.parametrize(("encoding", "write"), [
    ("utf8", bytes.decode), ("hex", bytes.hex), ("base64", lambda key: base64.b64encode(key).decode()),
])  # fmt: skip
@pytest.mark.parametrize("form", ["parquet", "json", "json.gz"])
def test_text_keys_are_decoded_as_utf8_hex_or_base64(tmp_path: Path, encoding: str, write: Any, form: str) -> None:
    rows = [(0, 0, 5, write(b"key")), (0, 1, 6, None)]
    if form == "parquet":
        path = parquet(tmp_path / "a.parquet", rows, ("partition", "offset", "timestamp_ms", "id"))
    else:
        path = lines(
            tmp_path / "a.json",
            [dict(zip(("partition", "offset", "timestamp", "id"), row, strict=True)) for row in rows],
        )
    if form == "json.gz":
        (tmp_path / "b.json.gz").write_bytes(gzip.compress(Path(path).read_bytes()))
        path = str(tmp_path / "b.json.gz")
    export = LocalExport(path, form.partition(".")[0], 1, key="id", encoding=encoding)
    assert read(export) == {(0, 0): (5, b"key"), (0, 1): (6, None)}


@pytest.mark.parametrize(("times", "milliseconds"), [
    ([MINUTE], 1_740_787_260_000), ([MINUTE.replace(tzinfo=None)], 1_740_787_260_000), ([7], 7), ([None], -1),
    (["2025-03-01T00:01:00Z"], 1_740_787_260_000), (["2025-03-01 00:01:00.25"], 1_740_787_260_250),
])  # fmt: skip
def test_timestamps_of_any_column_type_are_read_as_milliseconds_and_null_as_minus_one(
    tmp_path: Path, times: list[Any], milliseconds: int
) -> None:
    path = parquet(tmp_path / "a.parquet", [(0, 0, times[0], b"k")], ("partition", "offset", "timestamp", "key"))
    assert read(LocalExport(path, "parquet", 1)) == {(0, 0): (milliseconds, b"k")}


def test_missing_or_malformed_export_file_or_column_raises_an_error_that_names_the_cause(tmp_path: Path) -> None:
    missing = tmp_path / "missing.parquet"
    for row, names, words in (
        ((None, 4, 0, b"k"), NAMES, "a: 1 records have no partition or no offset: export both columns"),
        ((1, None, 0, b"k"), NAMES, "a: 1 records have no partition or no offset: export both columns"),
        ((5, 4, 0, b"k"), NAMES, "a: there are records in partition 5, but --partitions is 4: give the topic's"),
        ((1, 4, 0, 7), NAMES, "a: the key column key has type int64: expected bytes, or text with --key-encoding"),
        (
            (1, 4, b"k"),
            ("partition", "offset", "id"),
            "a has no column key: name it with --key-column; its columns are",
        ),
        ((4, 0, b"k"), ("offset", "t", "key"), "a has no column partition: an audit needs it; its columns are"),
    ):
        path = parquet(tmp_path / "a", [row], names)
        with pytest.raises(BadInput, match=words):
            LocalExport(path, "parquet", 4)
    with pytest.raises(BadInput, match=f"no file matches '{missing}'"):
        LocalExport(str(missing), "parquet", 4)
    (tmp_path / "text").write_text("no parquet")
    with pytest.raises(KitError, match=f"reading {tmp_path}/text: [^\n]*$"):
        LocalExport(str(tmp_path / "text"), "parquet", 4)
    with pytest.raises(BadInput, match=r"line 1 of .*text is not a JSON object"):
        LocalExport(str(tmp_path / "text"), "json", 4)
    with pytest.raises(BadInput, match=r"the key column key has type int: expected bytes"):
        LocalExport(lines(tmp_path / "b", [{"partition": 0, "offset": 0, "key": 5}]), "json", 4)
    with pytest.raises(BadInput, match=r"a key in key is not hex .*: check --key-encoding"):
        LocalExport(lines(tmp_path / "b", [{"partition": 0, "offset": 0, "key": "x"}]), "json", 4, encoding="hex")


def test_glob_and_brace_patterns_match_export_files_and_the_records_there_are_counted(tmp_path: Path) -> None:
    for name in ("a1", "a2", "b1", "c1"):
        parquet(tmp_path / name, ROWS)
    assert [Path(one).name for one in files_of(f"{tmp_path}/{{a,b}}*")] == ["a1", "a2", "b1"]
    assert record_count(f"{tmp_path}/a*", "parquet", 5) == 12
    assert record_count(lines(tmp_path / "d", [{}] * 9), "json", 100) in (8, 9)


@pytest.mark.parametrize("rows", [
    [{"partition": 0, "offset": 3, "key": "a"}, {"partition": 0, "key": "b"}],
    [{"partition": 0, "offset": 3, "key": "a"}, {"offset": 3, "key": "b"}],
])  # fmt: skip
def test_json_record_without_partition_or_offset_raises_an_error_with_the_record_count(
    tmp_path: Path, rows: list[dict[str, Any]]
) -> None:
    with pytest.raises(BadInput, match="1 records have no partition or no offset: export both columns"):
        LocalExport(lines(tmp_path / "x.json", rows), "json", 2)


@pytest.mark.parametrize("line", [
    b'{"partition":0,"offset":9223372036854775808,"key":"a"}',
    b'{"partition":0,"offset":1,"timestamp":%b,"key":"a"}' % (b"9" * 40),
    b'{"partition":0,"offset":1,"timestamp":"0001-01-01T00:00:00+23:59","key":"\xff"}', b"[" * 100_000,
    b'{"partition":0,"offset":1,"key":"a","x":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
])  # fmt: skip
def test_json_line_with_non_int64_number_bad_timestamp_or_deep_nesting_raises_an_error(
    tmp_path: Path, line: bytes
) -> None:
    (tmp_path / "x.json").write_bytes(line + b"\n")
    with pytest.raises(KitError, match=r"x\.json"):
        LocalExport(str(tmp_path / "x.json"), "json", 2)


@pytest.mark.parametrize("name", [b"offset", b"key", b"a key"])
def test_parquet_file_with_invalid_utf8_column_names_or_keys_raises_an_error(tmp_path: Path, name: bytes) -> None:
    path = Path(parquet(tmp_path / "x.parquet", [(0, 1, 5, "a key")], ("partition", "offset", "timestamp_ms", "key")))
    path.write_bytes(path.read_bytes().replace(name, b"\xff" + name[1:]))
    with pytest.raises(KitError, match=r"x\.parquet"):
        LocalExport(str(path), "parquet", 2, encoding="hex")


@pytest.mark.parametrize("content", [b"", b"\n", b"\n\n   \n\t\n"])
def test_empty_json_export_has_no_records(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a.json").write_bytes(content)
    export = LocalExport(str(tmp_path / "a.json"), "json", 2)
    assert export.spans == {0: Span(0, 0), 1: Span(0, 0)}
    assert read(export) == {}
    assert len(export.sample(10)) == 0


def test_json_export_with_only_null_keys_is_read(tmp_path: Path) -> None:
    path = lines(tmp_path / "a.json", [{"partition": 0, "offset": at, "key": None} for at in (4, 5)])
    assert read(LocalExport(path, "json", 1)) == {(0, 4): (-1, None), (0, 5): (-1, None)}


@pytest.mark.parametrize("form", ["json", "parquet"])
@pytest.mark.parametrize("keys", [(b"a", b"a"), (b"a", b"b")])
def test_duplicate_offset_of_a_partition_raises_an_error_with_offset_and_count(
    tmp_path: Path, form: str, keys: tuple[bytes, bytes]
) -> None:
    rows = [(3, 17, 1, keys[0]), (3, 16, 1, b"x"), (1, 17, 1, b"y"), (3, 17, 2, keys[1]), (3, 17, 2, keys[0])]
    if form == "parquet":
        path = parquet(tmp_path / "a.parquet", rows)
    else:
        path = lines(tmp_path / "a.json", [dict(zip(NAMES, (*row[:3], row[3].decode()), strict=True)) for row in rows])
    with pytest.raises(BadInput, match="offset 17 of partition 3 occurs 3 times in the files"):
        LocalExport(path, form, 4)


@pytest.mark.parametrize("name", ["partition", "offset"])
def test_boolean_partition_or_offset_column_raises_an_error_that_names_the_column(tmp_path: Path, name: str) -> None:
    row = {"partition": 0, "offset": 1, "timestamp_ms": 5, "key": b"a", name: True}
    path = parquet(tmp_path / "a.parquet", [tuple(row.values())])
    with pytest.raises(BadInput, match=f"the column {name} has type bool.*: expected whole numbers"):
        LocalExport(path, "parquet", 2)


class Pieces:
    """A stream that counts the bytes that are searched for the end of a line."""

    def __init__(self, *pieces: bytes) -> None:
        self.pieces, self.searched = list(pieces), 0

    def read(self, _: int) -> Any:
        return Piece(self, self.pieces.pop(0)) if self.pieces else b""


class Piece(bytes):
    stream: Pieces

    def __new__(cls, stream: Pieces, data: bytes) -> Self:
        made = super().__new__(cls, data)
        made.stream = stream
        return made

    def split(self, *words: Any) -> list[bytes]:  # type: ignore[override]
        self.stream.searched += len(self)
        return bytes(self).split(*words)

    def __radd__(self, other: bytes) -> Piece:
        return Piece(self.stream, other + bytes(self))


def test_long_json_line_in_pieces_is_searched_for_line_ends_in_linear_time(tmp_path: Path) -> None:
    stream = Pieces(b"a\n\nb", *[b"c" * 1000] * 50, b"d\n  \ne\nf", b"g")
    assert list(text_rows._numbered(stream, "x")) == [
        (1, b"a"), (2, b""), (3, b"b" + b"c" * 50_000 + b"d"), (4, b"  "), (5, b"e"), (6, b"fg"),
    ]  # fmt: skip
    assert stream.searched <= 2 * 50_000


def test_gzipped_json_line_longer_than_the_limit_raises_an_error_that_names_the_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(text_rows, "LONGEST_LINE", 5 * 2**20)
    path = tmp_path / "a.json.gz"
    path.write_bytes(gzip.compress(b"[" + bytes(40 * 2**20)))
    with pytest.raises(BadInput, match="has a line of more than 5,242,880 bytes: expected a record on each line"):
        LocalExport(str(path), "json", 2)


@pytest.mark.parametrize("kind", ["fifo", "/dev/zero"])
def test_fifo_or_device_as_export_raises_an_error_without_being_read(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "a.json"
    os.mkfifo(path) if kind == "fifo" else path.symlink_to(kind)
    for form in ("json", "parquet"):
        with pytest.raises(BadInput, match="cannot be read: it is a"):
            record_count(str(path), form, 10)
        with pytest.raises(BadInput, match="cannot be read: it is a"):
            LocalExport(str(path), form, 2)


def test_glob_characters_in_an_existing_file_name_are_literal(tmp_path: Path) -> None:
    path = parquet(tmp_path / "orders[1] {a,b}*.parquet", ROWS)
    parquet(tmp_path / "orders1 a.parquet", ROWS)
    assert files_of(path) == [path]
    assert read(LocalExport(path, "parquet", 3)) == READ


def dictionary_of(folder: Path, size: int, times: int) -> str:
    """A file in which one key of ``size`` bytes stands for ``times`` records."""
    folder.mkdir()
    return parquet(folder / "keys.parquet", [(0, offset, offset, b"k" * size) for offset in range(times)])


_READS = """
import sys
import pyarrow as pa
from kafka_conformance.core import errors
from kafka_conformance.audit.engines.local import export
export.LARGEST_TEXT = 150 * 2**20
try:
    export.LocalExport(sys.argv[1], "parquet", 1)
except errors.TooMuchText as error:
    print(pa.default_memory_pool().max_memory(), error)
"""


def test_oversized_parquet_dictionary_raises_an_error_before_expansion_in_memory(tmp_path: Path) -> None:
    path = dictionary_of(tmp_path / "a", 2**20, 200)
    assert Path(path).stat().st_size < 2**21
    done = subprocess.run(
        [sys.executable, "-c", _READS, path], capture_output=True, text=True, timeout=120, check=False
    )  # fmt: skip
    most, _, error = done.stdout.partition(" ")
    assert "more than 157,286,400 bytes, which are not held in memory: use --engine spark" in error, done.stderr
    assert 2**20 <= int(most) < 16 * 2**20


def test_json_lines_beyond_the_text_size_limit_raise_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [{"partition": 0, "offset": offset, "key": "k" * 100} for offset in range(10)]
    monkeypatch.setattr(export_module, "LARGEST_TEXT", 1_000)
    path = lines(tmp_path / "rows.json", rows)
    assert len(read(LocalExport(path, "json", 1))) == 10
    monkeypatch.setattr(export_module, "LARGEST_TEXT", 999)
    with pytest.raises(KitError, match="more than 999 bytes"):
        LocalExport(path, "json", 1)


def test_export_too_large_for_memory_is_left_to_spark_or_raises_if_engine_is_local(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = dictionary_of(tmp_path / "a", 100, 10)
    monkeypatch.setattr(export_module, "LARGEST_TEXT", 999)
    address = ExportFiles(path, "parquet", 1)
    assert local_source(address, Engine()) is None
    with pytest.raises(KitError, match="more than 999 bytes"):
        local_source(address, Engine("local"))
