"""Would a broker start on the directory, what would it change, and which answers are wrong afterwards?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from kafka_conformance.log_inspect.directory import LogDirectory
from kafka_conformance.log_inspect.findings import UNJUDGED, Effect
from kafka_conformance.log_inspect.node_settings import NodeSettings
from kafka_conformance.log_inspect.result import FindingRow, PartitionSummary, StartVerdict
from kafka_reference.releases import Release

__all__ = ["NOT_CHECKED", "READ", "judge_start"]

READ = (
    ("meta.properties", "version, node.id, cluster.id, directory.id"),
    (".kafka_cleanshutdown", "whether it is there: without it the last segments are recovered"),
    ("names of folders", "topic-partition, -delete, -stray, -future"),
    ("recovery-point-, log-start-, replication-, cleaner-offset-checkpoint", "format, offsets within the log"),
    ("partition.metadata", "format, topic id, as in the local copy of the cluster's metadata"),
    ("leader-epoch-checkpoint", "format, as in the batches"),
    ("__cluster_metadata-0", "quorum-state, newest snapshot, log"),
    (".log", "the last batches after a clean stop, all batches of segments that are recovered"),
    (".index, .timeindex, .txnindex, .snapshot", "size, entries, as in the log"),
)
"""What a start reads, and what is checked of it."""

NOT_CHECKED = (
    "server.properties: whether its node.id and log.dirs fit, and whether its ports are free",
    "other log directories of the same node",
    "permissions of the broker's user, and free space",
    "the records of the cluster's metadata, but for topics and partitions; the newest of them may be on other nodes only",
    "remote log state: remote_log_snapshot, remote-log-index-cache, _rlmm_committed_offsets",
    "plugins and credentials that the settings name",
)
"""What a start reads and this inspection does not."""


def judge_start(
    directories: Sequence[LogDirectory],
    rows: Sequence[FindingRow],
    partitions: Sequence[PartitionSummary],
    release: Release,
    settings: NodeSettings | None,
    unknown: str = "",
) -> StartVerdict:
    """Return the answers to the three questions; ``unknown`` is what is unknown of the cluster's metadata."""
    asked = all(directory.whole for directory in directories) and any(directory.of_broker for directory in directories)
    serious = [row for row in rows if row.severity != "note"]
    stopped_by = [_line(row) for row in serious if row.effect == Effect.STOPS]
    unjudged = any(row.kind in UNJUDGED for row in rows)
    starts = "no" if stopped_by else "cannot tell" if unjudged else "yes"
    changes = set(Effect) - {Effect.STOPS, Effect.WRONG, Effect.NONE}
    wrong = [row for row in serious if row.effect == Effect.WRONG]
    return StartVerdict(
        kafka=str(release), starts=starts if asked else "not asked", stopped_by=stopped_by if asked else [],
        changes=[*_shortened(partitions), *_grouped(row for row in serious if row.effect in changes)],
        wrong=[*(() if starts == "no" else (*_set_aside(serious), *_gone(serious))), *_grouped(wrong)],
        read=[f"{what}: {how}" for what, how in READ],
        not_checked=[*filter(None, [unknown]), *_not_checked(directories, settings)],
    )  # fmt: skip


def _not_checked(directories: Sequence[LogDirectory], settings: NodeSettings | None) -> Iterator[str]:
    first, others, *rest = NOT_CHECKED
    yield first if settings is None else "server.properties, but for node.id, process.roles, log.dirs and the voters"
    if settings is None and len(directories) == 1:
        yield others
    yield from rest


def _shortened(partitions: Sequence[PartitionSummary]) -> Iterator[str]:
    for each in partitions:
        if 0 < each.end_after_start < each.end:
            yield (f"{each.path}: the log ends before offset {each.end_after_start} after the start; "
                   f"offsets {each.end_after_start} to {each.end - 1} are gone")  # fmt: skip


def _set_aside(rows: Iterable[FindingRow]) -> Iterator[str]:
    """Yield a line for each partition that may be set aside, which its clients then find empty, and directory."""
    for directory in dict.fromkeys(row.directory for row in rows if row.effect == Effect.OFFLINE):
        yield f"{directory}: offline; its partitions have no leader, or are empty in another log directory"
    for folder in dict.fromkeys(row.folder for row in rows if row.effect == Effect.SETS_ASIDE):
        yield f"{folder}: empty for clients, if it is set aside"
    for folder in dict.fromkeys(row.folder for row in rows if row.effect == Effect.DELETES_PARTITION):
        yield f"{folder}: empty for clients, if it is deleted"


def _gone(rows: Iterable[FindingRow]) -> Iterator[str]:
    """Yield a line for each segment that a start deletes since its ``.log`` is gone."""
    lost = ((row.folder, row.lost) for row in rows if row.effect == Effect.DELETES and row.lost is not None)
    for folder, each in dict.fromkeys(lost):
        last = "an unknown one" if each.last is None else each.last
        yield f"{folder}: offsets {each.first} to {last} are gone"


def _line(row: FindingRow) -> str:
    return f"{row.path}: {row.kind}, {row.what}"


def _grouped(rows: Iterable[FindingRow]) -> Iterator[str]:
    """Yield a line for each effect, kind and folder."""
    groups: dict[tuple[str, str, str], list[FindingRow]] = {}
    for row in rows:
        groups.setdefault((row.effect, row.kind, row.folder), []).append(row)
    for (effect, kind, _), found in groups.items():
        count = sum(1 + row.more for row in found)
        yield f"{effect}: {found[0].path}: {kind}, {found[0].what}" + (f"; {count - 1:,} more" if count > 1 else "")
