"""Make reports of gates from their saved events; `-` is standard input.

Several gates come side by side. The exit code is that of the gate, or of the worst one.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from kafka_conformance.cli import options
from kafka_conformance.core.decoding import UNREADABLE
from kafka_conformance.core.errors import BadInput
from kafka_conformance.core.events import Event, from_lines
from kafka_conformance.core.files import read_bytes
from kafka_conformance.core.streams import read_input
from kafka_conformance.gate.reports import side_by_side
from kafka_conformance.gate.reports import writers as gate_writers
from kafka_conformance.gate.reports.outline import outline
from kafka_conformance.gate.reports.regressions import show as show_since
from kafka_conformance.reports.terminal import console

__all__ = ["read", "run"]

_LARGEST = 2**30  # of a gate in all releases, with every answer


@click.argument("events", metavar="EVENTS...", type=options.FILE, nargs=-1, required=True)
@click.option("--since", default=None, type=options.FILE, metavar="EVENTS",
              help="Print what got worse since this earlier gate; exit code 1 if anything did.")  # fmt: skip
@options.reports
@click.option("--github", is_flag=True, help="Print GitHub annotations to standard output, and write the job summary.")
@click.option("--terminal", is_flag=True, help="Print the report (default if no other report is named).")
def run(*, events: Sequence[Path], junit: Path | None, github: bool, markdown: Path | None,
        badge: Path | None, html: Path | None, terminal: bool, since: Path | None = None) -> int:  # fmt: skip
    """Write the reports that are named, or print one; return the exit code of the gate."""
    found = [event for path in events for event in read(path)]
    if since is not None:
        return show_since(console(), read(since), found)
    if len(side_by_side.split_streams(found)) > 1:
        return gate_writers.write_several(
            found, junit=junit, markdown=markdown, html=html, badge=badge, terminal=terminal
        )
    if terminal or not (github or any((junit, markdown, badge, html))):
        gate_writers.show(found)
    gate_writers.write_all(found, junit=junit, markdown=markdown, html=html, badge=badge, github=github)
    return outline(found).exit_code


def read(path: Path) -> list[Event]:
    """Read the events in a file, or on standard input for ``-``. Raises BadInput.

    A gate that was killed may leave half a line at the end; the reports then say that its stream is incomplete.
    """
    data = read_input(_LARGEST) if str(path) == "-" else read_bytes(path, _LARGEST)
    whole, _, rest = data.rpartition(b"\n")
    found: list[Event] = []
    for number, line in enumerate(whole.split(b"\n"), 1):
        try:
            found.extend(from_lines([line]))
        except UNREADABLE as error:
            raise BadInput(f"{path} is not a stream of events: line {number}: {error}") from error
    try:
        found.extend(from_lines([rest]))
    except UNREADABLE as error:
        if not found:
            raise BadInput(f"{path} is not a stream of events: {error}") from error
    return found
