"""Answer a question of ``time-index`` with the reference."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from kafka_conformance.core.protocol import Answer
from kafka_conformance.rules.common.index_adapter import IndexHistory
from kafka_conformance.rules.common.index_steps import FilledFile
from kafka_conformance.rules.time_index.question import MaybeAppendStep, TimeIndexQuestion
from kafka_reference.log_files.entries import read_time_index, write_time_index
from kafka_reference.log_files.time_index import TimeIndex
from kafka_reference.releases import Release

__all__ = ["CreateIndex", "TimeIndexHistory", "ask"]

CreateIndex: TypeAlias = Callable[..., TimeIndex]
"""Makes an index, with the arguments of TimeIndex."""


def ask(question: TimeIndexQuestion, release: Release, create: CreateIndex = TimeIndex) -> Answer:
    """Answer the question with the reference's index, or with the one that ``create`` makes."""
    return TimeIndexHistory(question, release, create).answer()


class TimeIndexHistory(IndexHistory[TimeIndex]):
    """A time index, step by step."""

    def append(self, entry: Any) -> None:
        """Append a timestamp and an offset."""
        self.index.maybe_append(*entry)

    def own(self, step: Any) -> Answer | None:
        """Append an entry."""
        match step:
            case MaybeAppendStep(timestamp, offset, skip):
                self.index.maybe_append(timestamp, offset, skip)
                return {}
        return None

    def last(self) -> Any:
        """Return the last timestamp and offset."""
        return list(self.index.last_entry)

    @staticmethod
    def read(data: bytes, base_offset: int) -> Sequence[tuple[int, int]]:
        """Return the entries of a file."""
        return read_time_index(data, base_offset)

    @staticmethod
    def filled(file: FilledFile) -> bytes:
        """Return the bytes of a file with many entries."""
        time, offset = file.step
        entries = [(time * number, offset * number) for number in range(1, file.count + 1)]
        for slot, *patch in file.patches:
            entries[slot] = (patch[0], patch[1])
        return write_time_index(entries)
