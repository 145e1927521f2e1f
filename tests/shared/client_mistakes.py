"""Mistakes of a client: one request is changed before the proxy receives it.

The proxy's own reader is replaced, so that it records and passes on what a client with this mistake would have sent.
"""

from __future__ import annotations

import asyncio
import struct
import threading
import weakref
from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import pytest
from crc32c import crc32c

from kafka_conformance.wire.codec.messages import shipped_codec
from kafka_conformance.wire.recording import proxy

__all__ = ["MISTAKES", "RUNNING", "Mistake", "Planter", "replace_reader"]

Change = Callable[[dict[str, Any]], None]


def batches(fields: dict[str, Any], change: Callable[[bytearray], None]) -> None:
    """Change the batches of a Produce request, and give them the right checksum again."""
    for topic in fields["topicData"]:
        for partition in topic["partitionData"]:
            data = bytearray(partition["records"])
            change(data)
            struct.pack_into(">I", data, 17, crc32c(bytes(data[21:])))
            partition["records"] = bytes(data)


def add(position: int, form: str, by: int) -> Change:
    def change(data: bytearray) -> None:
        (value,) = struct.unpack_from(form, data, position)
        struct.pack_into(form, data, position, value + by)

    return lambda fields: batches(fields, change)


def other_partition(fields: dict[str, Any]) -> None:
    for topic in fields["topicData"]:
        for partition in topic["partitionData"]:
            partition["index"] = (partition["index"] + 1) % 7


def no_partition(fields: dict[str, Any]) -> None:
    for topic in fields["topicData"]:
        for partition in topic["partitionData"]:
            partition["index"] += 100


def broken_checksum(fields: dict[str, Any]) -> None:
    for topic in fields["topicData"]:
        for partition in topic["partitionData"]:
            partition["records"] = partition["records"][:17] + b"\0\0\0\0" + partition["records"][21:]


def other_value(fields: dict[str, Any]) -> None:
    def change(data: bytearray) -> None:
        data[-2] ^= 1  # the last character of the last value: a record ends with its count of headers

    batches(fields, change)


def ahead(fields: dict[str, Any]) -> None:
    for topic in fields["topics"]:
        for partition in topic["partitions"]:
            partition["committedOffset"] += 1


def skipped(fields: dict[str, Any]) -> None:
    for topic in fields["topics"]:
        for partition in topic["partitions"]:
            partition["fetchOffset"] += 5  # a batch: a client leaves out what is before the offset it wants


def behind(fields: dict[str, Any]) -> None:
    for topic in fields["topics"]:
        for partition in topic["partitions"]:
            partition["committedOffset"] -= 1


def set_to(position: int, form: str, value: int) -> Change:
    return lambda fields: batches(fields, lambda data: struct.pack_into(form, data, position, value))


def other_key(fields: dict[str, Any]) -> None:
    def change(data: bytearray) -> None:
        data[data.index(b"-")] ^= (
            2  # keys are key-0, key-1 and so on; the first character like that is in the first one
        )

    batches(fields, change)


IDEMPOTENT = (
    "produce/idempotent", "lost/response-idempotent", "lost/request-idempotent", "lost/response-compressed",
    "refused/timed-out",
)  # fmt: skip
REACHES_BROKER = ("produce/idempotent", "lost/response-idempotent", "lost/response-compressed")
PLAIN = ("produce/plain", "produce/acks-1", "produce/one-in-flight")


class Mistake(NamedTuple):
    """The scripts that can show a mistake, the API whose request has it, and how that is changed.

    With ``at`` it is in a request that repeats one; ``version`` is added to that of the request; the request is sent as
    often as ``times``; with ``epoch`` all requests but the changed one have an epoch that is one higher.
    """

    scripts: tuple[str, ...]
    api: str = "Produce"
    change: Change = lambda _: None
    at: Literal["any", "retry"] = "any"
    version: int = 0
    times: int = 1
    epoch: bool = False
    previous: bool = False


