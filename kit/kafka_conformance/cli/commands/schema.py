"""Print the JSON Schema of the protocol's lines, in both directions."""

from __future__ import annotations

from pathlib import Path

import click

from kafka_conformance.answerers.driver import schema as protocol_schema
from kafka_conformance.cli import options
from kafka_conformance.core.files import write_whole
from kafka_conformance.core.streams import say

__all__ = ["run"]


@click.option("--write", default=None, type=options.PRODUCT, metavar="FILE", help="Write it to this file instead.")
def run(*, write: Path | None) -> int:
    """Print it, or write it into a file. Raises KitError."""
    if write is None:
        say(protocol_schema.text(), end="")
        return 0
    write_whole(write, protocol_schema.text().encode())
    return 0
