"""Replay a cassette: a server in place of a broker, which gives the answers that the broker gave, and no others.

A request is answered if the recording has an equal one. Not compared are what a broker's answer does not depend on: the
correlation and client id, times of records within an hour of now, the checksum of a batch if it is right, the version of
the client's software, the order of topics and partitions, and the number of a fetch within its session, whose partitions are
compared instead.

====================  ===================================================================================================
request               answered
====================  ===================================================================================================
changes the state     once, in the recorded order of its partition, group or API
reads the state       by an equal one that was answered after as many changes of the log, or of the committed offsets;
                      the n-th time by the n-th, and by the last one after that
====================  ===================================================================================================

An answer takes as long as the broker's, up to 50 ms, also that to a fetch that waited for records. It waits up to 300 ms for
what other connections had sent or received before it: a client depends on which answer is the first.

Everything else is *off script*: :class:`OffScript` names the first difference from what was recorded, and the replay ends.
"""

from __future__ import annotations

import asyncio
import contextlib
import math
import re
import time
from collections import Counter
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from kafka_conformance.core.errors import BadInput, MalformedMessage, OffScript
from kafka_conformance.wire.broker_gate.runner import differences
from kafka_conformance.wire.client_gate.cassette import Cassette
from kafka_conformance.wire.codec.messages import Fields, shipped_codec
from kafka_conformance.wire.recording.addresses import Address, decode_lenient
from kafka_conformance.wire.recording.proxy import accepting, read_frame, write_frame
from kafka_reference.errors import JavaException
from kafka_reference.record_batch import DefaultBatch, decode_batches

__all__ = ["Player"]

_READS: Final = {
    "ApiVersions": "", "ConsumerGroupDescribe": "", "ConsumerGroupHeartbeat": "", "DescribeCluster": "",
    "DescribeConfigs": "", "DescribeGroups": "", "DescribeTopicPartitions": "", "Fetch": "log", "FindCoordinator": "",
    "GetTelemetrySubscriptions": "", "Heartbeat": "", "ListGroups": "", "ListOffsets": "log", "Metadata": "",
    "OffsetFetch": "offsets", "OffsetForLeaderEpoch": "log", "PushTelemetry": "",
}  # fmt: skip
"""Requests that change nothing, and what their answers depend on. All others change the state."""
_CHANGES: Final = {
    "Produce": ("log",), "EndTxn": ("log", "offsets"), "OffsetCommit": ("offsets",), "TxnOffsetCommit": ("offsets",),
}  # fmt: skip
_UNORDERED: Final = frozenset({"partitionData", "partitionIndexes", "partitions", "topicData", "topics"})
_LEAVES: Final = "LeaveGroup"
"""Changes nothing that is judged, and a client that ends may not wait until it is sent."""
_PATIENCE_S, _POLL_S, _LONGEST_S, _TURN_S = 2.0, 0.005, 0.05, 0.3
_HOUR_MS: Final = 3_600_000
_SOFTWARE = re.compile(r"[a-zA-Z0-9](?:[a-zA-Z0-9\-.]*[a-zA-Z0-9])?")


@dataclass(eq=False)
class _Recorded:
    """A request of the recording: what is compared, the answer, how long it took, and what was sent before it.

    ``before`` counts changes by what they change, ``sent_before`` all requests; ``answered`` orders answers. In a replay,
    ``used`` is one that has come, ``is_done`` if its answer was given, and ``is_late`` if another answer waited for it.
    """

    number: int
    name: str
    compared: Fields
    chains: frozenset[Hashable]
    is_read: bool
    answer: bytes = b""
    before: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0
    connection: int = 0
    sent_before: int = 0
    answered: float = math.inf
    is_done: bool = False
    is_late: bool = False
    used: bool = False


@dataclass
class _Requests:
    """Requests as they are compared, in the order of a recording or of its replay."""

    sessions: dict[int, dict[tuple[str, int], Fields]] = field(default_factory=dict)
    """The partitions of each fetch session."""
    count: int = 0

    def take(self, api: str, version: int, data: bytes, now_ms: float) -> _Recorded:
        """Return a request."""
        self.count += 1
        name = f"{api} v{version}"
        try:
            fields = shipped_codec().decode_request(api, version, data) if data else {"bytes": "left out"}
        except (MalformedMessage, BadInput):
            fields = {"bytes": data[8:]}  # behind the correlation id
        is_read = api in _READS
        if "bytes" not in fields:
            fields = self._compared(api, fields, now_ms)
        return _Recorded(self.count, name, fields, frozenset() if is_read else frozenset(_chains(api, fields)), is_read)

    def answered(self, request: _Recorded, session: int) -> None:
        """Note the session that a response to a fetch has opened."""
        if session and request.compared.get("sessionEpoch") == 0:
            self.sessions[session] = {_place(one): one for one in request.compared["topics"]}

    def _compared(self, api: str, fields: Fields, now_ms: float) -> Fields:
        if api == "ApiVersions" and _SOFTWARE.fullmatch(fields.get("clientSoftwareVersion", "")):
            return {**fields, "clientSoftwareVersion": "any"}
        if api == "Produce":
            for topic in fields["topicData"]:
                for one in topic["partitionData"]:
                    one["records"] = _batches(one["records"], now_ms)
        if api == "Fetch":
            asked = {_place(one): one for one in _flat(fields["topics"])}
            gone = [(_topic(one), at) for one in fields.get("forgottenTopicsData", ()) for at in one["partitions"]]
            session, epoch = fields.get("sessionId", 0), fields.get("sessionEpoch", -1)
            if session and epoch > 0:
                known = self.sessions.setdefault(session, {})
                known |= asked
                for place in gone:
                    known.pop(place, None)
                asked = known
            topics = [asked[place] for place in sorted(asked)]
            return {**fields, "topics": topics, "forgottenTopicsData": [], "sessionEpoch": min(epoch, 1)}
        return _sorted(fields)


