"""The errors of exports that an audit cannot read: the same with Spark and without."""

from __future__ import annotations

from collections.abc import Iterable

from kafka_conformance.core.errors import BadInput

__all__ = ["missing_column", "missing_place", "no_key_type", "no_number_type", "repeated_offset"]


def missing_place(path: str, records: int) -> BadInput:
    """Return the error for an export with ``records`` records that have no partition or no offset."""
    return BadInput(f"{path}: {records:,} records have no partition or no offset: export both columns")


def missing_column(path: str, wanted: str, key: str, columns: Iterable[str]) -> BadInput:
    """Return the error for an export without the column ``wanted``; ``key`` is the name of the key's column."""
    advice = "name it with --key-column" if wanted == key else "an audit needs it"
    return BadInput(f"{path} has no column {wanted}: {advice}; its columns are {', '.join(columns) or 'none'}")


def no_key_type(path: str, name: str, kind: str) -> BadInput:
    """Return the error for keys that are neither bytes nor text."""
    return BadInput(f"{path}: the key column {name} has type {kind}: expected bytes, or text with --key-encoding")


def no_number_type(path: str, name: str, kind: str) -> BadInput:
    """Return the error for partitions or offsets that are not numbers."""
    return BadInput(f"{path}: the column {name} has type {kind}: expected whole numbers")


def repeated_offset(path: str, partition: int, offset: int, times: int) -> BadInput:
    """Return the error for an export that holds an offset of a partition more than once."""
    return BadInput(
        f"{path}: offset {offset} of partition {partition} occurs {times:,} times in the files: keep one row for each"
        " partition and offset, or name the files of one export"
    )
