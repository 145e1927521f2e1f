"""A run's folder on this machine, in the layout that Spark writes: either engine resumes a run of the other."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from kafka_conformance.audit.findings import BLOCK, FORMS, KEYS, RECORD
from kafka_conformance.audit.scan import FILE
from kafka_conformance.core import interrupts
from kafka_conformance.core.errors import BadInput, KitError
from kafka_conformance.core.files import write_whole
from kafka_conformance.spark.runs import claimed, is_own, read_plan

__all__ = ["SCHEMAS", "RunFolder"]

_KEYS = pa.schema([("partition", pa.int32()), ("bucket", pa.int32()), ("keys_seen", pa.binary())])
SCHEMAS = {
    BLOCK: pa.schema([
        ("partition", pa.int32()), ("offset", pa.int64()), ("data", pa.binary()), ("moments", pa.binary()),
    ]),
    KEYS: _KEYS,
    FORMS: _KEYS,
    RECORD: pa.schema([
        ("partition", pa.int32()), ("offset", pa.int64()), ("timestamp_ms", pa.int64()), ("key", pa.binary()),
        ("expected_partition", pa.int32()), ("attributed", pa.string()), ("explained_by", pa.string()),
    ]),
}  # fmt: skip
_DONE = "_SUCCESS"


class RunFolder:
    """The folder of a run. Every method raises BadInput or KitError, one line, if a file cannot be read or written."""

    def __init__(self, folder: str) -> None:
        self.path = Path(folder)

    def plan(self) -> Any:
        """Return the plan of the run, None if none has begun."""
        return read_plan(self, str(self.path))

    @contextmanager
    def open(self, plan: Mapping[str, Any]) -> Iterator[None]:
        """Create or resume the run with this plan. Raises BadInput for another plan, or if another process works on it."""
        with claimed(self, str(self.path), plan):
            yield

    def finished(self, number: int) -> bool:
        """Whether a chunk is written whole."""
        return (self._chunk(number) / _DONE).exists()

    def write_chunk(self, number: int, batches: Iterable[pa.RecordBatch]) -> None:
        """Write the rows of a scan (``scan.block_scanner``), each kind in its folder; what was there is deleted first."""
        chunk = self._chunk(number)
        shutil.rmtree(chunk, ignore_errors=True)
        try:
            for kind in SCHEMAS:
                (chunk / f"kind={kind}").mkdir(parents=True)
            with _writer(chunk, BLOCK) as blocks, _writer(chunk, KEYS) as keys, _writer(chunk, FORMS) as forms:
                for batch in batches:
                    if batch["kind"][0].as_py() == FILE:
                        self._put_files(chunk / f"kind={RECORD}", batch)
                        continue
                    if batch["kind"][0].as_py() == FORMS:
                        forms.write_batch(batch.select(SCHEMAS[FORMS].names))
                        continue
                    blocks.write_batch(batch.slice(0, 1).select(SCHEMAS[BLOCK].names))
                    if len(batch) > 1:
                        keys.write_batch(batch.slice(1).select(SCHEMAS[KEYS].names))
            (chunk / _DONE).touch()
        except KeyboardInterrupt:
            interrupts.acknowledge()  # else it is raised again while files are closed
            raise
        except OSError as error:
            raise KitError(f"{chunk} cannot be written: {error.strerror or error}") from error

    def files(self, kind: str) -> list[str]:
        """Return the Parquet files of all chunks with rows of this kind."""
        return sorted(map(str, self.path.glob(f"chunks/*/kind={kind}/*.parquet")))

    def _chunk(self, number: int) -> Path:
        return self.path / "chunks" / f"chunk-{number:06d}"

    def _put_files(self, folder: Path, batch: pa.RecordBatch) -> None:
        for name, content in zip(batch["name"].to_pylist(), batch["file"], strict=True):
            (folder / name).write_bytes(content.as_buffer())

    def alive(self) -> bool:
        """Return that the file system responds."""
        return True

    def anything(self) -> bool:
        """Whether the folder holds files that are not the kit's own."""
        return self.path.is_dir() and any(not is_own(each.name) for each in self.path.iterdir())

    def read(self, name: str) -> bytes | None:
        """Return the content of a file, None if there is no such file."""
        try:
            return (self.path / name).read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise BadInput(f"{self.path / name} cannot be read: {error.strerror}") from error

    def write(self, name: str, data: bytes, *, exclusive: bool = False) -> None:
        """Write a file, whole or not at all; with ``exclusive``, fail if it exists."""
        if not exclusive:
            write_whole(self.path / name, data)
            return
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            file = os.open(self.path / name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
            with os.fdopen(file, "wb") as stream:
                stream.write(data)
        except OSError as error:
            raise BadInput(f"{self.path / name} cannot be written: {error.strerror}") from error

    def delete(self, name: str) -> None:
        """Delete a file."""
        (self.path / name).unlink(missing_ok=True)


def _writer(chunk: Path, kind: str) -> pq.ParquetWriter:
    # A dictionary does not shrink hashed keys, and takes time.
    return pq.ParquetWriter(chunk / f"kind={kind}" / "part-0.parquet", SCHEMAS[kind], use_dictionary=False)