class Player:
    """Serves a cassette on 127.0.0.1. ``failure`` is what was off script first: the replay ends with it."""

    def __init__(self, cassette: Cassette) -> None:
        self._recorded, self._done, self._requests = list(_read(cassette)), Counter[str](), _Requests()
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self.failure: OffScript | None = None

    async def listen(self, off_script: Callable[[OffScript], None]) -> Address:
        """Return the address of the server; ``off_script`` is called if a request is."""
        self._off_script = off_script
        self._server = await asyncio.start_server(accepting(self._tasks, self._serve), "127.0.0.1", 0, limit=2**20)
        host, port = self._server.sockets[0].getsockname()
        return host, port

    async def close(self) -> None:
        """Read what was sent, and close all connections."""
        if self._server is not None:
            self._server.close()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=1.0)
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def check(self) -> None:
        """Raise OffScript if there was an error, or something that changes the state was not sent."""
        if self.failure is not None:
            raise self.failure
        for one in self._recorded:
            if not one.is_read and not one.used and not one.name.startswith(_LEAVES):
                raise OffScript(f"off script: {one.name}, request {one.number:,} of the recording, was not sent")

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while isinstance(data := await read_frame(reader), bytes):
                found = await self._answer(data, reader)
                if found and not await write_frame(writer, data[4:8] + found[4:]):
                    return
        except OffScript as error:
            self.failure = self.failure or error
            self._off_script(error)
        except EOFError:
            pass  # the client does not wait

    async def _answer(self, data: bytes, reader: asyncio.StreamReader) -> bytes:
        """Return the answer to a request, empty for none. Raises OffScript, and EOFError if the client is gone."""
        if len(data) < 8:
            raise OffScript(f"off script: a request of {len(data)} bytes")
        api, version = _api(data)
        request = self._requests.take(api, version, data, time.time() * 1_000)
        wait_s = _PATIENCE_S + min(request.compared.get("maxWaitMs", 0), 30_000) / 1_000
        while (found := self._match(request)) is None:
            await self._pause(reader)
            if (wait_s := wait_s - _POLL_S) < 0:
                raise OffScript(f"off script: {request.name} was recorded after requests that did not come: "
                                + self._difference(request))  # fmt: skip
        found.used = True
        if not found.is_read:
            self._done.update(_CHANGES.get(api, ()))
        self._requests.answered(request, _session(api, version, found.answer))
        while not found.answer and request.compared.get("acks") != 0:
            await self._pause(reader)
            if (wait_s := wait_s - _POLL_S) < 0:
                raise OffScript(f"off script: {request.name} was not answered in the recording, and the client waits")
        await self._in_turn(found, reader)
        return found.answer

    async def _in_turn(self, found: _Recorded, reader: asyncio.StreamReader) -> None:
        """Wait as the broker did, and for what other connections sent before it answered: clients depend on that."""
        await asyncio.sleep(min(found.seconds, _LONGEST_S))
        wait_s = _TURN_S
        while before := [
            one for one in self._recorded[: found.sent_before]
            if not one.is_late and one.connection != found.connection
            and not (one.is_done if one.answered < found.answered else one.used)
        ]:  # fmt: skip
            await self._pause(reader)
            if (wait_s := wait_s - _POLL_S) < 0:
                for one in before:
                    one.is_late = True
        found.is_done = True

    @staticmethod
    async def _pause(reader: asyncio.StreamReader) -> None:
        await asyncio.sleep(_POLL_S)
        if reader.at_eof():
            raise EOFError

    def _match(self, request: _Recorded) -> _Recorded | None:
        """Return the recorded request that is equal and next; None if others have to come before. Raises OffScript."""
        equal = [one for one in self._recorded if one.name == request.name and one.compared == request.compared]
        if request.is_read:
            depends = _READS[request.name.split()[0]]
            fits = [one for one in equal if one.before[depends] == self._done[depends]]
            if fits := [one for one in fits if one.answer] or fits:
                return next((one for one in fits if not one.used), fits[-1])
            if any(one.before[depends] > self._done[depends] for one in equal):
                return None
        elif left := [one for one in equal if not one.used]:
            return left[0] if all(left[0].number <= one.number for one in self._next(request)) else None
        raise OffScript(f"off script: {request.name} {self._difference(request)}")

    def _next(self, request: _Recorded) -> Iterator[_Recorded]:
        """Yield what was recorded, and is not sent so far, for the same partitions, group or API."""
        return (one for one in self._recorded if not one.used and not one.is_read and one.chains & request.chains)

    def _difference(self, request: _Recorded) -> str:
        """Return the first difference from the recorded request that is next."""
        alike = [one for one in self._recorded if one.name == request.name]
        if not alike:
            return "was not recorded"
        following = [one for one in self._next(request) if one.name == request.name]
        if not request.is_read and not following:
            return f"was recorded {len(alike)} times, and is sent once more"
        unused = [one for one in alike if not one.used]
        nearest = following[0] if following else unused[0] if unused else alike[-1]
        for path, expected, actual in differences(nearest.compared, request.compared):
            return f"{path}: {_short(expected)} was recorded, and {_short(actual)} is sent"
        return f"is request {nearest.number:,} of the recording, which is not next"


