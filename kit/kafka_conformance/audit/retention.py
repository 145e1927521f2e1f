"""Read what retention leaves: records that were deleted after a run had begun, and before they were read.

A broker deletes the oldest records of a partition. A chunk whose records are gone fails to be read; if the partition now
begins later, the deleted offsets are written down in the run's folder, and the chunk is read without them. So the report
says which offsets are missing, also after the run was resumed. What else makes a chunk fail is raised.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, TypeVar

import msgspec

from kafka_conformance.audit.result import Deleted
from kafka_conformance.audit.sources import Shrinking
from kafka_conformance.audit.topics import Span
from kafka_conformance.core.decoding import UNREADABLE
from kafka_conformance.core.errors import BadInput, KitError

if TYPE_CHECKING:
    from kafka_conformance.spark.runs import Files

__all__ = ["Deletions", "notes_of", "read_remaining"]

T = TypeVar("T")

NAME = "deleted.json"
_SHOWN = 12


def read_remaining(source: Shrinking, read: Callable[[], T]) -> T:
    """Return ``read()``; if records are deleted meanwhile, narrow the source to what is left, and read again."""
    while True:
        try:
            return read()
        except KitError:
            gone = _gone(source.spans, source.earliest)
            if not gone:
                raise
            spans = source.spans.items()
            source.narrow({p: Span(gone.get(p, span.first), span.end, span.open) for p, span in spans})


def _gone(spans: Mapping[int, Span], earliest: Callable[[], Mapping[int, int]]) -> dict[int, int]:
    """Return by partition the end of the offsets that were deleted; of partitions without any, nothing."""
    now: Mapping[int, int] = {}
    with suppress(KitError):  # the first error says more
        now = earliest()
    ends = {number: min(now.get(number, span.first), span.end) for number, span in spans.items()}
    return {number: end for number, end in ends.items() if end > spans[number].first}


class Deletions:
    """The deleted offsets of a run, by chunk: the first ones of some partitions of the chunk.

    They are kept in ``files``, those of the run's folder. Raises BadInput if they cannot be read.
    """

    def __init__(self, files: Files, chunks: Sequence[Mapping[int, Span]]) -> None:
        self._files, self._chunks = files, chunks
        written = files.read(NAME)
        try:
            self._ends = msgspec.json.decode(written, type=dict[int, dict[int, int]]) if written else {}
        except UNREADABLE as error:
            raise BadInput(f"{NAME} of the run cannot be read: {error}: give another folder") from error

    def read_chunk(
        self, number: int, read: Callable[[Mapping[int, Span]], None], earliest: Callable[[], Mapping[int, int]]
    ) -> None:
        """Read a chunk with ``read``, again without deleted offsets as long as there are more of them.

        ``earliest`` returns the first offset of each partition now. Raises what ``read`` raises for another reason.
        """
        while True:
            left = self._left(number)
            try:
                return read(left)
            except KitError:
                gone = _gone(left, earliest)
                if not gone:
                    raise
                self._ends[number] = {**self._ends.get(number, {}), **gone}
                self._files.write(NAME, msgspec.json.encode(self._ends))

    def deleted(self) -> tuple[Deleted, ...]:
        """Return the deleted offsets of all chunks, by partition."""
        return tuple(_merged(
            Deleted(partition, self._chunks[number][partition].first, end)
            for number, ends in self._ends.items() if 0 <= number < len(self._chunks)
            for partition, end in ends.items() if partition in self._chunks[number]
        ))  # fmt: skip

    def _left(self, number: int) -> dict[int, Span]:
        """Return the offsets of a chunk that are not known to be deleted."""
        ends = self._ends.get(number, {})
        spans = {p: Span(max(span.first, ends.get(p, 0)), span.end) for p, span in self._chunks[number].items()}
        return {partition: span for partition, span in spans.items() if span.end > span.first}


def _merged(every: Iterable[Deleted]) -> Iterator[Deleted]:
    last: Deleted | None = None
    for one in sorted(every):
        if last and last.partition == one.partition and last.end == one.first:
            last = Deleted(last.partition, last.first, one.end)
            continue
        if last:
            yield last
        last = one
    if last:
        yield last


def notes_of(deleted: Sequence[Deleted]) -> Iterator[str]:
    """Yield a line that says which offsets were deleted while a run read them; none if there are none."""
    if not deleted:
        return
    shown = ", ".join(f"{one.first:,} to {one.end - 1:,} of partition {one.partition:,}" for one in deleted[:_SHOWN])
    more = f", and {len(deleted) - _SHOWN:,} more ranges" if len(deleted) > _SHOWN else ""
    count = sum(one.end - one.first for one in deleted)
    lost = f"{count:,} offsets were deleted after this run had begun, before they were read"
    yield f"{lost}, and are not judged: {shown}{more}"
