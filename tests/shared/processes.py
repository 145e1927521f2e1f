"""Whether processes have ended, for all tests that start some."""

from __future__ import annotations

import time
from pathlib import Path


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
