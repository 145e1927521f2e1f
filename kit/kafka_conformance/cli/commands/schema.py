"""Print the JSON Schema of the protocol's lines, in both directions."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from kafka_conformance.answerers.driver import schema as protocol_schema
from kafka_conformance.cli import options
from kafka_conformance.core.files import write_whole

__all__ = ["run"]


@click.option("--write", default=None, type=options.FILE, metavar="FILE", help="Write it to this file instead.")
def run(*, write: Path | None) -> int:
    """Print it, or write it into a file. Raises KitError."""
    if write is None:
        sys.stdout.write(protocol_schema.text())
        return 0
    write_whole(write, protocol_schema.text().encode())
    return 0
