"""What a client sent in a script and what it got, as lines that can be compared with those of another client.

A line is one request, as far as it is about one partition, and its outcome::

    Produce 9: partition 0, next: sequence 40, epoch 0, 20 records → response lost
    Produce 9: partition 0, again: sequence 40, epoch 0, 20 records → ok

No line has a time, an id of a producer, or bytes. Order is that of each connection; connections follow in the order in which
they were opened. ``relation`` says how a batch is related to those before it in its partition, whatever sizes batches have:

- ``next``: its sequence follows the last one; ``new``: it has no sequence, and was not sent before;
- ``again``: its records were sent before, with the same sequence; ``again, renumbered`` with another one;
- ``new epoch``: it has another producer id or epoch than the one before; ``again, new epoch`` with records that were sent;
- ``renumbered``: its sequence is that of records that were sent before, which are others; ``gap``: it is too large.

For a fetch: ``next``, or ``again`` and ``back`` where its offset is the last one, or before it.

The transcripts of Java's client are in ``java_transcripts.ndjson``, which ``ci/java_transcripts.py`` writes: one run of the
adapter in ``ci/adapters/java`` for each script, found again by a fingerprint of the script. A changed script has none.
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Final

import msgspec

from kafka_conformance.core.decoding import UNREADABLE
from kafka_conformance.core.errors import BadInput
from kafka_conformance.core.files import read_bytes, write_whole
from kafka_conformance.reports.terminal import plural
from kafka_conformance.wire.client_gate.script import Script
from kafka_conformance.wire.codec.messages import Codec, Fields, error_codes, error_name
from kafka_conformance.wire.recording.exchanges import Closed, Request, Response, decoded
from kafka_conformance.wire.recording.trace import Line
from kafka_reference.errors import JavaException
from kafka_reference.record_batch import DefaultBatch, decode_batches
from kafka_reference.record_batch.default import OVERHEAD

__all__ = ["FILE", "FORMAT", "Exchange", "JavaTranscript", "JavaTranscripts", "Transcript", "fingerprint",
           "java_transcripts", "read_java_transcripts", "transcript_of", "write_java_transcripts"]  # fmt: skip

FORMAT: Final = 1
"""Part of each fingerprint: raised when lines of a transcript have another meaning, so that all are made again."""
FILE: Final = Path(str(resources.files(__package__))) / "java_transcripts.ndjson"
OK: Final = "ok"
NO_RESPONSE: Final = "no response"

_MOST: Final = 20_000
"""Lines of a transcript: more than a script of 1,000 records needs, whatever the client does with it."""
_LONGEST_CLIENT: Final = 200
_WRAP: Final = 0x7FFFFFFF
_TIMED: Final = frozenset({"ConsumerGroupHeartbeat", "Heartbeat"})
"""Requests that a client repeats as time passes: those without an error are left out."""


class Exchange(msgspec.Struct, frozen=True, array_like=True):
    """A request to a partition, -1 for one without, and its outcome.

    ``position`` is the first sequence of a batch, or the offset of a fetch or commit, -1 for none. ``outcome`` is ``ok``,
    ``error`` with code and name, ``request lost``, ``response lost`` or ``no response``.
    """

    api: str
    version: int
    partition: int
    relation: str
    position: int
    epoch: int
    records: int
    outcome: str

    def text(self) -> str:
        """Return the line."""
        at = "offset" if self.api in {"Fetch", "OffsetCommit"} else "sequence"
        place = [f"partition {self.partition}"] if self.partition >= 0 else []
        values = [f"{at} {self.position}"] if self.position >= 0 else []
        values += [f"epoch {self.epoch}"] if self.epoch >= 0 else []
        values += [plural(self.records, "record")] if self.records else []
        related = ": ".join(filter(None, (self.relation, ", ".join(values))))
        said = ", ".join(filter(None, (*place, related)))
        name = f"{self.api} {self.version}" if self.version >= 0 else self.api
        return f"{name}{': ' if said else ''}{said} → {self.outcome}"


@dataclass(frozen=True, slots=True)
class Transcript:
    """The lines of a run, how many were left out, and the first ``client.id``."""

    exchanges: Sequence[Exchange]
    left_out: int = 0
    client: str = ""


class JavaTranscript(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What Java's client did in a script: the fingerprint of the script, and its id for readers."""

    key: str
    script: str
    exchanges: list[Exchange]