MISTAKES = {
    "a sequence that is one too high": Mistake(IDEMPOTENT, change=add(53, ">i", 1)),
    "a sequence that is one too low": Mistake(IDEMPOTENT, change=add(53, ">i", -1)),
    "a sequence that is far too high": Mistake(IDEMPOTENT, change=add(53, ">i", 1_000_000)),
    "no sequence, but a producer id": Mistake(IDEMPOTENT, change=set_to(53, ">i", -1)),
    "an epoch that is one too high": Mistake(IDEMPOTENT, change=add(51, ">h", 1)),
    "an epoch that is one too low": Mistake(("produce/idempotent",), epoch=True),
    "another producer id": Mistake(REACHES_BROKER, change=add(43, ">q", 9)),
    "another partition": Mistake(("produce/keyed",), change=other_partition),
    "a partition that is not there": Mistake(("produce/plain",), change=no_partition),
    "a checksum that is wrong": Mistake((*PLAIN, *IDEMPOTENT), change=broken_checksum),
    "another value": Mistake(PLAIN, change=other_value),
    "another key": Mistake(("produce/keyed",), change=other_key),
    "a record count that is one too high": Mistake(PLAIN, change=add(57, ">i", 1)),
    "a last offset that is one too high": Mistake(PLAIN, change=add(23, ">i", 1)),
    "a codec that is not that of the records": Mistake(PLAIN, change=set_to(21, ">h", 1)),
    "another batch under the sequence of a retry": Mistake(
        ("lost/response-idempotent", "lost/request-idempotent"), change=other_value, at="retry"),
    "a retry with the next sequence": Mistake(("lost/response-idempotent",), change=add(53, ">i", 1), at="retry"),
    "the batches before in place of these": Mistake(("produce/idempotent",), previous=True),
    "a request that is sent twice": Mistake(("produce/plain", "produce/one-in-flight"), times=2),
    "six requests in flight": Mistake(("produce/idempotent",), times=6),
    "a version of Produce above those offered": Mistake(("versions/produce-3",), version=1),
    "a version of Fetch above those offered": Mistake(("versions/fetch-11",), "Fetch", version=1),
    "a commit that is ahead": Mistake(("consume/resumed", "consume/all"), "OffsetCommit", ahead),
    "a commit that is behind": Mistake(("consume/all",), "OffsetCommit", behind),
    "a fetch that skips a batch": Mistake(("consume/all", "consume/uncommitted"), "Fetch", skipped),
}  # fmt: skip


class Planter:
    """Plants a mistake into the n-th request that can have it."""

    def __init__(self, mistake: Mistake, number: int) -> None:
        self._mistake, self._left, self.planted = mistake, number, False
        self.clients: weakref.WeakSet[asyncio.StreamReader] = weakref.WeakSet()
        self._again: weakref.WeakKeyDictionary[asyncio.StreamReader, list[bytes]] = weakref.WeakKeyDictionary()
        self._seen: dict[Any, Any] = {}

    async def read(self, reader: asyncio.StreamReader) -> bytes | str:
        """Read as the proxy does, and change what a client sends."""
        if again := self._again.get(reader):
            return again.pop()
        data = await FRAME(reader)
        if reader not in self.clients or not isinstance(data, bytes):
            return data
        data, *self._again[reader] = self._changed(data)
        return data

    def _changed(self, data: bytes) -> list[bytes]:
        """Return the frames to send in place of this one."""
        codec, wanted = shipped_codec(), self._mistake
        key, version, correlation = struct.unpack_from(">hhi", data)
        if codec.apis[key] != wanted.api:
            return [data]
        fields = codec.decode_request(wanted.api, version, data)
        length = int.from_bytes(data[8:10])
        client = data[10 : 10 + length].decode()
        can = self._can_have_it(fields)
        self._left -= can
        if not can or self._left or self.planted:
            if not wanted.epoch:
                return [data]
            add(51, ">h", 1)(fields)
            return [codec.encode_request(wanted.api, version, fields, correlation, client)]
        self.planted = True
        wanted.change(fields)
        if wanted.previous:
            for topic in fields["topicData"]:
                for each in topic["partitionData"]:
                    each["records"] = self._seen[each["index"], "last"]
        return [
            codec.encode_request(wanted.api, version + wanted.version, fields, correlation + 1_000_000 * at, client)
            for at in range(wanted.times)
        ]

    def _can_have_it(self, fields: dict[str, Any]) -> bool:
        """Return whether a request can have the mistake; what it has is remembered."""
        if self._mistake.api != "Produce":
            return bool(fields.get("topics", True))  # a fetch of a session may name no partition
        places = [(each["index"], each["records"]) for topic in fields["topicData"] for each in topic["partitionData"]]
        repeats = all((index, records[17:]) in self._seen for index, records in places)
        follows = all((index, "last") in self._seen for index, _ in places)
        self._seen |= {(index, records[17:]): True for index, records in places} if not repeats else {}
        can = repeats if self._mistake.at == "retry" else follows or not (self._mistake.previous or self._mistake.epoch)
        if self._left > 1 or not can:
            self._seen |= {(index, "last"): records for index, records in places}
        return can


class Running(threading.local):
    """The planter of a script: each script runs in a thread."""

    planter: Planter


RUN, FRAME, RUNNING = proxy._Connection.run, proxy.read_frame, Running()


def replace_reader(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let proxies read what the planter of their thread, ``RUNNING.planter``, makes of it."""

    async def noted(connection: proxy._Connection) -> None:
        RUNNING.planter.clients.add(connection.reader)
        await RUN(connection)

    async def read(reader: asyncio.StreamReader) -> bytes | str:
        return await RUNNING.planter.read(reader)

    monkeypatch.setattr(proxy._Connection, "run", noted)
    monkeypatch.setattr(proxy, "read_frame", read)
