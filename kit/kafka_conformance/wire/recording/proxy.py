"""A proxy between programs and a Kafka cluster, which writes down every frame.

It listens on 127.0.0.1 alone: once for the address that programs are given, and once for each broker that a response
names, whose address it replaces by its own. Else nothing is changed, but what a script asks for. A frame is written before
it is passed on, so that in the trace a response never stands before what the client sent without it.

A script counts, it never waits: "the third Produce". Requests of an API are counted over all connections, as they arrive.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import ssl
import struct
import time
from collections import Counter, deque
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from typing import Any, BinaryIO, Final, Literal

import msgspec

from kafka_conformance.core.errors import BadInput, KitError, MalformedMessage
from kafka_conformance.core.notices import warn
from kafka_conformance.wire.codec.messages import shipped_codec
from kafka_conformance.wire.recording.addresses import REWRITTEN, Address, rewritten
from kafka_conformance.wire.recording.faults import Script
from kafka_conformance.wire.recording.refusals import CHANGED, changed, refusal
from kafka_conformance.wire.recording.trace import LONGEST_FRAME, SECRET, ConnectionChange, Frame, encoded_line

__all__ = ["Proxy", "accepting", "read_frame", "write_frame"]

_CONNECT_S: Final = 10.0
_READ_AHEAD: Final = 2**20
"""Bytes that are read from a connection before a frame is whole: with less, reading pauses within each large batch."""
_ONE_WRITE: Final = 2**16
_SASL_HANDSHAKE: Final = "SaslHandshake"
_VERSIONS: Final = "ApiVersions"
_HEAD = struct.Struct(">hhi")


@dataclass
class Proxy:
    """A recording proxy in front of the cluster that ``to`` belongs to. ``file`` receives the lines of the trace."""

    to: Address
    file: BinaryIO
    tls: ssl.SSLContext | None = None
    script: Script = field(default_factory=dict)
    most: Mapping[str, int] = field(default_factory=dict)
    """The largest version that brokers offer, by API."""
    stand_in: Address | None = None
    """Where all connections go, whatever addresses responses name: what replays a cassette is one server for all."""
    passed: list[Frame] | None = None
    """If it is a list, receives the frames between the proxy and the broker: what the script changes is not changed."""
    stops: bool = False
    """Pass on nothing behind a request whose response is lost: how much that would be depends on time."""

    frames: int = 0
    connections: int = 0
    done: list[tuple[str, int]] = field(default_factory=list)
    """What of the script has happened."""
    narrowed: set[str] = field(default_factory=set)
    """APIs of which a broker offers more versions than programs were shown."""

    _listeners: dict[Address, asyncio.Server] = field(default_factory=dict)
    _counted: Counter[str] = field(default_factory=Counter)
    _warned: set[str] = field(default_factory=set)
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)
    _began: float = field(default_factory=time.monotonic)
    _failed: asyncio.Future[None] | None = None

    async def listen(self, port: int) -> int:
        """Open the port for programs, 0 for a free one, and return it. Raises KitError."""
        self._failed = asyncio.get_running_loop().create_future()
        try:
            self._listeners[("", 0)] = server = await asyncio.start_server(
                self._handler(self.to), "127.0.0.1", port, limit=_READ_AHEAD
            )
        except OSError as error:
            raise KitError(f"127.0.0.1:{port} cannot be listened on: {os.strerror(error.errno or 0)}") from error
        return _port_of(server)

    async def failed(self) -> None:
        """Wait until the trace cannot be written, or something else ends the recording. Raises KitError then."""
        if self._failed is None:
            raise RuntimeError("listen first")
        await self._failed

    def fail(self, error: KitError) -> None:
        """End the recording: :meth:`failed` raises this error."""
        if self._failed is not None and not self._failed.done():
            self._failed.set_exception(error)

    async def close(self) -> None:
        """Close all listeners and connections."""
        for server in self._listeners.values():
            server.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def own(self, address: Address) -> Address:
        """Return the address of ours that stands for a broker's."""
        if address not in self._listeners:
            self._listeners[address] = await asyncio.start_server(
                self._handler(address), "127.0.0.1", 0, limit=_READ_AHEAD
            )
        return "127.0.0.1", _port_of(self._listeners[address])

    def write(self, line: Frame | ConnectionChange) -> None:
        """Write a line of the trace. Raises OSError."""
        self.file.write(encoded_line(line))

    def warn_once(self, message: str) -> None:
        """Warn of something that each connection may meet again."""
        if message not in self._warned:
            self._warned.add(message)
            warn(message)

    def at_ms(self) -> float:
        """Return the time since the recording began, in ms."""
        return round((time.monotonic() - self._began) * 1_000, 3)

    def unused(self, prefix: str = "") -> list[str]:
        """Return in words what of the script did not happen, and which largest versions changed nothing.

        ``prefix`` stands before the names of options.
        """
        missed = [f"{api}={number}" for api, number in self.script if (api, number) not in self.done]
        idle = [f"{api}={version}" for api, version in self.most.items() if api not in self.narrowed]
        found = [f"there was no such request: {', '.join(missed)}"] if missed else []
        if idle:
            found.append(f"{prefix}at-most had no effect: no broker was seen that offers more: {', '.join(idle)}")
        return found

    def fate(self, api: str) -> str:
        """Count a request, and return what the script does to it."""
        self._counted[api] += 1
        key = api, self._counted[api]
        if key not in self.script:
            return ""
        self.done.append(key)
        fault = self.script[key]
        return f"error {fault}" if isinstance(fault, int) else fault

    def _handler(self, address: Address) -> Callable[[asyncio.StreamReader, asyncio.StreamWriter], None]:
        async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            self.connections += 1
            try:
                await _Connection(self, self.connections, address, reader, writer).run()
            except OSError as error:  # the file: what the network says is handled in the connection
                self.fail(KitError(f"the trace cannot be written: {error.strerror or error}"))

        return accepting(self._tasks, talk)


