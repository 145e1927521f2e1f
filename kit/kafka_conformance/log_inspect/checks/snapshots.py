"""Producer snapshots: one for the first offset of every segment but the first, each readable, and as the log says.

Since 2.8.0 (KAFKA-9393) a broker keeps the snapshot of every segment; before that the newest two. A segment at or before
the log start offset needs none.

Java source mirrored: ``ProducerStateManager``.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping

from crc32c import crc32c

from kafka_conformance.log_inspect.checks.context import Context
from kafka_conformance.log_inspect.checks.producers import ProducerState
from kafka_conformance.log_inspect.directory import small_file
from kafka_conformance.log_inspect.findings import Severity

__all__ = ["check_snapshot", "check_snapshots_exist"]

_HEAD, _ENTRY = struct.Struct(">hIi"), struct.Struct(">qhiqiqiq")
_LARGEST = 128 * 2**20


def check_snapshots_exist(context: Context, *, producers: bool) -> None:
    """Report segments without a snapshot; ``producers`` tells whether the log has batches of magic 2."""
    segments = [segment.base_offset for segment in context.partition.segments]
    there = set(context.partition.snapshots)
    if not segments:
        return
    first = max(segments[0], context.log_start_offset or 0)
    oldest = min(there, default=None)
    for offset in segments[1:]:
        path = context.partition.snapshot_path(offset)
        if offset in there or offset <= first or path.exists():  # a broker writes it after it has begun the segment
            continue
        before_any = oldest is None or offset < oldest
        legal = (before_any and offset != segments[-1]) or not producers
        context.findings.add(
            "snapshot-missing", context.name(path), f"the segment of offset {offset} "
            "has no snapshot" + (", as brokers before 2.8.0 leave it" if legal else ""), offset=offset,
            severity=Severity.SUSPICIOUS if legal else None, loss=context.losses.lost_snapshot(offset),
        )  # fmt: skip


def check_snapshot(context: Context, offset: int, states: Mapping[int, ProducerState]) -> None:
    """Read the snapshot at an offset and hold it against the producers by then that are known."""
    path = context.partition.snapshot_path(offset)
    name = context.name(path)
    try:
        data = small_file(path, _LARGEST)
    except FileNotFoundError:  # a running broker deletes snapshots
        return
    except OSError as error:
        context.findings.add("unreadable", name, str(error.strerror))
        return
    if why := _corrupt(data):
        context.findings.add("snapshot-corrupt", name, why, position=0, size=len(data), offset=offset,
                             loss=context.losses.lost_snapshot(offset))  # fmt: skip
        return
    context.losses.good_snapshot(offset)
    for place in range(_HEAD.size, len(data), _ENTRY.size):
        fields = _ENTRY.unpack_from(data, place)
        if why := _contradiction(fields, offset, states.get(fields[0])):
            context.findings.add("snapshot-wrong", name, f"producer {fields[0]}: {why}", position=place,
                                 size=_ENTRY.size, offset=offset)  # fmt: skip


def _corrupt(data: bytes) -> str:
    if len(data) < _HEAD.size:
        return f"{len(data)} bytes are too few"
    version, crc, count = _HEAD.unpack_from(data)
    if version != 1:
        return f"version {version} is not 1"
    if crc32c(memoryview(data)[6:]) != crc:
        return f"the checksum is not {crc:#010x}"
    if count < 0 or _HEAD.size + count * _ENTRY.size != len(data):
        return f"{count} entries are announced in {len(data):,} bytes"
    return ""


def _contradiction(fields: tuple[int, ...], snapshot: int, state: ProducerState | None) -> str:
    _, epoch, sequence, offset = fields[:4]
    if offset >= snapshot:
        return f"its last offset {offset} is after the snapshot's {snapshot}"
    if state is None:
        return ""
    if epoch != state.epoch:
        return f"epoch {epoch}, in the log {state.epoch}"
    if state.data_gaps != state.gaps:  # its last marker is left, and batches before it may be missing
        return ""
    if sequence >= 0 and state.sequence >= 0 and sequence != state.sequence:
        return f"last sequence {sequence}, in the log {state.sequence}"
    if offset >= 0 and state.offset >= 0 and sequence >= 0 and offset != state.offset:
        return f"last offset {offset}, in the log {state.offset}"
    return ""
