"""A command that runs behind a recording proxy, and what it left running, ended with it."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import signal
import subprocess
from asyncio.subprocess import DEVNULL, STDOUT
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, BinaryIO

from kafka_conformance.core import interrupts
from kafka_conformance.core.errors import BadInput, KitError
from kafka_conformance.wire.recording.proxy import Proxy

__all__ = ["Tail", "check_command", "record_until"]

_FLUSH_S, _TERM_S = 0.5, 5.0


class Tail:
    """The end of what a command prints."""

    def __init__(self, length: int = 4_000) -> None:
        self._length, self._data = length, b""

    @property
    def text(self) -> str:
        """The last characters that were printed."""
        return self._data.decode("utf-8", "replace").strip()

    async def read(self, end: int) -> None:
        """Read from this end of a pipe, and close it, until the other one is closed or this task is cancelled."""
        stream = asyncio.StreamReader()
        transport, _ = await asyncio.get_running_loop().connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(stream), os.fdopen(end, "rb")
        )
        try:
            while more := await stream.read(1 << 16):
                self._data = (self._data + more)[-self._length :]
        finally:
            transport.close()


def check_command(command: Sequence[str]) -> None:
    """Raise BadInput if there is no such program."""
    if shutil.which(command[0]) is None:
        raise BadInput(f"{command[0]} cannot be started: there is no such program")


async def record_until(
    proxy: Proxy, command: Sequence[str], environment: Mapping[str, str], limit_s: float, tail: Tail | None = None
) -> int | None:
    """Record until the command ends, and return its exit code; without a command, until this task is cancelled.

    ``tail`` receives what the command prints; else its output is that of this process.

    Raises TimeoutError if it does not end within the limit, BadInput if it cannot be started, and KitError if the trace
    cannot be written. The proxy is closed in any case.
    """
    ends: list[asyncio.Task[Any]] = [asyncio.create_task(proxy.failed()), asyncio.create_task(_flushing(proxy.file))]
    process, reader, guard = None, None, None
    try:
        if command:
            with _output(tail) as (streams, reader):
                try:
                    process = await asyncio.create_subprocess_exec(
                        *command, **streams, start_new_session=True, env={**os.environ, **environment}
                    )
                except (OSError, ValueError) as error:
                    raise BadInput(f"{command[0]} cannot be started: {error}") from error
            guard = _Guard(process.pid)
            ends.append(asyncio.create_task(process.wait()))
        ended, _ = await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED, timeout=limit_s if command else None)
        if not ended:
            raise TimeoutError
        for task in ended:
            task.result()
        return process.returncode if process else None
    finally:
        interrupts.acknowledge()  # else it is raised again while the command is ended
        if process is not None:
            await _end(process)
        if guard is not None:
            guard.close()
        if reader is not None:
            # What was printed is read; a process that left the group may keep its output open.
            await asyncio.wait([reader], timeout=_FLUSH_S)
            ends.append(reader)
        for task in ends:
            task.cancel()
        await asyncio.gather(*ends, return_exceptions=True)
        await proxy.close()


class _Guard:
    """A shell that ends a group of processes if this process is killed: the pipe that it reads is closed then."""

    def __init__(self, group: int) -> None:
        self._shell = subprocess.Popen(
            ["/bin/sh", "-c", 'read done || kill -s KILL -- "-$1"', "sh", str(group)], stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip

    def close(self) -> None:
        """Leave the group alone, which has ended."""
        self._shell.communicate(b"done\n")


@contextlib.contextmanager
def _output(tail: Tail | None) -> Iterator[tuple[dict[str, Any], asyncio.Task[None] | None]]:
    """Return the streams of a command to start in this block, and the task that reads what it prints.

    The pipe is not asyncio's, which takes a process for running as long as another one holds its output open.
    """
    if tail is None:
        yield {}, None
        return
    out, into = os.pipe()
    reader = asyncio.create_task(tail.read(out))
    try:
        yield {"stdin": DEVNULL, "stdout": into, "stderr": STDOUT}, reader
    finally:
        os.close(into)


async def _end(process: asyncio.subprocess.Process) -> None:
    """End a command, and what it started and left running: politely, then for good."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, number)
        except ProcessLookupError:
            break
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(process.wait(), _TERM_S)
            await asyncio.wait_for(_gone(process.pid), _FLUSH_S)
            break
    await process.wait()


async def _gone(group: int) -> None:
    """Wait until no process of a group is left."""
    with contextlib.suppress(ProcessLookupError):
        while True:
            os.killpg(group, 0)
            await asyncio.sleep(0.02)


async def _flushing(file: BinaryIO) -> None:
    """Write what is buffered, again and again, so that little is lost if this process is killed. Raises KitError."""
    while True:
        await asyncio.sleep(_FLUSH_S)
        try:
            file.flush()
        except OSError as error:
            raise KitError(f"the trace cannot be written: {error.strerror}") from error
