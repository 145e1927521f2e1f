"""Judge one block of a partition's records: the function that a scan calls for every block, on any machine.

A block holds records of one partition in the order of their offsets. Its result is a small summary, which is added to those
of other blocks, and columns with one row per record. A block is judged independently, so the result depends neither on the
order nor on the machine. The placements present in a sample of the whole topic (``presence.present``) can be given as
``known``, which makes small blocks as informative as large ones.

An empty key is a key to Java and to most clients. librdkafka's default treats it as no key and places it at random, so it
explains such a record in any partition; ``empty`` counts them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from kafka_conformance.audit.attribution.attribution import (
    EITHER_AT,
    KEYLESS_AT,
    UNEXPLAINED_AT,
    attribute,
    bits_of,
    runs,
    without_few_keys,
)
from kafka_conformance.audit.attribution.candidates import registered
from kafka_conformance.audit.attribution.distinct_keys import KeysSeen, keys_seen
from kafka_conformance.audit.attribution.explanation import KeyColumn, Partitions
from kafka_conformance.audit.attribution.placements import PLACEMENTS
from kafka_conformance.audit.attribution.presence import present
from kafka_conformance.audit.attribution.retraction import without_absent, without_foreign
from kafka_conformance.audit.result import (
    EITHER,
    KEYLESS,
    NOTHING_FOREIGN,
    UNEXPLAINED,
    AttributedRun,
    Foreign,
    Place,
    Placed,
)

__all__ = ["JOINT", "Block", "BlockSummary", "Judged", "attribution_names", "column_of", "judge"]


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """Records of one partition by offset. A missing timestamp is -1 in ``timestamps_ms``, a missing key null in ``keys``."""

    partition: int
    offsets: NDArray[np.int64]
    timestamps_ms: NDArray[np.int64]
    keys: Any
    """A pyarrow BinaryArray or LargeBinaryArray."""


class BlockSummary(msgspec.Struct, frozen=True):
    """The summary of a block, to be added to those of others. A placement is named by ``str(Placed)``.

    Offsets and times are None in a block without records; times also if no record has one.
    """

    partition: int
    first_offset: int | None
    last_offset: int | None
    first_ms: int | None
    last_ms: int | None
    records: int
    keyed: int
    keyless: int
    empty: int
    """Records whose key is empty; they are among ``keyed``."""
    offending: int
    """Records that the expected placement would put elsewhere."""
    skipped: int
    """Offsets between the first and the last that no record has: compacted, or markers of transactions."""
    present: tuple[Placed, ...]
    explains: dict[str, int]
    """Records that each placement explains: the present and the known ones, and, if masks were computed, all PLACEMENTS with
    the current partition count."""
    alone: dict[str, int]
    """Records that no other present placement explains."""
    attributed: dict[str, int]
    """Records by the placement they are attributed to, UNEXPLAINED and EITHER included."""
    first: dict[str, Place]
    last: dict[str, Place]
    """The earliest and the latest record of each attribution."""
    runs: tuple[AttributedRun, ...]
    sets: dict[str, int] = {}
    """Keyed records by the present placements that explain them, joined by JOINT; "" for none."""
    effective: float = 0.0
    """The number of keys of equal weight that would be as much evidence as these records (Kish's effective size)."""


JOINT = "|"


@dataclass(frozen=True, slots=True, eq=False)
class Judged:
    """The result for a block. The columns have a row for each record."""

    summary: BlockSummary
    masks: NDArray[np.uint32] | None
    """By record, which of PLACEMENTS explain its key among the current partitions; 0 for a record without a key. None if
    no masks were computed."""
    attributed: NDArray[np.int16]
    """By record the index into ``present``, or UNEXPLAINED_AT, EITHER_AT, KEYLESS_AT of ``attribution``."""
    present: tuple[Placed, ...]
    offending: NDArray[np.bool_]
    keys_seen: KeysSeen
    """The distinct keys of the block."""


def attribution_names(present: Sequence[Placed]) -> dict[int, str]:
    """Return the names of the codes in :attr:`Judged.attributed`."""
    others = {UNEXPLAINED_AT: UNEXPLAINED, EITHER_AT: EITHER, KEYLESS_AT: KEYLESS}
    return others | {at: str(placed) for at, placed in enumerate(present)}


def judge(
    block: Block,
    partitions: int,
    expected: Placed,
    known: tuple[Placed, ...] | None = None,
    *,
    foreign: Foreign = NOTHING_FOREIGN,
    whole: bool = True,
    doubtful: bool = False,
    weakest: bool = True,
) -> Judged:
    """Judge a block of a topic with this number of partitions.

    ``known`` are the placements that a sample of the topic shows, None if there is no sample; ``foreign`` is its finding
    about the records that these do not explain.

    ``doubtful``: the topic has too few keys to tell placements apart (:mod:`.sufficiency`). No placement is then present,
    and records that some placement explains are attributed to EITHER. ``weakest``: :func:`~.presence.present`.

    Without ``whole``, a block in which the expected placement explains every key takes half the time: masks are not
    computed, and records that other placements explain by chance are not counted.

    Raises ValueError for columns of different lengths, offsets that do not ascend, or a partition outside the topic;
    TypeError for keys that are not a column of bytes.
    """
    _check(block, partitions)
    valid = np.asarray(block.keys.is_valid())
    keys = column_of(block.keys, block.partition, partitions)
    keyed_offsets, keyed_ms = block.offsets, block.timestamps_ms
    if keys.size < valid.size:
        keyed_offsets, keyed_ms = keyed_offsets[valid], keyed_ms[valid]
    right = keys.by(expected) if keys.size else np.zeros(0, np.bool_)
    if whole and keys.size:
        _ = keys.masks
    members = () if doubtful else present(keys, expected, known, weakest=weakest)
    by_member = [keys.by(placed) for placed in members]
    bits = bits_of(by_member, keys.size)
    seen = keys_seen(keys.ids, keyed_offsets, keyed_ms) if keys.size else _NO_KEYS
    attributed = np.zeros(0, np.int16)
    if keys.size and doubtful:
        fits = keys.masks != 0
        for candidate in registered():
            fits |= keys.by(Placed(candidate.name, partitions))
        attributed = np.where(fits, np.int16(EITHER_AT), np.int16(UNEXPLAINED_AT))
    elif keys.size:
        attributed = _attributed(keys, members, bits, foreign)
    explains = _explains(keys, (expected, *members, *(known or ())))
    weights = seen.records.astype(np.float64)
    effective = float(weights.sum() ** 2 / (weights**2).sum()) if weights.size else 0.0
    summary = _summary(block, keys, members, bits, attributed, right, explains, keyed_offsets, keyed_ms, effective)
    masks = keys.masks if "masks" in keys.__dict__ else None
    return Judged(
        summary,
        masks if masks is None else _spread(masks, valid, np.uint32(0)),
        _spread(attributed, valid, np.int16(KEYLESS_AT)),
        members,
        _spread(~right, valid, np.bool_(False)),
        seen,
    )


def _attributed(
    keys: KeyColumn, members: tuple[Placed, ...], bits: NDArray[np.uint32], foreign: Foreign
) -> NDArray[np.int16]:
    """Attribute records, and take back what few keys, absent placements or foreign producers leave open."""
    attributed = without_few_keys(attribute(bits, members, keys.ids), bits, members, keys.ids)
    attributed = without_absent(attributed, bits, members, keys.ids)
    return without_foreign(attributed, members, keys.ids, keys.explained_by(foreign.rivals), foreign)


_NO_KEYS = KeysSeen(np.empty((0, 2), np.uint64), np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.uint32))


