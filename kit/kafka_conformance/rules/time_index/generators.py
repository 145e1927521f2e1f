"""The Hypothesis strategy of ``time-index``."""

from __future__ import annotations

from hypothesis import strategies as st

from kafka_conformance.rules.common.index_generators import IndexGenerator, IndexModel, Symbol
from kafka_conformance.rules.time_index.question import MaybeAppendStep, TimeIndexQuestion
from kafka_reference.log_files.entries import TIME_ENTRY_BYTES, write_time_index

__all__ = ["time_indexes"]


def _roll(offsets: int, keys: int) -> Symbol:
    """Append with the last slot."""

    def step(model: IndexModel) -> MaybeAppendStep:
        offset, key = model.advance(offsets, keys)
        return MaybeAppendStep(key, offset, True)

    return step


_OWN = (
    *(_roll(1, 1), _roll(1, 0), _roll(0, 0), _roll(2, 50), _roll(-1, 4), _roll(4, -1), _roll(2**31, 1)),
    lambda _: MaybeAppendStep(-1, 5),
    lambda _: MaybeAppendStep(2**51, 2**51),
)
_GENERATOR = IndexGenerator(
    TimeIndexQuestion,
    write_time_index,
    MaybeAppendStep,
    _OWN,
    TIME_ENTRY_BYTES,
    by_offset=False,
)


def time_indexes() -> st.SearchStrategy[TimeIndexQuestion]:
    """Return a strategy for histories of a time index, and for some short forms."""
    return _GENERATOR.strategy()
