"""A program of its own that starts processes, keeps their folder, and ends both with whoever asked for it.

A broker must not outlive the run that started it, nor leave its files behind, also when that run is killed and can do
nothing about it. So brokers are not its children. They are the children of this small program, which holds the other end
of a pipe: the pipe ends when the run ends, however it ends, and then this program kills what it started, deletes the
folder and goes. It runs in a session of its own, where Ctrl-C and a terminal that is closed do not reach.

=======================  ===================================================================================
who ends                 what follows
=======================  ===================================================================================
the run, in order        it closes the pipe, and waits until the keeper has gone
the run, killed          the pipe closes by itself; where a forked child of the run still holds it, the keeper
                         sees within half a second that it has another parent
the keeper, asked to     SIGTERM and SIGHUP: as when the pipe closes
the keeper, killed       on Linux the kernel kills what it started (PR_SET_PDEATHSIG); the run deletes the folder
both, killed             as the row before, without the folder
=======================  ===================================================================================

Standard library only, and run by its path with ``-I -S``, so that it starts in 30 ms and needs nothing of ours. It has one
thread: the kernel's promise is about the thread that started a process. Words go by JSON lines:

====================================================  ===========================================
asked                                                 answered
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


class Keeper:
    """The folder, and what runs in it."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self._running: dict[str, subprocess.Popen[bytes]] = {}
        self._ending = _ends_with_us()

    def answer(self, asked: dict[str, Any]) -> dict[str, Any]:
        """Do what a line asks for."""
        if "start" in asked:
            return self._start(asked["start"], asked["command"], asked["log"])
        if "signal" in asked:
            self._running[asked["to"]].send_signal(asked["signal"])
            return {}
        return {"code": self._running[asked["state"]].poll()}

    def end(self) -> None:
        """Kill what runs, and delete the folder."""
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


def _ends_with_us() -> Callable[[], None] | None:
    """For a new process, before it becomes another program: the kernel is to kill it when this one ends."""
    if not sys.platform.startswith("linux"):
        return None
    kernel, us = ctypes.CDLL(None), os.getpid()

    def promise() -> None:
        kernel.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != us:  # we ended before the promise was made
            os._exit(1)

    return promise


def _asked_to_end(*_: object) -> NoReturn:
    raise SystemExit(0)


def serve(keeper: Keeper, parent: int) -> None:
    """Answer lines until the pipe ends or ``parent`` is not our parent any more."""
    pending = b""
    while os.getppid() == parent:
        if not select.select([0], [], [], PARENT_LOOK_S)[0]:
            continue
        if not (read := os.read(0, 65536)):
            return
        *lines, pending = (pending + read).split(b"\n")
        for line in lines:
            say(keeper.answer(json.loads(line)))


def say(answer: dict[str, Any]) -> None:
    """A line to the run."""
    os.write(1, json.dumps(answer).encode() + b"\n")


def main(parent: int, where: str) -> None:
    """Keep a new folder in ``where`` for the process ``parent``."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for asked in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(asked, _asked_to_end)
    keeper = Keeper(tempfile.mkdtemp(prefix="kafka-conformance-broker-", dir=where))
    try:
        say({"folder": keeper.folder})
        serve(keeper, parent)
    except BrokenPipeError:
        pass  # nobody listens any more
    finally:
        for asked in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(asked, signal.SIG_IGN)
        keeper.end()


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])
