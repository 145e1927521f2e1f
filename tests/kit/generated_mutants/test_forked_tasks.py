"""Tasks in forked processes: what they return, and what is left when they die or are not waited for."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator

import pytest

from kafka_conformance.generated_mutants import forked_tasks
from kafka_conformance.generated_mutants.forked_tasks import in_forks


def test_each_forked_task_runs_in_a_separate_process() -> None:
    found = dict(in_forks([1, 2, 3], lambda task: [task, os.getpid()], list[int], at_once=2))
    assert sorted(found) == [1, 2, 3]
    assert all(value is not None and value[0] == task for task, value in found.items())
    assert len({value[1] for value in found.values() if value} | {os.getpid()}) == 4


def test_forked_task_whose_process_dies_returns_none() -> None:
    def work(task: int) -> int:
        if task == 2:
            os.kill(os.getpid(), signal.SIGKILL)
        if task == 3:
            raise SystemExit(4)
        return task

    assert dict(in_forks([1, 2, 3], work, int, at_once=3)) == {1: 1, 2: None, 3: None}


def test_forked_process_over_the_time_limit_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forked_tasks, "LIMIT_S", 0.2)
    monkeypatch.setattr(forked_tasks, "_POLL_S", 0.05)
    begun = time.monotonic()
    assert list(in_forks([1], lambda _: time.sleep(60), int, at_once=1)) == [(1, None)]
    assert time.monotonic() - begun < 30


def test_closing_the_result_iterator_kills_running_forked_processes() -> None:
    reading, writing = os.pipe()

    def work(task: int) -> int:
        if task:
            os.write(writing, b"%d " % os.getpid())
            time.sleep(60)
        return task

    results = in_forks([1, 0], work, int, at_once=2)
    assert next(results) == (0, 0)
    pid = int(os.read(reading, 100))
    results.close()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_forks_draw_the_next_task_only_when_a_process_is_free() -> None:
    taken = []

    def tasks() -> Iterator[int]:
        for task in range(5):
            taken.append(task)
            yield task

    results = in_forks(tasks(), lambda task: task, int, at_once=2)
    next(results)
    assert len(taken) <= 3
    assert len(list(results)) == 4
