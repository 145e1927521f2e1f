"""A cassette: the broker side of a script, recorded once from a real broker, as a file.

A gzip file of JSON lines: first :class:`CassetteHead`, then each frame that passed between the proxy and the broker, in
order and with its bytes, as a trace has them. What the script changes is not in it: the proxy changes it again.
"""

from __future__ import annotations

import gzip
import hashlib
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec

from kafka_conformance.core.errors import BadInput, OffScript
from kafka_conformance.core.files import exists, read_bytes, write_whole
from kafka_conformance.wire.client_gate.log import LogRecord
from kafka_conformance.wire.client_gate.script import Script
from kafka_conformance.wire.client_gate.workload import Workload
from kafka_conformance.wire.recording.trace import Frame

__all__ = [
    "FORMAT",
    "Cassette",
    "CassetteHead",
    "cassette_path",
    "digest",
    "read_cassette",
    "write_cassette",
]

FORMAT: Final = 1
_LARGEST: Final = 32 * 2**20
_LARGEST_UNPACKED: Final = 256 * 2**20
_GZIP: Final = 31  # what zlib calls it


class CassetteHead(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="line", tag="cassette"):
    """The first line: its format, the kit that wrote it, the broker, and when the recording began (ms, UTC).

    ``workload`` is a digest of what the client was given, which is drawn from ``seed``; the limit is kept because clients
    send timeouts that depend on it. ``log`` and ``committed`` are what the broker had stored at the end; ``log`` is null
    where the adapter refused the script. ``verdict`` is that of the recording.
    """

    format: int
    kit: str
    broker: str
    started_ms: int
    script: Script
    seed: int
    workload: str
    limit_s: float
    topic: str
    client: str
    verdict: str
    frames: int
    log: list[LogRecord] | None = None
    committed: dict[int, int] = {}


@dataclass(frozen=True, slots=True)
class Cassette:
    """A cassette that was read."""

    head: CassetteHead
    frames: Sequence[Frame]

    def check(self, script: Script, workload: Workload) -> None:
        """Raise OffScript if it was recorded for another version of the script or of its workload."""
        if self.head.script != script or self.head.workload != digest(workload):
            what = "script" if self.head.script != script else "workload"
            raise OffScript(f"the cassette is void: it is of another version of the {what}; record it again")


def cassette_path(folder: Path, script: Script) -> Path:
    """Return where the cassette of a script is. Raises BadInput for an id that leads out of the folder."""
    if any(part in {"", ".", ".."} for part in script.id.split("/")):
        raise BadInput(f"script {script.id!r} has no cassette: its id is not a path")
    return folder / f"{script.id}.ndjson.gz"


def digest(workload: Workload) -> str:
    """Return the SHA-256 of what a client is given, and of the records that are stored before."""
    return hashlib.sha256(msgspec.json.encode([workload.lines, workload.records])).hexdigest()


def write_cassette(path: Path, head: CassetteHead, frames: Sequence[Frame]) -> None:
    """Write a cassette, whole or not at all. Raises KitError."""
    lines = b"".join(msgspec.json.encode(line) + b"\n" for line in (head, *frames))
    write_whole(path, gzip.compress(lines, mtime=0))


def read_cassette(path: Path) -> Cassette | None:
    """Return a cassette, None if there is none. Raises BadInput for a file that is not one, or not whole."""
    if not exists(path):
        return None
    unpacking, data = zlib.decompressobj(_GZIP), read_bytes(path, _LARGEST)
    try:
        lines = unpacking.decompress(data, _LARGEST_UNPACKED).splitlines()
        if unpacking.unconsumed_tail:
            raise BadInput(f"{path} is not a cassette: it has more than {_LARGEST_UNPACKED:,} bytes")
        if not unpacking.eof or unpacking.unused_data or not lines:
            raise BadInput(f"{path} is not a whole cassette: it was cut off, or something follows it")
        head = msgspec.json.decode(lines[0], type=_Format)
        if head.format != FORMAT:
            raise BadInput(f"{path} has format {head.format} and not {FORMAT}: record the cassette again")
        found = Cassette(
            msgspec.json.decode(lines[0], type=CassetteHead), list(map(msgspec.json.Decoder(Frame).decode, lines[1:]))
        )
    except (zlib.error, msgspec.DecodeError, RecursionError) as error:
        raise BadInput(f"{path} is not a cassette: {error}") from error
    if len(found.frames) != found.head.frames:
        raise BadInput(
            f"{path} is not a whole cassette: {len(found.frames):,} of {found.head.frames:,} frames are there"
        )
    return found


class _Format(msgspec.Struct, tag_field="line", tag="cassette"):
    """The beginning of a head of any format."""

    format: int
