"""Progress on standard error: a bar on a terminal, elsewhere a plain line every five seconds."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from kafka_conformance.core.console import can_animate, error_console
from kafka_conformance.core.streams import say_error

__all__ = ["Steps", "steps"]

_EVERY_S = 5.0


class Steps:
    """Progress over a number of steps. ``title`` names the current one."""

    def __init__(self, title: str, total: int) -> None:
        self.title, self.total, self.done = title, total, 0
        self._shown = self._begun = time.monotonic()

    def doing(self, what: str) -> None:
        """Show what the current step is."""
        self.title = what
        self._show()

    def begin(self, what: str, total: int) -> None:
        """Begin to count ``total`` steps of another kind."""
        self.total, self.done = total, 0
        self.doing(what)

    def advance(self, by: int = 1) -> None:
        """Count ``by`` more steps as done."""
        self.done += by
        self._show()

    def _show(self) -> None:
        now = time.monotonic()
        if now - self._shown >= _EVERY_S:
            self._shown = now
            say_error(f"{self.title}: {self.done} of {self.total}, {now - self._begun:.0f} s")


class _Bar(Steps):
    def __init__(self, title: str, total: int, bar: Progress) -> None:
        super().__init__(title, total)
        self._bar, self._task = bar, bar.add_task(title, total=total)

    def _show(self) -> None:
        self._bar.update(self._task, description=self.title, completed=self.done, total=self.total)


@contextmanager
def steps(title: str, total: int) -> Iterator[Steps]:
    """Show progress over ``total`` steps while the block runs."""
    console = error_console()
    if not can_animate(console):
        yield Steps(title, total)
        return
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, transient=True) as bar:
        yield _Bar(title, total, bar)
