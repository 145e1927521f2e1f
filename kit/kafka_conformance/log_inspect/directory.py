"""What is in a log directory: partitions, their segments and other files, checkpoints, and what brokers leave behind.

Names, since 0.11.0: a partition is a folder ``topic-N``. ``topic-N.<hex>-delete``, ``-future`` and ``-stray`` are
partitions that are deleted, moved between disks, or not assigned to this broker any more. A segment is a set of files
named after its first offset, with 20 digits. ``.deleted``, ``.cleaned`` and ``.swap`` end the names of files that a
deletion or compaction had not finished with.
"""

from __future__ import annotations

import contextlib
import errno
import io
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import cast

from kafka_conformance.core.errors import BadInput
from kafka_conformance.core.files import open_regular, read_bytes, reading
from kafka_conformance.core.java_text import lines_of, parse_int, parse_long, split
from kafka_conformance.core.sanitize import harmless

__all__ = [
    "LARGEST_FILE", "METADATA", "LogDirectory", "Partition", "SegmentFiles", "checkpoint_lines", "open_directory",
    "open_file", "open_segment", "small_file", "small_text",
]  # fmt: skip

LARGEST_FILE = 2**31 - 1
"""The most bytes of a ``.log`` or an index: Kafka's positions in them have 32 bits, and it does not open a larger one."""

_SEGMENT_FILE = re.compile(r"([0-9]{20})\.(log|index|timeindex|txnindex|snapshot)")
_SUFFIXES = (".log", ".index", ".timeindex", ".txnindex", ".snapshot")
_LEFTOVER_FILE = re.compile(r"[0-9]{20}(-[0-9]{10})?\.[a-z.]*(deleted|cleaned|swap|part)|.*\.tmp")
_PARTITION = re.compile(r"(?P<topic>.+)-(?P<number>\+?[0-9]+)", re.DOTALL)
_MOVED = re.compile(r"(?P<partition>\S+-\+?[0-9]+)\.\S+-(?P<why>delete|future|stray)")
_SUFFIXES_OF_FOLDERS = ("-delete", "-future", "-stray")
METADATA = "__cluster_metadata-0"
_REMOTE_CACHE = "remote-log-index-cache"
_IN_PARTITION = {
    "leader-epoch-checkpoint", "partition.metadata", "quorum-state", "remote_log_snapshot", "_rlmm_committed_offsets",
}  # fmt: skip
_METADATA_SNAPSHOT = re.compile(r"[0-9]{20}-[0-9]{10}\.checkpoint")
CHECKPOINTS = ("cleaner-offset-checkpoint", "log-start-offset-checkpoint", "recovery-point-offset-checkpoint",
               "replication-offset-checkpoint")  # fmt: skip
_IN_DIRECTORY = {
    *CHECKPOINTS, ".kafka_cleanshutdown", ".lock", "meta.properties", "bootstrap.checkpoint", "_rlmm_committed_offsets",
    _REMOTE_CACHE,
}  # fmt: skip
_ONLY_OF_BROKERS = {".kafka_cleanshutdown", ".lock", "meta.properties", METADATA}
_BLANKS = re.compile(r"\s+", re.ASCII)
_MOST_LISTINGS = 5
_LARGEST_TEXT = 64 * 2**20


@dataclass(slots=True)
class SegmentFiles:
    """The files of one segment: its base offset, and the suffixes there are, such as ``log`` and ``index``.

    ``inodes`` are those of ``.log``, ``.index`` and ``.timeindex`` when they were listed: a broker that compacts or
    deletes a segment replaces its files.
    """

    base_offset: int
    folder: Path
    suffixes: set[str] = field(default_factory=set)
    inodes: tuple[int | None, ...] = ()

    def path(self, suffix: str) -> Path:
        """Return the path of the file with this suffix, whether it exists or not."""
        return self.folder / f"{self.base_offset:020}.{suffix}"

    def inodes_now(self) -> tuple[int | None, ...]:
        """Return the inodes as they are now; None for a file that is not there."""
        found: list[int | None] = []
        name = f"{self.folder}/{self.base_offset:020}"
        for suffix in ("log", "index", "timeindex"):
            try:
                found.append(os.stat(f"{name}.{suffix}").st_ino)  # noqa: PTH116  faster, and there may be many
            except OSError:
                found.append(None)
        return tuple(found)


