"""All reports of a gate, to wherever they were asked for: files whole or not at all, the others to standard output."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from kafka_conformance.core.errors import BadInput, KitError
from kafka_conformance.core.events import Event
from kafka_conformance.core.files import write_whole
from kafka_conformance.core.notices import warn
from kafka_conformance.gate.reports import badge as gate_badge
from kafka_conformance.gate.reports import github as gate_github
from kafka_conformance.gate.reports import junit as gate_junit
from kafka_conformance.gate.reports import markdown as gate_markdown
from kafka_conformance.gate.reports import page as gate_page
from kafka_conformance.gate.reports import several
from kafka_conformance.gate.reports import terminal as gate_terminal
from kafka_conformance.gate.reports.outline import outline
from kafka_conformance.reports.terminal import console, drop_output

__all__ = ["ready", "show", "writable", "write_all", "write_several"]


def ready(*paths: Path | None) -> None:
    """Refuse, before anything is asked, where no file could be written afterwards. Raises KitError."""
    for path in filter(None, paths):
        if path.is_dir():
            raise BadInput(f"{path} is a folder: name a file in it")
        # A file is put in the place of the one that is there, so it is the folder that counts; but not for a pipe.
        special = path.exists() and not path.is_file()
        nearest = path if special else next(one for one in path.absolute().parents if one.exists())
        if not os.access(nearest, os.W_OK) or not (special or nearest.is_dir()):
            raise KitError(f"{path} cannot be written: {nearest} may not be written to")


def writable(path: Path | None) -> Path | None:
    """Return the path of a report, or None, with a warning, if it cannot be written. Raises BadInput for a folder."""
    try:
        ready(path)
    except BadInput:
        raise
    except KitError as error:
        warn(f"{error}; the gate goes on without it")
        return None
    return path


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
    """Every report that was asked for. One that cannot be written keeps no other from it; then raises KitError."""
    if github:
        _print(gate_github.write(events))
    made: list[tuple[Path | None, Callable[[Sequence[Event]], str]]] = [
        (junit, gate_junit.write),
        (markdown, gate_markdown.write),
        (html, gate_page.write),
        (badge, gate_badge.write),
    ]
    failed = []
    for path, writer in made:
        try:
            if path is not None:
                write_whole(path, writer(events).encode("utf-8", "backslashreplace"))
        except KitError as error:
            failed.append(str(error))
    summary = os.environ.get("GITHUB_STEP_SUMMARY")
    if github and summary:
        try:
            _append(Path(summary), gate_github.summary(events))
        except KitError as error:
            failed.append(str(error))
    if failed:
        raise KitError("; ".join(failed))


def write_several(events: Iterable[Event], *, junit: Path | None = None, markdown: Path | None = None,
                  html: Path | None = None, badge: Path | None = None, terminal: bool = True) -> int:  # fmt: skip
    """Write several gates side by side; return the exit code of all. Raises BadInput for a report of one gate alone."""
    for name, path in (("--junit", junit), ("--badge", badge)):
        if path is not None:
            raise BadInput(f"{name} is a report of one gate: make it with `report` from the events of each")
    streams = several.split_streams(events)
    if terminal or not (markdown or html):
        several.show(console(), streams)
    for path, writer in ((markdown, several.write_markdown), (html, several.write_html)):
        if path is not None:
            write_whole(path, writer(streams).encode("utf-8", "backslashreplace"))
    return several.exit_code(list(map(outline, streams)))


def _append(path: Path, text: str) -> None:
    """GitHub's own file, to which every command of a step adds."""
    try:
        with path.open("ab") as file:
            file.write(text.encode("utf-8", "backslashreplace"))
    except OSError as error:
        raise KitError(f"{path} cannot be written: {error.strerror}") from error


def _print(text: str) -> None:
    # An encoding that lacks a character is no reason to lose a report.
    encoding = sys.stdout.encoding or "utf-8"
    try:
        print(text.encode(encoding, "backslashreplace").decode(encoding), end="", flush=True)
    except BrokenPipeError:
        drop_output()
