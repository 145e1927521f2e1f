"""The finite spaces of ``log-segment``."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

from kafka_conformance.rules.common.scripts import every_script
from kafka_conformance.rules.log_segment.question import (
    AppendStep,
    CrashStep,
    DamageStep,
    FindStep,
    InactiveStep,
    LogSegmentQuestion,
    LookStep,
    NewBatch,
    NextOffsetStep,
    ReadStep,
    RecoverStep,
    ReopenStep,
    ResizeStep,
    ShouldRollStep,
    TranslateStep,
    TruncateStep,
)

__all__ = [
    "ARTICLE", "every_append", "every_crash", "every_far_offset", "every_leader", "every_life", "every_order",
    "every_read", "every_roll", "every_truncation",
]  # fmt: skip

_LOOK = LookStep()


def _article() -> LogSegmentQuestion:
    """Return a segment whose entries are offset 12 at 4423 and offset 24 at 8773, and how offset 60 is found in it."""
    sizes = {0: 4423 - 61 - 6 - 3, 12: 4350 - 61 - 6 - 3}
    steps = [
        AppendStep((NewBatch(offset, (1000 + offset,), sizes.get(offset, 90)),)) for offset in (0, 12, 24, 36, 48, 60)
    ]
    return LogSegmentQuestion(
        (*steps, _LOOK, TranslateStep(60), ReadStep(60, 2**20), TranslateStep(61), NextOffsetStep()),
        index_interval_bytes=4096,
        max_index_size=96,
    )


ARTICLE = _article()
"""Find offset 60: the index leads to position 8773, from where the batches are read one by one."""

_BATCHES = tuple(
    NewBatch(offset, times, 10) for offset, times in ((7, (100,)), (8, (90, 120)), (12, (110,)), (13, (130, 105, 120)))
)


def _filled(*, together: bool) -> tuple[AppendStep, ...]:
    return (AppendStep(_BATCHES),) if together else tuple(AppendStep((batch,)) for batch in _BATCHES)


def every_append() -> Iterator[LogSegmentQuestion]:
    """Yield 4 batches split into appends in every way, at each interval around their sizes, with each small index."""
    yield ARTICLE
    yield LogSegmentQuestion(
        (ReopenStep(), ReopenStep(), _LOOK, *_filled(together=False), _LOOK), index_interval_bytes=0
    )
    for cuts, interval, size in product(
        product((True, False), repeat=3), (0, 76, 77, 78, 154, 200, 400), (12, 16, 24, 36, 96)
    ):
        appends: list[list[NewBatch]] = [[_BATCHES[0]]]
        for cut, batch in zip(cuts, _BATCHES[1:], strict=True):
            if cut:
                appends.append([])
            appends[-1].append(batch)
        steps = [step for batches in appends for step in (AppendStep(tuple(batches)), _LOOK)]
        after = (NextOffsetStep(), TranslateStep(13), InactiveStep(), _LOOK, NextOffsetStep())
        yield LogSegmentQuestion((*steps, *after), base_offset=7, index_interval_bytes=interval, max_index_size=size)


def every_leader() -> Iterator[LogSegmentQuestion]:
    """Yield 2 batches of leaders and followers, of 1 to 3 records: the largest timestamp at each place, or twice."""
    stamps = ((5,), (7, 3), (3, 7), (7, 7), (9, 4, 9), (4, 9, 9), (2, 1, 0), (-1, -1))
    for first, second, leads in product(stamps, stamps, product((True, False), repeat=2)):
        batches = (NewBatch(7, first, 1), NewBatch(7 + len(first), second, 2))
        appends = (AppendStep((batch,), leader) for batch, leader in zip(batches, leads, strict=True))
        after = (AppendStep((NewBatch(20, (1,)),)), _LOOK, RecoverStep(), _LOOK)
        yield LogSegmentQuestion((*appends, *after), base_offset=7, index_interval_bytes=0)


def every_read() -> Iterator[LogSegmentQuestion]:
    """Yield reads from each offset of 4 batches, with each size and position around the ends of batches."""
    for interval, together in product((0, 100, 4096), (True, False)):
        offsets = range(6, 18)
        for size, position, one in product(
            (0, 1, 78, 79, 80, 200, 10**6, -1), (None, 0, 79, 100, 10**6), (True, False)
        ):
            reads = (ReadStep(offset, size, position, one) for offset in offsets)
            yield LogSegmentQuestion(
                (*_filled(together=together), *reads), base_offset=7, index_interval_bytes=interval
            )
        steps: tuple[Any, ...] = (
            *map(TranslateStep, offsets),
            *(
                FindStep(time, offset)
                for time in (-1, 0, 90, 91, 100, 105, 120, 121, 130, 131)
                for offset in (0, 7, 9, 13, 15, 17)
            ),
        )
        yield LogSegmentQuestion((*_filled(together=together), *steps), base_offset=7, index_interval_bytes=interval)


def every_roll() -> Iterator[LogSegmentQuestion]:
    """Yield whether a segment is rolled, around each limit, also after it became empty."""
    for filled, jitter, times in product((True, False), (0, 10), ((500,), (-1,), (0,))):
        first: tuple[Any, ...] = (AppendStep((NewBatch(0, times, 0),)),) if filled else ()
        rolls = [
            ShouldRollStep(size, time, offset, now)
            for size, time, offset, now in product(
                (0, 431, 432, 500, 501),
                (-1, 0, 99, 100, 101, 590, 591, 600, 601),
                (1, 2**31 - 1, 2**31),
                (690, 691, 700, 701),
            )
        ]
        for start in range(0, len(rolls), 90):
            steps = (*first, *rolls[start : start + 90])
            yield LogSegmentQuestion(steps, segment_bytes=500, segment_ms=100, jitter_ms=jitter, created_ms=600)
    for before, after, now in product((-1, 500), (-1, 500), range(600, 700, 9)):
        emptied: tuple[Any, ...] = (
            AppendStep((NewBatch(0, (before,)),)), TruncateStep(0, now), ShouldRollStep(0, 560, 1, 701),
            AppendStep((NewBatch(0, (after,)),)), ShouldRollStep(0, 560, 1, 701),
        )  # fmt: skip
        yield LogSegmentQuestion(emptied, segment_ms=60, created_ms=550)


def every_truncation() -> Iterator[LogSegmentQuestion]:
    """Yield 4 batches truncated to each offset, once or twice, reopened before or not, then appended to."""
    for interval, together, reopened in product((0, 100), (True, False), (True, False)):
        between = (ReopenStep(),) if reopened else ()
        for first in range(5, 18):
            finished = (*_filled(together=together), *between, TruncateStep(first, 800), InactiveStep(), _LOOK)
            yield LogSegmentQuestion(finished, base_offset=7, index_interval_bytes=interval, max_index_size=96)
        for first, second in product(range(5, 18), (None, 6, 8, 10, 13)):
            again = () if second is None else (TruncateStep(second, 900), _LOOK)
            steps = (
                *_filled(together=together), *between, TruncateStep(first, 800), _LOOK, NextOffsetStep(), *again,
                ShouldRollStep(0, 110, 20, 890), AppendStep((NewBatch(20, (125,), 0), NewBatch(22, (128,), 60))),
                AppendStep((NewBatch(25, (90,), 40),)), _LOOK, TranslateStep(22), InactiveStep(), _LOOK,
            )  # fmt: skip
            yield LogSegmentQuestion(
                steps, base_offset=7, index_interval_bytes=interval, max_index_size=96, segment_ms=12
            )


def every_crash() -> Iterator[LogSegmentQuestion]:
    """Yield 4 batches with each number of bytes lost, and with each damaged, recovered at each interval."""
    for interval, cut in product((0, 100, 4096), range(0, 400, 7)):
        steps: tuple[Any, ...] = (
            *_filled(together=False),
            CrashStep(cut),
            _LOOK,
            NextOffsetStep(),
            FindStep(110, 0),
            AppendStep((_BATCHES[3],)),
            _LOOK,
        )
        yield LogSegmentQuestion(steps, base_offset=7, index_interval_bytes=interval)
    for interval, size, damaged in product((0, 100), (12, 24, 1024), range(5)):
        damage: tuple[Any, ...] = (
            *_filled(together=True),
            DamageStep(damaged),
            TranslateStep(13),
            RecoverStep(),
            _LOOK,
            NextOffsetStep(),
        )
        yield LogSegmentQuestion(damage, base_offset=7, index_interval_bytes=interval, max_index_size=size)


def every_order() -> Iterator[LogSegmentQuestion]:
    """Yield 3 batches of 2 offsets in any order, each offset translated."""
    for interval, offsets in product((0, 4096), product((0, 2, 4, 5), repeat=3)):
        batches = (AppendStep((NewBatch(offset, (100 + offset, 99)),)) for offset in offsets)
        steps: tuple[Any, ...] = (
            *batches,
            *map(TranslateStep, range(8)),
            _LOOK,
            NextOffsetStep(),
            RecoverStep(),
            _LOOK,
        )
        yield LogSegmentQuestion(steps, index_interval_bytes=interval)


def every_far_offset() -> Iterator[LogSegmentQuestion]:
    """Yield offsets at the ends of 32 bits above and below 3 base offsets."""
    for base, delta, first in product(
        (0, 50, 2**40), (-50, -1, 0, 2**31 - 1, 2**31, 2**32 - 1, 2**32 + 5), (True, False)
    ):
        offset = max(base + delta, 0)
        before = (AppendStep((NewBatch(base, (100,)),)),) if first else ()
        steps = (
            *before, ShouldRollStep(0, 100, offset, 0), AppendStep((NewBatch(offset, (110,)),)), _LOOK,
            ShouldRollStep(0, 10**6, base + 1, 0), TranslateStep(offset), RecoverStep(), _LOOK,
        )  # fmt: skip
        yield LogSegmentQuestion(steps, base_offset=base, index_interval_bytes=0)
        reopened = (AppendStep((NewBatch(offset, (110,)),)), ReopenStep(), _LOOK)
        yield LogSegmentQuestion((*before, *reopened), base_offset=base, max_index_size=24)


def every_life() -> Iterator[LogSegmentQuestion]:
    """Yield every history of up to 3 of 11 steps on a segment with two batches."""
    alphabet: tuple[Any, ...] = (
        AppendStep((NewBatch(20, (150,), 10),)), AppendStep((NewBatch(30, (150,), 10), NewBatch(31, (160,), 10))),
        TruncateStep(8, 200), TruncateStep(40, 200), RecoverStep(), CrashStep(3), DamageStep(1), InactiveStep(),
        ResizeStep(600), ReopenStep(), FindStep(100, 0),
    )  # fmt: skip
    for steps in every_script(alphabet, 3):
        after = (_LOOK, NextOffsetStep(), FindStep(120, 0), AppendStep((NewBatch(50, (170,), 10),)), _LOOK)
        yield LogSegmentQuestion(
            (*_filled(together=False)[:2], *steps, *after), base_offset=7, index_interval_bytes=70, max_index_size=640
        )