@dataclass(frozen=True, slots=True)
class Partition:
    """A partition's folder.

    ``segments`` are those with a ``.log``, ascending. ``snapshots`` are the offsets of producer snapshots, ascending.
    ``orphans`` are index files without a ``.log``. ``misnamed`` are files that a broker takes for one of a segment, and
    whose names have no offset that it can read. ``metadata_snapshots`` are the names of snapshots of the cluster's metadata,
    ascending. ``only`` is the base offset of the segment that is inspected by itself, None for all.
    """

    folder: Path
    name: str
    segments: tuple[SegmentFiles, ...]
    snapshots: tuple[int, ...]
    orphans: tuple[Path, ...]
    leftovers: tuple[str, ...]
    unknown: tuple[str, ...]
    misnamed: tuple[str, ...] = ()
    metadata_snapshots: tuple[str, ...] = ()
    only: int | None = None

    @property
    def inspected(self) -> tuple[SegmentFiles, ...]:
        """The segments that are inspected: all, or the only one."""
        return tuple(each for each in self.segments if self.only in {None, each.base_offset})

    @property
    def future(self) -> bool:
        """Is it the copy of a partition that moves to another disk?"""
        return self.name.endswith("-future")

    @property
    def topic_partition(self) -> tuple[str, int] | None:
        """Return the topic and the number in the folder's name, as ``parse_topic_partition`` does."""
        moved = _MOVED.fullmatch(self.name)
        found = _PARTITION.fullmatch(moved["partition"] if moved else self.name)
        return None if found is None else (found["topic"], parse_int(found["number"]))

    def snapshot_path(self, offset: int) -> Path:
        """Return the path of the snapshot at an offset."""
        return self.folder / f"{offset:020}.snapshot"

    def listed_again(self) -> Partition:
        """List the folder again, until two listings agree: a broker may be replacing segments. Raises OSError."""
        found = _listed(self.folder, inodes=True)
        for _ in range(_MOST_LISTINGS):
            before, found = found, _listed(self.folder, inodes=True)
            if before == found:
                break
        return found if self.only is None else found.limited_to(self.only)

    def limited_to(self, base_offset: int) -> Partition:
        """Return the partition as it is inspected for one segment: without files that belong to no segment."""
        return replace(self, only=base_offset, snapshots=(), orphans=(), leftovers=(), unknown=(), misnamed=())

    def has_rolled(self) -> bool:
        """Has a broker begun a segment since the folder was listed, or deleted the partition?"""
        try:
            names = [_SEGMENT_FILE.fullmatch(entry.name) for entry in self.folder.iterdir()]
        except OSError:
            return True
        last = self.segments[-1].base_offset if self.segments else -1
        return any(name is not None and name[2] == "log" and (_number(name[1]) or 0) > last for name in names)

    @property
    def active(self) -> SegmentFiles | None:
        """The segment that a broker writes to: the last one."""
        return self.segments[-1] if self.segments else None


@dataclass(frozen=True, slots=True)
class LogDirectory:
    """What is inspected: one partition's folder, or a broker's log directory (``whole``) with all its partitions.

    ``misnamed`` are folders with a partition number that a broker cannot read, ``foreign`` those whose names are no
    partitions. ``of_broker``: it has a file that only the directory of a broker has, so that a start on it can be judged.
    """

    root: Path
    whole: bool
    partitions: tuple[Partition, ...]
    leftovers: tuple[str, ...]
    unknown: tuple[str, ...]
    clean_shutdown: bool
    misnamed: tuple[str, ...] = ()
    foreign: tuple[str, ...] = ()
    of_broker: bool = False

    def relative(self, path: Path) -> str:
        """Return a path as reports show it."""
        return harmless(str(path.relative_to(self.root)))


