"""Processes forked for one task each: a mistake that is planted in one harms no other."""

from __future__ import annotations

import os
import selectors
import signal
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Generic, TypeVar

import msgspec

__all__ = ["LIMIT_S", "in_forks"]

T = TypeVar("T")
R = TypeVar("R")

LIMIT_S = 3600.0
"""The longest that a task may take."""
_POLL_S = 1.0


@dataclass
class _Fork(Generic[T]):
    task: T
    pid: int
    pipe: int
    begun: float = field(default_factory=time.monotonic)
    answer: bytearray = field(default_factory=bytearray)


def in_forks(
    tasks: Iterable[T], work: Callable[[T], R], kind: type[R], *, at_once: int
) -> Iterator[tuple[T, R | None]]:
    """Yield each task with what ``work`` returns in a forked process, as they end.

    None stands for a process that died, or took longer than LIMIT_S. A task is taken when a process is free for it. Whatever
    ends the iteration ends the processes.
    """
    waiting = iter(tasks)
    with selectors.DefaultSelector() as selector:
        running: dict[int, _Fork[T]] = {}
        try:
            while True:
                while len(running) < at_once and (task := next(waiting, None)) is not None:
                    fork = _begin(task, work)
                    running[fork.pid] = fork
                    selector.register(fork.pipe, selectors.EVENT_READ, fork)
                if not running:
                    return
                for fork in _ended(selector, running):
                    selector.unregister(fork.pipe)
                    del running[fork.pid]
                    yield fork.task, _reap(fork, kind)
        finally:
            for fork in running.values():
                _reap(fork, kind)


def _begin(task: T, work: Callable[[T], object]) -> _Fork[T]:
    reading, writing = os.pipe()
    sys.stdout.flush()
    sys.stderr.flush()
    pid = os.fork()
    if pid:
        os.close(writing)
        return _Fork(task, pid, reading)
    try:
        os.close(reading)
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends this process
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        with os.fdopen(writing, "wb") as pipe:
            pipe.write(msgspec.msgpack.encode(work(task)))
    finally:
        os._exit(0)


def _ended(selector: selectors.BaseSelector, running: dict[int, _Fork[T]]) -> list[_Fork[T]]:
    """Wait a second at most and return the processes that have answered, or take too long."""
    ended = []
    for key, _ in selector.select(_POLL_S):
        data = os.read(key.fd, 1 << 16)
        key.data.answer += data
        if not data:
            ended.append(key.data)
    late = time.monotonic() - LIMIT_S
    return ended + [fork for fork in running.values() if fork.begun < late and fork not in ended]


def _reap(fork: _Fork[T], kind: type[R]) -> R | None:
    with suppress(ProcessLookupError):
        os.kill(fork.pid, signal.SIGKILL)
    os.waitpid(fork.pid, 0)
    os.close(fork.pipe)
    try:
        return msgspec.msgpack.decode(bytes(fork.answer), type=kind)
    except msgspec.MsgspecError:
        return None
