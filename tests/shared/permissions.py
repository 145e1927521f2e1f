"""Run a child without root's right to ignore permissions, so that a test of permissions says the same to every user."""

from __future__ import annotations

import ctypes
import os
import subprocess
from collections.abc import Sequence
from typing import Any

_PR_CAPBSET_DROP = 24
_IGNORES_PERMISSIONS = (1, 2)  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH


def obey_permissions() -> None:
    """Give up, as a ``preexec_fn``, what lets root read and write everything: a folder of mode 000 is closed to it too.

    It keeps its number, so it can still start the Python in its home.
    """
    if os.geteuid() == 0:
        for capability in _IGNORES_PERMISSIONS:
            ctypes.CDLL(None).prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0)


def run_obeying(command: Sequence[str], timeout_s: float = 60, **given: Any) -> subprocess.CompletedProcess[str]:
    """Run a command as a user whom permissions stop; ``given`` are arguments of ``Popen``."""
    return subprocess.run(
        list(command), capture_output=True, text=True, timeout=timeout_s, check=False, preexec_fn=obey_permissions,
        **given,
    )  # fmt: skip
