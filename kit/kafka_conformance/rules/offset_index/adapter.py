"""Answer a question of ``offset-index`` with the reference."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from kafka_conformance.core.protocol import Answer
from kafka_conformance.rules.common.index_adapter import IndexHistory
from kafka_conformance.rules.common.index_steps import FilledFile
from kafka_conformance.rules.offset_index.question import AppendStep, OffsetIndexQuestion, UpperBoundStep
from kafka_reference.log_files.entries import read_offset_index, write_offset_index
from kafka_reference.log_files.offset_index import OffsetIndex
from kafka_reference.releases import Release

__all__ = ["CreateIndex", "OffsetIndexHistory", "ask"]

CreateIndex: TypeAlias = Callable[..., OffsetIndex]
"""Makes an index, with the arguments of OffsetIndex."""


def ask(question: OffsetIndexQuestion, release: Release, create: CreateIndex = OffsetIndex) -> Answer:
    """Answer the question with the reference's index, or with the one that ``create`` makes."""
    return OffsetIndexHistory(question, release, create).answer()


class OffsetIndexHistory(IndexHistory[OffsetIndex]):
    """An offset index, step by step."""

    def append(self, entry: Any) -> None:
        """Append an offset and a position."""
        self.index.append(*entry)

    def own(self, step: Any) -> Answer | None:
        """Append an entry, or find an upper bound."""
        match step:
            case AppendStep(offset, position):
                self.index.append(offset, position)
                return {}
            case UpperBoundStep(position, size):
                found = self.index.fetch_upper_bound(position, size)
                return {"bound": None if found is None else list(found)}
        return None

    def last(self) -> Any:
        """Return the last offset."""
        return self.index.last_offset

    @staticmethod
    def read(data: bytes, base_offset: int) -> Sequence[tuple[int, int]]:
        """Return the entries of a file."""
        return read_offset_index(data, base_offset)

    @staticmethod
    def filled(file: FilledFile) -> bytes:
        """Return the bytes of a file with many entries."""
        offset, position = file.step
        entries = [(offset * number, position * number) for number in range(1, file.count + 1)]
        for slot, *patch in file.patches:
            entries[slot] = (patch[0], patch[1])
        return write_offset_index(entries)
