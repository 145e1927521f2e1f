"""Record what programs and a Kafka cluster say to each other, through a proxy on 127.0.0.1.

Programs use the proxy's address in place of the broker's: it is the only line on standard output, and in the environment of
COMMAND as `BOOTSTRAP`. The recording ends with COMMAND, or with Ctrl-C. `kafka-conformance trace FILE` prints and judges
it. Passwords and tokens of SASL are passed on and never written; records are, with their keys and values. Exit code 2:
COMMAND failed, or no frame came from it.
"""

from __future__ import annotations

import asyncio
import contextlib
import ssl
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO

import click

from kafka_conformance.cli import options
from kafka_conformance.core import interrupts
from kafka_conformance.core.errors import BadInput, KitError
from kafka_conformance.core.notices import note
from kafka_conformance.core.streams import say
from kafka_conformance.reports.terminal import plural
from kafka_conformance.wire.client import parse_address
from kafka_conformance.wire.recording.faults import parse_faults, parse_limits
from kafka_conformance.wire.recording.proxy import Proxy
from kafka_conformance.wire.recording.session import check_command, record_until
from kafka_conformance.wire.recording.trace import create_trace

__all__ = ["run"]


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
    script = parse_faults({"lose-request": lose_request, "lose-response": lose_response, "refuse": refuse}, "--")
    most = parse_limits(at_most, "--")
    try:
        address = parse_address(to)
    except BadInput as error:
        raise BadInput(f"--to {to}: expected HOST:PORT of one broker") from error
    context = _trust(ca) if tls else None
    if command:
        check_command(command)  # an earlier recording is kept
    file = create_trace(path, to)
    proxy = Proxy(address, file, context, script, most)
    code, interrupted = None, False
    try:
        try:
            code = asyncio.run(_record(proxy, port, command, timeout))
        except KeyboardInterrupt:
            interrupts.acknowledge()  # without a command the usual end, and no error
            interrupted = bool(command)
        _flush(file, path)
    finally:
        with contextlib.suppress(OSError):  # what cannot be written was said
            file.close()
    for unused in proxy.unused("--"):
        note(f"warning: {unused}")
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
    try:
        return await record_until(proxy, command, {"BOOTSTRAP": bootstrap}, limit_s)
    except TimeoutError:
        raise KitError(f"{command[0]} did not end within {limit_s:g} s: --timeout SECONDS gives it more") from None


def _flush(file: BinaryIO, path: Path) -> None:
    try:
        file.flush()
    except OSError as error:
        raise KitError(f"{path} cannot be written: {error.strerror}") from error


def _trust(ca: Path | None) -> ssl.SSLContext:
    try:
        return ssl.create_default_context(cafile=ca)
    except (OSError, ssl.SSLError) as error:
        raise BadInput(f"{ca} cannot be read as certificates: {error}") from error
