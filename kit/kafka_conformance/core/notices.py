"""Warnings: one line on standard error, for what is lost without changing the verdict."""

from __future__ import annotations

import contextlib
import sys

from kafka_conformance.core.sanitize import harmless

__all__ = ["warn"]


def warn(message: str) -> None:
    """Print a warning as one line; it is lost if standard error is closed."""
    with contextlib.suppress(OSError, ValueError):
        print(f"kafka-conformance: warning: {harmless(message)}", file=sys.stderr, flush=True)