@dataclass
class _Connection:
    """One connection of a program, and the one to the broker behind it."""

    proxy: Proxy
    number: int
    address: Address
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    pending: deque[tuple[Frame, bytes]] = field(default_factory=deque)
    """Requests without a response, each with the one that the script gives: those of a connection are answered in order."""
    answering: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Held until a response has passed: one of the script that is next in line waits while addresses are rewritten."""
    cut: bool = False
    """Whether the script has lost a response: the client would take the next one for it."""
    raw_tokens: bool = False
    """Whether tokens of SASL without a header pass: a handshake of version 0 was seen."""

    @property
    def broker(self) -> str:
        return f"{self.address[0]}:{self.address[1]}"

    async def run(self) -> None:
        """Pass frames in both directions until one side closes."""
        self._changed("opened")
        try:
            to = self.proxy.stand_in or self.address
            async with asyncio.timeout(_CONNECT_S):
                broker_reader, broker_writer = await asyncio.open_connection(*to, ssl=self.proxy.tls, limit=_READ_AHEAD)
        except (OSError, TimeoutError) as error:
            why = f"{self.broker} cannot be reached: {str(error) or f'no answer in {_CONNECT_S:.0f} s'}"
            self._changed("closed", why)
            self.proxy.warn_once(why)
            return
        pumps = [
            asyncio.create_task(self._requests(broker_writer)),
            asyncio.create_task(self._responses(broker_reader)),
        ]
        try:
            ended, _ = await asyncio.wait(pumps, return_when=asyncio.FIRST_COMPLETED)
            whys = [task.result() for task in pumps if task in ended]
            self._changed("closed", whys[0])
        finally:
            broker_writer.close()  # first: the end of the recording can cancel what follows
            for task in pumps:
                task.cancel()
            await asyncio.gather(*pumps, return_exceptions=True)

    async def _requests(self, broker: asyncio.StreamWriter) -> str:
        """Pass on what the client sends. Returns why it ended. Raises OSError if the trace cannot be written."""
        while True:
            data = await read_frame(self.reader)
            if isinstance(data, str):
                return f"client: {data}"
            request = self._request(data)
            self.proxy.write(request)
            self.proxy.frames += 1
            if request.fate == "lose-request":
                return "script"
            made = self._made(request, data)
            if request.api and not self._has_no_response(request, data):
                self.pending.append((msgspec.structs.replace(request, data=b""), made))
            if made:
                if end := await self._answer_after_those_before():
                    return end
                continue
            if self.proxy.passed is not None:
                self.proxy.passed.append(request)
            if not await write_frame(broker, data):
                return "broker"
            if self.proxy.stops and request.fate == "lose-response":
                await asyncio.Event().wait()  # until the response ends the connection

    async def _responses(self, broker: asyncio.StreamReader) -> str:
        """Pass on what the broker sends. Returns why it ended. Raises OSError if the trace cannot be written."""
        while True:
            data = await read_frame(broker)
            if isinstance(data, str):
                return f"broker: {data}"
            async with self.answering:
                if end := await self._answer(data):
                    return end

    async def _answer(self, data: bytes) -> str:
        """Pass on a response, and those of the script behind it. Returns why the connection ends, if it does."""
        request = self._answered(data)
        secret = request is None or request.api in SECRET
        if self.proxy.passed is not None:
            self.proxy.passed.append(self._response(request, data, b"" if secret else data))
        if request is not None and request.api in CHANGED and (error := _error(request)):
            data = self._changed_to(request, data, error)
        if request is not None and request.api == _VERSIONS:  # the trace has the versions that the client is shown
            data = await self._rewritten(request, data)
        self._respond(request, data, b"" if secret else data)
        if request is not None and request.fate == "lose-response":
            self.cut = True
            return "script"
        if request is not None and request.api in REWRITTEN and request.api != _VERSIONS:
            data = await self._rewritten(request, data)
        return "" if await write_frame(self.writer, data) and await self._answer_made() else "client"

    def _respond(self, request: Frame | None, data: bytes, written: bytes) -> None:
        """Write a response."""
        self.proxy.write(self._response(request, data, written))
        self.proxy.frames += 1

    def _response(self, request: Frame | None, data: bytes, written: bytes) -> Frame:
        return Frame(
            self.proxy.at_ms(), self.number, self.broker, "broker",
            request.api if request else "", request.version if request else -1,
            request.correlation if request else -1, len(data), data=written, fate=request.fate if request else "",
        )  # fmt: skip

    def _made(self, request: Frame, data: bytes) -> bytes:
        """Return the response that the script gives, if it gives one."""
        if request.api in CHANGED or not (error := _error(request)):
            return b""
        try:
            return refusal(request.api, request.version, data, error, shipped_codec())[1]
        except (MalformedMessage, BadInput) as fault:
            self.proxy.warn_once(f"passed on, and not answered with {request.fate}: {fault}")
            return b""

    def _changed_to(self, request: Frame, data: bytes, error: int) -> bytes:
        """Return the broker's response with the error that the script gives."""
        try:
            return changed(request.api, request.version, data, error, shipped_codec())
        except (MalformedMessage, BadInput) as fault:
            self.proxy.warn_once(f"passed on without {request.fate}: {fault}")
            return data

    async def _answer_after_those_before(self) -> str:
        """Send a response that the script has just given, if none is due before it. Returns why the connection ends."""
        async with self.answering:
            if self.cut:
                return "script"
            return "" if await self._answer_made() else "client"

    async def _answer_made(self) -> bool:
        """Send the responses of the script that are next in line; return whether the client takes them."""
        while self.pending and self.pending[0][1]:
            request, made = self.pending.popleft()
            self._respond(request, made, made)
            if not await write_frame(self.writer, made):
                return False
        return True

    def _has_no_response(self, request: Frame, data: bytes) -> bool:
        """Return whether a response of the script would wait for ever for the one to this request: ``acks=0``."""
        if request.api != "Produce" or not any(isinstance(fault, int) for fault in self.proxy.script.values()):
            return False
        try:
            return bool(shipped_codec().decode_request("Produce", request.version, data)["acks"] == 0)
        except (MalformedMessage, BadInput):
            return False

    def _request(self, data: bytes) -> Frame:
        """Return a request as it is written; one whose header cannot be read has no API and no bytes."""
        codec, at_ms = shipped_codec(), self.proxy.at_ms()
        key, version, correlation = _HEAD.unpack_from(data) if len(data) >= _HEAD.size else (-1, -1, -1)
        api = codec.apis.get(key)
        if api is None or version < 0 or (self.raw_tokens and version > max(codec.message(f"{api}Request").versions)):
            return Frame(at_ms, self.number, self.broker, "client", "", -1, -1, len(data))
        self.raw_tokens |= api == _SASL_HANDSHAKE and version == 0
        return Frame(
            at_ms, self.number, self.broker, "client", api, version, correlation, len(data), _client(data),
            b"" if api in SECRET else data, self.proxy.fate(api),
        )  # fmt: skip

    def _answered(self, data: bytes) -> Frame | None:
        """Return the request that a response answers, and forget those before it, which have none: ``acks=0``."""
        correlation = int.from_bytes(data[:4], signed=True)
        if len(data) < 4 or all(request.correlation != correlation for request, _ in self.pending):
            return None
        while (request := self.pending.popleft()[0]).correlation != correlation:
            pass
        return request

    async def _rewritten(self, request: Frame, data: bytes) -> bytes:
        codec, proxy = shipped_codec(), self.proxy
        try:
            return await rewritten(request.api, request.version, data, codec, proxy.own, proxy.most, proxy.narrowed)
        except (MalformedMessage, BadInput) as error:
            proxy.warn_once(f"passed on as it is, with the broker's own addresses, if any: {error}")
            return data

    def _changed(self, what: Literal["opened", "closed"], why: str = "") -> None:
        self.proxy.write(ConnectionChange(self.proxy.at_ms(), self.number, self.broker, what, why))


