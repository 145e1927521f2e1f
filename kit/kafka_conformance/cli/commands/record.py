"""Record what programs and a Kafka cluster say to each other, through a proxy on 127.0.0.1.

Programs use the proxy's address in place of the broker's: it is the only line on standard output, and in the environment of
COMMAND as `BOOTSTRAP`. The recording ends with COMMAND, or with Ctrl-C. `kafka-conformance trace FILE` prints and judges
it. Passwords and tokens of SASL are passed on and never written; records are, with their keys and values. Exit code 2:
COMMAND failed, or no frame came from it.
"""

from __future__ import annotations

import asyncio
import contextlib
import io
import os
import shutil
import signal
import ssl
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO

import click
import msgspec

from kafka_conformance.cli import options
from kafka_conformance.core import interrupts
from kafka_conformance.core.errors import BadInput, KitError
from kafka_conformance.core.files import open_stream
from kafka_conformance.core.notices import note
from kafka_conformance.core.streams import say
from kafka_conformance.core.suggestion import did_you_mean
from kafka_conformance.core.version import kit_version
from kafka_conformance.reports.terminal import plural
from kafka_conformance.wire.client import parse_address
from kafka_conformance.wire.codec.messages import shipped_codec
from kafka_conformance.wire.recording.proxy import Fault, Proxy
from kafka_conformance.wire.recording.refusals import can_refuse
from kafka_conformance.wire.recording.trace import FORMAT, Head

__all__ = ["run"]

_FLUSH_S, _TERM_S = 0.5, 5.0
_MOST_ERRORS = 2**15


@click.argument("command", nargs=-1, type=click.UNPROCESSED)
@click.option("--to", required=True, metavar="HOST:PORT", help="A broker of the cluster.")
@click.option("--trace", "path", required=True, type=options.PRODUCT, metavar="FILE", help="The file to write.")
@click.option("--listen", "port", default=0, type=click.IntRange(0, 65_535), metavar="PORT",
              help="The port for programs (default: a free one).")  # fmt: skip
@click.option("--tls", is_flag=True, help="Use TLS to the broker; programs use none to the proxy.")
@click.option("--ca", default=None, type=options.FILE, metavar="FILE",
              help="With --tls: certificates to trust, as PEM (default: the system's).")  # fmt: skip
@click.option("--lose-request", multiple=True, metavar="API=N",
              help="Do not pass on the N-th request, Produce=3, and close its connection; repeatable.")  # fmt: skip
@click.option("--lose-response", multiple=True, metavar="API=N",
              help="Pass on the N-th request, and close its connection in place of the response; repeatable.")  # fmt: skip
@click.option("--refuse", multiple=True, metavar="API=N:ERROR",
              help="Answer the N-th request with this error, Produce=3:45, and do not pass it on; repeatable.")  # fmt: skip
@click.option("--at-most", multiple=True, metavar="API=V",
              help="Let brokers offer no version of an API above this; repeatable.")  # fmt: skip
@click.option("--timeout", default=600.0, type=click.FloatRange(0.1, 86_400), show_default=True, metavar="SECONDS",
              help="End COMMAND after this time.")  # fmt: skip
def run(
    *, command: Sequence[str], timeout: float, to: str, path: Path, port: int, tls: bool, ca: Path | None,
    lose_request: Sequence[str], lose_response: Sequence[str], refuse: Sequence[str],
    at_most: Sequence[str],
) -> int:  # fmt: skip
    """Record until COMMAND ends, or Ctrl-C; return 0. Raises BadInput, KitError."""
    if ca is not None and not tls:
        raise BadInput("--ca: certificates are for --tls")
    script = _script({"--lose-request": lose_request, "--lose-response": lose_response, "--refuse": refuse})
    most = dict(_numbered("--at-most", text) for text in at_most)
    try:
        address = parse_address(to)
    except BadInput as error:
        raise BadInput(f"--to {to}: expected HOST:PORT of one broker") from error
    context = _trust(ca) if tls else None
    if command and shutil.which(command[0]) is None:
        raise BadInput(f"{command[0]} cannot be started: there is no such program")  # an earlier recording is kept
    file = io.BufferedWriter(open_stream(path))
    proxy = Proxy(address, file, context, script, most)
    code, interrupted = None, False
    try:
        file.write(msgspec.json.encode(Head(FORMAT, kit_version(), to, datetime.now(UTC).isoformat())) + b"\n")
        try:
            code = asyncio.run(_record(proxy, port, command, timeout))
        except KeyboardInterrupt:
            interrupts.acknowledge()  # without a command the usual end, and no error
            interrupted = bool(command)
        _flush(file, path)
    finally:
        with contextlib.suppress(OSError):  # what cannot be written was said
            file.close()
    if missed := [f"{api}={number}" for api, number in script if (api, number) not in proxy.done]:
        note(f"warning: there was no such request: {', '.join(missed)}")
    note(f"{plural(proxy.frames, 'frame')} on {plural(proxy.connections, 'connection')} in {path}: "
         f"kafka-conformance trace {path}")  # fmt: skip
    if interrupted:
        raise KitError(f"{command[0]} was interrupted: its recording is not complete")
    if code:
        raise KitError(f"{command[0]} ended with exit code {code}")
    if command and not proxy.frames:
        raise KitError(
            f"no frame was recorded: {command[0]} has to use the address in BOOTSTRAP, and {to} has to answer there"
        )
    return 0


