from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.fixture
def gone() -> Callable[[int], bool]:
    """Whether a process ends in time; one that waits for an init that does not reap has ended."""

    def is_gone(pid: int, within_s: float = 10) -> bool:
        limit = time.monotonic() + within_s
        while time.monotonic() < limit:
            try:
                if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
                    return True
            except OSError:
                return True
            time.sleep(0.02)
        return False

    return is_gone