def accepting(
    tasks: set[asyncio.Task[None]],
    talk: Callable[[asyncio.StreamReader, asyncio.StreamWriter], Coroutine[Any, Any, None]],
) -> Callable[[asyncio.StreamReader, asyncio.StreamWriter], None]:
    """Return what a server calls for each connection: ``talk`` runs as one of ``tasks``.

    The connection is closed at the end of the task, also if that is cancelled before it begins.
    """

    def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        def end(task: asyncio.Task[None]) -> None:
            tasks.discard(task)
            writer.close()

        task = asyncio.get_running_loop().create_task(talk(reader, writer))
        tasks.add(task)
        task.add_done_callback(end)

    return accept


async def read_frame(reader: asyncio.StreamReader) -> bytes | str:
    """Return the next frame without its size, or why there is none."""
    try:
        size = int.from_bytes(await reader.readexactly(4), signed=True)
        if not 0 <= size <= LONGEST_FRAME:
            return f"a frame of {size:,} bytes is none of Kafka's"
        return await reader.readexactly(size)
    except asyncio.IncompleteReadError as error:
        return "closed" if not error.partial else "closed within a frame"
    except OSError as error:
        return error.strerror or str(error)


async def write_frame(writer: asyncio.StreamWriter, data: bytes) -> bool:
    """Pass on a frame; return whether the other side takes it."""
    with contextlib.suppress(OSError):
        if len(data) < _ONE_WRITE:
            writer.write(len(data).to_bytes(4) + data)
        else:  # a copy would cost more than a second call
            writer.write(len(data).to_bytes(4))
            writer.write(data)
        await writer.drain()
        return True
    return False


def _error(request: Frame) -> int:
    """Return the error that the script gives to a request, 0 for none."""
    word, _, number = request.fate.partition(" ")
    return int(number) if word == "error" else 0


def _client(data: bytes) -> str:
    """Return the client id of a request."""
    length = int.from_bytes(data[8:10], signed=True)
    return data[10 : 10 + length].decode("utf-8", "replace") if length > 0 else ""


def _port_of(server: asyncio.Server) -> int:
    return int(server.sockets[0].getsockname()[1])
