"""A file written whole or not at all: a reader sees the old one or the new one, never half of it."""

from __future__ import annotations

import os
from pathlib import Path

from kafka_conformance.core.errors import KitError

__all__ = ["write_whole"]


def write_whole(path: Path, data: bytes) -> None:
    """Write the file; its folder is made. Raises KitError."""
    try:
        if path.exists() and not path.is_file():  # /dev/stdout, or a pipe: there is nothing to put in its place
            path.write_bytes(data)
            return
        real = path.resolve()
        real.parent.mkdir(parents=True, exist_ok=True)
        scratch = real.with_name(f".{os.getpid()}.part")
        try:
            scratch.write_bytes(data)
            scratch.replace(real)
        finally:
            scratch.unlink(missing_ok=True)
    except (FileExistsError, NotADirectoryError) as error:
        raise KitError(f"{path} cannot be written: what should be its folder is a file") from error
    except OSError as error:
        raise KitError(f"{path} cannot be written: {error.strerror}") from error
