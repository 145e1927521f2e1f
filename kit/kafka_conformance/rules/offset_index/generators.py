"""The Hypothesis strategy of ``offset-index``."""

from __future__ import annotations

from hypothesis import strategies as st

from kafka_conformance.rules.common.index_generators import IndexGenerator, Symbol
from kafka_conformance.rules.offset_index.question import AppendStep, OffsetIndexQuestion, UpperBoundStep
from kafka_reference.log_files.entries import OFFSET_ENTRY_BYTES, write_offset_index

__all__ = ["offset_indexes"]


def _bound(position: int, size: int) -> Symbol:
    return lambda model: UpperBoundStep(model.key + position, size)


_OWN = (
    *(_bound(position, size) for position in (0, -10, -100, -200) for size in (0, 1, 50)),
    _bound(0, 2**31 - 1),
    lambda _: UpperBoundStep(0, 0),
)
_GENERATOR = IndexGenerator(
    OffsetIndexQuestion,
    write_offset_index,
    lambda key, offset: AppendStep(offset, key),
    _OWN,
    OFFSET_ENTRY_BYTES,
    by_offset=True,
)


def offset_indexes() -> st.SearchStrategy[OffsetIndexQuestion]:
    """Return a strategy for histories of an offset index, and for some short forms."""
    return _GENERATOR.strategy()
