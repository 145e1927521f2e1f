"""Print the case sets, or write the frozen cases as plain JSON files.

The files need no kit: a folder for each rule and era, with JSON Schemas and a README.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from kafka_conformance.cases.export import case_files
from kafka_conformance.cases.sets import case_sets
from kafka_conformance.cli import options
from kafka_conformance.core.files import write_whole
from kafka_conformance.core.streams import say
from kafka_conformance.rules import named

__all__ = ["run"]


@click.option("--write", default=None, type=options.FILE, metavar="FOLDER", help="Write the files into this folder.")
@options.rules
@click.option("--every-era", is_flag=True, help="With --write: every era of each rule (default: the newest one).")
def run(*, write: Path | None, rules: Sequence[str], every_era: bool) -> int:
    """Print the sets, or write the files; 0. Raises KitError."""
    sets = case_sets()
    if write is None:
        for line in sets.lines():
            say(line)
        return 0
    written = 0
    for path, text in case_files(named(rules), sets, every_era=every_era):
        write_whole(write / path, text.encode())
        written += 1
    say(f"wrote {written} files of {sets.label} into {write}")
    return 0
