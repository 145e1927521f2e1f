"""Search for placements among the records that no block explains, taken together.

A producer of one record in a thousand is in every block, but in none beyond chance: each block leaves its few records
unexplained. Together they are many. So a bounded, random part of all unexplained records is searched once more for present
placements; if there are any, every unexplained record is tested against them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec
import numpy as np
import pyarrow as pa

from kafka_conformance.audit.attribution.attribution import bits_of
from kafka_conformance.audit.attribution.block import column_of
from kafka_conformance.audit.attribution.candidates import register, registered
from kafka_conformance.audit.attribution.presence import present
from kafka_conformance.audit.attribution.retraction import FOREIGN
from kafka_conformance.audit.findings import RECORD, Findings
from kafka_conformance.audit.record_hash import mixed
from kafka_conformance.audit.result import EITHER, UNEXPLAINED, Place, Placed
from kafka_conformance.spark.workers import Work

__all__ = ["Leftover", "leftover"]

SAMPLE_RECORDS = 20_000
_UNEXPLAINED = ({"attributed": (UNEXPLAINED,)},)
_SAMPLED = pa.schema([("partition", pa.int32()), ("offset", pa.int64()), ("key", pa.binary())])
_COUNTED = pa.schema([
    ("sets", pa.int64()), ("partition", pa.int32()), ("records", pa.int64()), ("first_ms", pa.int64()),
    ("first_offset", pa.int64()), ("last_ms", pa.int64()), ("last_offset", pa.int64()),
])  # fmt: skip
_MERGED = {"records": "sum", "first_ms": "min", "first_offset": "min", "last_ms": "max", "last_offset": "max"}


class Leftover(msgspec.Struct, frozen=True):
    """Unexplained records of a partition that these placements explain after all, attributed to ``name``.

    It is EITHER if several explain them, or if too many may be of a foreign producer, as in a block.
    """

    name: str
    explained_by: tuple[str, ...]
    partition: int
    records: int
    first: Place
    last: Place


def leftover(findings: Findings, partitions: int) -> list[Leftover]:
    """Return the unexplained records that placements present among them explain, by partition."""
    sampled = findings.mapped(RECORD, _SAMPLED.names, _sampled, _SAMPLED, where=_UNEXPLAINED)
    rows = _lowest([sampled.combine_chunks()])
    if not rows.num_rows:
        return []
    found = present(column_of(rows["key"].combine_chunks(), rows["partition"].to_numpy(), partitions))
    if not found:
        return []
    columns = ("partition", "offset", "timestamp_ms", "key")
    counted = findings.mapped(RECORD, columns, _counted(found, partitions), _COUNTED, where=_UNEXPLAINED)
    merged = counted.group_by(["sets", "partition"], use_threads=False).aggregate(list(_MERGED.items()))
    totals: Counter[int] = Counter()
    for row in merged.to_pylist():
        totals[row["sets"]] += row["records_sum"]
    return [
        Leftover(_name(row["sets"], found, totals), _named(row["sets"], found), row["partition"], row["records_sum"],
                 Place(row["first_ms_min"], row["partition"], row["first_offset_min"]),
                 Place(row["last_ms_max"], row["partition"], row["last_offset_max"]))
        for row in merged.sort_by([("sets", "ascending"), ("partition", "ascending")]).to_pylist()
        if row["sets"]
    ]  # fmt: skip


def _named(bits: int, found: Sequence[Placed]) -> tuple[str, ...]:
    return tuple(str(placed) for at, placed in enumerate(found) if bits >> at & 1)


def _name(bits: int, found: Sequence[Placed], totals: Mapping[int, int]) -> str:
    """Return the placement that alone explains records, or EITHER; ``totals`` counts records by what explains them."""
    names = _named(bits, found)
    if len(names) > 1:
        return EITHER
    by_chance = totals.get(0, 0) / max(found[bits.bit_length() - 1].partitions - 1, 1)
    return EITHER if by_chance > FOREIGN * totals[bits] else names[0]


def _sampled(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the records of the lowest numbers: with those of all parts, a sample that depends on the records alone."""
    held: list[pa.Table] = []
    for batch in batches:
        held.append(pa.Table.from_batches([batch]))
        if sum(map(len, held)) > 4 * SAMPLE_RECORDS:
            held = [_lowest(held)]
    if held:
        yield from _lowest(held).combine_chunks().to_batches()


def _lowest(tables: Sequence[pa.Table]) -> pa.Table:
    """Return the records of the lowest mixed numbers, in their order."""
    table = pa.concat_tables(tables)
    numbers = mixed(table["partition"].to_numpy(), table["offset"].to_numpy())
    order = np.lexsort((table["offset"].to_numpy(), table["partition"].to_numpy(), numbers))
    return table.take(pa.array(order[:SAMPLE_RECORDS]))


def _counted(found: Sequence[Placed], count_now: int) -> Work:
    candidates = registered()

    def count(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        register(candidates)
        for batch in batches:
            if batch.num_rows:
                partitions = batch.column("partition").to_numpy(zero_copy_only=False)
                keys = column_of(batch.column("key"), partitions, count_now)
                yield from _groups(batch, partitions, bits_of([keys.by(placed) for placed in found], keys.size))

    return count


def _groups(batch: pa.RecordBatch, partitions: np.ndarray, sets: np.ndarray) -> Iterator[pa.RecordBatch]:
    offsets = batch.column("offset").to_numpy(zero_copy_only=False)
    times = batch.column("timestamp_ms").fill_null(-1).to_numpy(zero_copy_only=False)
    for partition in np.unique(partitions).tolist():
        for bits in np.unique(sets[partitions == partition]).tolist():
            rows = (partitions == partition) & (sets == bits)
            yield pa.RecordBatch.from_pylist([{
                "sets": bits, "partition": partition, "records": int(rows.sum()),
                "first_ms": int(times[rows].min()), "first_offset": int(offsets[rows].min()),
                "last_ms": int(times[rows].max()), "last_offset": int(offsets[rows].max()),
            }], schema=_COUNTED)  # fmt: skip
