"""Processes in a folder, both removed when the run ends; the client of :mod:`.supervisor_process`."""

from __future__ import annotations

import contextlib
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from kafka_conformance.core import interrupts
from kafka_conformance.core.errors import BrokerLost

__all__ = ["ProcessSupervisor"]

_PROGRAM = Path(__file__).with_name("supervisor_process.py")
_ANSWER_LIMIT_S = 20
_END_LIMIT_S = 20


class ProcessSupervisor:
    """A folder and the processes in it, as a context manager. Safe to use from several threads."""

    def __init__(self) -> None:
        self._pids: dict[str, int] = {}
        self._lock = threading.Lock()
        self._pending = b""
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", str(_PROGRAM), str(os.getpid()), tempfile.gettempdir()],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip
        self._folder: Path | None = None
        try:
            self._folder = Path(self._receive()["folder"])
        except BaseException:
            interrupts.acknowledge()
            self.close()
            raise

    @property
    def folder(self) -> Path:
        """The folder; it is deleted when the run ends."""
        assert self._folder is not None  # noqa: S101  it is set before anybody else can ask
        return self._folder

    def start(self, name: str, command: Sequence[str], log: str) -> int:
        """Start a process whose output goes into the file ``log``, and return its id. Raises BrokerLost."""
        answer = self._request({"start": name, "command": list(command), "log": log})
        if "failed" in answer:
            raise BrokerLost(f"{command[0]} cannot be started: {answer['failed']}")
        self._pids[name] = int(answer["pid"])
        return self._pids[name]

    def signal(self, name: str, number: signal.Signals) -> None:
        """Send a signal to a process, if it still runs."""
        self._request({"signal": int(number), "to": name})

    def code(self, name: str) -> int | None:
        """Return the exit code of a process, negative for a signal; None while it runs."""
        found = self._request({"state": name})["code"]
        if found is not None:
            self._pids.pop(name, None)
        return None if found is None else int(found)

    def wait(self, name: str, limit_s: float) -> int | None:
        """Wait for a process and return its exit code; None if it still runs after ``limit_s``."""
        limit = time.monotonic() + limit_s
        while (code := self.code(name)) is None and time.monotonic() < limit:
            time.sleep(0.01)
        return code

    def pid(self, name: str) -> int | None:
        """Return the process id; None if the process has ended."""
        return self._pids.get(name) if self.code(name) is None else None

    def close(self) -> None:
        """End all processes, delete the folder, and wait for both."""
        assert self._process.stdin is not None  # noqa: S101  it was started with pipes
        assert self._process.stdout is not None  # noqa: S101
        with contextlib.suppress(OSError):
            self._process.stdin.close()
        try:
            code = self._process.wait(_END_LIMIT_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            code = self._process.wait(_END_LIMIT_S)
        self._process.stdout.close()
        if code != 0:
            self._clean_up()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None and not issubclass(kind, Exception):
            interrupts.acknowledge()
        self.close()

    def _clean_up(self) -> None:
        """Do what the supervisor process would have done, had it not been killed."""
        for pid in self._pids.values():
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)

    def _request(self, line: dict[str, Any]) -> dict[str, Any]:
        assert self._process.stdin is not None  # noqa: S101
        with self._lock:
            try:
                self._process.stdin.write(json.dumps(line).encode() + b"\n")
                self._process.stdin.flush()
            except (OSError, ValueError) as error:
                raise self._lost() from error
            return self._receive()

    def _receive(self) -> dict[str, Any]:
        assert self._process.stdout is not None  # noqa: S101
        pipe, limit = self._process.stdout.fileno(), time.monotonic() + _ANSWER_LIMIT_S
        poll = select.poll()  # not select(): a run may have more than 1,024 files open
        poll.register(pipe, select.POLLIN)
        while b"\n" not in self._pending:
            ready = poll.poll(max(0.0, limit - time.monotonic()) * 1000)
            if not ready or not (read := os.read(pipe, 65536)):
                raise self._lost()
            self._pending += read
        line, self._pending = self._pending.split(b"\n", 1)
        answer: dict[str, Any] = json.loads(line)
        return answer

    def _lost(self) -> BrokerLost:
        return BrokerLost(f"the supervisor process of the brokers ({self._process.pid}) has ended, and its brokers too")
