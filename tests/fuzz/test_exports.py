"""What an audit reads without Spark: exports of topics, the folder of a run, and its options."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from byte_mutations import arbitrary_or_mutated
from fuzzing import BrokenPromise, Door, FuzzPlan, explore, plant
from hypothesis import strategies as st
from json_mutations import HOSTILE, hostile_json, mutated_json, mutated_lines

from kafka_conformance.audit.attribution.placements import PLACEMENTS
from kafka_conformance.audit.engines import finished_run
from kafka_conformance.audit.engines.local import export
from kafka_conformance.audit.plan import CHUNK_RECORDS, AuditPlan
from kafka_conformance.audit.retention import Deletions
from kafka_conformance.audit.selection import RecordSelection, parse_bound, parse_share
from kafka_conformance.audit.sources import chunked
from kafka_conformance.audit.topics import Span
from kafka_conformance.core.errors import BadInput, KitError
from kafka_conformance.spark.runs import claimed

ROWS = [
    b'{"partition":0,"offset":3,"key":"a","timestamp":"2025-03-01T12:00:00Z"}',
    b'{"partition":1,"offset":4,"key":null,"timestamp":"2025-03-01T12:00:00+02:00"}',
    b'{"partition":0,"offset":5,"key":"b0","timestamp_ms":17}', b'{"partition":2,"offset":5,"key":"b0","timestamp_ms":17.5}',
]  # fmt: skip
ENCODINGS = ("utf8", "hex", "base64")


def parquet(**columns: pa.Array) -> bytes:
    file = io.BytesIO()
    pq.write_table(pa.table(columns), file)
    return file.getvalue()


def tables() -> list[bytes]:
    plain = {"partition": pa.array([0, 1, 2], pa.int32()), "offset": pa.array([5, 6, 7], pa.int64())}
    keys = pa.array([b"a", None, b"c"], pa.binary())
    texts = pa.array(["00", None, "ff"])
    return [
        parquet(**plain, key=keys, timestamp=pa.array([1, 2, None], pa.timestamp("us", "UTC"))),
        parquet(**plain, key=texts, timestamp=pa.array(["2025-03-01", None, "x"])),
        parquet(**plain, key=texts.dictionary_encode(), timestamp_ms=pa.array([1, 2, 2**40])),
        parquet(partition=pa.array([0.0, 1.5, float("nan")]), offset=pa.array([1, 2, None]), key=keys),
        parquet(partition=pa.array(["0", "1", "x"]), offset=pa.array([1, 2, 3], pa.uint64()), key=pa.array([1, 2, 3])),
    ]  # fmt: skip


def reads_export(path: Path, form: str) -> Door:
    def read(given: tuple[bytes, str]) -> None:
        path.write_bytes(given[0])
        export.record_count(str(path), form, 50)
        found = export.LocalExport(str(path), form, 3, encoding=given[1])
        found.sample(10)
        list(found.blocks(found.spans))
        found.offsets_at(0)
        chunked(found.spans, CHUNK_RECORDS)
        found.narrow(RecordSelection(begin=parse_bound("--from", "offset:1")).spans(found))

    return Door(read, (KitError,), 96)


def encoded(files: st.SearchStrategy[bytes]) -> st.SearchStrategy[tuple[bytes, str]]:
    return st.tuples(files, st.sampled_from(ENCODINGS))


def test_fuzzed_json_lines_exports_raise_documented_errors_only(plan: FuzzPlan, tmp_path: Path) -> None:
    inputs = encoded(st.one_of(mutated_lines(ROWS), arbitrary_or_mutated([b"\n".join(ROWS)])))
    always = [(row, encoding) for row in hostile_json(ROWS) for encoding in ENCODINGS[:1]]
    explore(plan, reads_export(tmp_path / "x.json", "json"), inputs, 60, always)


TEXTS = {
    "csv": b'partition,offset,timestamp,key\n0,1,5,a\n1,2,,"b""\nc"\n2,3,x,\n',
    "console-consumer": b"CreateTime:5\tPartition:0\tOffset:1\ta\nNO_TIMESTAMP\tPartition:1\tOffset:2\tnull\n",
}


@pytest.mark.parametrize("form", TEXTS)
def test_fuzzed_csv_and_console_consumer_exports_raise_documented_errors_only(
    plan: FuzzPlan, tmp_path: Path, form: str
) -> None:
    inputs = encoded(arbitrary_or_mutated([TEXTS[form]]))
    explore(plan, reads_export(tmp_path / "x.txt", form), inputs, 60, [(TEXTS[form], "utf8")])


def test_fuzzed_parquet_exports_raise_documented_errors_only(plan: FuzzPlan, tmp_path: Path) -> None:
    files = tables()
    always = [(file, encoding) for file in files for encoding in ENCODINGS]
    explore(plan, reads_export(tmp_path / "x.parquet", "parquet"), encoded(arbitrary_or_mutated(files)), 60, always)


AUDIT_PLAN = msgspec.json.encode(
    AuditPlan("audit", "0.1.0", "orders", "", PLACEMENTS[0].slug, 10, False, {0: Span(0, 5), 1: Span(0, 0)}, ())
)
DELETED = b'{"0":{"0":3,"1":2},"1":{"2":9}}'


def reads_folder(folder: Path, name: str) -> Door:
    def read(data: bytes) -> None:
        (folder / name).write_bytes(data)
        finished_run.finished_audit(str(folder))

    return Door(read, (KitError,))


@pytest.mark.parametrize("name", ["plan.json", "audit.json"])
def test_fuzzed_audit_run_folder_raises_documented_errors_only(plan: FuzzPlan, tmp_path: Path, name: str) -> None:
    explore(plan, reads_folder(tmp_path, name), mutated_json([AUDIT_PLAN]), 50, hostile_json([AUDIT_PLAN]))


def test_fuzzed_deleted_offsets_file_of_an_audit_run_raises_bad_input_only(plan: FuzzPlan) -> None:
    class Files:
        def __init__(self, data: bytes) -> None:
            self.data = data

        def read(self, _: str) -> bytes:
            return self.data

    def read(data: bytes) -> None:
        found: Any = Deletions(Files(data), [{0: Span(0, 5), 1: Span(0, 5)}, {2: Span(0, 9)}])  # type: ignore[arg-type]
        found.deleted()
        found._left(0)

    explore(plan, Door(read, (BadInput,)), mutated_json([DELETED]), 50, hostile_json([DELETED]))


def test_fuzzed_lock_file_of_an_audit_run_raises_documented_errors_only(plan: FuzzPlan) -> None:
    """``running.json`` names the process that works on the folder."""

    class Files:
        def __init__(self, data: bytes) -> None:
            self.files = {"_RUNNING": data}
            self.data = data

        def read(self, name: str) -> bytes | None:
            return None if "plan" in name else self.data

        def anything(self) -> bool:
            return False

        def alive(self) -> bool:
            return True

        def write(self, *_: Any, **__: Any) -> None:
            pass

        def delete(self, _: str) -> None:
            pass

    def read(data: bytes) -> None:
        with claimed(Files(data), "folder", {}):
            pass

    claim = b'{"host":"h","pid":12,"token":"00"}'
    explore(plan, Door(read, (BadInput,)), mutated_json([claim]), 50, hostile_json([claim]))


TIMES = [
    b"2025-03-01T12:00:00Z",
    b"offset:5",
    b"offset:0:3,1:4",
    b"0001-01-01",
    b"1%",
    b"0.01",
    b"1e-2",
    b"9999-12-31T23:59:59-23:59",
]


def test_fuzzed_values_of_the_from_to_and_sample_options_raise_bad_input_only(plan: FuzzPlan) -> None:
    def read(data: bytes) -> None:
        text = data.decode("utf-8", "surrogateescape")
        for parse in (lambda one: parse_bound("--from", one), parse_share):
            try:
                parse(text)
            except BadInput:
                continue

    always = [
        *TIMES,
        *HOSTILE,
        b"offset:" + b"9" * 5_000,
        b"offset:0:" + b"9" * 5_000,
        "offset:٣".encode(),
        b"1e-" + b"9" * 400,
    ]
    explore(plan, Door(read, ()), arbitrary_or_mutated(TIMES), 60, always)


def test_fuzzer_finds_bugs_planted_in_export_and_audit_folder_readers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(monkeypatch, export, "missing_column", lambda *_: True)
    with pytest.raises(BrokenPromise, match="planted"):
        explore(
            FuzzPlan(shrink=False), reads_export(tmp_path / "x.json", "json"), encoded(mutated_lines(ROWS[:1])), 300
        )
    plant(monkeypatch, finished_run, "as_plan", lambda found, _: not isinstance(found, dict))
    with pytest.raises(BrokenPromise, match="planted"):
        explore(FuzzPlan(shrink=False), reads_folder(tmp_path, "plan.json"), mutated_json([AUDIT_PLAN]), 300)
