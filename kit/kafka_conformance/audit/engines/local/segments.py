"""Read a topic's segment files in this process. It fulfils ``local.run.LocalSource``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

import pyarrow as pa

from kafka_conformance.audit.attribution.block import Block
from kafka_conformance.audit.engines.local.blocks import BlockPacker
from kafka_conformance.audit.engines.local.topic import table_of
from kafka_conformance.audit.segments.decode import decode
from kafka_conformance.audit.segments.topic import SegmentTopic
from kafka_conformance.audit.sources import slices
from kafka_conformance.audit.topics import Span, offset_count

__all__ = ["LocalSegments"]


class LocalSegments:
    """The records of a topic in segment files, read in the order of their offsets."""

    def __init__(self, topic: SegmentTopic, spans: Mapping[int, Span] | None = None) -> None:
        self.topic, self.spans = topic, topic.spans if spans is None else topic.planned(spans)
        self._held: Sequence[Block] = ()

    @property
    def name(self) -> str:
        """The topic's name."""
        return self.topic.name

    @property
    def partitions(self) -> int:
        """The topic's partition count."""
        return self.topic.partitions

    @property
    def one_of_many(self) -> bool:
        """Whether one partition of several is here."""
        return self.partitions > 1 and len(self.topic.files.files) == 1

    def sample(self, records: int) -> pa.Table:
        """Return the records that an audit of the live topic samples."""
        if offset_count(self.spans) > records:
            return table_of([block for spans in slices(self.spans, records) for block in self._read(spans)])
        self._held = list(self._read(self.spans))
        return table_of(self._held)

    def blocks(self, spans: Mapping[int, Span]) -> Iterator[Block]:
        """Yield the records in these spans as blocks, those of a partition in the order of their offsets."""
        if self._held and _filled(spans) == _filled(self.spans):
            yield from self._held
        else:
            yield from self._read(spans)

    def narrow(self, spans: Mapping[int, Span]) -> None:
        """Read these offsets only, by partition."""
        self.spans, self._held = spans, ()

    def offsets_at(self, time_ms: int) -> Mapping[int, int]:
        """Return by partition the offset of the first record with this timestamp or a later one, where there is one."""
        return self.topic.offsets_at(time_ms)

    def earliest(self) -> Mapping[int, int]:
        """Return the first offset of each partition now."""
        return self.topic.earliest()

    def _read(self, spans: Mapping[int, Span]) -> Iterator[Block]:
        for partition, tasks in groupby(self.topic.tasks(spans), key=lambda task: task.file.partition):
            packer = BlockPacker(partition)
            for task in tasks:
                for piece in decode(task):
                    yield from packer.add(piece.offsets, piece.timestamps_ms, piece.keys)
            yield from packer.end()


def _filled(spans: Mapping[int, Span]) -> dict[int, tuple[int, int]]:
    return {number: (span.first, span.end) for number, span in spans.items() if span.end > span.first}
