"""Snapshot files that no broker writes, with the checksum that belongs to them: only their content is strange.

A release may read such a file or hold it to be corrupt; what it reads decides about the batches that follow.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import NamedTuple

from kafka_reference.java.crc32c import crc32c

__all__ = ["SnapshotEntry", "snapshot_of", "strange_files"]

_ENTRY = struct.Struct(">qhiqiqiq")
_INT16, _INT32, _INT64 = ((-(2**bits), 2**bits - 1) for bits in (15, 31, 63))


class SnapshotEntry(NamedTuple):
    """A producer in a snapshot: its fields in their order; -1 stands for no offset, sequence or transaction."""

    id: int
    epoch: int
    last_sequence: int
    last_offset: int
    offset_delta: int
    timestamp: int
    coordinator_epoch: int
    transaction: int


_EXTREMES: Mapping[str, tuple[int, ...]] = {
    "id": (-1, -2, -(2**31) - 1, 2**40 - 1, *_INT64),
    "epoch": (-1, -2, *_INT16),
    "last_sequence": (-1, -2, *_INT32),
    "last_offset": (-1, -2, 0, *_INT64),
    "offset_delta": (-1, 0, 1, *_INT32),
    "timestamp": (-1, -2, *_INT64),
    "coordinator_epoch": (-2, *_INT32),
    "transaction": (-2, 0, 3, *_INT64),
}


def snapshot_of(
    entries: Sequence[SnapshotEntry], *, version: int = 1, count: int | None = None, cut: int = 0, rest: bytes = b""
) -> str:
    """Return the hex of a file with these entries, without its last ``cut`` bytes; ``count`` is the announced number."""
    packed = b"".join(_ENTRY.pack(*entry) for entry in entries)
    body = struct.pack(">i", len(entries) if count is None else count) + packed[: len(packed) - cut] + rest
    return (struct.pack(">hI", version, crc32c(body)) + body).hex()


def strange_files(entries: Sequence[SnapshotEntry]) -> Iterator[str]:
    """Yield files of these entries, two or more, with extreme fields of the first one, repeated, unordered or cut."""
    first, second, *_ = entries
    others = entries[1:]
    for name, values in _EXTREMES.items():
        for value in values:
            yield snapshot_of((first._replace(**{name: value}), *others))
    for name in ("last_sequence", "last_offset"):
        for value, delta in product(_EXTREMES[name], _EXTREMES["offset_delta"]):
            yield snapshot_of((first._replace(**{name: value, "offset_delta": delta}), *others))
    bumped = first._replace(epoch=first.epoch + 1, last_sequence=first.last_sequence - 1)
    started, also_started = first._replace(transaction=1), second._replace(transaction=1)
    yield snapshot_of((first, bumped, *others))
    yield snapshot_of((bumped, *others, first))
    yield snapshot_of((started, *others, first))
    yield snapshot_of((first, *others, started, first._replace(transaction=2)))
    yield snapshot_of((started, also_started))
    yield snapshot_of((also_started, started))
    yield snapshot_of(tuple(reversed(entries)))
    yield snapshot_of([first._replace(id=-number) for number in range(1, 8)])
    yield snapshot_of([first._replace(id=number) for number in (-1, -17, 2**32 - 1, -(2**31) - 1, 0, 16, -(2**40))])
    for version in (0, 2, *_INT16):
        yield snapshot_of(entries, version=version)
    for count in (-1, 0, 1, len(entries) - 1, len(entries) + 1, *_INT32):
        yield snapshot_of(entries, count=count)
    for cut in (1, 8, _ENTRY.size, _ENTRY.size + 1):
        yield snapshot_of(entries, cut=cut)
    for rest in (b"\0", bytes(_ENTRY.size)):
        yield snapshot_of(entries, rest=rest)
