"""The names of a segment's files: the base offset in 20 digits, what the file is, and what is to become of it.

Java sources mirrored: ``LogFileUtils`` (since 3.5.0), the object ``UnifiedLog`` (3.1.0 to 3.4.x), the object ``Log`` before.
"""

from __future__ import annotations

import re

__all__ = [
    "CLEANED",
    "DELETED",
    "LOG",
    "OFFSET_INDEX",
    "SNAPSHOT",
    "SWAP",
    "TIME_INDEX",
    "TRANSACTION_INDEX",
    "file_name",
    "offset_of_file",
]

LOG, OFFSET_INDEX, TIME_INDEX = ".log", ".index", ".timeindex"
TRANSACTION_INDEX, SNAPSHOT = ".txnindex", ".snapshot"
DELETED, CLEANED, SWAP = ".deleted", ".cleaned", ".swap"

_NAME = re.compile(r"(-?\d{1,20})\.[a-z.]+")


def file_name(base_offset: int, kind: str = "", suffix: str = "") -> str:
    """Return the name of a file: base offset, kind such as ``.index``, and suffix such as ``.deleted``.

    Java source mirrored: ``filenamePrefixFromOffset``, ``offsetIndexFile`` and its like.

    >>> file_name(97, OFFSET_INDEX)
    '00000000000000000097.index'
    """
    sign, digits = ("-", -base_offset) if base_offset < 0 else ("", base_offset)
    return f"{sign}{digits:020d}{kind}{suffix}"


def offset_of_file(name: str) -> int:
    """Return the base offset in the name of a segment's file. Raises ValueError for any other name.

    Java source mirrored: ``offsetFromFileName``, ``offsetFromFilename`` of 0.11.

    >>> offset_of_file("00000000000000000097.timeindex.deleted")
    97
    """
    found = _NAME.fullmatch(name)
    if found is None:  # unreached: no question has another name
        raise ValueError(f"{name!r} is no file of a segment: expected 20 digits and a suffix such as .index")
    return int(found[1])
