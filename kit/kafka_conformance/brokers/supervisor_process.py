"""A separate program that starts processes and owns their folder, and ends both when the run that started it ends.

A broker must not outlive its run or leave files behind, even if the run is killed. So brokers are children of this small
program and not of the run. It holds the other end of a pipe: the pipe closes when the run ends, however it ends; then this
program kills what it started, deletes the folder and exits. It runs in a separate session, which Ctrl-C and a closed
terminal do not reach.

=======================  ===================================================================================
what ends                consequence
=======================  ===================================================================================
the run, in order        it closes the pipe and waits for the supervisor
the run, killed          the pipe closes; if a forked child of the run still holds it, the supervisor notices
                         within half a second that its parent changed
the supervisor, by SIGTERM or SIGHUP: as when the pipe closes
the supervisor, killed   on Linux the kernel kills what it started (PR_SET_PDEATHSIG); the run deletes the folder
both, killed             as above, but the folder remains
=======================  ===================================================================================

It uses the standard library only and is run by its path with ``-I -S``, so that it starts in 30 ms. It has one thread, since
PR_SET_PDEATHSIG refers to the thread that started a process. Requests and responses are JSON lines:

====================================================  ===========================================
request                                               response
====================================================  ===========================================
(at first)                                            ``{"folder": "/tmp/…"}``
``{"start": "1", "command": […], "log": "name"}``     ``{"pid": 71}`` or ``{"failed": "why"}``
``{"signal": 15, "to": "1"}``                         ``{}``
``{"state": "1"}``                                    ``{"code": null}`` while it runs
====================================================  ===========================================
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from typing import Any, NoReturn

PARENT_LOOK_S = 0.5
_END_LIMIT_S = 5
_PR_SET_PDEATHSIG = 1


class ProcessFolder:
    """A folder and the processes in it."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self._running: dict[str, subprocess.Popen[bytes]] = {}
        self._ending = _die_with_parent()

    def handle(self, request: dict[str, Any]) -> dict[str, Any]:
        """Execute one request and return its response."""
        if "start" in request:
            return self._start(request["start"], request["command"], request["log"])
        if "signal" in request:
            self._running[request["to"]].send_signal(request["signal"])
            return {}
        return {"code": self._running[request["state"]].poll()}

    def end(self) -> None:
        """Kill all processes and delete the folder."""
        for process in self._running.values():
            process.kill()
        for process in self._running.values():
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(_END_LIMIT_S)
        shutil.rmtree(self.folder, ignore_errors=True)

    def _start(self, name: str, command: list[str], log: str) -> dict[str, Any]:
        with open(os.path.join(self.folder, log), "ab") as words:  # noqa: PTH118, PTH123  pathlib is half of the start
            try:
                process = subprocess.Popen(
                    command, cwd=self.folder, stdin=subprocess.DEVNULL, stdout=words, stderr=words, preexec_fn=self._ending
                )  # fmt: skip
            except (OSError, subprocess.SubprocessError) as error:
                return {"failed": str(error)}
        self._running[name] = process
        return {"pid": process.pid}


def _die_with_parent() -> Callable[[], None] | None:
    """Return a function for a new process, run before exec, after which the kernel kills it when this process ends."""
    if not sys.platform.startswith("linux"):
        return None
    kernel, us = ctypes.CDLL(None), os.getpid()

    def arm() -> None:
        kernel.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != us:  # this process ended before the call
            os._exit(1)

    return arm


def _exit(*_: object) -> NoReturn:
    raise SystemExit(0)


def serve(owned: ProcessFolder, parent: int) -> None:
    """Handle requests until the pipe closes or the parent process changes."""
    pending = b""
    while os.getppid() == parent:
        if not select.select([0], [], [], PARENT_LOOK_S)[0]:
            continue
        if not (read := os.read(0, 65536)):
            return
        *lines, pending = (pending + read).split(b"\n")
        for line in lines:
            respond(owned.handle(json.loads(line)))


def respond(answer: dict[str, Any]) -> None:
    """Write a response to the run."""
    os.write(1, json.dumps(answer).encode() + b"\n")


def main(parent: int, where: str) -> None:
    """Own a new folder under ``where`` for the process ``parent``."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _exit)
    owned = ProcessFolder(tempfile.mkdtemp(prefix="kafka-conformance-broker-", dir=where))
    try:
        respond({"folder": owned.folder})
        serve(owned, parent)
    except BrokenPipeError:
        pass  # the run has ended
    finally:
        for number in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        owned.end()


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])
