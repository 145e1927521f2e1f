"""Read an export of a topic, files of Parquet or text (:mod:`.text_rows`), in this process.

The columns, their types and the errors are those of :class:`~kafka_conformance.audit.engines.spark.sources.Export`. The four
columns of all files are held in memory, because files are in any order.
"""

from __future__ import annotations

import base64
import binascii
import glob
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
from numpy.typing import NDArray

from kafka_conformance.audit.attribution.block import Block
from kafka_conformance.audit.engines.local.blocks import BlockPacker
from kafka_conformance.audit.engines.local.text_rows import AVRO, TEXT_FORMS, text_rows
from kafka_conformance.audit.export_errors import (
    missing_column,
    missing_place,
    no_key_type,
    no_number_type,
    repeated_offset,
)
from kafka_conformance.audit.record_hash import mixed
from kafka_conformance.audit.selection import parse_time
from kafka_conformance.audit.sources import spans_of
from kafka_conformance.audit.topics import Span, offset_count
from kafka_conformance.core.errors import BadInput, KitError, TooMuchText
from kafka_conformance.core.files import data_files, exists, is_folder, open_regular

__all__ = ["LocalExport", "files_of", "record_count"]

_TIMES = ("timestamp_ms", "timestamp", "ts")
"""Columns of the timestamp, the first that there is; ``ts`` is kcat's."""
_PIECE = 16_384
LARGEST_TEXT = 2**31
"""The most bytes of keys, and of other text, of an export: they are held in memory."""
_ENDS = ("first", "end")
_INT64 = range(-(2**63), 2**63)


_HIVE_NULL = "__HIVE_DEFAULT_PARTITION__"
"""What Spark and Hive write for a null in a folder's name."""

_FAULTS = (pa.ArrowException, OSError, UnicodeDecodeError)
"""What pyarrow raises for a file: of the last kind for a name or a text that is not UTF-8."""


