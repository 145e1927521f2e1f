"""Notes and warnings, each one line on standard error."""

from __future__ import annotations

import contextlib
import sys

from kafka_conformance.core.sanitize import harmless

__all__ = ["note", "warn"]


def warn(message: str) -> None:
    """Print a warning, for what is lost without changing the verdict."""
    note(f"warning: {message}")


def note(message: str) -> None:
    """Print a message as one line; it is lost if standard error is closed."""
    with contextlib.suppress(OSError, ValueError):
        print(f"kafka-conformance: {harmless(message)}", file=sys.stderr, flush=True)
