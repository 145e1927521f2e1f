"""The state of the process that the tests run in: set, and not inherited from a shell, nohup, a daemon or CI."""

from __future__ import annotations

import os
import signal

from hypothesis.internal.conjecture import providers

DEFAULTS = ("SIGHUP", "SIGTERM", "SIGQUIT", "SIGCHLD", "SIGALRM", "SIGUSR1", "SIGUSR2")
"""Signals that a parent may leave ignored; ``nohup``, ``cmd &`` in a script and some daemons do."""

LEFT_OUT = (
    "FORCE_COLOR", "NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "PY_COLORS", "COLORTERM", "TTY_COMPATIBLE", "TTY_INTERACTIVE",
    "COLUMNS", "LINES", "GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY", "GITHUB_OUTPUT", "KAFKA_CONFORMANCE_TRACEBACK",
)  # fmt: skip
"""Variables that change what is printed."""

TERMINAL = "xterm-256color"
UMASK = 0o022


def set_own_state() -> None:
    """Set signals, umask and environment. Child processes inherit all three."""
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    for name in DEFAULTS:
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.umask(UMASK)
    for name in LEFT_OUT:
        os.environ.pop(name, None)
    os.environ["TERM"] = TERMINAL
    _hide_loaded_constants()


def _hide_loaded_constants() -> None:
    """Make a seed generate the same examples whichever tests ran before: Hypothesis takes constants from loaded modules."""
    providers._get_local_constants = lambda: providers._local_constants
