"""``schema``: the JSON Schema of the protocol, for whoever writes a driver."""

from __future__ import annotations

import sys
from pathlib import Path

from kafka_conformance import protocol_schema
from kafka_conformance.errors import KitError

__all__ = ["run"]


def run(*, write: Path | None) -> int:
    """Print it, or write it into a file. Raises KitError."""
    if write is None:
        sys.stdout.write(protocol_schema.text())
        return 0
    try:
        write.write_text(protocol_schema.text(), encoding="utf-8")
    except OSError as error:
        raise KitError(f"{write} cannot be written: {error.strerror}") from error
    return 0
