"""Files that a user names: looked at, read and written, with one line for everything that can go wrong.

A name may lead to a FIFO, a device, a folder, a link to nothing, a place without permission, or out of a working directory
that was deleted. ``Path.exists``, ``read_bytes`` and ``open`` raise for some of these, wait for ever for others, and read
``/dev/zero`` until memory runs out. Here each is a BadInput or a KitError that names the path::

    orders.json cannot be read: it is a FIFO, not a file

A file is opened without waiting, its type is checked after that, and no more than ``limit`` bytes are read, however many the
file claims to have. A file is written whole or not at all: a reader sees the old one or the new one, never half of it.
"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from io import RawIOBase
from pathlib import Path
from typing import BinaryIO, Final

from kafka_conformance.core.errors import BadInput, KitError
from kafka_conformance.core.notices import warn
from kafka_conformance.core.streams import output_lost

__all__ = [
    "LARGEST", "check_writable", "data_files", "entries", "exists", "is_file", "is_folder", "open_regular", "open_stream",
    "read_bytes", "read_text", "reading", "report_path", "working_folder", "write_report", "write_whole",
]  # fmt: skip

LARGEST: Final = 256 * 2**20
"""Bytes of the largest file that is read whole: more than any report, record or list of events that the kit writes."""

_PIECE: Final = 2**20
_KINDS: Final = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a FIFO"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
    (stat.S_ISSOCK, "a socket"),
)


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Within the block, raise BadInput for what the system, or a decoder of text, says against reading ``path``."""
    try:
        yield
    except UnicodeDecodeError as error:
        what = f"byte {error.start:,} is not {error.encoding.upper()} text"
        raise BadInput(f"{path} cannot be read: {what}") from error
    except (OSError, ValueError) as error:  # ValueError: a name with a NUL, or with characters that no name can have
        raise BadInput(f"{path} cannot be read: {_reason(path, error)}") from error


def open_regular(path: Path) -> BinaryIO:
    """Open a regular file for reading, without waiting. Raises BadInput for anything else."""
    with reading(path):
        # O_NONBLOCK: to open a FIFO waits for a writer otherwise. It has no effect on a regular file.
        number = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
        try:
            if what := _kind(os.fstat(number).st_mode):
                raise BadInput(f"{path} cannot be read: it is {what}, not a file")
            return os.fdopen(number, "rb")
        except BaseException:
            os.close(number)
            raise


def read_bytes(path: Path, limit: int = LARGEST) -> bytes:
    """Return the content of a regular file of at most ``limit`` bytes. Raises BadInput."""
    pieces, left = [], limit + 1
    with open_regular(path) as file, reading(path):
        while left and (piece := file.read(min(left, _PIECE))):  # in pieces: read(limit) allocates the limit
            pieces.append(piece)
            left -= len(piece)
    if not left:
        raise BadInput(f"{path} cannot be read: it has more than {limit:,} bytes")
    return b"".join(pieces)


def read_text(path: Path, limit: int = LARGEST, encoding: str = "utf-8") -> str:
    """Return the text of a regular file of at most ``limit`` bytes, with ``\\n`` at the end of lines. Raises BadInput."""
    data = read_bytes(path, limit)
    with reading(path):
        return data.decode(encoding).replace("\r\n", "\n").replace("\r", "\n")


def exists(path: Path) -> bool:
    """Whether there is anything of this name. Raises BadInput if that cannot be known, as without permission."""
    return _mode(path) is not None


def is_file(path: Path) -> bool:
    """Whether ``path`` is a regular file. Raises BadInput if that cannot be known."""
    return stat.S_ISREG(_mode(path) or 0)


def is_folder(path: Path) -> bool:
    """Whether ``path`` is a folder. Raises BadInput if that cannot be known."""
    return stat.S_ISDIR(_mode(path) or 0)


def entries(folder: Path) -> list[Path]:
    """Return what is in a folder, sorted by name. Raises BadInput."""
    with reading(folder):
        return [folder / name for name in sorted(os.listdir(folder))]  # noqa: PTH208  Path.iterdir() delays its errors


def data_files(folder: Path) -> Iterator[Path]:
    """Yield the files below a folder. As for Spark, names that begin with ``_`` or a dot are left out."""
    for one in folder.rglob("*"):
        if one.is_file() and not any(part[0] in "_." for part in one.relative_to(folder).parts):
            yield one


def working_folder() -> Path:
    """Return the working directory. Raises BadInput if it was deleted, or may not be searched."""
    try:
        return Path.cwd()
    except OSError as error:
        raise BadInput(f"the working directory cannot be read: {error.strerror}; change to another") from error