class LocalExport:
    """An export of a topic. Arguments and errors are those of ``Export`` in :mod:`.spark.sources`."""

    def __init__(self, path: str, form: str, partitions: int, *, key: str = "key", encoding: str = "utf8") -> None:
        self.name, self.partitions = path, partitions
        try:
            table = _read(path, form, key)
            rows = _columns(table, path, key, encoding)
        except _FAULTS as error:
            raise _unreadable(path, error) from error
        if missing := max(rows[name].null_count for name in ("partition", "offset")):
            raise missing_place(path, missing)
        self.spans: Mapping[int, Span] = spans_of(path, _spans(rows), partitions)
        self._rows = rows.sort_by([("partition", "ascending"), ("offset", "ascending")]).combine_chunks()
        _check_places(path, self._rows["partition"].to_numpy(), self._rows["offset"].to_numpy())

    def sample(self, records: int) -> pa.Table:
        """Return a random sample, the same each time and the one that Spark selects."""
        every = max(1, offset_count(self.spans) // records)
        numbers = mixed(self._rows["partition"].to_numpy(), self._rows["offset"].to_numpy())
        return self._rows.filter(pa.array(np.mod(numbers, every) == 0))

    def narrow(self, spans: Mapping[int, Span]) -> None:
        """Read these offsets only, by partition."""
        partitions, offsets = self._rows["partition"].to_numpy(), self._rows["offset"].to_numpy()
        first, end = (np.array([getattr(spans[number], name) for number in range(self.partitions)]) for name in _ENDS)
        self.spans = spans
        self._rows = self._rows.filter(pa.array((offsets >= first[partitions]) & (offsets < end[partitions])))

    def offsets_at(self, time_ms: int) -> Mapping[int, int]:
        """Return by partition the offset of the first record with this timestamp or a later one, where there is one."""
        later = self._rows.filter(pc.greater_equal(self._rows["timestamp_ms"], time_ms))
        found = later.group_by("partition").aggregate([("offset", "min")])
        return dict(zip(found["partition"].to_pylist(), found["offset_min"].to_pylist(), strict=True))

    def earliest(self) -> Mapping[int, int]:
        """Return nothing: no record of a file is deleted."""
        return {}

    def blocks(self, spans: Mapping[int, Span]) -> Iterator[Block]:
        """Yield the records in these spans as blocks."""
        partitions, offsets = self._rows["partition"].to_numpy(), self._rows["offset"].to_numpy()
        times = self._rows["timestamp_ms"].fill_null(-1).to_numpy()
        keys = self._rows["key"].combine_chunks()
        keys = keys if isinstance(keys, pa.BinaryArray) else pa.concat_arrays(keys.chunks)
        for partition, span in sorted(spans.items()):
            first, end = np.searchsorted(partitions, [partition, partition + 1])
            first, end = first + np.searchsorted(offsets[first:end], [span.first, span.end])
            packer = BlockPacker(partition)
            for at in range(first, end, _PIECE):
                piece = slice(at, min(at + _PIECE, end))
                yield from packer.add(offsets[piece], times[piece], keys[piece])
            yield from packer.end()


def files_of(path: str) -> list[str]:
    """Return the files that a path names: a file, a folder with all below it, or a pattern (``*``, ``?``, ``[]``, ``{}``).

    A name that exists is not a pattern. As for Spark, names that begin with ``_`` or a dot are left out. Raises BadInput if
    there is none, and for a FIFO or a device.
    """
    found: list[str] = []
    plain = path.removeprefix("file://")
    named = [plain] if exists(Path(plain)) else sorted(one for each in _alternatives(plain) for one in glob.glob(each))  # noqa: PTH207  patterns may be absolute
    for each in named:
        if not is_folder(Path(each)):
            with open_regular(Path(each)):  # what reads it waits for a FIFO without end
                found.append(each)
            continue
        found += [str(one) for one in sorted(data_files(Path(each)))]
    if not found:
        raise BadInput(f"no file matches {path!r}: name a file, a folder or a pattern")
    return found


def record_count(path: str, form: str, limit: int) -> int:
    """Return the number of records in the files, or some number above ``limit``. Raises BadInput, KitError."""
    try:
        if form == "parquet":
            files = [each for each in files_of(path) if Path(each).stat().st_size]
            return int(ds.dataset(files, format="parquet").count_rows()) if files else 0
        count = 0
        for name in files_of(path):
            with pa.input_stream(name, compression="detect") as stream:
                while count <= limit and (piece := stream.read(1 << 20)):
                    count += piece.count(b"\n")
    except _FAULTS as error:
        raise _unreadable(path, error) from error
    return count


def _unreadable(path: str, error: Exception) -> KitError:
    first, *_ = str(error).splitlines() or [type(error).__name__]
    return KitError(f"reading {path}: {first}")


def _alternatives(pattern: str) -> list[str]:
    """Return the patterns that the braces of a pattern stand for."""
    if (found := re.search(r"\{([^{}]*)\}", pattern)) is None:
        return [pattern]
    return [
        one
        for each in found[1].split(",")
        for one in _alternatives(pattern[: found.start()] + each + pattern[found.end() :])
    ]


def _read(path: str, form: str, key: str) -> pa.Table:
    """Return the columns that an audit uses, as they are in the files."""
    files = files_of(path)
    if form in TEXT_FORMS or form == AVRO:
        return _read_text(files, path, form, key)
    if not (files := [each for each in files if Path(each).stat().st_size]):  # an empty file has not even a schema
        return _read_text([], path, form, key)
    dataset = ds.dataset(files, format="parquet", partitioning="hive")
    _check_columns(path, key, dataset.schema.names)
    wanted = ("partition", "offset", key, *(name for name in _TIMES if name in dataset.schema.names))
    names = list(dict.fromkeys(wanted))
    _check_size(path, files, names)
    return dataset.to_table(columns=names)


def _check_size(path: str, files: Sequence[str], names: Sequence[str]) -> None:
    """Raise TooMuchText if the texts of these columns take more than LARGEST_TEXT bytes.

    In a file, a dictionary has each value once, and 100 KB can stand for 3 GB. Read as dictionaries, they stay as small.
    """
    form = ds.ParquetFileFormat(read_options=ds.ParquetReadOptions(dictionary_columns=names))
    dataset, size = ds.dataset(files, format=form, partitioning="hive"), 0
    pages = sum(_page_bytes(fragment.metadata, names) for fragment in dataset.get_fragments())
    if pages > LARGEST_TEXT:  # before a page is decompressed
        raise _too_much_text(path)
    for batch in dataset.to_batches(columns=names, batch_readahead=1, fragment_readahead=1, use_threads=False):
        for column in batch.columns:
            if pa.types.is_dictionary(column.type):
                lengths = pc.binary_length(column.dictionary)
                size += pc.sum(lengths.take(column.indices)).as_py() or 0
        if size > LARGEST_TEXT:
            raise _too_much_text(path)


def _page_bytes(metadata: Any, names: Sequence[str]) -> int:
    """Return how many bytes the pages of these columns have when decompressed, as the file says."""
    groups = map(metadata.row_group, range(metadata.num_row_groups))
    columns = (group.column(number) for group in groups for number in range(group.num_columns))
    return sum(each.total_uncompressed_size for each in columns if each.path_in_schema.partition(".")[0] in names)


def _too_much_text(path: str) -> TooMuchText:
    what = f"its keys and other text take more than {LARGEST_TEXT:,} bytes, which are not held in memory"
    return TooMuchText(f"reading {path}: {what}: use --engine spark")


def _check_columns(path: str, key: str, columns: Sequence[str]) -> None:
    for wanted in ("partition", "offset", key):
        if wanted not in columns:
            raise missing_column(path, wanted, key, columns)


def _read_text(files: Sequence[str], path: str, form: str, key: str) -> pa.Table:
    columns: dict[str, list[Any]] = {name: [] for name in ("partition", "offset", key, *_TIMES)}
    names: dict[str, None] = {}
    size = 0
    for name in files:
        in_folders = _folder_columns(name, key)
        for read in text_rows(name, form, key):
            row = in_folders | read
            names.update(dict.fromkeys(row))
            for column, values in columns.items():
                values.append(value := row.get(column))
                size += len(value) if isinstance(value, str | bytes) else 0
            if size > LARGEST_TEXT:
                raise _too_much_text(path)
    _check_columns(path, key, list(names) if names else list(columns))
    kinds = sorted({type(value).__name__ for value in columns[key]} - {"str", "bytes", "NoneType"})
    if kinds:
        raise no_key_type(path, key, kinds[0])
    plain = {name: values for name, values in columns.items() if name in names or not names}
    return pa.table({name: pa.array(values, _text_type(values)) for name, values in plain.items()})


def _folder_columns(name: str, key: str) -> dict[str, Any]:
    """Return the columns in the names of a file's folders, such as ``partition=3``: Spark and Kafka Connect write them."""
    pairs = (part.partition("=") for part in Path(name).parent.parts)
    return {
        column: int(text) if column != key and text.isascii() and text.isdecimal() else unquote(text)
        for column, equals, text in pairs if equals and text != _HIVE_NULL
    }  # fmt: skip


def _text_type(values: Sequence[Any]) -> pa.DataType:
    kinds = {type(value) for value in values} - {type(None)}
    if not kinds:
        return pa.null()
    if kinds <= {int}:
        return pa.int64() if all(value is None or value in _INT64 for value in values) else pa.float64()
    if kinds == {bytes}:
        return pa.binary()
    return pa.string() if kinds == {str} else pa.float64() if kinds <= {int, float} else None


def _check_places(path: str, partitions: NDArray[np.int32], offsets: NDArray[np.int64]) -> None:
    """Raise BadInput for sorted places of which one occurs twice."""
    again = np.flatnonzero((partitions[1:] == partitions[:-1]) & (offsets[1:] == offsets[:-1]))
    if again.size:
        partition, offset = int(partitions[again[0]]), int(offsets[again[0]])
        raise repeated_offset(path, partition, offset, int(((partitions == partition) & (offsets == offset)).sum()))


def _columns(table: pa.Table, path: str, key: str, encoding: str) -> pa.Table:
    for name in ("partition", "offset"):
        if pa.types.is_boolean(table[name].type):
            raise no_number_type(path, name, "boolean")
    return pa.table({
        "partition": table["partition"].cast(pa.int32()),
        "offset": table["offset"].cast(pa.int64()),
        "timestamp_ms": _times(table, path),
        "key": _keys(table[key], encoding, path, key),
    })  # fmt: skip


def _times(table: pa.Table, path: str) -> pa.ChunkedArray | pa.Array:
    for name in (name for name in _TIMES if name in table.column_names):
        column = table[name]
        if pa.types.is_int64(column.type) or pa.types.is_int32(column.type):
            return column.cast(pa.int64())
        if pa.types.is_timestamp(column.type):
            return column.cast(pa.timestamp("ms", column.type.tz), safe=False).cast(pa.int64())
        if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
            return pa.array([None if text is None else _time(text, path) for text in column.to_pylist()], pa.int64())
    return pa.nulls(len(table), pa.int64())


def _time(text: str, path: str) -> int:
    try:
        return parse_time(text)
    except ValueError as error:
        raise BadInput(f"{path}: {text!r} is not a timestamp: expected one as in ISO 8601") from error


def _keys(column: pa.ChunkedArray, encoding: str, path: str, name: str) -> pa.ChunkedArray | pa.Array:
    kind = column.type
    binary = pa.types.is_binary(kind) or pa.types.is_large_binary(kind) or pa.types.is_fixed_size_binary(kind)
    if binary or pa.types.is_null(kind):
        return column.cast(pa.binary())
    if pa.types.is_dictionary(kind):
        return _keys(column.cast(kind.value_type), encoding, path, name)
    if not (pa.types.is_string(kind) or pa.types.is_large_string(kind)):
        raise no_key_type(path, name, str(kind))
    if encoding == "utf8":
        return column.cast(pa.binary())
    decode = bytes.fromhex if encoding == "hex" else base64.b64decode
    try:
        return pa.array([None if text is None else decode(text) for text in column.to_pylist()], pa.binary())
    except (ValueError, binascii.Error) as error:
        raise BadInput(f"{path}: a key in {name} is not {encoding} ({error}): check --key-encoding") from error


def _spans(rows: pa.Table) -> list[tuple[Any, ...]]:
    grouped = rows.select(["partition", "offset"]).group_by("partition").aggregate([
        ("offset", "min"), ("offset", "max"), ("offset", "count", pc.CountOptions(mode="all")),
    ])  # fmt: skip
    names = ("partition", "offset_min", "offset_max", "offset_count")
    return list(zip(*(grouped[name].to_pylist() for name in names), strict=True))
