"""What has changed between two files of results: an Atom feed, and the draft of an issue for each new difference.

::

    python ci/matrix_changes.py old.json kit/docs/matrix/results.json --feed feed.xml --issues drafts

Prints one line for each change. A cell that is in one file alone is a change from or to "not run". The exit code is 1 if a
cell differs now and did not before, else 0.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from xml.etree import ElementTree as ET  # only written

import click
from matrix_results import Cell, Results, State, read_matrix

__all__ = ["Change", "changes", "feed", "issue", "main"]

_ATOM = "http://www.w3.org/2005/Atom"


@dataclass(frozen=True, slots=True)
class Change:
    """A cell whose state has changed: the cell as it is now, and its state before."""

    cell: Cell
    before: State

    @property
    def title(self) -> str:
        """``kafkajs 2.2.4 (default), murmur2: agrees, now differs``."""
        cell = self.cell
        setting = f" ({', '.join(cell.settings)})" if cell.settings else ""
        return f"{cell.name} {cell.version}{setting}, {cell.about}: {self.before}, now {cell.state}"

    @property
    def is_worse(self) -> bool:
        """Whether it differs now and did not before."""
        return self.cell.state == "differs"


def changes(before: Results, now: Results) -> list[Change]:
    """Return the cells whose state has changed, in the order of ``now``; those that are gone come last."""
    old = {cell.key: cell for cell in before.cells}
    new = {cell.key: cell for cell in now.cells}
    found = [Change(cell, old[key].state if key in old else "not run") for key, cell in new.items()]
    gone = (cell for key, cell in old.items() if key not in new)
    for cell in gone:
        left = Cell(cell.subject, cell.name, cell.version, cell.settings, cell.about, "not run")
        found.append(Change(left, cell.state))
    return [change for change in found if change.before != change.cell.state]


def feed(found: Sequence[Change], updated: str) -> str:
    """Return an Atom feed of changes; ``updated`` is their time, as RFC 3339."""
    ET.register_namespace("", _ATOM)
    root = ET.Element(f"{{{_ATOM}}}feed")
    _add(root, "id", "urn:kafka-conformance:matrix")
    _add(root, "title", "Changes in the matrix of kafka-conformance")
    _add(root, "updated", updated)
    _add(_add(root, "author", ""), "name", "kafka-conformance")
    for change in found:
        entry = _add(root, "entry", "")
        _add(entry, "id", f"urn:kafka-conformance:matrix:{updated}:{_slug(change)}")
        _add(entry, "title", change.title)
        _add(entry, "updated", updated)
        _add(entry, "content", change.cell.why or change.title)
        if change.cell.page:
            _add(entry, "link", "").set("href", change.cell.page)
    ET.indent(root)
    return ET.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def issue(change: Change) -> str:
    """Return the draft of an issue for a cell that differs now."""
    cell = change.cell
    asked = f", asked {cell.case_set}" if cell.case_set else ""
    lines = [
        f"# {cell.about} differs from Kafka {cell.release}: {cell.name} {cell.version}",
        "",
        f"Before: {change.before}. Now {cell.agreed:,} of {cell.asked:,} answers match{asked}.",
        f"The smallest cases, both answers, and the commands that ask again: `kit/docs/{cell.page}`",
        "",
        "Before you send this: ask again with the newest version, look for an existing issue, and name the line at fault.",
    ]
    return "\n".join(lines) + "\n"


def _add(parent: ET.Element, name: str, text: str) -> ET.Element:
    child = ET.SubElement(parent, f"{{{_ATOM}}}{name}")
    child.text = text or None
    return child


def _slug(change: Change) -> str:
    return re.sub(r"[^a-z0-9.]+", "-", " ".join(change.cell.key).lower()).strip("-")


def _written(folder: Path, found: Sequence[Change]) -> Iterator[Path]:
    for change in found:
        if change.is_worse:
            path = folder / f"{_slug(change)}.md"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(issue(change), encoding="utf-8")
            yield path


@click.command(help=__doc__)
@click.argument("before", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.argument("now", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--feed", "feed_file", type=click.Path(path_type=Path), metavar="FILE", help="Write an Atom feed.")
@click.option(
    "--issues", type=click.Path(path_type=Path), metavar="FOLDER", help="Write a draft for each new difference."
)
def main(before: Path, now: Path, feed_file: Path | None, issues: Path | None) -> None:
    """Print the changes, and write them."""
    found = changes(read_matrix(before.read_bytes()), read_matrix(now.read_bytes()))
    for change in found:
        click.echo(change.title)
    if feed_file is not None:
        feed_file.write_text(feed(found, datetime.now(UTC).isoformat(timespec="seconds")), encoding="utf-8")
    if issues is not None:
        for path in _written(issues, found):
            click.echo(f"wrote {path}")
    sys.exit(int(any(change.is_worse for change in found)))


if __name__ == "__main__":
    main()
