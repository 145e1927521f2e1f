"""What a trace shows of a client against the rules that every client has to keep, whatever its settings.

Judged are the order of requests on a connection and of the batches of a partition, never the clock, but for heartbeats. A
finding is something that no correct client sends; where the trace does not show enough, nothing is said:

- a sequence may begin anywhere if the trace does not have the response that gave the producer its id and epoch;
- a batch that was answered with an error may be followed by another one with its sequence, and after an error batches may be
  numbered again: ``sequences.py`` has what Java's client does;
- an offset that a program commits may come from anywhere, so only those beyond all that the trace has shown it are judged.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import msgspec

from kafka_conformance.reports.terminal import plural
from kafka_conformance.wire.codec.messages import Fields
from kafka_conformance.wire.recording.exchanges import Closed, Event, Names, Request, Response
from kafka_conformance.wire.recording.sequences import Producer, SentBatch, Sequences
from kafka_reference.errors import JavaException
from kafka_reference.partitioning import partition_for_key
from kafka_reference.record_batch import DefaultBatch, decode_batches

__all__ = ["KINDS", "Judge", "Placed", "Totals", "TraceFinding"]

KINDS: Final[Mapping[str, str]] = {
    "bad-checksum": "The checksum of a batch is not that of its bytes. Brokers answer CORRUPT_MESSAGE (2).",
    "bad-batch": "The records of a request cannot be read as batches, are more than one, or have a producer id but no "
                 "sequence: brokers refuse them.",
    "version-not-offered": "A request has a version that the broker does not offer: a broker closes the connection, or "
                           "answers UNSUPPORTED_VERSION (35).",
    "sequence-gap": "A batch of an idempotent producer does not begin where the one before ended. A broker answers "
                    "OUT_OF_ORDER_SEQUENCE_NUMBER (45), or takes the gap for lost records.",
    "sequence-reused": "Two different batches of a producer have one sequence, though the first was not refused. If it was "
                       "written, a broker takes the second for its repetition and acknowledges it: its records are lost.",
    "stale-epoch": "A batch of a producer has an older epoch than one that was sent to its partition before. A broker "
                   "answers INVALID_PRODUCER_EPOCH (47): its records are refused.",
    "unknown-partition": "A batch is sent to a partition that its topic does not have, in any response to Metadata. A "
                         "broker answers UNKNOWN_TOPIC_OR_PARTITION (3).",
    "too-many-in-flight": "An idempotent producer has more than five requests without an answer on a connection. A broker "
                          "remembers the last five batches alone: after a retry, records may be written twice or refused.",
    "commit-ahead": "A group commits an offset after all that its member was given: records are skipped after a restart.",
    "heartbeat-late": "A member sent no heartbeat for longer than its session timeout: the group gives its partitions to "
                      "others.",
}  # fmt: skip
"""Kinds of findings, and what each means."""

_MOST_IN_FLIGHT: Final = 5
_TOO_LARGE: Final = 10
_MOST_KEYS: Final = 200_000
"""Records whose placement is compared: they are decoded one by one."""


class TraceFinding(msgspec.Struct, frozen=True):
    """Something that no correct client sends: its kind, where in the trace, and what."""

    kind: str
    at_ms: float
    connection: int
    client: str
    what: str


class Totals(msgspec.Struct):
    """What was judged."""

    requests: int = 0
    responses: int = 0
    batches: int = 0
    refused: int = 0
    repeated: int = 0
    records: int = 0
    commits: int = 0
    heartbeats: int = 0
    undecoded: int = 0
    unanswered: int = 0

    @property
    def is_judged(self) -> bool:
        """Whether the trace has anything that the rules are about."""
        return bool(self.batches or self.commits or self.heartbeats)


class Placed(msgspec.Struct):
    """The records with a key of a topic, and how many are where Java's default partitioner puts them."""

    partitions: int = 0
    keyed: int = 0
    as_java: int = 0


