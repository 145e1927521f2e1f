"""List the rules, or write the reference page of each.

`--write FOLDER` writes a page for every rule and an index: fields of questions and answers, steps, exceptions, examples with
Java's answers, known mistakes. `--check FOLDER` exits with 1 unless the pages are current.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import click

from kafka_conformance.cases.rule_pages import rule_pages
from kafka_conformance.cli import options
from kafka_conformance.core.errors import BadInput
from kafka_conformance.core.files import check_writable, entries, exists, is_folder, read_text, write_whole
from kafka_conformance.core.protocol import to_json
from kafka_conformance.core.streams import say, say_json
from kafka_conformance.reports.tables import table
from kafka_conformance.reports.terminal import console
from kafka_conformance.rules import RULES

__all__ = ["run"]


@click.option("--write", default=None, type=options.FILE, metavar="FOLDER", help="Write the pages into this folder.")
@click.option("--check", default=None, type=options.FILE, metavar="FOLDER",
              help="Exit with 1 unless this folder has the pages as they would be written.")  # fmt: skip
@options.as_json
def run(*, write: Path | None, check: Path | None, as_json: bool) -> int:
    """Print the rules, or write or check their pages; return the exit code. Raises BadInput, KitError."""
    if check is not None and not is_folder(check):
        raise BadInput(f"{check} is not a folder: write the pages first, with --write {check}")
    if write is not None:
        check_writable(write / "README.md")  # the pages take ten seconds
        for name, text in rule_pages().items():
            write_whole(write / name, text.encode())
    if check is not None:
        return _check(check, rule_pages())
    if write is None:
        rows = [(rule.slug, str(rule.releases), rule.title) for rule in RULES.values()]
        if as_json:
            fields = [{"rule": slug, "releases": releases, "title": title} for slug, releases, title in rows]
            say_json(to_json({"rules": fields}))
        else:
            console().print(table("", ("rule", "releases", "title"), rows))
    return 0


def _check(folder: Path, pages: Mapping[str, str]) -> int:
    names = sorted({*pages, *(path.name for path in entries(folder) if path.suffix == ".md")})
    stale = [name for name in names if _text(folder / name) != pages.get(name)]
    for name in stale:
        say(f"{folder / name}: not current: run kafka-conformance rules --write {folder}")
    return 1 if stale else 0


def _text(path: Path) -> str | None:
    return read_text(path) if exists(path) else None
