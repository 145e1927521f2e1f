"""Temporary folders that do not outlive the process, however it ends: :mod:`.scratch_process` owns them."""

from __future__ import annotations

import os
import secrets
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from threading import Lock
from types import TracebackType

from kafka_jars.errors import ScratchUnavailable

__all__ = ["ScratchFolder"]

_PROGRAM = Path(__file__).with_name("scratch_process.py")


class ScratchFolder:
    """A new folder, as a context manager that returns its path; deleted at the end of the block or of the process.

    ``where`` is the folder that it is made in (default: the system's for temporary files). Raises ScratchUnavailable.
    """

    def __init__(self, prefix: str = "kafka-conformance-", where: Path | None = None) -> None:
        try:
            self.path = Path(where or tempfile.gettempdir()).absolute() / f"{prefix}{secrets.token_hex(8)}"
            _owner.tell(b"+", self.path)
            self.path.mkdir(0o700)
        except OSError as error:
            raise ScratchUnavailable(
                f"a temporary folder cannot be made in {where or 'TMPDIR, or the system folder for such files'}"
                f" ({error.strerror or error}): make room there{'' if where else ', or set TMPDIR'}"
            ) from error

    def delete(self) -> None:
        """Delete the folder and what is in it."""
        shutil.rmtree(self.path, ignore_errors=True)
        if not os.path.lexists(self.path):  # otherwise it is deleted when the process has ended
            _owner.tell(b"-", self.path)

    def __enter__(self) -> Path:
        return self.path

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.delete()


class _Owner:
    """The process that owns the folders of this process; it starts when it receives the first one."""

    def __init__(self) -> None:
        self._lock, self._pipe = Lock(), -1

    def tell(self, sign: bytes, folder: Path) -> None:
        message = sign + os.fsencode(folder) + b"\0"
        with self._lock:
            if self._pipe < 0:
                self._pipe = _start()
            try:
                os.write(self._pipe, message)
            except OSError:  # it was killed: another one owns the folders from here on
                os.close(self._pipe)
                self._pipe = _start()
                os.write(self._pipe, message)

    def forget(self) -> None:
        """Leave the process to the parent, which has forked this one."""
        if self._pipe >= 0:
            os.close(self._pipe)
        self._lock, self._pipe = Lock(), -1


def _start() -> int:
    """Start the owner; return the pipe to it. It ends when this process does, and is not waited for."""
    read, write = os.pipe()
    try:
        owner = subprocess.Popen(
            [sys.executable, "-I", "-S", str(_PROGRAM), str(os.getpid())],
            stdin=read, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip
    except BaseException:
        os.close(write)
        raise
    finally:
        os.close(read)
    owner.returncode = 0  # it ends after this process: nothing waits for it, and Python need not warn of that
    return write


_owner = _Owner()
os.register_at_fork(after_in_child=_owner.forget)
