"""Collect the forms of a block's keys, and find those of a topic that differ in their frame only.

As for split keys (``totals.split_keys``), every block reports its distinct keys, distributed into buckets, here by the
identity of the logical key, so that a bucket holds all forms of its logical keys. A key is a row: logical key and its
identity, that of the whole key, the form in words, the first record and the number of records. The rows travel as Arrow's
stream.

A logical key is *split by its frame* if it has several forms and several partitions. Then some two of its records differ in
both.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import msgspec
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from kafka_conformance.audit.attribution.block import Block, column_of
from kafka_conformance.audit.attribution.distinct_keys import distinct
from kafka_conformance.audit.findings import FORMS, Findings
from kafka_conformance.audit.framing.formats import separate
from kafka_conformance.audit.result import FormPlace, Framing, LogicalKey, Place

__all__ = ["EARLIEST", "FormsFound", "found_in", "framing_in", "framing_of", "pack_forms"]

EARLIEST = 100
"""The maximum number of logical keys in the result."""

_FORMS, _MOST_FORMS = 20, 10_000
_KEY = 256
"""Bytes of a logical key that are kept for reports."""

_SCHEMA = pa.schema([
    ("logical_low", pa.uint64()), ("logical_high", pa.uint64()), ("whole", pa.uint64()), ("key", pa.binary()),
    ("framed", pa.bool_()), ("form", pa.string()), ("partition", pa.int32()), ("offset", pa.int64()), ("ms", pa.int64()),
    ("records", pa.int64()),
])  # fmt: skip
_FOUND = pa.schema([("found", pa.binary())])


@dataclass(frozen=True, slots=True)
class FormsFound:
    """The findings of one bucket; fields as in :class:`~kafka_conformance.audit.result.Framing`."""

    framed: int
    unframed: int
    forms: dict[str, int]
    keys: int
    several: int
    split: int
    records: int
    earliest: list[LogicalKey]


def pack_forms(block: Block, form: str, partitions: int, buckets: int = 1) -> Iterator[tuple[int, bytes]]:
    """Yield the forms of a block's keys for each bucket that has some, packed. ``form`` is one of ``formats.FORMATS``."""
    valid = np.asarray(block.keys.is_valid())
    every = column_of(block.keys, block.partition, partitions)
    if not every.size:
        return
    rows, records = distinct(every.ids)
    keys = every.taken(rows)
    separated = separate(keys, form)
    logical = separated.logical
    ends = np.asarray(logical.offsets).tolist()
    content = logical.data.tobytes()
    table = pa.table(
        [
            np.ascontiguousarray(logical.ids[:, 0]), np.ascontiguousarray(logical.ids[:, 1]),
            np.ascontiguousarray(keys.ids[:, 0]),
            [content[first : min(end, first + _KEY)] for first, end in pairwise(ends)],
            separated.framed, separated.forms, np.full(len(rows), block.partition, np.int32),
            block.offsets[valid][rows], block.timestamps_ms[valid][rows], records.astype(np.int64),
        ],
        schema=_SCHEMA,
    )  # fmt: skip
    bucket = logical.ids[:, 1] % np.uint64(buckets)
    for number in np.unique(bucket).tolist():
        yield int(number), _packed(table.filter(pa.array(bucket == number)) if buckets > 1 else table)


def _packed(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, _SCHEMA, options=pa.ipc.IpcWriteOptions(compression="zstd")) as stream:
        stream.write_table(table)
    content: bytes = sink.getvalue().to_pybytes()
    return content


def framing_in(findings: Findings, buckets: int, form: str) -> Framing:
    """Return what the forms of all blocks, kept in ``buckets`` buckets, show together."""
    found = findings.mapped(FORMS, ("bucket", "keys_seen"), _found, _FOUND, buckets=buckets)
    return framing_of((msgspec.json.decode(each, type=FormsFound) for each in found["found"].to_pylist()), form)


