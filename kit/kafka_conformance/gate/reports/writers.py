"""All reports of a gate, to wherever they were asked for: files whole or not at all, the others to standard output."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from kafka_conformance.core.errors import BadInput
from kafka_conformance.core.events import Event
from kafka_conformance.core.files import write_report
from kafka_conformance.core.notices import warn
from kafka_conformance.core.streams import say
from kafka_conformance.gate.reports import badge as gate_badge
from kafka_conformance.gate.reports import github as gate_github
from kafka_conformance.gate.reports import junit as gate_junit
from kafka_conformance.gate.reports import markdown as gate_markdown
from kafka_conformance.gate.reports import page as gate_page
from kafka_conformance.gate.reports import side_by_side
from kafka_conformance.gate.reports import terminal as gate_terminal
from kafka_conformance.gate.reports.outline import outline
from kafka_conformance.reports.terminal import console

__all__ = ["show", "write_all", "write_several"]


def show(events: Iterable[Event]) -> None:
    """The report for a person, to standard output; where that is a workflow's log, so that it issues no command."""
    before, after = gate_github.fence() if gate_github.in_actions(os.environ) else ("", "")
    _print(before)
    try:
        gate_terminal.show(console(), events)
    finally:
        _print(after)


def write_all(events: Sequence[Event], *, junit: Path | None = None, markdown: Path | None = None,
              html: Path | None = None, badge: Path | None = None, github: bool = False) -> None:  # fmt: skip
    """Write every report that was asked for. One that cannot be written is a warning, and keeps no other from it."""
    if github:
        _print(gate_github.write(events))
    made: list[tuple[Path | None, Callable[[Sequence[Event]], str]]] = [
        (junit, gate_junit.write),
        (markdown, gate_markdown.write),
        (html, gate_page.write),
        (badge, gate_badge.write),
    ]
    for path, writer in made:
        if path is not None:
            write_report(path, writer(events))
    summary = os.environ.get("GITHUB_STEP_SUMMARY")
    if github and summary:
        _append(Path(summary), gate_github.summary(events))


def write_several(events: Iterable[Event], *, junit: Path | None = None, markdown: Path | None = None,
                  html: Path | None = None, badge: Path | None = None, terminal: bool = True) -> int:  # fmt: skip
    """Write several gates side by side; return the exit code of all. Raises BadInput for a report of one gate alone."""
    for name, path in (("--junit", junit), ("--badge", badge)):
        if path is not None:
            raise BadInput(f"{name} is a report of one gate: make it with `report` from the events of each")
    streams = side_by_side.split_streams(events)
    if terminal or not (markdown or html):
        side_by_side.show(console(), streams)
    for path, writer in ((markdown, side_by_side.write_markdown), (html, side_by_side.write_html)):
        if path is not None:
            write_report(path, writer(streams))
    return side_by_side.exit_code(list(map(outline, streams)))


def _append(path: Path, text: str) -> None:
    """Add to GitHub's own file, to which every command of a step adds; a warning if that cannot be."""
    try:
        with path.open("ab") as file:
            file.write(text.encode("utf-8", "backslashreplace"))
    except (OSError, ValueError) as error:
        warn(f"{path} cannot be written: {getattr(error, 'strerror', None) or 'no file can have this name'}")


def _print(text: str) -> None:
    say(text, end="", flush=True)
