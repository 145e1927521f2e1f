"""A topic in segment files: its offsets, and the tasks that read them, one for each segment.

The offsets are those that a consumer would be given by the broker: from the log start offset up to the end of the last
batch, or with ``read_committed`` up to the first open transaction.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Protocol, TypeVar

import msgspec

from kafka_conformance.audit.segments.decode import Task, decode
from kafka_conformance.audit.segments.folders import SegmentFile, TopicFiles, clipped_list, first_offsets
from kafka_conformance.audit.segments.survey import Aborted, Survey, survey
from kafka_conformance.audit.segments.transactions import aborted_in, last_stable_offset
from kafka_conformance.audit.sources import still_there
from kafka_conformance.audit.topics import Span
from kafka_conformance.core.errors import KitError
from kafka_conformance.core.progress import Steps

__all__ = ["OneByOne", "Runner", "SegmentTopic", "survey_topic"]

T = TypeVar("T")


class Runner(Protocol):
    """Applies a function to items, perhaps on other machines."""

    def __call__(self, work: Callable[[T], bytes], items: Sequence[T], doing: str) -> Sequence[bytes]:
        """Return the result for each item, in their order. Raises KitError."""
        ...


class OneByOne:
    """Applies a function in this process, and shows how many items are done."""

    def __init__(self, progress: Steps | None = None) -> None:
        self._progress = progress or Steps("", 0)

    def __call__(self, work: Callable[[T], bytes], items: Sequence[T], doing: str) -> Sequence[bytes]:
        """Return the result for each item."""
        self._progress.begin(doing, len(items))
        made = []
        for item in items:
            made.append(work(item))
            self._progress.advance()
        self._progress.begin(doing, 1)
        return made


class SegmentTopic:
    """The surveyed files of a topic; :func:`survey_topic` makes one."""

    def __init__(
        self, files: TopicFiles, surveys: Mapping[int, Sequence[Survey]], partitions: int | None, *, committed: bool
    ) -> None:
        self.files, self.surveys, self.committed = files, surveys, committed
        self.partitions_known = partitions is not None
        self.partitions = files.count(partitions)

    @property
    def name(self) -> str:
        """The topic's name."""
        return self.files.topic

    @property
    def where(self) -> str:
        """The folders, for reports."""
        return ", ".join(self.files.folders)

    @cached_property
    def spans(self) -> dict[int, Span]:
        """The offsets to read, by partition; a partition that is not here has none."""
        return {number: self._span(number) for number in range(self.partitions)}

    def _span(self, number: int) -> Span:
        files, surveys = self.files.files.get(number, ()), self.surveys.get(number, ())
        if not files:
            return Span(0, 0)
        end = max(each.end_offset for each in surveys)
        first = min(max(files[0].base_offset, self.files.starts.get(number, 0)), end)
        stable = last_stable_offset(surveys, self.files.cleaned.get(number, 0), end) if self.committed else end
        stable = max(stable, first)
        return Span(first, stable, end - stable)

    def planned(self, spans: Mapping[int, Span]) -> Mapping[int, Span]:
        """Return the offsets of a run that began earlier. Raises BadInput if they are not here any more."""
        return still_there(self.name, self.spans, spans)

    @cached_property
    def aborted(self) -> dict[int, list[Aborted]]:
        """The aborted transactions by partition; none if their records are read."""
        return {number: aborted_in(found) if self.committed else [] for number, found in self.surveys.items()}

    def tasks(self, spans: Mapping[int, Span]) -> list[Task]:
        """Return the segments with records in these spans, by partition and offset."""
        return [task for number in sorted(spans) for task in self._tasks(number, spans[number])]

    def _tasks(self, number: int, span: Span) -> list[Task]:
        files, surveys = self.files.files.get(number, ()), self.surveys.get(number, ())
        found = []
        for file, seen in zip(files, surveys, strict=True):
            if file.base_offset < span.end and seen.end_offset > span.first and span.end > span.first:
                low, high = file.base_offset, seen.end_offset
                aborted = tuple(one for one in self.aborted[number] if one.first < high and one.last >= low)
                found.append(Task(file, seen.size, span.first, span.end, aborted, seen.end_offset))
        return found

    def offsets_at(self, time_ms: int) -> dict[int, int]:
        """Return by partition the offset of the first record with this timestamp or a later one, where there is one."""
        found = {}
        for number, files in self.files.files.items():
            for file, seen in zip(files, self.surveys[number], strict=True):
                if seen.max_ms >= time_ms and (offset := _offset_at(file, seen, time_ms)) is not None:
                    found[number] = offset
                    break
        return found

    def earliest(self) -> Mapping[int, int]:
        """Return the first offset of each partition whose first segments a broker has deleted since."""
        return first_offsets(self.files)

    def notes(self) -> list[str]:
        """Return lines on partitions that are not here, and on bytes that cannot be read."""
        lines = []
        broken = [(file, each) for number, files in self.files.files.items()
                  for file, seen in zip(files, self.surveys[number], strict=True) for each in seen.damaged]  # fmt: skip
        if broken:
            file, first = broken[0]
            places = "place" if len(broken) == 1 else "places"
            lines.append(
                f"{len(broken):,} {places} cannot be read, and what is there is not judged; the first is {file.name},"
                f" byte {first.position:,}, after offset {first.expected - 1:,}: {first.what}"
            )
        if missing := self.files.missing(self.partitions):
            lines.append(
                f"{len(missing):,} of {self.partitions:,} partitions are not in {self.where}: {clipped_list(missing)}"
            )
        if not self.partitions_known:
            lines.append(
                f"the partition count {self.partitions} is that of the folders here; if partitions are elsewhere, give"
                " --partitions"
            )
        return lines


def survey_topic(
    files: TopicFiles, run: Runner, partitions: int | None, *, committed: bool
) -> SegmentTopic:  # fmt: skip
    """Survey all files of a topic. Raises BadInput, KitError."""
    every = [file for each in files.files.values() for file in each]
    made = run(_surveyed, every, f"surveying {files.topic}")
    by_path = {file.path: msgspec.json.decode(one, type=Survey) for file, one in zip(every, made, strict=True) if one}
    there = {number: tuple(file for file in each if file.path in by_path) for number, each in files.files.items()}
    surveys = {number: [by_path[file.path] for file in each] for number, each in there.items()}
    return SegmentTopic(msgspec.structs.replace(files, files=there), surveys, partitions, committed=committed)


def _surveyed(file: SegmentFile) -> bytes:
    """Return the survey of a file, nothing if a broker has deleted it since its folder was read."""
    try:
        return msgspec.json.encode(survey(file))
    except KitError:
        if Path(file.path).exists():
            raise
        return b""


def _offset_at(file: SegmentFile, seen: Survey, time_ms: int) -> int | None:
    for piece in decode(Task(file, seen.size, 0, 2**63 - 1)):
        later = piece.timestamps_ms >= time_ms
        if later.any():
            return int(piece.offsets[later.argmax()])
    return None
