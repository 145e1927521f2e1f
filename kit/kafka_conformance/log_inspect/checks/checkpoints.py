"""Checkpoints of the log directory: an offset per partition, each within its log."""

from __future__ import annotations

import re
from base64 import urlsafe_b64decode
from collections.abc import Mapping

from kafka_conformance.core.java_text import lines_of, parse_int, parse_long, split
from kafka_conformance.log_inspect.directory import CHECKPOINTS, LogDirectory, checkpoint_lines, small_text
from kafka_conformance.log_inspect.findings import Effect, Findings, Loss, Severity

__all__ = [
    "HIGH_WATERMARK", "LOG_START", "RECOVERY_POINT", "check_ends", "check_partition_metadata", "read_checkpoints",
    "topic_id",
]  # fmt: skip

LOG_START, RECOVERY_POINT = "log-start-offset-checkpoint", "recovery-point-offset-checkpoint"
HIGH_WATERMARK = "replication-offset-checkpoint"
_MEANINGS = {
    LOG_START: "log start offset",
    RECOVERY_POINT: "recovery point",
    HIGH_WATERMARK: "high watermark",
    "cleaner-offset-checkpoint": "cleaner's checkpoint",
}

_COLON = re.compile(r":\s+", re.ASCII)
_UUID = re.compile(r"[A-Za-z0-9_-]{22}(==)?", re.ASCII)

Checkpoints = Mapping[str, Mapping[str, int]]


def read_checkpoints(directory: LogDirectory, findings: Findings, *, spare: bool = False) -> Checkpoints:
    """Return the offsets by file and partition. What cannot be read is a finding.

    ``spare``: a broker starts without this directory, since the cluster's metadata is in another one.
    """
    found: dict[str, dict[str, int]] = {}
    for name in CHECKPOINTS:
        offsets: dict[str, int] = {}
        folder = directory.root if directory.whole else directory.root.resolve().parent
        try:
            for words in checkpoint_lines(small_text(folder / name)):
                if len(words) != 3:
                    raise ValueError(f"{' '.join(words)[:60]!r} is not a topic, partition and offset")
                offsets[f"{words[0]}-{parse_int(words[1])}"] = parse_long(words[2])
        except FileNotFoundError:
            continue
        except (OSError, ValueError) as error:
            if directory.whole:
                what = str(error.strerror) if isinstance(error, OSError) else str(error)
                findings.add("unreadable" if isinstance(error, OSError) else "checkpoint-corrupt", name, what,
                             effect=Effect.OFFLINE if spare and isinstance(error, ValueError) else None)  # fmt: skip
            continue
        found[name] = offsets
    return found


def check_ends(checkpoints: Checkpoints, partition: str, start: int, end: int, findings: Findings) -> None:
    """Report checkpoints after the end of a partition's log; ``start`` is its first offset."""
    for name, offsets in checkpoints.items():
        offset = offsets.get(partition, 0)
        if offset > end:
            deletes = name == LOG_START
            findings.add("checkpoint-past-end", name, f"the {_MEANINGS[name]} of {partition} is {offset}; the log ends "
                         f"before offset {end}" + (": a broker deletes all segments" if deletes else ""), offset=offset,
                         severity=Severity.BROKEN if deletes else None,
                         effect=Effect.TRUNCATES if deletes else None,
                         loss=Loss(start, end - 1) if deletes and end > start else None)  # fmt: skip


def topic_id(text: str) -> str:
    """Return the topic id in ``partition.metadata``, since 2.8.0. Raises ValueError for a file at which a broker throws.

    The file has ``version: 0`` and ``topic_id:`` with 16 bytes in Base64.

    Java source mirrored: ``PartitionMetadataReadBuffer``, which reads the values and not their names.
    """
    version, topic = (split(_COLON, line) for line in [*lines_of(text), "", ""][:2])
    if len(version) != 2 or parse_int(version[1]) < 0:
        raise ValueError("its first line has no version such as 'version: 0'")
    if len(topic) != 2 or not _UUID.fullmatch(topic[1]) or not any(urlsafe_b64decode(topic[1][:22] + "==")):
        raise ValueError("its second line has no topic id, 16 bytes in Base64 that are not all 0")
    return topic[1][:22]


def check_partition_metadata(directory: LogDirectory, findings: Findings) -> None:
    """Check that ``partition.metadata`` can be read where it is."""
    for partition in directory.partitions:
        path = partition.folder / "partition.metadata"
        try:
            topic_id(small_text(path))
        except FileNotFoundError:
            continue
        except OSError as error:
            findings.add("unreadable", directory.relative(path), str(error.strerror))
        except ValueError as error:
            findings.add("partition-metadata-corrupt", directory.relative(path), str(error))