@dataclass
class Judge:
    """Takes the events of a trace in their order; ``findings`` are what it found."""

    names: Names = field(default_factory=Names)
    findings: list[TraceFinding] = field(default_factory=list)
    totals: Totals = field(default_factory=Totals)
    placed: dict[str, Placed] = field(default_factory=dict)
    indivisible: set[bytes] = field(default_factory=set)
    """Values of records that were refused as too large, each alone in its batch: no client can divide that."""

    _offered: dict[int, dict[int, tuple[int, int]]] = field(default_factory=dict)
    _sequences: Sequences = field(default_factory=Sequences)
    _in_flight: dict[int, set[int]] = field(default_factory=dict)
    _known: dict[tuple[str, str, int], int] = field(default_factory=dict)
    _beats: dict[tuple[str, str], tuple[float, int]] = field(default_factory=dict)

    def take(self, events: Iterable[Event]) -> None:
        """Judge these events, which follow those taken before."""
        for event in events:
            match event:
                case Request():
                    self._request(event)
                case Response():
                    self._response(event)
                case Closed():
                    self._in_flight.pop(event.change.connection, None)
                    self.totals.unanswered += len(event.unanswered)
                    self._sequences.close(event.change.connection, _producers(event.unanswered, self.names))

    def _request(self, request: Request) -> None:
        self.totals.requests += 1
        self.totals.undecoded += bool(request.fault)
        frame = request.frame
        if not frame.api:
            return
        lowest, highest = self._offered.get(frame.connection, {}).get(_key(request), (0, frame.version))
        if frame.api != "ApiVersions" and not lowest <= frame.version <= highest:
            self._find("version-not-offered", request,
                       f"{frame.api} version {frame.version}; the broker offers {lowest} to {highest}")  # fmt: skip
        if request.fields is None:
            return
        self._asked(request, request.fields)

    def _asked(self, request: Request, fields: Fields) -> None:
        match request.frame.api:
            case "Produce":
                self._produce(request, fields)
            case "Fetch":
                for partition, topic in _partitions(fields, "topics", "partitions", self.names):
                    self._know(request, topic, partition["partition"], partition["fetchOffset"])
            case "OffsetCommit":
                self._commit(request, fields)
            case "Heartbeat":
                self._beat(request, fields)
            case "LeaveGroup":
                for member in (fields.get("memberId"), *(one["memberId"] for one in fields.get("members", ()))):
                    self._beats.pop((fields["groupId"], str(member)), None)

    def _response(self, response: Response) -> None:
        self.totals.responses += 1
        self.totals.undecoded += bool(response.fault)
        self.names.learn(response)
        fields = response.fields
        self._in_flight.get(response.frame.connection, set()).discard(response.frame.correlation)
        if fields is not None:
            self._answered(response, fields)

    def _answered(self, response: Response, fields: Fields) -> None:
        request = response.request
        match response.frame.api:
            case "ApiVersions" if fields["errorCode"] == 0:
                self._offered[response.frame.connection] = {
                    each["apiKey"]: (each["minVersion"], each["maxVersion"]) for each in fields["apiKeys"]
                }
            case "InitProducerId" | "EndTxn" if fields.get("producerId", -1) >= 0:
                self._sequences.give(Producer(fields["producerId"], fields["producerEpoch"]))
            case "Produce" if request.fields is not None:
                self._produced(response, request.fields, fields)
            case "Fetch":
                for partition, topic in _partitions(fields, "responses", "partitions", self.names):
                    for batch in _batches(partition["records"] or b"")[0]:
                        self._know(response, topic, partition["partitionIndex"], batch.last_offset + 1)
            case "ListOffsets" | "OffsetFetch":
                self._offsets(response, fields)
            case "JoinGroup" if fields["errorCode"] == 0 and request.fields is not None:
                timeout_ms = request.fields["sessionTimeoutMs"]
                self._beats[request.fields["groupId"], fields["memberId"]] = (response.frame.at_ms, timeout_ms)

    # Producers

    def _produce(self, request: Request, fields: Fields) -> None:
        idempotent = False
        for partition, topic in _partitions(fields, "topicData", "partitionData", self.names):
            batches, fault = _batches(partition["records"] or b"")
            index = partition["index"]
            if fault or len(batches) != 1:
                self._find(
                    "bad-batch", request, f"{topic}-{index}: {fault or f'{len(batches)} batches in place of one'}"
                )
            if index >= (most := self.names.most.get(topic, index + 1)):
                self._find("unknown-partition", request, f"{topic}-{index}: it has {plural(most, 'partition')}")
            for batch in batches:
                idempotent |= self._batch(request, topic, index, batch)
        if idempotent:
            waiting = self._in_flight.setdefault(request.frame.connection, set())
            waiting.add(request.frame.correlation)
            if len(waiting) > _MOST_IN_FLIGHT:
                self._find("too-many-in-flight", request, f"{len(waiting)} requests without an answer")

    def _batch(self, request: Request, topic: str, index: int, batch: DefaultBatch) -> bool:
        """Judge a batch that is sent; return whether it has a sequence."""
        self.totals.batches += 1
        self.totals.records += batch.record_count
        if not batch.valid():
            self._find("bad-checksum", request, f"{topic}-{index}: a batch of {batch.size_in_bytes:,} bytes")
            return False
        has_sequence, sent = batch.producer_id >= 0 and batch.base_sequence >= 0, SentBatch()
        if batch.producer_id >= 0 > batch.base_sequence:
            self._find("bad-batch", request, f"{topic}-{index}: producer {batch.producer_id}, but no sequence")
        elif has_sequence:
            sent = self._sequences.send(request.frame.connection, topic, index, batch)
        if sent.kind:
            self._find(sent.kind, request, sent.what)
        self.totals.repeated += sent.repeated
        if not sent.repeated:
            self._place(topic, index, batch)
        return has_sequence

    def _place(self, topic: str, index: int, batch: DefaultBatch) -> None:
        """Count the keyed records that are where Java's default partitioner puts them."""
        partitions, keyed = self.names.partitions.get(topic), self.placed.setdefault(topic, Placed())
        if partitions is None or keyed.keyed >= _MOST_KEYS:
            return
        try:
            keys = [record.key for record in batch.records() if record is not None and record.key is not None]
        except JavaException:
            return  # the broker looks into a batch only if it has to convert it
        keyed.partitions = partitions
        keyed.keyed += len(keys)
        keyed.as_java += sum(partition_for_key(key, partitions) == index for key in keys)

    def _produced(self, response: Response, asked: Fields, fields: Fields) -> None:
        codes = {
            (topic, partition["index"]): partition["errorCode"]
            for partition, topic in _partitions(fields, "responses", "partitionResponses", self.names)
        }
        for partition, topic in _partitions(asked, "topicData", "partitionData", self.names):
            code = codes.get((topic, partition["index"]))
            for batch in _batches(partition["records"] or b"")[0]:
                self.totals.refused += bool(code)
                if code == _TOO_LARGE and batch.record_count == 1:
                    self.indivisible |= _values(batch)
                if code is not None:
                    self._sequences.answer(topic, partition["index"], batch, code, is_lost=response.is_lost)

    # Consumers

    def _know(self, event: Request | Response, topic: str, partition: int, offset: int) -> None:
        key = (_client(event), topic, partition)
        self._known[key] = max(offset, self._known.get(key, -1))

    def _offsets(self, response: Response, fields: Fields) -> None:
        groups = fields.get("groups") or [fields]
        for group in groups:
            for partition, topic in _partitions(group, "topics", "partitions", self.names):
                offsets = (partition.get("offset", -1), partition.get("committedOffset", -1))
                for offset in (*offsets, *(partition.get("oldStyleOffsets") or ())):
                    self._know(response, topic, partition["partitionIndex"], offset)

    def _commit(self, request: Request, fields: Fields) -> None:
        generation: Any = fields.get("generationIdOrMemberEpoch", fields.get("generationId", -1))
        for partition, topic in _partitions(fields, "topics", "partitions", self.names):
            self.totals.commits += 1
            known = self._known.get((_client(request), topic, partition["partitionIndex"]))
            if generation >= 0 and known is not None and partition["committedOffset"] > known:
                self._find("commit-ahead", request,
                           f"group {fields['groupId']} commits {partition['committedOffset']:,} of "
                           f"{topic}-{partition['partitionIndex']}; it was given offsets below {known:,}")  # fmt: skip

    def _beat(self, request: Request, fields: Fields) -> None:
        self.totals.heartbeats += 1
        key = (fields["groupId"], fields["memberId"])
        last = self._beats.get(key)
        if last is not None:
            late_ms = request.frame.at_ms - last[0]
            if late_ms > last[1]:
                what = f"group {key[0]}: {late_ms:,.0f} ms after the last one; the session timeout is {last[1]:,} ms"
                self._find("heartbeat-late", request, what)
            self._beats[key] = (request.frame.at_ms, last[1])

    def _find(self, kind: str, request: Request, what: str) -> None:
        frame = request.frame
        self.findings.append(TraceFinding(kind, frame.at_ms, frame.connection, frame.client, what))


