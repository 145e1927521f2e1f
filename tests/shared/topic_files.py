"""Topics as files, audited in this process: no broker and no Spark."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from kafka_conformance.audit.engines.local.export import LocalExport
from kafka_conformance.audit.engines.local.run import audit_locally
from kafka_conformance.audit.plan import AuditRequest
from kafka_conformance.audit.result import Audit
from kafka_conformance.core.progress import Steps

Record = tuple[int, bytes | None]
"""A partition and a key."""
BEGIN_MS, STEP_MS = 1_740_787_200_000, 7


def export(folder: Path, records: Sequence[Record], partitions: int, *, gaps: int = 0) -> LocalExport:
    """Write records in the order of their times; ``gaps``: after this many records an offset has no record."""
    ends = [0] * partitions
    rows = []
    for number, (partition, key) in enumerate(records):
        rows.append((partition, ends[partition], BEGIN_MS + STEP_MS * number, key))
        ends[partition] += 2 if gaps and ends[partition] % (gaps + 1) == gaps - 1 else 1
    columns = list(zip(*rows, strict=True))
    kinds = pa.int32(), pa.int64(), pa.int64(), pa.binary()
    names = ("partition", "offset", "timestamp_ms", "key")
    arrays = [pa.array(column, kind) for column, kind in zip(columns, kinds, strict=True)]
    path = folder / "topic.parquet"
    pq.write_table(pa.table(dict(zip(names, arrays, strict=True))), path)
    return LocalExport(str(path), "parquet", partitions)


def audited(
    folder: Path, records: Sequence[Record], partitions: int, *, gaps: int = 0, expected: str = "murmur2"
) -> Audit:
    source = export(folder, records, partitions, gaps=gaps)
    request = AuditRequest("topic", "", expected, every_record=True)
    return audit_locally(source, request, str(folder / "run"), Steps("audit", 1))
