"""Fuzz a parser: only its documented errors may escape, within a limit of memory and of time.

A :class:`Door` is a parser with its promise; ``check`` calls it once. ``explore`` calls it with many inputs of a Hypothesis
strategy: a few, the same each time, or for some seconds from a seed (``pytest tests/fuzz --fuzz-seconds N``).

Memory is measured as the growth of the process's peak of resident memory, so it counts what compiled code allocates too. The
address space is bounded as well: what is reserved and not used counts as soon as it is larger than ``_RESERVED_BYTES``, when
Python raises MemoryError and Rust ends the process. Time is that of the processor, so that a busy machine fails no test.
"""

from __future__ import annotations

import contextlib
import os
import re
import resource
import signal
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from hypothesis.errors import HypothesisWarning

__all__ = ["BrokenPromise", "Door", "FuzzPlan", "explore", "last_file", "plant"]

MIB = 2**20
_RESERVED_BYTES = 2 * 2**30
_STUCK = 5
"""A parser that takes this multiple of its limit is interrupted."""
_SHOWN = 600
_STATUS = re.compile(rb"Vm(HWM|RSS|Size):\s+(\d+) kB")


class BrokenPromise(AssertionError):
    """An error that is not documented, too much memory, or too long a time."""


class _Stuck(BaseException):
    """Interrupts a parser. No parser catches it: it is not an Exception."""


@dataclass(frozen=True)
class Door:
    """A parser, the errors that it documents, and its limits: memory in MiB, time of the processor in seconds."""

    read: Callable[[Any], object]
    refuses: tuple[type[Exception], ...]
    memory_mib: int = 48
    seconds: float = 2.0

    def check(self, given: Any) -> None:
        """Call the parser. Raises BrokenPromise."""
        Path("/proc/self/clear_refs").write_bytes(b"5")  # sets the peak to what is resident now
        resident, began = _memory("RSS"), time.process_time()
        try:
            with _interrupted(self.seconds * _STUCK):
                self.read(given)
        except self.refuses:
            pass
        except _Stuck:
            raise BrokenPromise(f"not done after {self.seconds * _STUCK:g} s of processor time") from None
        except Exception as error:
            raise BrokenPromise(f"{type(error).__name__} is not a documented error: {str(error)[:200]}") from error
        took, grown = time.process_time() - began, (_memory("HWM") - resident) / MIB
        if took > self.seconds:
            raise BrokenPromise(f"{took:.1f} s of processor time: the limit is {self.seconds:g} s")
        if grown > self.memory_mib:
            raise BrokenPromise(f"{grown:.0f} MiB of memory: the limit is {self.memory_mib} MiB")


@dataclass(frozen=True)
class FuzzPlan:
    """How long to explore: ``seconds`` from ``seed``; without seconds a few examples, the same each time.

    In a long run each input is in the file ``last`` before it is parsed, since compiled code may end the process.
    ``shrink``: look for the smallest input that breaks a promise.
    """

    seconds: float | None = None
    seed: int = 0
    last: Path | None = None
    shrink: bool = True


def explore(
    plan: FuzzPlan, door: Door, inputs: st.SearchStrategy[Any], examples: int = 100, always: Iterable[Any] = ()
) -> int:
    """Call a parser with many inputs, first those of ``always``, and return how many. Raises BrokenPromise.

    ``examples`` is the number of inputs; in a long run, of those from one seed.
    """
    count = 0
    until = time.monotonic() + (plan.seconds or 0)

    def check(given: Any) -> None:
        nonlocal count
        count += 1
        shown = given if isinstance(given, bytes) else repr(given).encode("utf-8", "backslashreplace")
        if plan.last is not None:
            plan.last.write_bytes(shown)
        try:
            door.check(given)
        except BrokenPromise as error:
            error.add_note(f"input of {len(shown):,} bytes: {shown[:_SHOWN]!r}")
            raise

    with _bounded_addresses(), warnings.catch_warnings():
        warnings.simplefilter("ignore", HypothesisWarning)  # an input is large to print
        for one in always:
            check(one)
        for number in range(10**9):
            chosen = settings(
                max_examples=examples, derandomize=plan.seconds is None,
                database=None, deadline=None, suppress_health_check=list(HealthCheck), print_blob=False,
                phases=[Phase.explicit, Phase.generate, *([Phase.shrink] if plan.shrink else [])],
            )  # fmt: skip
            test = chosen(given(inputs)(check))
            (test if plan.seconds is None else seed(f"{plan.seed}:{number}")(test))()
            if plan.seconds is None or time.monotonic() > until:
                break
    return count


def plant(patch: pytest.MonkeyPatch, where: Any, name: str, when: Callable[..., bool]) -> None:
    """Plant a bug: the function ``where.name`` raises KeyError for arguments of which ``when`` is true."""
    right = getattr(where, name)

    def wrong(*arguments: Any, **named: Any) -> Any:
        if when(*arguments):
            raise KeyError("planted")
        return right(*arguments, **named)

    patch.setattr(where, name, wrong)


def _memory(name: str) -> int:
    """Return a figure of ``/proc/self/status`` in bytes."""
    return {key.decode(): int(size) for key, size in _STATUS.findall(Path("/proc/self/status").read_bytes())}[
        name
    ] * 1024


@contextlib.contextmanager
def _bounded_addresses() -> Iterator[None]:
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (_memory("Size") + _RESERVED_BYTES, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


@contextlib.contextmanager
def _interrupted(seconds: float) -> Iterator[None]:
    """Raise _Stuck in the block after so much time of the processor."""

    def interrupt(number: int, frame: FrameType | None) -> None:
        raise _Stuck

    before = signal.signal(signal.SIGVTALRM, interrupt)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def last_file(folder: Path, name: str) -> Path:
    """Return the file for the last input of a long run of a test."""
    folder.mkdir(parents=True, exist_ok=True)
    return folder / re.sub(r"[^\w.-]+", "-", f"{name}-{os.getpid()}")
