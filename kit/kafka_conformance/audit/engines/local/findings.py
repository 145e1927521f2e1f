"""The rows of a run's folder, read and mapped in this process."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds

from kafka_conformance.audit.engines.local.folder import SCHEMAS, RunFolder
from kafka_conformance.audit.findings import BLOCK, RECORD, Where, condition
from kafka_conformance.spark.workers import Work

__all__ = ["LocalFindings"]

_ROWS = {BLOCK: 8, RECORD: 65_536}
"""Rows per batch: those of blocks and keys may hold a megabyte each."""


class LocalFindings:
    """The rows of a finished run."""

    def __init__(self, folder: RunFolder) -> None:
        self._folder = folder

    def rows(self, kind: str, columns: Sequence[str], where: Where = ()) -> pa.Table:
        """Return these columns of the rows of a kind, in no order."""
        return pa.Table.from_batches(
            self._batches(kind, columns, where, self._folder.files(kind)), _schema(kind, columns)
        )

    def mapped(
        self, kind: str, columns: Sequence[str], work: Work, gives: pa.Schema, *, where: Where = (), buckets: int = 0
    ) -> pa.Table:
        """Return the rows that ``work`` makes of these columns; each of ``buckets``, or each file, is a separate part."""
        parts: Sequence[tuple[Where, Sequence[str]]] = [(where, [file]) for file in self._folder.files(kind)]
        if buckets:
            parts = [(({"bucket": (number,)},), self._folder.files(kind)) for number in range(buckets)]

        def run(part: tuple[Where, Sequence[str]]) -> list[pa.RecordBatch]:
            return list(work(self._batches(kind, columns, *part)))

        with ThreadPoolExecutor(os.cpu_count()) as threads:  # compiled functions do not hold the interpreter's lock
            made = [batch for batches in threads.map(run, parts) for batch in batches]
        return pa.Table.from_batches(made, gives)

    def _batches(
        self, kind: str, columns: Sequence[str], where: Where, paths: Sequence[str]
    ) -> Iterator[pa.RecordBatch]:
        files = ds.dataset(list(paths), format="parquet", schema=SCHEMAS[kind])
        rows = _ROWS.get(kind, _ROWS[BLOCK])
        wanted = condition(where, pc.field) if where else None
        batches = files.to_batches(columns=list(columns), filter=wanted, batch_size=rows, batch_readahead=1)
        yield from (batch for batch in batches if batch.num_rows)


def _schema(kind: str, columns: Sequence[str]) -> pa.Schema:
    return pa.schema([SCHEMAS[kind].field(name) for name in columns])