def open_directory(root: Path, *, of_node: bool = False) -> LogDirectory:
    """Look into a directory. Raises BadInput for one that is missing, unreadable, or no log directory of Kafka.

    ``of_node``: the settings of a node name it, so it may be empty or missing: a broker makes it, and finds nothing in it.
    """
    try:
        entries = sorted(root.iterdir(), key=lambda path: path.name)
    except OSError as error:
        if of_node and isinstance(error, FileNotFoundError):
            return LogDirectory(root, True, (), (), (), clean_shutdown=False, of_broker=True)
        hint = ": name the folder that has it" if error.errno == errno.ENOTDIR else ""
        raise BadInput(f"{root} cannot be read: {error.strerror}{hint}") from error
    if any(_SEGMENT_FILE.fullmatch(entry.name) for entry in entries):
        return LogDirectory(root, False, (_partition(root, [entry.name for entry in entries]),), (), (), True)
    partitions, leftovers, unknown, misnamed, foreign = _sorted_entries(entries)
    known = any(entry.name in {*CHECKPOINTS, "meta.properties"} for entry in entries)
    if not of_node and not known and not any(partition.segments or partition.snapshots for partition in partitions):
        raise BadInput(f"{root} is not a log directory of Kafka: it has no partition folder, no segment and no "
                       f"meta.properties{_hint(entries)}")  # fmt: skip
    clean = (root / ".kafka_cleanshutdown").exists()
    return LogDirectory(
        root, True, tuple(partitions), tuple(leftovers), tuple(unknown), clean, misnamed=tuple(misnamed),
        foreign=tuple(foreign), of_broker=of_node or any(entry.name in _ONLY_OF_BROKERS for entry in entries),
    )  # fmt: skip


def open_segment(path: Path) -> LogDirectory:
    """Return the directory of a ``.log`` file, of which this segment alone is inspected. Raises BadInput."""
    found = _SEGMENT_FILE.fullmatch(path.name)
    offset = _number(found[1]) if found is not None and found[2] == "log" else None
    if offset is None:
        raise BadInput(f"{path} is not named as a segment, such as {0:020}.log: name the folder that has it, or rename a "
                       "copy of the file")  # fmt: skip
    with reading(path):
        partition = _listed(path.parent).limited_to(offset)
    return LogDirectory(path.parent, False, (partition,), (), (), True)


def _sorted_entries(
    entries: list[Path],
) -> tuple[list[Partition], list[str], list[str], list[str], list[str]]:
    """Return the partitions, and the names of leftovers, of unknown files, and of misnamed and foreign folders."""
    partitions: list[Partition] = []
    leftovers: list[str] = []
    unknown: list[str] = []
    misnamed: list[str] = []
    foreign: list[str] = []
    for entry in entries:
        moved = _MOVED.fullmatch(entry.name)
        if entry.is_dir() and entry.name != _REMOTE_CACHE and _is_foreign(entry.name):
            foreign.append(entry.name)
        elif entry.is_dir() and _has_large_number(moved["partition"] if moved else entry.name):
            misnamed.append(entry.name)
        elif entry.is_dir() and (_PARTITION.fullmatch(entry.name) or (moved and moved["why"] == "future")):
            with reading(entry), contextlib.suppress(FileNotFoundError):  # a running broker renames folders
                partitions.append(_listed(entry))
        elif moved or _LEFTOVER_FILE.fullmatch(entry.name):
            leftovers.append(entry.name)
        elif entry.name not in _IN_DIRECTORY:
            unknown.append(entry.name)
    return partitions, leftovers, unknown, misnamed, foreign


def _is_foreign(name: str) -> bool:
    """Is this the name of a folder at which a broker throws, as ``parseTopicPartitionName`` does?"""
    if name.endswith(_SUFFIXES_OF_FOLDERS):
        return _MOVED.fullmatch(name) is None
    return _PARTITION.fullmatch(name) is None


def _has_large_number(name: str) -> bool:
    """Return whether this is the name of a partition, but for a number above those of Java."""
    found = _PARTITION.fullmatch(name)
    try:
        return found is not None and parse_int(found["number"]) < 0
    except ValueError:
        return True


def _number(digits: str) -> int | None:
    """Return the offset in a file's name as ``LogFileUtils.offsetFromFileName`` does; None where it throws."""
    try:
        return parse_long(digits)
    except ValueError:
        return None


def _is_of_kafka(path: Path) -> bool:
    """Tell whether a file or folder is found in a log directory. A name such as ``x-1`` alone does not make a partition."""
    if _PARTITION.fullmatch(path.name):
        return path.is_dir() and any(_SEGMENT_FILE.fullmatch(each.name) for each in path.iterdir())
    return path.name == "meta.properties" or _SEGMENT_FILE.fullmatch(path.name) is not None


