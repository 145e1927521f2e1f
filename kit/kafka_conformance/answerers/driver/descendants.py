"""End a driver with everything it started, also what left its process group.

A driver is started with a random mark in its environment, which its descendants inherit. On Linux the processes with this
mark are found in ``/proc``, whatever session they moved to and whether or not their parents live, and are killed. Elsewhere
only the process group is killed: a descendant that left it has to end when its pipes close. A descendant that starts
with an empty environment in another session is not found.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import signal
from collections.abc import Iterator
from pathlib import Path

__all__ = ["MARK", "kill_marked", "marked_environment"]

MARK = "KAFKA_CONFORMANCE_DRIVER"
_PROCESSES = Path("/proc")
_ROUNDS = 50  # a process may start another one while its own is being killed


def marked_environment() -> dict[str, str]:
    """Return the environment of this process with a new mark."""
    return {**os.environ, MARK: secrets.token_hex(16)}


def kill_marked(environment: dict[str, str]) -> None:
    """Kill every process that has the mark of ``environment``."""
    mark = f"{MARK}={environment[MARK]}".encode()
    for _ in range(_ROUNDS):
        found = list(_marked(mark))
        for pid in found:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        if not found:
            return


def _marked(mark: bytes) -> Iterator[int]:
    for process in _PROCESSES.glob("[0-9]*"):
        with contextlib.suppress(OSError):  # it has ended, or belongs to another user
            if mark in (process / "environ").read_bytes():
                yield int(process.name)
