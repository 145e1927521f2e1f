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
    """Run a script in a new Python process, which accepts Ctrl-C, with these arguments; ``given`` are those of ``Popen``."""
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


def descendants(pid: int) -> list[int]:
    """All processes under this one."""
    under: dict[int, list[int]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = int(stat.read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
        under.setdefault(parent, []).append(int(stat.parent.name))
    found, left = [], [pid]
    while left:
        left += under.get(left[0], [])
        found += under.get(left.pop(0), [])
    return found


def nothing_left(rooms: dict[str, str], pids: list[int]) -> bool:
    """Whether these processes end, and the folder for temporary files of this environment becomes empty, in time."""
    folder, limit = Path(rooms["TMPDIR"]), time.monotonic() + 15
    while list(folder.iterdir()) and time.monotonic() < limit:
        time.sleep(0.05)
    return all(map(is_gone, pids)) and not list(folder.iterdir())


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
