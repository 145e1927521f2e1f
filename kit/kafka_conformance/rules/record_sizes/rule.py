"""The rule ``record-sizes``: how large records and batches are, and the estimates by which a producer fills its batches.

The question is one batch, made as the producer makes it, and its records in order::

    {"batch_size": 16384, "compression": "none" or "gzip", "ratio": 1.0, "magic": 2,
     "records": [{"timestamp": 0, "key": "666f6f", "value": {"length": 70000}, "headers": [["name", null]]}],
     "measured": [{"offset_delta": 64, "timestamp_delta": -1, "key": null, "value": 2147483647}],
     "observed": [[500, 1000]]}

Keys and values are hex, null, or a number of zero bytes. The name of a header is text, or ``{"utf16": "d800"}``, big-endian,
where it is not Unicode text. All codecs are estimated in the same way; gzip is asked, since it needs no library. Up to
0.10.2.x there are no headers, and ``magic`` has no effect: batches are written with 1.

The answer::

    {"buffer": 16384, "empty": {"estimate": 61, "full": false},
     "steps": [{"bound": 97, "room": true, "estimate": 85, "full": false}],
     "max_record_size": 97, "closed": true, "built": 85,
     "measured": [{"varint": 2, "varlong": 1, "size": 9}], "ratios": [0.995]}

A record without room is left out, and the batch stays open for the next one. The size of a compressed batch depends on the
codec, so ``built`` is null there. ``measured`` are sizes by lengths alone, also by lengths that no memory holds; up to
magic 1 there is only ``size``.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from kafka_conformance.core.newest_run import newest_answer
from kafka_conformance.core.protocol import Answer, exception_answer
from kafka_conformance.core.rule import Area, Rule, Space
from kafka_conformance.rules.record_sizes.domain import OPTIONAL_LABELS, domain, plain
from kafka_conformance.rules.record_sizes.question import (
    AskedField,
    AskedRecord,
    Length,
    Measured,
    RecordSizesQuestion,
    Utf16,
    every_batch_size,
    every_header,
    every_length,
    every_observation,
    every_ratio,
    every_varint,
    questions,
)
from kafka_reference.accumulator import ratios, sizes
from kafka_reference.accumulator.behaviour import CompressionRatioEstimatorBehaviour, MemoryRecordsBuilderBehaviour
from kafka_reference.accumulator.sizes import BatchSize, SizedRecord
from kafka_reference.errors import JavaException, QuestionError
from kafka_reference.releases import Release, since

__all__ = ["RULE", "RecordSizesQuestion"]


def _ask(question: RecordSizesQuestion, release: Release) -> Answer:
    """Called through the modules, so that a mutant can put a mistake into them."""
    behaviour = MemoryRecordsBuilderBehaviour.of(release)
    newest = behaviour.newest_magic
    magic, compressed = question.magic if newest == 2 else newest, question.compression == "gzip"
    records = [_sized(record, newest == 2) for record in question.records]
    buffer = sizes.buffer_size(behaviour, question.batch_size, records[0], magic=magic, compressed=compressed)
    batch = BatchSize(behaviour, question.batch_size, buffer, magic, compressed, ratios.float32(question.ratio))
    return {
        "buffer": buffer,
        "empty": {"estimate": batch.estimated, "full": batch.full},
        "steps": [_step(batch, record) for record in records],
        "max_record_size": batch.max_record_size,
        "built": None if compressed else batch.built,
        "closed": _closed(batch),
        "measured": [_measured(measured, magic) for measured in question.measured],
        "ratios": _ratios(question, release),
    }


def _sized(record: AskedRecord, knows_headers: bool) -> SizedRecord:
    headers = record.headers if knows_headers else ()
    timestamp = _int64(record.timestamp)
    if timestamp < -1:
        raise QuestionError(f"no ProducerRecord has the timestamp {timestamp}: take one from -1 on")
    named = tuple((_text(name), _length(value)) for name, value in headers)
    return SizedRecord(timestamp, _length(record.key), _length(record.value), named)


def _int64(value: int | str) -> int:
    number = int(value)
    if not -(2**63) <= number < 2**63:
        raise QuestionError(f"{number} is no int64")
    return number


def _length(asked: AskedField) -> int | None:
    if asked is None:
        return None
    return asked.length if isinstance(asked, Length) else len(asked) // 2


def _text(name: str | Utf16) -> str:
    return name if isinstance(name, str) else bytes.fromhex(name.utf16).decode("utf-16-be", "surrogatepass")


def _step(batch: BatchSize, record: SizedRecord) -> Answer:
    bound = sizes.upper_bound(batch.behaviour, batch.magic, batch.compressed, record.key, record.value, record.headers)
    room = batch.has_room_for(record)
    try:
        if room:
            batch.append(record)
    except JavaException as raised:
        return exception_answer(raised)
    return {"bound": bound, "room": room, "estimate": batch.estimated, "full": batch.full}


def _closed(batch: BatchSize) -> bool:
    batch.closed = True
    return batch.full


def _measured(asked: Measured, magic: int) -> Answer:
    if magic < 2:
        return {"size": sizes.message_size(magic, asked.key, asked.value)}
    delta = _int64(asked.timestamp_delta)
    return {
        "varint": sizes.varint_size(asked.offset_delta),
        "varlong": sizes.varlong_size(delta),
        "size": sizes.record_size(asked.offset_delta, delta, asked.key, asked.value),
    }


def _ratios(question: RecordSizesQuestion, release: Release) -> list[float]:
    behaviour = CompressionRatioEstimatorBehaviour.of(release)
    ratio, found = ratios.float32(question.ratio), []
    for compressed, uncompressed in question.observed:
        ratio = ratios.next_ratio(behaviour, ratio, ratios.compression_ratio(compressed, uncompressed))
        found.append(ratio)
    return found


def _labels(question: RecordSizesQuestion) -> Iterator[str]:
    yield f"{question.compression}, magic {question.magic}"
    if question.measured:
        yield "measured"
    if question.observed:
        yield "observed"
    if question.batch_size == 0:
        yield "batch size 0"
    for record in question.records:
        yield from _labels_of(record)
    times = [int(record.timestamp) for record in question.records]
    if any(time < times[0] for time in times):
        yield "earlier than the first"
    if any(time - times[0] >= 2**63 for time in times):
        yield "a delta that wraps"
    if len(times) > 64:
        yield "more than 64 records"
    yield from _labels_by_answer(question)


def _labels_of(record: AskedRecord) -> Iterator[str]:
    for name, asked in (("key", record.key), ("value", record.value)):
        length = _length(asked)
        yield f"null {name}" if length is None else f"empty {name}" if length == 0 else name
    if record.headers:
        yield "headers"
    if len(record.headers) >= 64:
        yield "64 headers or more"
    if any(value is None for _, value in record.headers):
        yield "a header without a value"
    if any(_is_no_text(name) for name, _ in record.headers):
        yield "half a surrogate pair"


def _is_no_text(name: str | Utf16) -> bool:
    return any(0xD800 <= ord(letter) < 0xE000 for letter in _text(name))


def _labels_by_answer(question: RecordSizesQuestion) -> Iterator[str]:
    answer = newest_answer(_ask, question)
    steps = [step for step in answer["steps"] if "room" in step]
    if len(steps) < len(answer["steps"]):
        yield "headers in a message"
    if not steps:
        return
    if answer["buffer"] > question.batch_size:
        yield "larger than the batch size"
        if len(steps) > 1 and steps[1]["room"]:
            yield "room for another in the slack"
    if not all(step["room"] for step in steps):
        yield "no room"
        if any(later["room"] for step, later in pairwise(steps) if not step["room"]):
            yield "no room, then room for a smaller one"
    if any(step["estimate"] == answer["buffer"] for step in steps):
        yield "full to the byte"
    if any(step["estimate"] < 0 for step in steps):
        yield "an estimate below 0"


def _path(question: RecordSizesQuestion) -> str:
    """Return the group of a difference: expected ratios of a codec, compression, or keys that are not text."""
    if question.observed:
        return "observed"
    if question.compression != "none":
        return "compressed"
    halved = any(_is_no_text(name) for record in question.records for name, _ in record.headers)
    return "half a surrogate pair" if halved and question.magic == 2 else "not compressed"


_QUESTIONS = questions()

RULE = Rule(
    slug="record-sizes",
    title="sizes of records and batches, and the estimates a producer fills its batches by",
    area=Area.ACCUMULATOR,
    releases=since("0.10.0.0"),
    question=RecordSizesQuestion,
    ask=_ask,
    strategy=lambda: _QUESTIONS,
    spaces=(
        Space("every end of a varint: offset × timestamp deltas, key × value lengths, bodies; by length", every_varint),
        Space("every end of a varint up to 2^20, of 8,193 records and of int64 deltas; appended", every_length),
        Space("25 names × 9 values of a header, every end of their lengths and number up to 8,192", every_header),
        Space("every batch size 0-150 × three scripts × every magic × five ways to compress", every_batch_size),
        Space("80 estimates × 21 ratios that floats and doubles take differently", every_ratio),
        Space("17 ratios × 50 observations, alone, repeated and alternating", every_observation),
    ),
    labels=_labels,
    path=_path,
    required_labels=frozenset(
        {f"{compression}, magic {magic}" for compression in ("none", "gzip") for magic in (0, 1, 2)}
        | {f"{kind}{name}" for kind in ("null ", "empty ", "") for name in ("key", "value")}
        | {"measured", "observed", "batch size 0", "earlier than the first", "a delta that wraps"}
        | {"more than 64 records", "headers", "64 headers or more", "a header without a value", "half a surrogate pair"}
        | {"larger than the batch size", "room for another in the slack", "no room", "full to the byte"}
        | {"headers in a message", "no room, then room for a smaller one", "an estimate below 0"}
    ),
    domain=domain,
    plain=plain,
    optional_labels=OPTIONAL_LABELS,
    java=(
        (since("0.11.0.0"), "kafkaoracle.record_sizes.RecordSizesRule"),
        (since("0.10.2.0", until="0.10.2.x"), "kafkaoracle.record_sizes.RecordSizesByRecordBatch"),
        (since("0.10.0.0", until="0.10.1.x"), "kafkaoracle.record_sizes.RecordSizesByMemoryRecords"),
    ),
    source="ProducerBatch.tryAppend, MemoryRecordsBuilder, DefaultRecord.sizeInBytes, CompressionRatioEstimator",
    harness=(
        "The order of calls is the kit's, in place of RecordAccumulator's: it allocates the buffer for the first record "
        "and tries every record. The expected compression ratio is set first, up to 0.10.2 by reflection. The size of its "
        "buffer, the deltas of offset and timestamp, and the ratio are the question's."
    ),
    behaviours=(MemoryRecordsBuilderBehaviour, CompressionRatioEstimatorBehaviour),
    # These are about several topics or batches, or about a batch that the codec built.
    unobservable=frozenset(
        f"CompressionRatioEstimatorBehaviour.{field}"
        for field in ("ratio_per_topic", "observes_retries", "observes_wrapper")
    ),
    links=(
        "https://cwiki.apache.org/confluence/display/KAFKA/KIP-98+-+Exactly+Once+Delivery+and+Transactional+Messaging",
        "https://cwiki.apache.org/confluence/display/KAFKA/KIP-126+-+Allow+KafkaProducer+to+split+and+resend+oversized+batches",
        "https://issues.apache.org/jira/browse/KAFKA-9700",
    ),
)
