"""What an audit needs of a source: where it is, its name, its partition count and the offsets to read, by partition.

The offsets to read are fixed before reading starts. A resumed run therefore reads the same records, whatever was written
since. An export is read as a whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

import msgspec

from kafka_conformance.audit.export_errors import missing_place
from kafka_conformance.audit.isolation import OPTION, READ_COMMITTED
from kafka_conformance.audit.segments.folders import TopicFiles
from kafka_conformance.audit.topics import Span
from kafka_conformance.core.errors import BadInput

__all__ = [
    "COLUMNS", "ExportFiles", "SegmentFolders", "Shrinking", "Sized", "SourceAddress", "TopicAddress", "chunked",
    "is_one_of_many", "slices", "spans_of", "still_there",
]  # fmt: skip

COLUMNS = "partition int, offset long, timestamp_ms long, key binary"
_SLICES = 12
_MOST_CHUNKS = 1_000_000


class TopicAddress(msgspec.Struct, frozen=True):
    """A topic at a broker.

    ``kafka`` are the options of Spark's Kafka connector to read it; ``connector`` names those among them that the user gave
    and that are not settings of Kafka's clients.
    """

    name: str
    kafka: dict[str, str]
    connector: tuple[str, ...] = ()

    @property
    def where(self) -> str:
        """The address of the brokers."""
        return self.kafka["kafka.bootstrap.servers"]

    @property
    def isolation(self) -> str:
        """The level with which it is read: one of ``isolation.LEVELS``."""
        return self.kafka[OPTION]


class ExportFiles(msgspec.Struct, frozen=True):
    """An export of a topic: files, a folder or a pattern, with the topic's partition count, which they do not contain.

    ``encoding`` (utf8, hex or base64) is that of keys that are text, in the column ``key_column``.
    """

    name: str
    form: str
    partitions: int
    key_column: str = "key"
    encoding: str = "utf8"
    where: str = ""
    isolation: str = ""


class SegmentFolders(msgspec.Struct, frozen=True):
    """A topic in segment files of a broker, and its partition count if that is not to be taken from the folders."""

    files: TopicFiles
    partitions: int | None = None
    isolation: str = READ_COMMITTED

    @property
    def name(self) -> str:
        """The topic."""
        return self.files.topic

    @property
    def where(self) -> str:
        """The names of the folders."""
        return ", ".join(self.files.folders)


SourceAddress = TopicAddress | ExportFiles | SegmentFolders
"""Where the records of a topic are. Each kind has a ``name``, and ``where`` and ``isolation``, empty for files."""


class Sized(Protocol):
    """The name, partition count and offsets of a source."""

    @property
    def name(self) -> str:
        """Its name in messages and reports."""
        ...

    @property
    def partitions(self) -> int:
        """The topic's partition count."""
        ...

    @property
    def spans(self) -> Mapping[int, Span]:
        """The offsets to read, by partition."""
        ...


def is_one_of_many(source: Sized) -> bool:
    """Return whether one partition is read and the others are elsewhere, as segment files may be."""
    return bool(getattr(source, "one_of_many", False))


class Shrinking(Sized, Protocol):
    """A source whose first records may be deleted while it is read."""

    def narrow(self, spans: Mapping[int, Span]) -> None:
        """Read these offsets only, by partition."""
        ...

    def earliest(self) -> Mapping[int, int]:
        """Return the first offset of each partition now; empty if nothing is ever deleted."""
        ...


def still_there(topic: str, current: Mapping[int, Span], planned: Mapping[int, Span]) -> Mapping[int, Span]:
    """Return the ``planned`` offsets; the first of them may have been deleted since (``retention``).

    Raises BadInput if the topic, which now has the ``current`` ones, has other partitions, or ends before them.
    """
    for partition, span in planned.items():
        if partition not in current:
            raise BadInput(
                f"partition {partition} of {topic} existed when this run began, and is gone: start a new run"
            )
        now = current[partition]
        if span.end > span.first and now.end < span.end:
            raise BadInput(
                f"partition {partition} of {topic} now ends at offset {now.end:,}, but this run reads up to {span.end:,}:"
                " start a new run"
            )
    if len(current) != len(planned):
        raise BadInput(
            f"{topic} had {len(planned)} partitions when this run began, and now has {len(current)}: start a new run"
        )
    return planned


def spans_of(path: str, rows: Iterable[tuple[Any, ...]], partitions: int) -> dict[int, Span]:
    """Return the offsets of files by partition, from rows of partition, first offset, last offset, records.

    Raises BadInput for records without a partition or an offset, and for a partition that the topic does not have.
    """
    found = {}
    for partition, first, last, records in rows:
        if partition is None or first is None:
            raise missing_place(path, records)
        if not 0 <= partition < partitions:
            raise BadInput(
                f"{path}: there are records in partition {partition}, but --partitions is {partitions}:"
                " give the topic's partition count"
            )
        found[int(partition)] = Span(int(first), int(last) + 1)
    return {partition: found.get(partition, Span(0, 0)) for partition in range(partitions)}


def slices(spans: Mapping[int, Span], records: int) -> list[dict[int, Span]]:
    """Return the offsets to sample of a topic with more than ``records``: three sets, of one slice of a partition each."""
    numbers = sorted(number for number, span in spans.items() if span.end > span.first)
    numbers = numbers[:: max(1, len(numbers) // _SLICES)]
    several = len(numbers) <= _SLICES // 3
    taken = [(number, third) for at, number in enumerate(numbers) for third in (range(3) if several else (at % 3,))]
    each = max(50, records // max(1, len(taken)))
    return [{number: _slice(spans[number], third, each) for number, at in taken if at == third} for third in range(3)]


def _slice(span: Span, third: int, records: int) -> Span:
    """Return ``records`` offsets at the beginning (0), middle (1) or end (2) of ``span``; slices do not overlap."""
    size = span.end - span.first
    if size <= 3 * records:
        return Span(span.first + size * third // 3, span.first + size * (third + 1) // 3)
    first = span.first + (size - records) * third // 2
    return Span(first, first + records)


def chunked(spans: Mapping[int, Span], records: int) -> Sequence[Mapping[int, Span]]:
    """Split the spans into chunks of about ``records`` offsets each, every chunk over all partitions, in order.

    Raises BadInput for more than a million chunks: an offset of an export is wrong then, or a plan was changed.
    """
    step = max(1, -(-records // max(1, len(spans))))
    longest = max((span.end - span.first for span in spans.values()), default=0)
    if longest // step > _MOST_CHUNKS:
        raise BadInput(
            f"a partition has {longest:,} offsets, in chunks of {step:,}: expected {_MOST_CHUNKS:,} chunks at most"
        )
    return [
        {
            partition: Span(min(span.first + at, span.end), min(span.first + at + step, span.end))
            for partition, span in spans.items()
            if span.first + at < span.end
        }
        for at in range(0, longest, step)
    ]
