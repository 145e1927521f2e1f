"""Follow a source: copy what it gains, again and again, until the caller ends it or nothing arrives any more."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import msgspec

__all__ = ["EVERY_S", "Ending", "Following", "ended_by_interrupt", "follow"]

EVERY_S = 2.0
"""Seconds between two looks at a source that has gained nothing."""

_SLICE_S = 0.2


class Following(msgspec.Struct, frozen=True):
    """How a source is followed: until the user ends it, or until it has gained nothing for ``until_idle_s`` seconds."""

    until_idle_s: float | None = None


class Ending:
    """Whether the caller has asked to end. A plain flag: a signal's handler may set it while anything runs."""

    def __init__(self) -> None:
        self.asked = False

    def wait(self, seconds: float) -> None:
        """Return after ``seconds``, or soon after the caller asks to end."""
        limit = time.monotonic() + seconds
        while not self.asked and (left := limit - time.monotonic()) > 0:
            time.sleep(min(left, _SLICE_S))


def follow(
    copy_rest: Callable[[], int | None], behind: Callable[[], int], ending: Ending, until_idle_s: float | None,
    clock: Callable[[], float] = time.monotonic,
) -> None:  # fmt: skip
    """Call ``copy_rest`` until ``ending``, or until the source is idle for ``until_idle_s`` seconds.

    ``copy_rest`` copies what the source has gained and returns how many records, 0 if it has gained nothing, or None if the
    copy is not as planned: then following ends. ``behind`` returns how many offsets are not copied: a source with an open
    transaction is not idle.
    """
    idle_since = clock()
    while not ending.asked:
        copied = copy_rest()
        if copied is None:
            return
        if copied:
            idle_since = clock()
            continue
        left = EVERY_S if until_idle_s is None else idle_since + until_idle_s - clock()
        if left <= 0 and not behind():
            return
        ending.wait(min(EVERY_S, left) if left > 0 else EVERY_S)


@contextmanager
def ended_by_interrupt(on_first: Callable[[], None]) -> Iterator[Ending]:
    """Ask to end on the first Ctrl-C or SIGTERM, and call ``on_first``; a second one interrupts. Ignored ones stay so."""
    ending = Ending()
    if threading.current_thread() is not threading.main_thread():
        yield ending
        return
    numbers = [number for number in (signal.SIGINT, signal.SIGTERM) if signal.getsignal(number) is not signal.SIG_IGN]
    before = {number: signal.getsignal(number) for number in numbers}

    def restore() -> None:
        for number, handler in before.items():
            signal.signal(number, handler)

    def ask(*_: object) -> None:
        ending.asked = True
        restore()
        on_first()

    for number in numbers:
        signal.signal(number, ask)
    try:
        yield ending
    finally:
        restore()
