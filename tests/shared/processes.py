"""Start processes, and find out whether they have ended, for all tests that do."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any


def accept_interrupts() -> None:
    """Accept Ctrl-C, as a ``preexec_fn``: what a shell starts in the background ignores it, and so do its children."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def run_script(script: str, *words: str, timeout_s: float = 30, **given: Any) -> subprocess.CompletedProcess[str]:
    """Run a script in a Python of its own, which accepts Ctrl-C, with these arguments; ``given`` are those of ``Popen``."""
    command = [sys.executable, "-c", script, *words]
    given.setdefault("preexec_fn", accept_interrupts)
    return subprocess.run(command, capture_output=True, text=True, timeout=timeout_s, check=False, **given)


def is_gone(pid: int, within_s: float = 15) -> bool:
    """Whether this process ends in time; one that only waits for an init that does not reap has ended."""
    limit = time.monotonic() + within_s
    while time.monotonic() < limit:
        try:
            if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
                return True
        except OSError:
            return True
        time.sleep(0.02)
    return False


def is_group_gone(group: int, within_s: float = 30) -> bool:
    """Whether all processes of this group end in time."""
    return all(is_gone(pid, within_s) for pid in _group(group))


def _group(group: int) -> list[int]:
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[2]) == group:
            found.append(int(path.parent.name))
    return found
