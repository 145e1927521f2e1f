"""Edit the files of a partition, and inspect it."""

from __future__ import annotations

import struct
from collections.abc import Callable
from pathlib import Path

from crc32c import crc32c
from log_partitions import Log

from kafka_conformance.log_inspect.directory import open_directory
from kafka_conformance.log_inspect.inspection import inspect
from kafka_conformance.log_inspect.result import Inspection

__all__ = ["bases", "change", "file", "flip", "kinds", "rewrite", "seen"]


def seen(folder: Path, **how: bool | str) -> Inspection:
    return inspect(open_directory(folder), **how)  # type: ignore[arg-type]


def kinds(found: Inspection, severity: str = "broken") -> set[str]:
    return {row.kind for row in found.findings if row.severity == severity}


def change(path: Path, at: int, new: bytes) -> None:
    whole = bytearray(path.read_bytes())
    at %= len(whole)
    whole[at : at + len(new)] = new
    path.write_bytes(whole)


def flip(path: Path, bit: int) -> None:
    change(path, bit // 8, bytes([path.read_bytes()[bit // 8] ^ 1 << bit % 8]))


def rewrite(path: Path, position: int, edit: Callable[[bytearray], None]) -> None:
    """Edit the bytes of a batch, and make its checksum right again."""
    whole = bytearray(path.read_bytes())
    size = struct.unpack_from(">i", whole, position + 8)[0] + 12
    batch = whole[position : position + size]
    edit(batch)
    batch[17:21] = struct.pack(">I", crc32c(bytes(batch[21:])))
    whole[position : position + size] = batch
    path.write_bytes(whole)


def file(log: Log, base: int, suffix: str) -> Path:
    return log.folder / f"{base:020}.{suffix}"


def bases(log: Log) -> list[int]:
    return sorted({base for base, _, _ in log.positions})