def _found(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Return the findings of a task's buckets, one after the other; there may be none."""
    buckets: dict[int, list[bytes]] = {}
    for batch in batches:
        for row in batch.to_pylist():
            buckets.setdefault(row["bucket"], []).append(row["keys_seen"])
    for number in sorted(buckets):
        found = msgspec.json.encode(found_in(buckets.pop(number)))
        yield pa.RecordBatch.from_pylist([{"found": found}], schema=_FOUND)


def found_in(pieces: Sequence[bytes]) -> FormsFound:
    """Return the findings among the packed forms of one bucket."""
    rows = pa.concat_tables([pa.ipc.open_stream(piece).read_all() for piece in pieces]).combine_chunks()
    low, high, whole, partition, records = (
        rows[name].to_numpy() for name in ("logical_low", "logical_high", "whole", "partition", "records")
    )
    framed = rows["framed"].to_numpy()
    order = np.lexsort((partition, whole, high, low))
    logical = _numbered(low[order], high[order])
    keys = int(logical[-1]) + 1 if len(order) else 0
    several = _vary(logical, whole[order], keys)
    split = several & _vary(logical, partition[order], keys)
    of_key = np.bincount(logical, records[order], keys).astype(np.int64)
    shown = np.flatnonzero(_split_first(rows.take(pa.array(order)), logical, split)[logical])
    return FormsFound(
        framed=int(records[framed].sum()),
        unframed=int(records[~framed].sum()),
        forms=_most_frequent(rows.filter(rows["framed"])),
        keys=keys,
        several=int(np.count_nonzero(several)),
        split=int(np.count_nonzero(split)),
        records=int(of_key[split].sum()),
        earliest=_earliest(rows.take(pa.array(order[shown])), logical[shown]),
    )


def framing_of(found: Iterable[FormsFound], form: str) -> Framing:
    """Add up the findings of all buckets."""
    every = list(found)
    forms: Counter[str] = Counter()
    for one in every:
        forms.update(one.forms)
    earliest = sorted((key for one in every for key in one.earliest), key=_since)[:EARLIEST]
    total = {name: sum(getattr(one, name) for one in every) for name in _COUNTS}
    return Framing(
        format=form,
        forms={} if form == "json" else dict(forms.most_common(_FORMS)),
        since=_since(earliest[0]) if earliest else None,
        earliest=tuple(earliest),
        **total,
    )


_COUNTS = ("framed", "unframed", "keys", "several", "split", "records")


def _numbered(low: NDArray[np.uint64], high: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Number the groups of equal identities, which follow each other."""
    new = np.ones(low.size, np.int64)
    new[1:] = (low[1:] != low[:-1]) | (high[1:] != high[:-1])
    return np.cumsum(new) - 1


def _vary(groups: NDArray[np.int64], values: NDArray[np.generic], count: int) -> NDArray[np.bool_]:
    """Return which groups, which follow each other, have different values."""
    first = np.searchsorted(groups, np.arange(count))
    differs = values != values[first[groups]]
    out: NDArray[np.bool_] = np.bincount(groups[differs], minlength=count) > 0
    return out


def _split_first(rows: pa.Table, logical: NDArray[np.int64], split: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return which of the split logical keys were split first: EARLIEST of them; most need not be named."""
    if np.count_nonzero(split) <= EARLIEST:
        return split
    at = np.flatnonzero(split[logical])
    ms, partition, offset, group = (
        *(rows[name].to_numpy()[at] for name in ("ms", "partition", "offset")), logical[at],
    )  # fmt: skip
    order = np.lexsort((offset, partition, ms, group))
    ms, partition, offset, group = ms[order], partition[order], offset[order], group[order]
    begin = np.searchsorted(group, group)
    further = np.flatnonzero(partition != partition[begin])
    _, second = np.unique(group[further], return_index=True)
    second = further[second]
    chosen = second[np.lexsort((offset[second], partition[second], ms[second]))[:EARLIEST]]
    out = np.zeros_like(split)
    out[group[chosen]] = True
    return out


def _most_frequent(rows: pa.Table) -> dict[str, int]:
    counted = rows.group_by("form").aggregate([("records", "sum")]).sort_by([("records_sum", "descending")])
    return dict(zip(*(counted[name][:_MOST_FORMS].to_pylist() for name in ("form", "records_sum")), strict=True))


def _earliest(rows: pa.Table, logical: NDArray[np.int64]) -> list[LogicalKey]:
    """Return the logical keys that were split first; ``rows`` are all rows of split ones, ``logical`` their numbers."""
    places: dict[int, dict[tuple[str, int, int], FormPlace]] = {}
    names: dict[int, bytes] = {}
    columns = (rows[name].to_pylist() for name in ("key", "form", "whole", "partition", "offset", "ms", "records"))
    for number, key, form, whole, partition, offset, ms, records in zip(logical.tolist(), *columns, strict=True):
        names.setdefault(number, key)
        at = places.setdefault(number, {})
        before = at.get((form, whole, partition))
        place = Place(ms, partition, offset)
        if before is not None:
            place, records = min(place, before.place), records + before.records
        at[form, whole, partition] = FormPlace(form, place, records)
    keys = [
        LogicalKey(
            names[number].hex(),
            sum(one.records for one in found.values()),
            tuple(sorted(found.values(), key=lambda one: one.place)),
        )
        for number, found in places.items()
    ]
    return sorted(keys, key=_since)[:EARLIEST]


def _since(key: LogicalKey) -> Place:
    """Return the first record of a logical key in a second partition."""
    first = key.places[0].place.partition
    return min(one.place for one in key.places if one.place.partition != first)