def _producers(requests: Iterable[Request], names: Names) -> set[int]:
    """Return the producer ids of the batches in these requests."""
    return {
        batch.producer_id
        for request in requests if request.frame.api == "Produce" and request.fields is not None
        for partition, _ in _partitions(request.fields, "topicData", "partitionData", names)
        for batch in _batches(partition["records"] or b"")[0]
    }  # fmt: skip


def _values(batch: DefaultBatch) -> set[bytes]:
    """Return the values of the records in a batch, none if they cannot be read."""
    try:
        return {record.value or b"" for record in batch.records() if record is not None}
    except JavaException:
        return set()


def _key(request: Request) -> int:
    return int.from_bytes(request.frame.data[:2], signed=True) if request.frame.data else -1


def _client(event: Request | Response) -> str:
    return event.frame.client if isinstance(event, Request) else event.request.frame.client


def _partitions(fields: Fields, topics: str, partitions: str, names: Names) -> Iterator[tuple[dict[str, Any], str]]:
    for topic in fields.get(topics) or ():
        name = names.topic(topic)
        for partition in topic[partitions]:
            yield partition, name


def _batches(data: bytes) -> tuple[list[DefaultBatch], str]:
    """Return the whole batches of magic 2 in these bytes, and what is wrong with them."""
    found: list[DefaultBatch] = []
    try:
        for batch in decode_batches(data):
            if not isinstance(batch, DefaultBatch):
                return found, ""  # an older format: not judged
            found.append(batch)
    except JavaException as error:
        return found, str(error)
    return found, "" if found or not data else "a batch is cut off"
