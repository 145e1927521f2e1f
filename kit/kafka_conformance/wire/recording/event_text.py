"""A line for each event of a trace."""

from __future__ import annotations

from collections.abc import Iterator

from kafka_conformance.reports.terminal import plural
from kafka_conformance.wire.codec.messages import Fields, error_codes, error_name
from kafka_conformance.wire.recording.exchanges import Closed, Event, Names, Request, Response
from kafka_conformance.wire.recording.trace import Frame
from kafka_reference.errors import JavaException
from kafka_reference.record_batch import DefaultBatch, decode_batches

__all__ = ["words_of"]


def words_of(event: Event, names: Names) -> str:
    """Return an event as a line: when, on which connection, who, and what."""
    if isinstance(event, Closed):
        change, many = event.change, len(event.unanswered)
        lost = f", {plural(many, 'request')} without an answer" if many else ""
        return f"{change.at_ms / 1_000:9.3f} s  {change.connection:3}  closed: {change.why}{lost}"
    frame = event.frame
    arrow = "→" if isinstance(event, Request) else "←"
    name = f"{frame.api} {frame.version}" if frame.api else "?"
    fate = f"  [{frame.fate}]" if frame.fate else ""
    said = event.fault or (", ".join(_said(event, names)) if event.fields is not None else _without(frame))
    return f"{frame.at_ms / 1_000:9.3f} s  {frame.connection:3} {arrow} {name}{': ' if said else ''}{said}{fate}"


def _without(frame: Frame) -> str:
    return f"{plural(frame.size, 'byte')}, not written"


def _said(event: Request | Response, names: Names) -> Iterator[str]:
    fields = event.fields or {}
    is_request = isinstance(event, Request)
    if event.frame.api == "Produce":
        yield from _produced(fields, names) if is_request else _acknowledged(fields, names)
    elif event.frame.api == "Fetch":
        yield from _wanted(fields, names) if is_request else _fetched(fields, names)
    else:
        yield from _plain(fields)


def _produced(fields: Fields, names: Names) -> Iterator[str]:
    yield f"acks {fields['acks']}"
    for topic in fields["topicData"]:
        for partition in topic["partitionData"]:
            for batch in _batches(partition["records"]):
                yield f"{names.topic(topic)}-{partition['index']} {batch}"


def _acknowledged(fields: Fields, names: Names) -> Iterator[str]:
    for topic in fields["responses"]:
        for one in topic["partitionResponses"]:
            what = _error(one["errorCode"]) if one["errorCode"] else f"offset {one['baseOffset']}"
            yield f"{names.topic(topic)}-{one['index']} {what}"


def _wanted(fields: Fields, names: Names) -> Iterator[str]:
    for topic in fields["topics"]:
        for one in topic["partitions"]:
            yield f"{names.topic(topic)}-{one['partition']} from {one['fetchOffset']}"


def _fetched(fields: Fields, names: Names) -> Iterator[str]:
    for topic in fields["responses"]:
        for one in topic["partitions"]:
            what = _error(one["errorCode"]) if one["errorCode"] else plural(len(one["records"] or b""), "byte")
            yield f"{names.topic(topic)}-{one['partitionIndex']} {what}"


def _plain(fields: Fields) -> Iterator[str]:
    """Yield the ids, epochs, texts and errors of a message, which say what it is about; nothing that is nested."""
    for name, value in fields.items():
        is_error = name == "errorCode"
        if (
            (is_error and value)
            or (isinstance(value, str) and value)
            or (name.endswith(("Id", "Epoch")) and value != -1)
        ):
            yield _error(value) if is_error else f"{name} {value}"
    if codes := sorted(set(error_codes(list(fields.values())))):
        yield ", ".join(map(_error, codes))


def _error(code: int) -> str:
    return f"error {code} {error_name(code)}"


def _batches(data: bytes | None) -> Iterator[str]:
    try:
        for batch in decode_batches(data or b""):
            size = plural(batch.size_in_bytes, "byte")
            if not isinstance(batch, DefaultBatch):
                yield size
            elif batch.producer_id >= 0:
                yield (
                    f"producer {batch.producer_id} epoch {batch.producer_epoch} sequence {batch.base_sequence}, "
                    f"{plural(batch.record_count, 'record')}, {size}"
                )
            else:
                yield f"{plural(batch.record_count, 'record')}, {size}"
    except JavaException as error:
        yield str(error)