def _hint(entries: list[Path]) -> str:
    """Name a folder within, if it is what may have been meant."""
    for entry in entries:
        with contextlib.suppress(OSError):
            if entry.is_dir() and any(_is_of_kafka(path) for path in entry.iterdir()):
                return f"; {harmless(str(entry))} looks like one"
    return ""


def _listed(folder: Path, *, inodes: bool = False) -> Partition:
    return _partition(folder, sorted(os.listdir(folder)), inodes=inodes)  # noqa: PTH208  faster, and there may be many


def _partition(folder: Path, names: list[str], *, inodes: bool = False) -> Partition:
    segments: dict[int, SegmentFiles] = {}
    snapshots, leftovers, unknown, misnamed, of_metadata = [], [], [], [], []
    for name in names:
        if name.endswith(_SUFFIXES) and _number(name.partition(".")[0]) is None and not (folder / name).is_dir():
            misnamed.append(name)
        elif found := _SEGMENT_FILE.fullmatch(name):
            offset, suffix = parse_long(found[1]), found[2]
            if suffix == "snapshot":
                snapshots.append(offset)
            else:
                segments.setdefault(offset, SegmentFiles(offset, folder)).suffixes.add(suffix)
        elif _METADATA_SNAPSHOT.fullmatch(name):
            of_metadata.append(name)
        elif name in _IN_PARTITION:
            continue
        elif _LEFTOVER_FILE.fullmatch(name):
            leftovers.append(name)
        else:
            unknown.append(name)
    orphans = [
        each.path(suffix) for each in segments.values() if "log" not in each.suffixes for suffix in each.suffixes
    ]
    for each in segments.values() if inodes else ():
        each.inodes = each.inodes_now()
    with_log = sorted((each for each in segments.values() if "log" in each.suffixes), key=lambda each: each.base_offset)
    return Partition(
        folder, folder.name or folder.resolve().name, tuple(with_log), tuple(sorted(snapshots)), tuple(sorted(orphans)),
        tuple(leftovers), tuple(unknown), misnamed=tuple(misnamed), metadata_snapshots=tuple(sorted(of_metadata)),
    )  # fmt: skip


def open_file(path: Path) -> io.FileIO:
    """Open a regular file. Raises FileNotFoundError if there is nothing of this name, OSError for all else."""
    with _os_errors(path):
        return cast("io.FileIO", cast("io.BufferedReader", open_regular(path)).detach())


def small_file(path: Path, limit: int) -> bytes:
    """Return the content of a file of at most ``limit`` bytes. Raises what :func:`open_file` raises."""
    with _os_errors(path):
        return read_bytes(path, limit)


def small_text(path: Path) -> str:
    """Return the text of a small file. Raises what :func:`open_file` raises, and ValueError if it is not UTF-8."""
    return small_file(path, _LARGEST_TEXT).decode("utf-8")


@contextmanager
def _os_errors(path: Path) -> Iterator[None]:
    """Raise an OSError in place of BadInput: a file of the directory that cannot be read is a finding."""
    try:
        yield
    except BadInput as error:
        if isinstance(error.__cause__, FileNotFoundError) and not path.is_symlink():
            raise error.__cause__ from None
        raise OSError(errno.EINVAL, str(error).removeprefix(f"{path} cannot be read: "), str(path)) from error


def checkpoint_lines(text: str) -> Iterator[list[str]]:
    """Yield the lines of a checkpoint as words. Raises ValueError for what is not a version or number, or is a wrong one.

    A checkpoint has its version (0), the number of its entries, and a line for each entry. An empty one has no entries:
    a broker creates all of them so.

    Java source mirrored: ``CheckpointFile.read``.
    """
    lines = lines_of(text)
    if lines and (version := parse_int(lines[0])) != 0:
        raise ValueError(f"version {version} is not 0")
    if len(lines) > 1 and (count := parse_int(lines[1])) != len(lines) - 2:
        raise ValueError(f"it announces {count} entries and has {len(lines) - 2}")
    for line in lines[2:]:
        yield split(_BLANKS, line)