def _check(block: Block, partitions: int) -> None:
    if not isinstance(block.keys, pa.BinaryArray | pa.LargeBinaryArray):
        raise TypeError(f"keys must be a pyarrow BinaryArray or LargeBinaryArray, not {type(block.keys).__name__}")
    if not len(block.keys) == len(block.offsets) == len(block.timestamps_ms):
        raise ValueError(
            f"a block needs as many keys as offsets and timestamps, not {len(block.keys)}, {len(block.offsets)} and "
            f"{len(block.timestamps_ms)}"
        )
    if not 0 <= block.partition < partitions:
        raise ValueError(
            f"there are records in partition {block.partition}, but the topic has {partitions}, from 0 to {partitions - 1}: "
            "it was recreated with fewer, or the given partition count is wrong"
        )
    if (wrong := np.flatnonzero(block.offsets[1:] <= block.offsets[:-1])).size:
        before, offset = block.offsets[wrong[0]], block.offsets[wrong[0] + 1]
        what = "occurs twice" if before == offset else f"follows {before}"
        raise ValueError(f"the offsets of a block of partition {block.partition} do not ascend: {offset} {what}")


def column_of(keys: Any, partition: Partitions, partitions: int) -> KeyColumn:
    """Return the non-null keys as a column; without nulls it shares Arrow's memory."""
    keys = keys.drop_null() if keys.null_count else keys
    width: Any = np.int32 if isinstance(keys, pa.BinaryArray) else np.int64
    if not len(keys):
        return KeyColumn(np.zeros(1, np.int32), np.empty(0, np.uint8), partition, partitions)
    *_, offsets, data = keys.buffers()
    content = np.frombuffer(data, np.uint8) if data else np.empty(0, np.uint8)
    at = np.frombuffer(offsets, width, len(keys) + 1, keys.offset * np.dtype(width).itemsize)
    return KeyColumn(at, content, partition, partitions)