def _read(cassette: Cassette) -> Iterator[_Recorded]:
    """Yield the requests of a cassette, each with its answer."""
    requests, waiting, done = _Requests(), dict[tuple[int, int], _Recorded](), Counter[str]()
    found: list[_Recorded] = []
    for number, frame in enumerate(cassette.frames):
        key = frame.connection, frame.correlation
        if frame.sender == "client":
            one = requests.take(frame.api, frame.version, frame.data, cassette.head.started_ms + frame.at_ms)
            one.seconds, one.connection = -frame.at_ms / 1_000, frame.connection
            waiting[key] = one
            found.append(one)
            done.update(_CHANGES.get(frame.api, ()))
        elif key in waiting:
            one = waiting.pop(key)
            one.answer, one.before = frame.data, Counter(done)
            requests.answered(one, _session(frame.api, frame.version, frame.data))
            one.seconds += frame.at_ms / 1_000
            one.sent_before, one.answered = len(found), number
    return iter(found)


def _api(data: bytes) -> tuple[str, int]:
    key, version = int.from_bytes(data[:2], signed=True), int.from_bytes(data[2:4], signed=True)
    return shipped_codec().apis.get(key, f"API {key}"), version


def _session(api: str, version: int, answer: bytes) -> int:
    """Return the session of a response to a fetch, 0 for none."""
    if api != "Fetch" or not answer:
        return 0
    with contextlib.suppress(MalformedMessage, BadInput):
        return int(decode_lenient(shipped_codec(), api, version, answer)[2].get("sessionId", 0))
    return 0


def _sorted(fields: Fields) -> Fields:
    """Return fields with their topics and partitions in one order."""
    return {
        name: sorted((_sorted(one) if isinstance(one, dict) else one for one in value), key=str)
        if name in _UNORDERED and value else value
        for name, value in fields.items()
    }  # fmt: skip


def _chains(api: str, fields: Fields) -> Iterator[Hashable]:
    """Yield what a request changes: its requests keep their order."""
    if api == "Produce" and "topicData" in fields:
        yield from ((_topic(topic), one["index"]) for topic in fields["topicData"] for one in topic["partitionData"])
    else:
        yield fields.get("groupId") or api


def _topic(fields: Fields) -> str:
    return str(fields.get("topic") or fields.get("name") or fields.get("topicId"))


def _flat(topics: list[Fields]) -> Iterator[Fields]:
    for topic in topics:
        yield from ({"topic": _topic(topic), **one} for one in topic["partitions"])


def _place(one: Fields) -> tuple[str, int]:
    return one["topic"], one["partition"]


def _batches(data: bytes | None, now_ms: float) -> Any:
    """Return batches as they are compared: bytes where they are not valid ones."""
    try:
        return None if data is None else [_batch(each, now_ms) for each in decode_batches(data)]
    except (JavaException, TypeError):
        return data


def _batch(batch: Any, now_ms: float) -> Fields:
    if not isinstance(batch, DefaultBatch):
        raise TypeError
    batch.ensure_valid()
    return {
        "baseOffset": batch.base_offset, "lastOffset": batch.last_offset, "leaderEpoch": batch.partition_leader_epoch,
        "attributes": batch.attributes, "producerId": batch.producer_id, "producerEpoch": batch.producer_epoch,
        "baseSequence": batch.base_sequence, "maxTimestamp": _time(batch.max_timestamp, now_ms),
        "records": [
            {"offset": one.offset, "timestamp": _time(one.timestamp, now_ms), "key": one.key, "value": one.value,
             "headers": list(map(list, one.headers)), "attributes": one.attributes}
            for one in batch.records() if one is not None
        ],
    }  # fmt: skip


def _time(timestamp: int, now_ms: float) -> int | str:
    """Return a timestamp; "now" if it is within an hour, which brokers accept by default."""
    return "now" if abs(timestamp - now_ms) < _HOUR_MS else timestamp


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:80]}…"
