"""Find the segments of a topic in brokers' data directories, or in the folders of its partitions.

Folders of deleted, moved and stray partitions are left out, and so are files that a deletion or compaction had not finished
with (:mod:`kafka_conformance.log_inspect.directory`). Where several brokers have a partition, the replica with the latest
segment is read.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from kafka_conformance.core.errors import BadInput
from kafka_conformance.core.java_text import parse_int
from kafka_conformance.log_inspect.checks.checkpoints import read_checkpoints
from kafka_conformance.log_inspect.directory import Partition, open_directory
from kafka_conformance.log_inspect.findings import Findings

__all__ = ["SegmentFile", "TopicFiles", "clipped_list", "find_topic", "first_offsets"]

_PARTITION = re.compile(r"(?P<topic>.+)-(?P<number>[0-9]{1,10})")
_INTERNAL = {"__consumer_offsets", "__transaction_state", "__cluster_metadata", "__share_group_state"}
_SHOWN = 8


class SegmentFile(msgspec.Struct, frozen=True):
    """A ``.log`` file. ``name`` is for messages; ``last`` tells whether a broker writes to it, or did."""

    path: str
    name: str
    partition: int
    base_offset: int
    size: int
    last: bool


class TopicFiles(msgspec.Struct, frozen=True):
    """The files of a topic by partition, ascending; ``starts`` are log start offsets as far as checkpoints have them.

    ``cleaned`` are the offsets by partition below which the log cleaner has been. ``whole``: the folders are brokers' data
    directories, not those of single partitions.
    """

    topic: str
    folders: tuple[str, ...]
    files: dict[int, tuple[SegmentFile, ...]]
    starts: dict[int, int]
    cleaned: dict[int, int]
    whole: bool

    @property
    def size(self) -> int:
        """The size of all files in bytes."""
        return sum(file.size for files in self.files.values() for file in files)

    @property
    def least_offsets(self) -> int:
        """The number of offsets that the names of the files show."""
        return sum(files[-1].base_offset - files[0].base_offset for files in self.files.values() if files)

    def missing(self, partitions: int) -> list[int]:
        """Return the partitions below ``partitions`` that have no folder."""
        return [number for number in range(partitions) if number not in self.files]

    def count(self, given: int | None) -> int:
        """Return the topic's partition count, which may be given. Raises BadInput if the folders do not show or fit it."""
        highest, why = max(self.files, default=0), ""
        if given is not None:
            if highest >= given:
                raise BadInput(
                    f"{self.topic} has a folder of partition {highest}, but --partitions is {given}: give the topic's"
                    " partition count"
                )
            return given
        if not self.whole:
            why = "a partition's folder does not show the partition count of its topic"
        elif missing := self.missing(highest):
            why = f"partitions {clipped_list(missing)} of {self.topic} are not in {clipped_list(self.folders)}"
        if why:
            raise BadInput(f"{why}: give the topic's partition count with --partitions")
        return highest + 1


class _Replica(msgspec.Struct, frozen=True):
    whole: bool
    topic: str
    number: int
    files: tuple[SegmentFile, ...]
    start: int
    cleaned: int

    @property
    def reach(self) -> tuple[int, int]:
        return (self.files[-1].base_offset, self.files[-1].size) if self.files else (-1, 0)


def find_topic(folders: Sequence[str], topic: str = "") -> TopicFiles:
    """Return the files of a topic, which need not be named if there is one only. Raises BadInput."""
    replicas = [each for folder in folders for each in _replicas(Path(folder))]
    names = sorted({each.topic for each in replicas})
    wanted = topic or _only([name for name in names if name not in _INTERNAL] or names, folders)
    if wanted not in names:
        raise BadInput(
            f"{clipped_list(folders)}: no partition of topic {wanted} is here, only of {clipped_list(names)}"
        )
    best: dict[int, _Replica] = {}
    for each in replicas:
        if each.topic == wanted and (each.number not in best or each.reach > best[each.number].reach):
            best[each.number] = each
    found = dict(sorted(best.items()))
    return TopicFiles(
        wanted, tuple(folders), {number: each.files for number, each in found.items()},
        {number: each.start for number, each in found.items()}, {number: each.cleaned for number, each in found.items()},
        all(each.whole for each in found.values()),
    )  # fmt: skip


def first_offsets(topic: TopicFiles) -> Mapping[int, int]:
    """Return the base offset of each partition's first segment that is still there."""
    there = ((number, file) for number, files in topic.files.items() for file in reversed(files))
    return {number: file.base_offset for number, file in there if Path(file.path).exists()}


def _only(names: Sequence[str], folders: Sequence[str]) -> str:
    where = clipped_list(folders)
    if not names:
        raise BadInput(f"{where}: there is no partition's folder here, such as orders-0")
    if len(names) > 1:
        raise BadInput(f"{where}: there are {len(names)} topics here: name one with --topic: {clipped_list(names)}")
    return names[0]


def _replicas(root: Path) -> Iterator[_Replica]:
    directory = open_directory(root)
    checkpoints = read_checkpoints(directory, Findings())
    starts, cleaned = (checkpoints.get(f"{name}-checkpoint", {}) for name in ("log-start-offset", "cleaner-offset"))
    for partition in directory.partitions:
        name = _PARTITION.fullmatch(partition.name)
        if name is None:
            if not directory.whole:
                raise BadInput(f"{root} holds segments, but its name is not that of a partition, such as orders-0")
            continue  # a folder that a partition moves to
        number = parse_int(name["number"])
        files = tuple(_files(partition, number))
        start, clean = (offsets.get(partition.name, 0) for offsets in (starts, cleaned))
        yield _Replica(directory.whole, name["topic"], number, files, start, clean)


def _files(partition: Partition, number: int) -> Iterator[SegmentFile]:
    for segment in partition.segments:
        path = segment.path("log")
        try:
            size = os.stat(path).st_size  # noqa: PTH116
        except FileNotFoundError:  # deleted since the folder was read
            continue
        except OSError as error:
            raise BadInput(f"{path} cannot be read: {error.strerror}") from error
        last = segment is partition.active
        name = f"{partition.name}/{path.name}"
        yield SegmentFile(str(path.absolute()), name, number, segment.base_offset, size, last)


def clipped_list(items: Iterable[object]) -> str:
    """Return the items with commas between them; of many, the first ones."""
    every = list(map(str, items))
    more = f" and {len(every) - _SHOWN} more" if len(every) > _SHOWN else ""
    return ", ".join(every[:_SHOWN]) + more
