from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator

import pytest

from kafka_conformance.audit.repair import continuous_copy
from kafka_conformance.audit.repair.continuous_copy import Ending, ended_by_interrupt, follow


class Clock:
    """A clock that waiting moves on."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now, self.waits = 0.0, list[float]()
        monkeypatch.setattr(Ending, "wait", lambda _, seconds: self.wait(seconds))

    def wait(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.now += seconds

    def __call__(self) -> float:
        return self.now


def copies(clock: Clock, *counts: int | None) -> Iterator[int | None]:
    for count in counts:
        clock.now += 10 * bool(count)
        yield count


def nothing() -> int:
    return 0


def test_follow_continues_while_the_source_has_an_open_transaction(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, behind = Clock(monkeypatch), [5, 5, 0]
    follow(nothing, lambda: behind.pop(0), Ending(), 1.0, clock)
    assert behind == []
    assert clock.waits == [1.0, 2.0, 2.0], "it looks again, not at once"


def test_follow_ends_after_idle_time_counted_from_the_last_copied_record(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(monkeypatch)
    counts = copies(clock, 5, 0, 0, 7, *[0] * 9)
    follow(lambda: next(counts), nothing, Ending(), 5.0, clock)
    assert clock.waits == [2.0, 2.0, 2.0, 2.0, 1.0], "the idle time starts again after records"
    assert sum(1 for _ in counts) == 5


def test_follow_with_idle_time_0_ends_at_the_first_empty_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(monkeypatch)
    counts = copies(clock, 5, 1, 0)
    follow(lambda: next(counts), nothing, Ending(), 0.0, clock)
    assert clock.waits == []
    assert list(counts) == []


def test_follow_ends_when_a_copy_differs_from_the_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(monkeypatch)
    counts = copies(clock, 5, None, 5)
    follow(lambda: next(counts), nothing, Ending(), None, clock)
    assert list(counts) == [5]


def test_follow_without_limit_ends_at_the_users_interrupt(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, ending, looks = Clock(monkeypatch), Ending(), list[int]()

    def copy() -> int:
        looks.append(1)
        ending.asked = len(looks) == 50
        return 0

    follow(copy, nothing, ending, None, clock)
    assert len(looks) == 50
    assert set(clock.waits) == {continuous_copy.EVERY_S}


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_first_sigint_or_sigterm_requests_the_end_and_second_raises_keyboard_interrupt(number: signal.Signals) -> None:
    before, noted = signal.getsignal(number), list[str]()
    signal.signal(number, signal.default_int_handler)
    try:
        with ended_by_interrupt(lambda: noted.append("ends")) as ending:
            os.kill(os.getpid(), number)
            ending.wait(60)
            assert ending.asked
            assert noted == ["ends"]
            with pytest.raises(KeyboardInterrupt):
                os.kill(os.getpid(), number)
        assert signal.getsignal(number) is signal.default_int_handler
    finally:
        signal.signal(number, before)


def test_ignored_sigint_stays_ignored_while_following() -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with ended_by_interrupt(lambda: None) as ending:
            os.kill(os.getpid(), signal.SIGINT)
        assert not ending.asked
    finally:
        signal.signal(signal.SIGINT, before)


def test_following_in_a_non_main_thread_starts_without_error_or_request_to_end() -> None:
    seen = list[bool]()

    def run() -> None:
        with ended_by_interrupt(lambda: None) as ending:
            seen.append(ending.asked)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join(10)
    assert seen == [False]
