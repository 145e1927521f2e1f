"""The implementation under test: a driver's command, the name of a driver in ``ci/drivers``, or a Python callable."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Protocol

from kafka_conformance.answerers.driver.answerer import DriverAnswerer
from kafka_conformance.answerers.driver.connection import Command, Limits
from kafka_conformance.answerers.driver.process import Show, on_stderr
from kafka_conformance.answerers.in_process import PREFIX, CallableAnswerer, imported
from kafka_conformance.answerers.named_driver import build, named_driver
from kafka_conformance.core import events
from kafka_conformance.core.answerer import Answerer
from kafka_conformance.core.errors import BadInput
from kafka_conformance.core.protocol import Lost

__all__ = ["TargetAnswerer", "open_target"]


class TargetAnswerer(Answerer, Protocol):
    """An answerer that describes itself: its name, the rules it answers, and how its answers are graded."""

    @property
    def description(self) -> events.Target:
        """Return its name, version, language and command."""
        ...

    @property
    def rules(self) -> frozenset[str] | None:
        """The rules it answers; None if it did not say: ask about all."""
        ...

    @property
    def grades(self) -> Mapping[str, events.Grade]:
        """The grade that it declares, by rule, where that is not exactly Java's answer."""
        ...

    def finish(self) -> Lost | None:
        """Call this after the last question. Return the protocol error if the target wrote more than answers."""
        ...


@contextmanager
def open_target(
    target: str,
    command: Sequence[str] = (),
    *,
    timeout_s: float = 30,
    show: Show = on_stderr,
    limits: Limits | None = None,
) -> Iterator[TargetAnswerer]:
    """The target, ready to be asked; it ends with the block, whatever happens.

    Either ``target`` (``python:pkg.mod:answerer``, or a name in ``ci/drivers``) or ``command`` is given. ``timeout_s`` is
    for a hello and for each batch of questions, a quarter of it for all restarts; ``limits`` says more, in its place.
    ``show`` gets what a driver writes to standard error, a line at a time and harmless. Raises BadInput for what cannot be
    understood, KitError for a build that fails, TargetLost for a driver that does not start with a hello.
    """
    limits = limits or Limits(hello_s=timeout_s, batch_s=timeout_s, restarting_s=timeout_s / 4)
    if target and command:
        raise BadInput(f"the target is named {target}, and there is a command after --: give one of them")
    if not target and not command:
        raise BadInput("no target: give a command after --, python:package.module:answerer, or a name in ci/drivers")
    if target.startswith(PREFIX):
        with CallableAnswerer(imported(target), target, timeout_s=limits.batch_s) as answerer:
            yield answerer
        return
    started = Command(tuple(command), show=show)
    if target:
        started, steps = named_driver(target, show=show)
        for step in steps:
            build(step)
    with DriverAnswerer(started, limits) as driver:
        yield driver
