"""Interrupts: Ctrl-C, SIGTERM and a terminal that is closed end a run, whatever it does at that moment.

Python turns a signal into an exception at whatever is being run. If that is a destructor or a callback of the garbage
collector (Hypothesis has one), Python prints the exception and drops it, and the run would continue. So the exception is
raised again every second until :func:`acknowledge` is called, and what Python would print of it is left out.

An ignored SIGCHLD is inherited from some daemons. Exit codes of child processes would be lost: each would read as 0.
"""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["acknowledge", "deferred", "explained", "install", "restore"]

_AGAIN_S = 1.0
_NO_SIGNALS = "kafka-conformance: the command line needs a POSIX system such as Linux; on Windows, run it in WSL\n"
_catches = False
_raised = False
_defers = False
_printed = sys.unraisablehook


def install() -> None:
    """Raise KeyboardInterrupt for Ctrl-C, SIGTERM and SIGHUP from here on. What is ignored stays so, as under ``nohup``.

    It is not an Exception: py4j would take that for a lost connection. Ends the process on a system without such signals.
    """
    global _catches, _printed
    if not hasattr(signal, "setitimer"):
        sys.stderr.write(_NO_SIGNALS)
        sys.exit(2)
    if sys.unraisablehook is not _unraisable:
        _printed, sys.unraisablehook = sys.unraisablehook, _unraisable
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGTERM, _raise)
    signal.signal(signal.SIGALRM, _raise)
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        signal.signal(signal.SIGHUP, _raise)
    _catches = signal.getsignal(signal.SIGINT) is not signal.SIG_IGN
    restore()


def restore() -> None:
    """Handle Ctrl-C again as :func:`install` has decided: pyspark replaces its handler."""
    if _catches:
        signal.signal(signal.SIGINT, _raise)


@contextmanager
def explained(line: str) -> Iterator[None]:
    """Within the block, give an interrupt this line for the user: what to do next."""
    try:
        yield
    except KeyboardInterrupt:
        raise KeyboardInterrupt(line) from None


def acknowledge() -> None:
    """Acknowledge the exception: it is not raised again, so that the run can end in order. Other threads get none."""
    global _raised
    if _raised and threading.current_thread() is threading.main_thread():
        _raised = False
        signal.setitimer(signal.ITIMER_REAL, 0)


@contextmanager
def deferred() -> Iterator[None]:
    """Raise an interrupt of this block at its end: it starts a process, which nothing could end before it has a name."""
    global _defers
    _defers = True
    try:
        yield
    finally:
        _defers = False
    if _raised:
        raise KeyboardInterrupt


def _raise(*_: object) -> None:
    global _raised
    _raised = True
    signal.setitimer(signal.ITIMER_REAL, _AGAIN_S)
    if not _defers:
        raise KeyboardInterrupt


def _unraisable(dropped: sys.UnraisableHookArgs) -> None:
    """Print an exception that Python drops, unless it is an interrupt, which is raised again."""
    if not isinstance(dropped.exc_value, KeyboardInterrupt):
        _printed(dropped)