class _Head(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    release: str
    format: int


@dataclass(frozen=True, slots=True)
class JavaTranscripts:
    """The transcripts of Java's client of a release, by fingerprint."""

    release: str
    by_key: dict[str, JavaTranscript]

    def of_script(self, script: Script) -> Transcript | None:
        """Return that of a script, None if there is none, or if the script has changed since."""
        found = self.by_key.get(fingerprint(script))
        return Transcript(found.exchanges) if found else None


def fingerprint(script: Script) -> str:
    """Return the digest of everything in a script that affects what a client is given and answered."""
    words = {"id", "title", "about", "java_fails"}
    given = {name: value for name, value in msgspec.structs.asdict(script).items() if name not in words}
    given["settings"] = msgspec.structs.asdict(script.settings)
    return hashlib.sha256(msgspec.json.encode([FORMAT, given], order="deterministic")).hexdigest()[:16]


@cache
def java_transcripts() -> JavaTranscripts:
    """Return the transcripts that ship with the package. Raises BadInput if the file is damaged."""
    return read_java_transcripts(FILE)


def read_java_transcripts(path: Path) -> JavaTranscripts:
    """Read a file of transcripts. Raises BadInput."""
    lines = read_bytes(path).splitlines()
    try:
        head = msgspec.json.decode(lines[0] if lines else b"", type=_Head)
        found = [msgspec.json.decode(line, type=JavaTranscript) for line in lines[1:]]
    except UNREADABLE as error:
        raise BadInput(f"{path} is not a file of transcripts: {error}") from error
    if head.format != FORMAT:
        raise BadInput(f"{path} has format {head.format} and not {FORMAT}: write it with ci/java_transcripts.py")
    return JavaTranscripts(head.release, {each.key: each for each in found})


def write_java_transcripts(path: Path, release: str, found: Iterable[JavaTranscript]) -> None:
    """Write a file of transcripts. Raises KitError."""
    lines = [_Head(release, FORMAT), *found]
    write_whole(path, b"".join(msgspec.json.encode(line) + b"\n" for line in lines))


def transcript_of(lines: Iterable[Line], codec: Codec) -> Transcript:
    """Return the transcript of a trace. Raises BadInput as its lines do."""
    reader = _Reader()
    for event in decoded(lines, codec):
        if isinstance(event, Request):
            reader.take_request(event)
        elif isinstance(event, Response):
            reader.take_response(event)
        else:
            reader.take_end(event)
    return Transcript(list(reader.exchanges()), reader.left_out, reader.client)


@dataclass(slots=True)
class _Sent:
    """A line before its relation is known; ``content`` are a checksum and the size of the records of a batch."""

    connection: int
    api: str
    version: int
    partition: int = -1
    position: int = -1
    epoch: int = -1
    records: int = 0
    producer: int = -1
    content: tuple[int, int] | None = None
    outcome: str = NO_RESPONSE
    is_idle: bool = False
    """Whether it is left out: a fetch that had no records."""


@dataclass
class _Reader:
    """Takes the events of a trace."""

    left_out: int = 0
    client: str = ""
    _sent: list[_Sent] = field(default_factory=list)
    _open: dict[Request, list[_Sent]] = field(default_factory=dict)
    _offsets: dict[tuple[int, str, int], int] = field(default_factory=dict)
    """The offset that a connection last named for a partition: a fetch of a session leaves out what has not changed."""

    def take_request(self, request: Request) -> None:
        """Take a request: a line for each partition of those that have them."""
        frame, fields = request.frame, request.fields or {}
        self.client = self.client or frame.client[:_LONGEST_CLIENT]
        found: list[_Sent] = []
        if fields and frame.api == "Produce":
            found = list(_batches(frame.connection, frame.version, fields))
        elif fields and frame.api == "Fetch":
            found = list(self._fetches(frame.connection, frame.version, fields))
        elif fields and frame.api == "OffsetCommit":
            found = list(_commits(frame.connection, frame.version, fields))
        name = frame.api or "a request that cannot be read"
        self._open[request] = kept = self._kept(found or [_Sent(frame.connection, name, frame.version)])
        for each in kept:
            if frame.fate == "lose-request":
                each.outcome = "request lost"
            elif frame.api == "Produce" and fields.get("acks") == 0:
                each.outcome = OK

    def take_response(self, response: Response) -> None:
        """Take the outcome of the request that is answered."""
        waiting, by_partition = self._open.pop(response.request, []), _errors_by_partition(response)
        if response.frame.api == "Fetch" and response.fields:
            waiting = self._fetched(response, waiting)
        codes = sorted(set(error_codes(response.fields or {})))
        for each in waiting:
            code = by_partition.get(each.partition, codes[0] if codes and not by_partition else 0)
            each.outcome = f"error {code} {error_name(code)}" if code else OK
            if response.is_lost:
                each.outcome = "response lost"
            each.is_idle = each.is_idle or (each.api in _TIMED and each.outcome == OK)

    def take_end(self, closed: Closed) -> None:
        """Take the end of a connection: its requests have no response."""
        for request in closed.unanswered:
            self._open.pop(request, None)

    def exchanges(self) -> Iterator[Exchange]:
        """Yield the lines, connection by connection."""
        batches: dict[int, _Batches] = {}
        offsets: dict[int, int] = {}
        for one in sorted((each for each in self._sent if not each.is_idle), key=lambda each: each.connection):
            relation = ""
            if one.api == "Produce" and one.partition >= 0:
                relation = batches.setdefault(one.partition, _Batches()).relation(one)
            elif one.api == "Fetch" and one.partition >= 0 and one.position >= 0:
                before = offsets.get(one.partition, -1)
                relation = "next" if one.position > before else "again" if one.position == before else "back"
                offsets[one.partition] = one.position
            yield Exchange(
                one.api, one.version, one.partition, relation, one.position, one.epoch, one.records, one.outcome
            )

    def _kept(self, found: list[_Sent]) -> list[_Sent]:
        """Add lines as long as there is room for them, and return those that were added."""
        kept = found[: max(0, _MOST - len(self._sent))]
        self.left_out += len(found) - len(kept)
        self._sent += kept
        return kept

    def _fetches(self, connection: int, version: int, fields: Fields) -> Iterator[_Sent]:
        for topic in fields["topics"]:
            for one in topic["partitions"]:
                self._offsets[connection, _topic(topic), one["partition"]] = one["fetchOffset"]
                yield _Sent(connection, "Fetch", version, one["partition"], one["fetchOffset"])

    def _fetched(self, response: Response, waiting: list[_Sent]) -> list[_Sent]:
        """Return the lines of a fetch that had records or an error, in place of those of its request."""
        frame, fields = response.frame, response.fields or {}
        for each in waiting:
            each.is_idle = True
        found = [_Sent(frame.connection, "Fetch", frame.version)] if fields.get("errorCode") else []
        for topic in fields["responses"]:
            for one in topic["partitions"]:
                if one["errorCode"] or one["records"]:
                    at = one["partitionIndex"]
                    offset = self._offsets.get((frame.connection, _topic(topic), at), -1)
                    found.append(_Sent(frame.connection, "Fetch", frame.version, at, offset))
        return self._kept(found)


@dataclass
class _Batches:
    """The batches of a partition that were sent."""

    sent: dict[tuple[int, int], tuple[int, int, int]] = field(default_factory=dict)
    """By the checksum and size of their records: producer id, epoch and sequence."""
    producer: tuple[int, int] | None = None
    end: int = 0
    """Where the next batch begins."""

    def relation(self, sent: _Sent) -> str:
        """Take a batch, and return how it is related to those before it."""
        if sent.content is None:
            return "new"
        header = sent.producer, sent.epoch, sent.position
        before = self.sent.get(sent.content)
        self.sent[sent.content] = header
        if before == header or sent.position < 0:
            return "again" if before else "new"
        is_first, is_new = self.producer is None, self.producer not in {None, header[:2]}
        ahead = (sent.position - self.end) & _WRAP
        is_ahead = is_first or ahead <= _WRAP >> 1
        self.producer = header[:2]
        if is_new or is_ahead:
            self.end = (sent.position + sent.records) & _WRAP
        if before:
            return "again, new epoch" if is_new else "again, renumbered"
        return "new epoch" if is_new else "next" if not ahead else "gap" if is_ahead else "renumbered"


def _topic(fields: Fields) -> str:
    return str(fields.get("topic") or fields.get("topicId"))


def _batches(connection: int, version: int, fields: Fields) -> Iterator[_Sent]:
    """Yield a line for each batch; one for records that cannot be read as batches."""
    for topic in fields["topicData"]:
        for partition in topic["partitionData"]:
            at, data = partition["index"], partition["records"] or b""
            try:
                for batch in decode_batches(data):
                    if isinstance(batch, DefaultBatch):
                        records = data[batch.start + OVERHEAD : batch.end]
                        yield _Sent(
                            connection, "Produce", version, at, batch.base_sequence,
                            batch.producer_epoch if batch.producer_id >= 0 else -1, batch.record_count,
                            batch.producer_id, (zlib.crc32(records), len(records)),
                        )  # fmt: skip
                    else:
                        yield _Sent(connection, "Produce", version, at)
            except JavaException:
                yield _Sent(connection, "Produce", version, at)


def _commits(connection: int, version: int, fields: Fields) -> Iterator[_Sent]:
    for topic in fields["topics"]:
        for one in topic["partitions"]:
            yield _Sent(connection, "OffsetCommit", version, one["partitionIndex"], one["committedOffset"])


def _errors_by_partition(response: Response) -> dict[int, int]:
    """Return the error of each partition in a response that has them."""
    fields, names = response.fields or {}, {"Produce": ("responses", "partitionResponses", "index"),
                                            "Fetch": ("responses", "partitions", "partitionIndex"),
                                            "OffsetCommit": ("topics", "partitions", "partitionIndex")}  # fmt: skip
    if response.frame.api not in names or not fields:
        return {}
    topics, partitions, index = names[response.frame.api]
    found = {one[index]: one["errorCode"] for topic in fields[topics] for one in topic[partitions]}
    return {**found, -1: fields["errorCode"]} if fields.get("errorCode") else found
