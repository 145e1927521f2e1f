"""Judge the keys of two topics: which of them a join would miss. Pure functions, for every engine.

The input has a row per key: ``key`` (null for all records without one), and its places in both topics, ``a`` and ``b``:
lists of ``partition``, ``n`` records, and ``time_ms`` and ``offset`` of the first of them; each partition once, in order.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from kafka_conformance.audit.attribution.block import column_of
from kafka_conformance.audit.attribution.candidates import register, registered
from kafka_conformance.audit.attribution.explanation import chosen_partitions
from kafka_conformance.audit.attribution.placements import find_placement
from kafka_conformance.audit.join_result import Join, JoinSide, KeyInPartition, MissedKey
from kafka_conformance.audit.result import Place
from kafka_conformance.core.errors import BadInput
from kafka_conformance.spark.workers import Work

__all__ = ["JUDGED", "PLACES", "join_of", "key_judge"]

PLACES = pa.list_(pa.struct([
    ("partition", pa.int32()), ("n", pa.int64()), ("time_ms", pa.int64()), ("offset", pa.int64()),
]))  # fmt: skip
JUDGED = pa.schema([("totals", pa.binary()), ("worst", pa.binary())])
"""The result of a part of the keys, as JSON: numbers by name, and the missed keys with the most affected records."""

_SIDE = ("records", "keyless", "keys", "off_keys", "off_records", "affected", "to_blame")
_INT64 = 2**63

Numbers = NDArray[np.int64]


def key_judge(rule: str, counts: tuple[int, int], kept: int) -> Work:
    """Return the work that judges keys: expected is the placement ``rule`` with the partition count of each topic.

    It yields one row of schema JUDGED for each part of the keys.
    """
    candidates = registered()

    def judge(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        register(candidates)
        totals: dict[str, int] = {}
        worst: list[MissedKey] = []
        for batch in batches:
            judged = _Keys.of(batch, rule, counts)
            for name, number in judged.totals().items():
                totals[name] = totals.get(name, 0) + number
            worst = _worst([*worst, *judged.missed_keys(kept)], kept)
        row = {"totals": msgspec.json.encode(totals), "worst": msgspec.json.encode(worst)}
        yield pa.RecordBatch.from_pylist([row], schema=JUDGED)

    return judge


def join_of(
    judged: pa.Table, names: tuple[str, str], counts: tuple[int, int], rule: str, kept: int, **more: Any
) -> Join:
    """Return the join of what :func:`key_judge` found in all keys; ``more`` are further fields of it.

    Raises BadInput for a topic without records, or without records that have a key.
    """
    found: dict[str, int] = {}
    for text in judged["totals"].to_pylist():
        for name, number in msgspec.json.decode(text, type=dict[str, int]).items():
            found[name] = found.get(name, 0) + number
    for side, name in zip("ab", names, strict=True):
        if not found.get(f"records_{side}"):
            raise BadInput(f"{name} has no records: a join needs records in both topics")
        if not found[f"keys_{side}"]:
            raise BadInput(f"{name} has no record with a key: a join needs keys in both topics")
    worst = [key for text in judged["worst"].to_pylist() for key in msgspec.json.decode(text, type=list[MissedKey])]
    sides = [
        JoinSide(name, count, *(found[f"{what}_{side}"] for what in _SIDE))
        for side, name, count in zip("ab", names, counts, strict=True)
    ]
    return Join(
        sides[0], sides[1], rule, found["both"], found["missed"], found["never"], found["neither"], found["pairs"],
        found["pairs"] - found["meeting"], tuple(_worst(worst, kept)), **more,
    )  # fmt: skip


def _worst(keys: Sequence[MissedKey], kept: int) -> list[MissedKey]:
    return heapq.nsmallest(kept, keys, key=lambda key: (-key.affected, key.key))


@dataclass(frozen=True, slots=True, eq=False)
class _Side:
    """The places of keys in one topic: of key k, rows ``ends[k]`` to ``ends[k + 1]``. ``key_of`` is the key of each row."""

    ends: Numbers
    key_of: Numbers
    partition: Numbers
    n: Numbers
    time_ms: Numbers
    offset: Numbers
    expected: Numbers
    """By key, the partition that the rule chooses."""

    @staticmethod
    def of(places: pa.ListArray, expected: Numbers) -> _Side:
        lengths = pc.list_value_length(places).to_numpy(zero_copy_only=False).astype(np.int64)
        rows = places.flatten()
        partition, n, time_ms, offset = (
            rows.field(name).to_numpy(zero_copy_only=False).astype(np.int64)
            for name in ("partition", "n", "time_ms", "offset")
        )
        ends = np.concatenate(([0], np.cumsum(lengths)))
        return _Side(ends, np.repeat(np.arange(len(lengths)), lengths), partition, n, time_ms, offset, expected)

    def by_key(self, numbers: Numbers) -> Numbers:
        """Return the sum of a number of each row by key."""
        sums = np.concatenate(([0], np.cumsum(numbers)))
        return sums[self.ends[1:]] - sums[self.ends[:-1]]

    def places(self, key: int) -> tuple[KeyInPartition, ...]:
        columns = (self.partition, self.n, self.time_ms, self.offset)
        rows = zip(*(column[self.ends[key] : self.ends[key + 1]].tolist() for column in columns), strict=True)
        return tuple(KeyInPartition(where, n, Place(time_ms, where, offset)) for where, n, time_ms, offset in rows)


class _Keys:
    """The judgement of a batch of keys."""

    def __init__(self, keys: pa.Array, a: _Side, b: _Side) -> None:
        self._keys, self._a, self._b = keys, a, b
        self._keyed = np.asarray(keys.is_valid())
        wide = 1 + max((int(side.partition.max()) for side in (a, b) if side.partition.size), default=0)
        in_a, in_b = (side.key_of * wide + side.partition for side in (a, b))
        _, rows_a, rows_b = np.intersect1d(in_a, in_b, assume_unique=True, return_indices=True)
        self._met = rows_a, rows_b
        self._affected = [
            self._affected_by(side, other, rows) for side, other, rows in ((a, b, rows_a), (b, a, rows_b))
        ]
        self.affected = self._affected[0] + self._affected[1]
        self.missed = self.affected > 0
        meets = np.zeros(len(keys), np.bool_)
        meets[a.key_of[rows_a]] = True
        self.never = self.missed & ~meets

    @staticmethod
    def of(batch: pa.RecordBatch, rule: str, counts: tuple[int, int]) -> _Keys:
        keys = batch["key"]
        valid, placement = np.asarray(keys.is_valid()), find_placement(rule)
        column = column_of(keys, 0, 1)
        sides = []
        for name, count in zip("ab", counts, strict=True):
            expected = np.zeros(len(keys), np.int64)
            expected[valid] = chosen_partitions(placement, column.offsets, column.data, count)
            sides.append(_Side.of(batch[name], expected))
        return _Keys(keys, sides[0], sides[1])

    def _affected_by(self, side: _Side, other: _Side, met: Numbers) -> Numbers:
        """Return by key its records in ``side`` for which ``other`` has the key in a partition of another number."""
        elsewhere = np.diff(other.ends)[side.key_of]
        elsewhere[met] -= 1
        return side.by_key(np.where((elsewhere > 0) & self._keyed[side.key_of], side.n, 0))

    def totals(self) -> dict[str, int]:
        """Return the totals by the names of JoinSide and Join."""
        keyed, (rows_a, rows_b) = self._keyed, self._met
        n_a, n_b = (side.by_key(side.n) for side in (self._a, self._b))
        at_home = np.ones(len(keyed), np.bool_)
        found: dict[str, Any] = {}
        for name, side, n, affected in zip("ab", (self._a, self._b), (n_a, n_b), self._affected, strict=True):
            astray = (side.partition != side.expected[side.key_of]) & keyed[side.key_of]
            off = side.by_key(np.where(astray, side.n, 0))
            at_home &= off == 0
            found |= {
                f"records_{name}": n.sum(), f"keyless_{name}": n[~keyed].sum(), f"keys_{name}": ((n > 0) & keyed).sum(),
                f"off_keys_{name}": (off > 0).sum(), f"off_records_{name}": off.sum(), f"affected_{name}": affected.sum(),
                f"to_blame_{name}": (self.missed & (off > 0)).sum(),
            }  # fmt: skip
        together = keyed[self._a.key_of[rows_a]]
        found |= {
            "both": ((n_a > 0) & (n_b > 0) & keyed).sum(), "missed": self.missed.sum(), "never": self.never.sum(),
            "neither": (self.missed & at_home).sum(), "pairs": _product(n_a[keyed], n_b[keyed]),
            "meeting": _product(self._a.n[rows_a][together], self._b.n[rows_b][together]),
        }  # fmt: skip
        return {name: int(number) for name, number in found.items()}

    def missed_keys(self, kept: int) -> list[MissedKey]:
        """Return the missed keys with the most affected records, at least ``kept`` of them if there are that many."""
        rows = np.flatnonzero(self.missed)
        if len(rows) > kept:
            most = self.affected[rows]
            rows = rows[most >= np.partition(most, len(most) - kept)[len(most) - kept]]
        texts = self._keys.take(pa.array(rows)).to_pylist()
        order = heapq.nsmallest(kept, range(len(rows)), key=lambda at: (-self.affected[rows[at]], texts[at]))
        return [self._missed(int(rows[at]), texts[at]) for at in order]

    def _missed(self, row: int, key: bytes) -> MissedKey:
        expected = int(self._a.expected[row]), int(self._b.expected[row])
        never, affected = bool(self.never[row]), int(self.affected[row])
        return MissedKey(key.hex(), never, affected, expected, self._a.places(row), self._b.places(row))


def _product(one: Numbers, other: Numbers) -> int:
    """Return the sum of products, exactly."""
    largest = int(one.max(initial=0)) * int(other.max(initial=0)) * len(one)
    return int(one @ other) if largest < _INT64 else sum(map(int.__mul__, one.tolist(), other.tolist()))