def check_writable(path: Path) -> None:
    """Check, before the work, that ``write_whole`` can write this file. Raises BadInput for a folder, KitError otherwise."""
    with _writing(path):
        mode = _stat_mode(path)
        if mode is not None and stat.S_ISDIR(mode):
            raise BadInput(f"{path} is a folder: name a file in it")
        # A file is put in the place of the one that is there, so the folder must be writable; a pipe must be itself.
        real = Path(os.path.realpath(path))
        nearest = real
        if mode is None or stat.S_ISREG(mode):
            nearest = next(one for one in real.parents if _stat_mode(one) is not None)
            if not nearest.is_dir():
                raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
            if len(os.fsencode(real.name)) > os.pathconf(nearest, "PC_NAME_MAX"):
                raise OSError(errno.ENAMETOOLONG, os.strerror(errno.ENAMETOOLONG))
        if not os.access(nearest, os.W_OK | (os.X_OK if nearest.is_dir() else 0)):
            raise KitError(f"{path} cannot be written: {nearest} may not be written to")


def write_whole(path: Path, data: bytes) -> None:
    """Write a file; its folder is made. A device, a FIFO or a standard stream is written through. Raises KitError."""
    with _writing(path):
        if (stream := _written_through(path)) is not None:
            with os.fdopen(stream, "wb") as file:
                file.write(data)
            return
        real = Path(os.path.realpath(path))
        real.parent.mkdir(parents=True, exist_ok=True)
        # A name that cannot be guessed and must not exist: neither a planted link nor another process is in the way. Not
        # tempfile.mkstemp(): other users may not read its file.
        scratch = real.with_name(f".{secrets.token_hex(8)}.part")
        number = os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
        try:
            with os.fdopen(number, "wb") as file:
                file.write(data)
            scratch.replace(real)
        except BaseException:
            with contextlib.suppress(OSError):
                scratch.unlink()
            raise


def report_path(path: Path) -> Path | None:
    """Return the path of a report, or None, with a warning, if it cannot be written. Raises BadInput for a folder.

    A report is additional to the verdict: one that cannot be written changes neither the run nor its exit code.
    """
    try:
        check_writable(path)
    except BadInput:
        raise
    except KitError as error:
        warn(f"{error}; the run goes on without it")
        return None
    return path


def write_report(path: Path, content: str | bytes) -> None:
    """Write a report, as UTF-8. One that cannot be written is a warning: the verdict is what counts."""
    try:
        write_whole(path, content if isinstance(content, bytes) else content.encode("utf-8", "backslashreplace"))
    except KitError as error:
        warn(str(error))


def _written_through(path: Path) -> int | None:
    """Open what cannot be replaced by another file: a device, a FIFO, and what standard output or error writes to."""
    mode = _stat_mode(path)
    if mode is None:
        return None
    for stream in (1, 2):  # /dev/stdout, whether it is a terminal, a pipe or a file
        with contextlib.suppress(OSError):
            if os.path.samestat(os.fstat(stream), path.stat()):
                output_lost()  # flushes what was printed before
                return os.dup(stream)
    return None if stat.S_ISREG(mode) else _opened_for_writing(path, 0)


def open_stream(path: Path) -> RawIOBase:
    """Open a file that is written as things happen, without a buffer; its folder is made. Raises KitError."""
    with _writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        return os.fdopen(_opened_for_writing(path, os.O_CREAT | os.O_TRUNC), "wb", buffering=0)


def _opened_for_writing(path: Path, flags: int) -> int:
    # O_NONBLOCK: to open a FIFO without a reader is an error, and waits for one otherwise.
    number = os.open(path, os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC | flags, 0o666)
    os.set_blocking(number, True)
    return number


@contextmanager
def _writing(path: Path) -> Iterator[None]:
    try:
        yield
    except (FileExistsError, NotADirectoryError) as error:
        raise KitError(f"{path} cannot be written: what should be its folder is a file") from error
    except (OSError, ValueError) as error:
        what = "no process reads this FIFO" if getattr(error, "errno", 0) == errno.ENXIO else _reason(path, error)
        raise KitError(f"{path} cannot be written: {what}") from error


def _reason(path: Path, error: OSError | ValueError) -> str:
    if not isinstance(error, OSError):
        return "no file can have this name"
    with contextlib.suppress(OSError):
        if error.errno == errno.ENOENT and path.is_symlink():
            return f"it is a link to {path.readlink()}, which does not exist"
    if error.errno == errno.ENXIO:
        return "it is a socket, not a file"
    return error.strerror or type(error).__name__


def _kind(mode: int) -> str:
    """Return what a name leads to, "" for a regular file."""
    return "" if stat.S_ISREG(mode) else next((name for has, name in _KINDS if has(mode)), "of no known type")


def _mode(path: Path) -> int | None:
    with reading(path):
        return _stat_mode(path)


def _stat_mode(path: Path) -> int | None:
    try:
        return path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return None