def _spread(values: NDArray[Any], valid: NDArray[np.bool_], otherwise: Any) -> NDArray[Any]:
    """Return ``values`` of the records with a key, and ``otherwise`` for those without."""
    if values.size == valid.size:
        return values
    out = np.full(valid.size, otherwise, values.dtype)
    out[valid] = values
    return out


def _summary(
    block: Block,
    keys: KeyColumn,
    members: tuple[Placed, ...],
    bits: NDArray[np.uint32],
    attributed: NDArray[np.int16],
    right: NDArray[np.bool_],
    explains: dict[str, int],
    offsets: NDArray[np.int64],
    timestamps_ms: NDArray[np.int64],
    effective: float,
) -> BlockSummary:
    records = len(block.offsets)
    times = block.timestamps_ms[block.timestamps_ms >= 0]
    counts, first, last = _attributions(block.partition, members, attributed, offsets, timestamps_ms)
    return BlockSummary(
        partition=block.partition,
        first_offset=int(block.offsets[0]) if records else None,
        last_offset=int(block.offsets[-1]) if records else None,
        first_ms=int(times.min()) if times.size else None,
        last_ms=int(times.max()) if times.size else None,
        records=records,
        keyed=keys.size,
        keyless=records - keys.size,
        empty=int(np.count_nonzero(keys.offsets[1:] == keys.offsets[:-1])),
        offending=int(np.count_nonzero(~right)),
        skipped=int(block.offsets[-1] - block.offsets[0]) + 1 - records if records else 0,
        present=members,
        explains=explains,
        alone={str(placed): int(np.count_nonzero(bits == np.uint32(1 << at))) for at, placed in enumerate(members)},
        attributed=counts,
        first=first,
        last=last,
        sets=_sets(members, bits),
        effective=effective,
        runs=()
        if not members and (attributed == EITHER_AT).any()
        else runs(attributed, bits, members, block.partition, offsets, timestamps_ms),
    )


def _sets(members: tuple[Placed, ...], bits: NDArray[np.uint32]) -> dict[str, int]:
    counts = np.bincount(bits)  # of at most eight members; faster than sorting
    return {
        JOINT.join(str(placed) for at, placed in enumerate(members) if mask >> at & 1): int(counts[mask])
        for mask in np.flatnonzero(counts).tolist()
    }


def _explains(keys: KeyColumn, named: tuple[Placed, ...]) -> dict[str, int]:
    out = {str(placed): int(np.count_nonzero(keys.by(placed))) for placed in named} if keys.size else {}
    if keys.size and "masks" in keys.__dict__:
        for slug in (*(each.slug for each in PLACEMENTS), *(each.name for each in registered())):
            placed = Placed(slug, keys.count)
            if by := int(np.count_nonzero(keys.by(placed))):
                out.setdefault(str(placed), by)
    return out


def _attributions(
    partition: int,
    members: tuple[Placed, ...],
    attributed: NDArray[np.int16],
    offsets: NDArray[np.int64],
    timestamps_ms: NDArray[np.int64],
) -> tuple[dict[str, int], dict[str, Place], dict[str, Place]]:
    counts: dict[str, int] = {}
    first: dict[str, Place] = {}
    last: dict[str, Place] = {}
    for at, name in attribution_names(members).items():
        rows = np.flatnonzero(attributed == at)
        if not rows.size:
            continue
        times = timestamps_ms[rows]
        earliest = rows[int(times.argmin())]
        latest = rows[times.size - 1 - int(times[::-1].argmax())]
        counts[name] = rows.size
        first[name] = Place(int(timestamps_ms[earliest]), partition, int(offsets[earliest]))
        last[name] = Place(int(timestamps_ms[latest]), partition, int(offsets[latest]))
    return counts, first, last
