"""Notes and warnings, each one line on standard error."""

from __future__ import annotations

from kafka_conformance.core.streams import say_error

__all__ = ["note", "warn"]


def warn(message: str) -> None:
    """Print a warning, for what is lost without changing the verdict."""
    note(f"warning: {message}")


def note(message: str) -> None:
    """Print a message as one line; it is lost if standard error is closed."""
    say_error(f"kafka-conformance: {message}")
