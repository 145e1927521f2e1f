"""The wall time includes the start of Python."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

SCRIPT = "import time; time.sleep(0.3); from kafka_conformance.core.wall_time import elapsed_s; print(elapsed_s())"


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="this system has no /proc")
def test_wall_time_includes_the_start_of_python() -> None:
    began = time.monotonic()
    ran = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True, timeout=60)
    tick_s = 1 / os.sysconf("SC_CLK_TCK")  # the system rounds the start of a process down to a clock tick
    longest_s = round(time.monotonic() - began + tick_s, 3)  # as the elapsed time is rounded
    assert 0.3 <= float(ran.stdout) <= longest_s
