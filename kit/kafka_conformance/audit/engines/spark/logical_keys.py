"""Find the logical keys that a join would miss because the two topics frame them differently.

A join of co-partitioned topics compares keys that its application has read, without their frames, but within a partition
only. So two records of a logical key, one in each topic and in different forms, are *missed by their frames* if they are
in partitions of different numbers. Records in the same form are the business of the join audit itself (:mod:`.join`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import msgspec
import pyarrow as pa

from kafka_conformance.audit.attribution.block import column_of
from kafka_conformance.audit.framing.formats import separate
from kafka_conformance.audit.join_result import JoinFraming, MissedLogicalKey
from kafka_conformance.audit.result import FormPlace, Place
from kafka_conformance.spark.workers import Work, mapped

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["find_missed", "missed_by_frames"]


def find_missed(keys: DataFrame, form: str, kept: int) -> JoinFraming:
    """Return what a join misses by frames, with the ``kept`` logical keys of the most missed pairs.

    ``keys`` has a row for each whole key: ``key``, and its places in both topics, arrays ``a`` and ``b``.
    """
    from pyspark.sql import functions as f

    places = keys.schema["a"].dataType.simpleString()
    schema = f"logical binary, form string, framed boolean, a {places}, b {places}"
    plain = mapped(keys.select("key", "a", "b"), _separated(form), schema)
    forms = f.collect_list(f.struct("form", "framed", "a", "b")).alias("forms")
    judged = mapped(plain.groupBy("logical").agg(forms), missed_by_frames, _JUDGED_SPARK).persist()
    try:
        sums = [
            f.expr(f"coalesce(sum(cast({what} as decimal(38,0))), 0)").alias(name) for name, what in _TOTALS.items()
        ]
        totals = judged.agg(*sums).collect()[0]
        worst = judged.where("pairs_missed > 0").orderBy(f.desc("pairs_missed"), "logical").limit(kept).collect()
    finally:
        judged.unpersist()
    number = {name: int(totals[name]) for name in _TOTALS}
    return JoinFraming(
        form, worst=tuple(msgspec.json.decode(row["found"], type=MissedLogicalKey) for row in worst), **number
    )


_TOTALS = {
    "framed": "framed", "unframed": "unframed", "keys": "pairs > 0", "missed": "pairs_missed > 0",
    "never": "pairs_missed > 0 and never", "pairs": "pairs", "pairs_missed": "pairs_missed",
}  # fmt: skip
_JUDGED = pa.schema([
    ("logical", pa.binary()), ("framed", pa.int64()), ("unframed", pa.int64()), ("pairs", pa.decimal128(38)),
    ("pairs_missed", pa.decimal128(38)), ("never", pa.bool_()), ("found", pa.binary()),
])  # fmt: skip
_JUDGED_SPARK = (
    "logical binary, framed long, unframed long, pairs decimal(38,0), pairs_missed decimal(38,0), never boolean,"
    " found binary"
)


def _separated(form: str) -> Work:
    def separate_keys(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            found = separate(column_of(batch.column("key"), 0, 1), form)
            ends, content = found.logical.offsets.tolist(), found.logical.data.tobytes()
            logical = pa.array([content[first:end] for first, end in pairwise(ends)], pa.binary())
            columns = [logical, pa.array(found.forms, pa.string()), pa.array(found.framed), batch["a"], batch["b"]]
            yield pa.RecordBatch.from_arrays(columns, names=["logical", "form", "framed", "a", "b"])

    return separate_keys


def missed_by_frames(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Judge logical keys: ``logical``, and ``forms``, a list of ``form``, ``framed``, ``a`` and ``b`` of its whole keys."""
    for batch in batches:
        rows = [_judged(row["logical"], row["forms"]) for row in batch.to_pylist()]
        yield pa.RecordBatch.from_pylist(rows, schema=_JUDGED)


def _judged(logical: bytes, forms: Sequence[dict[str, Any]]) -> dict[str, Any]:
    framed = sum(form["framed"] for form in forms)
    pairs = missed = 0
    meets = False
    for one in forms:
        for other in forms:
            for a in one["a"]:
                for b in other["b"]:
                    together = a["partition"] == b["partition"]
                    meets |= together
                    if one is not other:
                        pairs += a["n"] * b["n"]
                        missed += 0 if together else a["n"] * b["n"]
    row = {"logical": logical, "framed": framed, "unframed": len(forms) - framed, "never": not meets}
    row |= {"pairs": Decimal(pairs), "pairs_missed": Decimal(missed)}
    if missed:
        found = MissedLogicalKey(logical.hex(), not meets, missed, _places(forms, "a"), _places(forms, "b"))
        row["found"] = msgspec.json.encode(found)
    return row


def _places(forms: Sequence[dict[str, Any]], side: str) -> tuple[FormPlace, ...]:
    found = [
        FormPlace(form["form"], Place(one["time_ms"], one["partition"], one["offset"]), one["n"])
        for form in forms
        for one in form[side]
    ]
    return tuple(sorted(found, key=lambda one: (one.form, one.place)))
