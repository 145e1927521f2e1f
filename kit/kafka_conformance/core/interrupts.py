"""Being asked to stop, by Ctrl-C or a request to terminate, and not losing that.

Python turns such a request into an exception at whatever is being run. If that happens to be a destructor or a callback of
the garbage collector (Hypothesis has one), Python prints the exception and drops it: the run would go on as if nobody had
asked. So the exception is raised again every second until somebody says that it was heard.
"""

from __future__ import annotations

import signal
from typing import NoReturn

__all__ = ["heard", "listen"]

_AGAIN_S = 1.0
_raised = False


def listen() -> None:
    """From here on a request to stop is a KeyboardInterrupt, and it is not lost. An ignored Ctrl-C stays ignored.

    It is no Exception: py4j would take that for a lost connection.
    """
    signal.signal(signal.SIGTERM, _raise)
    signal.signal(signal.SIGALRM, _raise)
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, _raise)


def heard() -> None:
    """The exception has come through: whoever is ending the run now does it undisturbed."""
    global _raised
    if _raised:
        _raised = False
        signal.setitimer(signal.ITIMER_REAL, 0)


def _raise(*_: object) -> NoReturn:
    global _raised
    _raised = True
    signal.setitimer(signal.ITIMER_REAL, _AGAIN_S)
    raise KeyboardInterrupt
