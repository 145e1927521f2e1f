"""Read a topic's segment files in this process. It fulfils ``local.run.LocalSource``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import groupby

from kafka_conformance.audit.attribution.block import Block
from kafka_conformance.audit.engines.local.blocks import BlockPacker, BlockReader
from kafka_conformance.audit.segments.decode import decode
from kafka_conformance.audit.segments.topic import SegmentTopic
from kafka_conformance.audit.topics import Span

__all__ = ["LocalSegments"]


class LocalSegments(BlockReader):
    """The records of a topic in segment files, read in the order of their offsets."""

    def __init__(self, topic: SegmentTopic, spans: Mapping[int, Span] | None = None) -> None:
        super().__init__(topic.spans if spans is None else topic.planned(spans))
        self.topic = topic

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