async def _record(proxy: Proxy, port: int, command: Sequence[str], limit_s: float) -> int | None:
    """Record until the command ends, and return its exit code. Raises KitError, also if it does not end in time."""
    bootstrap = f"127.0.0.1:{await proxy.listen(port)}"
    say(bootstrap, flush=True)
    ends: list[asyncio.Task[Any]] = [asyncio.create_task(proxy.failed()), asyncio.create_task(_flushing(proxy.file))]
    process = None
    try:
        if command:
            try:
                process = await asyncio.create_subprocess_exec(
                    *command, env={**os.environ, "BOOTSTRAP": bootstrap}, start_new_session=True
                )
            except (OSError, ValueError) as error:
                raise BadInput(f"{command[0]} cannot be started: {error}") from error
            ends.append(asyncio.create_task(process.wait()))
        within_s = limit_s if command else None
        ended, _ = await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED, timeout=within_s)
        if not ended:
            raise KitError(f"{command[0]} did not end within {limit_s:g} s: --timeout SECONDS gives it more")
        for task in ended:
            task.result()
        return process.returncode if process else None
    finally:
        if process is not None:
            await _end(process)
        for task in ends:
            task.cancel()
        await asyncio.gather(*ends, return_exceptions=True)
        await proxy.close()


async def _end(process: asyncio.subprocess.Process) -> None:
    """End a command, and what it started and left running: politely, then for good."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(process.wait(), _TERM_S)
            return


async def _flushing(file: BinaryIO) -> None:
    """Write what is buffered, again and again, so that little is lost if this process is killed. Raises KitError."""
    while True:
        await asyncio.sleep(_FLUSH_S)
        try:
            file.flush()
        except OSError as error:
            raise KitError(f"the trace cannot be written: {error.strerror}") from error


def _flush(file: BinaryIO, path: Path) -> None:
    try:
        file.flush()
    except OSError as error:
        raise KitError(f"{path} cannot be written: {error.strerror}") from error


def _script(given: Mapping[str, Sequence[str]]) -> dict[tuple[str, int], Fault]:
    """Parse what happens to which request. Raises BadInput."""
    script: dict[tuple[str, int], Fault] = {}
    for option, texts in given.items():
        for text in texts:
            which, _, code = text.partition(":")
            api, number = _numbered(option, which)
            if number == 0 or (api, number) in script:
                raise BadInput(f"{option} {text}: requests are counted from 1, and only one thing can happen to each")
            if option != "--refuse":
                script[api, number] = "lose-request" if option == "--lose-request" else "lose-response"
                if code:
                    raise BadInput(f"{option} {text}: an error code is for --refuse")
                continue
            if not code.isascii() or not code.isdigit() or not 0 < int(code) < _MOST_ERRORS:
                raise BadInput(f"{option} {text}: expected an error code of Kafka's, like Produce=3:45")
            if not can_refuse(api, shipped_codec()):
                raise BadInput(f"{option} {text}: a response of {api} has no error for the whole request")
            script[api, number] = int(code)
    return script


def _numbered(option: str, text: str) -> tuple[str, int]:
    """Parse ``Produce=3``. Raises BadInput."""
    api, equals, number = text.partition("=")
    apis = list(shipped_codec().apis.values())
    if not equals or not number.isascii() or not number.isdigit() or len(number) > 9:
        raise BadInput(f"{option} {text}: expected an API and a number, like Produce=3")
    if api not in apis:
        raise BadInput(f"{option} {text}: there is no API {api!r}: {did_you_mean(api, apis)}")
    return api, int(number)


def _trust(ca: Path | None) -> ssl.SSLContext:
    try:
        return ssl.create_default_context(cafile=ca)
    except (OSError, ssl.SSLError) as error:
        raise BadInput(f"{ca} cannot be read as certificates: {error}") from error
