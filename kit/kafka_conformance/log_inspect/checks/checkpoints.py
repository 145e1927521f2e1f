"""Checkpoints of the log directory: an offset per partition, each within its log."""

from __future__ import annotations

from collections.abc import Mapping

from kafka_conformance.log_inspect.directory import CHECKPOINTS, LogDirectory, checkpoint_lines, small_text
from kafka_conformance.log_inspect.findings import Findings

__all__ = ["check_ends", "check_partition_metadata", "read_checkpoints"]

_MEANINGS = {
    "log-start-offset-checkpoint": "log start offset",
    "recovery-point-offset-checkpoint": "recovery point",
    "replication-offset-checkpoint": "high watermark",
    "cleaner-offset-checkpoint": "cleaner's checkpoint",
}

Checkpoints = Mapping[str, Mapping[str, int]]


def read_checkpoints(directory: LogDirectory, findings: Findings) -> Checkpoints:
    """Return the offsets by file and partition. What cannot be read is a finding."""
    found: dict[str, dict[str, int]] = {}
    for name in CHECKPOINTS:
        offsets: dict[str, int] = {}
        folder = directory.root if directory.whole else directory.root.resolve().parent
        try:
            for words in checkpoint_lines(small_text(folder / name)):
                if len(words) != 3:
                    raise ValueError(f"{' '.join(words)[:60]!r} is no topic, partition and offset")
                offsets[f"{words[0]}-{int(words[1])}"] = int(words[2])
        except FileNotFoundError:
            continue
        except (OSError, ValueError) as error:
            if directory.whole:
                what = str(error.strerror) if isinstance(error, OSError) else str(error)
                findings.add("unreadable" if isinstance(error, OSError) else "checkpoint-corrupt", name, what)
            continue
        found[name] = offsets
    return found


def check_ends(checkpoints: Checkpoints, partition: str, end: int, findings: Findings) -> None:
    """Report checkpoints after the end of a partition's log."""
    for name, offsets in checkpoints.items():
        offset = offsets.get(partition, 0)
        if offset > end:
            findings.add("checkpoint-past-end", name, f"the {_MEANINGS[name]} of {partition} is {offset}; the log ends "
                         f"before offset {end}", offset=offset)  # fmt: skip


def check_partition_metadata(directory: LogDirectory, findings: Findings) -> None:
    """Check partition.metadata, since 2.8.0: ``version: 0`` and ``topic_id:`` with 22 characters."""
    for partition in directory.partitions:
        path = partition.folder / "partition.metadata"
        try:
            lines = small_text(path).split("\n")
        except FileNotFoundError:
            continue
        except OSError as error:
            findings.add("unreadable", directory.relative(path), str(error.strerror))
            continue
        except ValueError as error:
            findings.add("partition-metadata-corrupt", directory.relative(path), str(error))
            continue
        named = [line.partition(":")[::2] for line in lines if line]
        fields = {name.strip(): value.strip() for name, value in named}
        if fields.get("version") != "0" or len(fields.get("topic_id", "")) != 22:
            findings.add("partition-metadata-corrupt", directory.relative(path), "it has no version 0 with a topic id")
