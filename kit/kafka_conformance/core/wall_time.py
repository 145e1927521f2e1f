"""The time since this process was started, including the start of Python and all imports."""

from __future__ import annotations

import os
import time
from pathlib import Path

__all__ = ["elapsed_s"]

_LONGEST_START_S = 60.0


def _age_s() -> float:
    """Return how long this process has run; 0 where the system does not report it."""
    try:
        fields = Path("/proc/self/stat").read_text(encoding="ascii", errors="replace").rpartition(")")[2].split()
        age = time.clock_gettime(time.CLOCK_BOOTTIME) - int(fields[19]) / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, IndexError, AttributeError):
        return 0.0
    return age if 0 <= age < _LONGEST_START_S else 0.0


_BEGAN = time.monotonic() - _age_s()


def elapsed_s() -> float:
    """Return the seconds since this process was started, or, without ``/proc``, since this module was imported."""
    return round(time.monotonic() - _BEGAN, 3)
