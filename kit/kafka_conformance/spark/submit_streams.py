"""Keep standard error apart from standard output under ``spark-submit``, which merges both of a Python program.

``spark-submit`` starts the program with one pipe for both, and copies that to its own standard output: a line of progress
would be within the document of ``--json``. The standard error of ``spark-submit`` itself is opened again instead; it is
still there when a Ctrl-C has ended ``spark-submit``. A file that is not opened to append cannot be opened again, because two
writers would overwrite each other: there, the JVM of ``spark-submit`` writes.
"""

from __future__ import annotations

import io
import os
import re
import stat
import sys
from pathlib import Path
from typing import Any, TextIO

__all__ = ["separate_error"]


def separate_error() -> None:
    """Write standard error to that of ``spark-submit``, which runs this program. Without ``/proc`` nothing changes."""
    try:
        if not os.path.sameopenfile(1, 2):
            return
        parent = Path("/proc") / str(os.getppid())
        flags = re.search(r"^flags:\s*([0-7]+)", (parent / "fdinfo" / "2").read_text(), re.MULTILINE)
        kind = (parent / "fd" / "2").stat().st_mode
        appends = flags is not None and int(flags[1], 8) & os.O_APPEND
        if stat.S_ISREG(kind) and not appends:
            sys.stderr = _OfTheJvm(sys.stderr)
            return
        opened = os.open(parent / "fd" / "2", os.O_WRONLY | os.O_APPEND)
    except OSError:
        return
    sys.stderr.flush()
    os.dup2(opened, 2)
    os.close(opened)


class _OfTheJvm(io.TextIOBase):
    """Text that the JVM of ``spark-submit`` writes to its standard error; to ``instead`` when it has ended."""

    def __init__(self, instead: TextIO) -> None:
        self._instead = instead
        self._stream: Any = None

    def writable(self) -> bool:
        """Return true."""
        return True

    def write(self, text: str) -> int:
        """Write ``text``, and return its length."""
        try:
            if self._stream is None:
                self._stream = _error_of_jvm()
            self._stream.print(text)
            self._stream.flush()
        except Exception:  # noqa: BLE001  py4j has several errors for a JVM that is gone
            self._instead.write(text)
            self._instead.flush()
        return len(text)


def _error_of_jvm() -> Any:
    from pyspark.java_gateway import launch_gateway

    gateway: Any = launch_gateway()  # type: ignore[no-untyped-call]
    return gateway.jvm.java.lang.System.err
