"""Known mistakes in record batches: header fields, CRCs, varints, timestamps, sequences, control records, cuts."""

from __future__ import annotations

import struct
import zlib
from importlib import import_module
from typing import Any

from kafka_conformance.core.mutant import Ask, Mutant, replaced
from kafka_conformance.core.protocol import Answer
from kafka_conformance.rules.common.mutations import on
from kafka_conformance.rules.record_batch.mutations import but, decoded, encoded, of_batches, of_records, overriding
from kafka_conformance.rules.record_batch.question import RecordBatchQuestion, number
from kafka_conformance.rules.record_batch.rule import RULE
from kafka_reference import record_batch
from kafka_reference.java.crc32c import crc32c
from kafka_reference.java.int32 import INT_MAX, int32
from kafka_reference.record_batch import batches, default, encode, records, skipping
from kafka_reference.record_batch.codecs import Stream
from kafka_reference.record_batch.default import DefaultBatch
from kafka_reference.record_batch.varints import read_varint, write_varint
from kafka_reference.releases import NEWEST, Release, parse_release

__all__ = ["MUTANTS"]

_ATTRIBUTES, _LAST_DELTA, _BASE_TIME, _MAX_TIME, _PRODUCER, _SEQUENCE = 21, 23, 27, 35, 43, 53


def _put(layout: str, place: int, value: int) -> Any:
    def change(data: bytearray, _: Any) -> None:
        struct.pack_into(layout, data, place, value)

    return change


def _crc(covered: int, crc: Any = crc32c) -> Ask:
    def change(data: bytearray, _: Any) -> None:
        data[17:21] = crc(bytes(data[covered:])).to_bytes(4, "big")

    return encoded(change, with_crc=False)


def _times(asked: Any) -> list[int]:
    markers = [asked.control] if asked.control is not None else []
    return [int(one.timestamp) for one in (*asked.records, *markers)]


def _max_of_last(data: bytearray, asked: Any) -> None:
    if asked.timestamp_type == "create":
        struct.pack_into(">q", data, _MAX_TIME, _times(asked)[-1])


def _lowest_is_base(data: bytearray, asked: Any) -> None:
    if asked.delete_horizon is None:
        struct.pack_into(">q", data, _BASE_TIME, min(_times(asked)))


def _swapped_times(data: bytearray, _: Any) -> None:
    data[_BASE_TIME:_PRODUCER] = data[_MAX_TIME:_PRODUCER] + data[_BASE_TIME:_MAX_TIME]


def _count_is_delta(data: bytearray, _: Any) -> None:
    data[_LAST_DELTA:_BASE_TIME] = struct.pack(">i", struct.unpack_from(">i", data, 57)[0] - 1)


def _size_of_all(data: bytearray, _: Any) -> None:
    struct.pack_into(">i", data, 8, len(data))


def _without(bits: int) -> Any:
    def change(data: bytearray, _: Any) -> None:
        data[_ATTRIBUTES + 1] &= ~bits & 0xFF

    return change


def _first_byte(data: bytearray, _: Any) -> None:
    data[_ATTRIBUTES : _ATTRIBUTES + 2] = bytes([data[_ATTRIBUTES + 1], 0])


def _zero_producer(data: bytearray, asked: Any) -> None:
    if asked.producer is None:
        data[_PRODUCER:57] = bytes(14)


def _signed_crc(batch: Answer) -> None:
    if "crc" in batch["header"]:
        batch["header"]["crc"] = int32(batch["header"]["crc"])


def _control_in_transactions(batch: Answer) -> None:
    header = batch["header"]
    header["control"] = header.get("control", False) and header["transactional"]


def _no_control(batch: Answer) -> None:
    batch["header"]["control"] = False


def _next_of_last_record(found: list[Answer], batch: Answer) -> None:
    if found and "next_offset" in batch["header"]:
        batch["header"]["next_offset"] = int(found[-1]["offset"]) + 1


def _partial_is_an_error(answer: Answer, rest: int) -> None:
    if rest:
        answer["raises"] = "CorruptRecordException"


def _partial_drops_all(answer: Answer, rest: int) -> None:
    if rest:
        answer["batches"] = []


def _first_only(answer: Answer, _: int) -> None:
    del answer["batches"][1:]


def _empty_is_null(field: str) -> Any:
    def change(found: list[Answer], _: Answer) -> None:
        for record in found:
            if record[field] == "":
                record[field] = None

    return change


def _no_headers(found: list[Answer], _: Answer) -> None:
    for record in found:
        record["headers"] = []


def _last_of_a_name(found: list[Answer], _: Answer) -> None:
    for record in found:
        record["headers"] = [list(pair) for pair in dict(record["headers"]).items()]


def _through_seconds(timestamp: int | str) -> int:
    """Return the ms that come back from seconds in a float: 1 ms less for 95 of the first 10,000, such as 1001."""
    return max(-(2**63), min(int(int(timestamp) / 1000.0 * 1000), 2**63 - 1))


def _read_through_seconds(found: list[Answer], _: Answer) -> None:
    for record in found:
        record["timestamp"] = number(_through_seconds(record["timestamp"]))


def _sequence_of_batch(found: list[Answer], batch: Answer) -> None:
    for record in found:
        if batch["magic"] == 2:
            record["sequence"] = batch["header"].get("base_sequence", -1)


def _swapped_markers(found: list[Answer], _: Answer) -> None:
    for record in found:
        if isinstance(record.get("marker"), list):
            record["marker"][0] = "commit" if record["marker"][0] == "abort" else "abort"


def _changed_records(**fields: Any) -> Any:
    """Return a change of a question: fields of its records as functions of them."""

    def change(question: RecordBatchQuestion) -> RecordBatchQuestion:
        name = "encode" if question.encode is not None else "compress"
        batch = getattr(question, name)
        if batch is None:
            return question
        changed = tuple(
            replaced(record, **{field: make(getattr(record, field)) for field, make in fields.items()})
            for record in batch.records
        )
        return replaced(question, **{name: replaced(batch, records=changed)})

    return change


def _plain_varint(number: int) -> bytes:
    """Write seven bits at a time without the zig-zag; a negative number in ten bytes."""
    number &= 2**64 - 1
    found = bytearray()
    while number > 0x7F:
        found.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*found, number])


def _varlong_in_32_bits(number: int) -> bytes:
    return write_varint(int32(number))


def _negative_sequence(sequence: int, increment: int) -> int:
    return int32(sequence + increment)


def _one_short(sequence: int, increment: int) -> int:
    return (sequence + increment) % INT_MAX


def _sequences(increment: Any) -> Ask:
    return but(*((module, {"increment_sequence": increment}) for module in (default, records, skipping)))


def _no_log_append_time(batch: DefaultBatch) -> Any:
    return records.BatchFields(
        _FIELDS(batch).count, batch.base_offset, batch.base_timestamp, batch.base_sequence, None
    )  # fmt: skip


def _count_of_offsets(batch: DefaultBatch) -> Any:
    fields = _FIELDS(batch)
    count = max(0, min(batch.last_offset - batch.base_offset + 1, 1000))
    return records.BatchFields(
        count, fields.base_offset, fields.base_timestamp, fields.base_sequence, fields.log_append_time
    )


def _in_whole_buffers(stream: Stream, _: Any) -> Stream:
    return _SEEN(stream, ((position, 1) for position in range(len(stream.data) + 1)))


_FIELDS = DefaultBatch._fields
_SEEN = Stream.seen_by
_SNAPPY = import_module("kafka_reference.record_batch.codecs.snappy")  # the package has a function of this name


def _known_types_only(key: bytes | None, release: Any = NEWEST) -> str:
    found = _CONTROL_TYPE(key, release)
    return found if found in ("ABORT", "COMMIT") else "UNKNOWN"


_CONTROL_TYPE = record_batch.control_type


def _mutant(slug: str, description: str, ask: Ask, *references: str, release: str | Release = NEWEST) -> Mutant:
    return Mutant(slug, RULE.slug, description, ask, parse_release(release), references)


_GITHUB = "https://github.com"
_LONG_DELTAS = (
    f"{_GITHUB}/kafka-protocol-rs/kafka-protocol-rs/issues/158", f"{_GITHUB}/twmb/franz-go/issues/324",
    f"{_GITHUB}/osodevops/kafka-backup/issues/150",
)  # fmt: skip
_APPEND_TIME = (
    f"{_GITHUB}/zendesk/ruby-kafka/pull/706", f"{_GITHUB}/tulios/kafkajs/pull/838",
    f"{_GITHUB}/kafka4beam/kafka_protocol/pull/60",
)  # fmt: skip
_PARTIAL = (
    f"{_GITHUB}/tulios/kafkajs/pull/182", f"{_GITHUB}/optiopay/kafka/pull/110", f"{_GITHUB}/criteo/kafka-sharp/issues/46",
)  # fmt: skip
_COMPACTED = f"{_GITHUB}/tulios/kafkajs/issues/562", f"{_GITHUB}/zendesk/ruby-kafka/issues/555"
_NULLS = f"{_GITHUB}/thomhurst/Dekaf/issues/1627", f"{_GITHUB}/itadventurer/kafka-backup/pull/21"
_TOMBSTONES = f"{_GITHUB}/Farfetch/kafkaflow/issues/516", f"{_GITHUB}/ag2ai/faststream/pull/2932"
_CONTROL = f"{_GITHUB}/tulios/kafkajs/issues/197", f"{_GITHUB}/dpkp/kafka-python/pull/2361"
_CRC_RANGE = f"{_GITHUB}/apache/kafka/pull/2614"

MUTANTS = (
    _mutant("crc-from-leader-epoch", "the CRC covers the leader epoch and the magic", _crc(12), _CRC_RANGE),
    _mutant("crc-from-records", "the CRC covers the records alone", _crc(61), _CRC_RANGE),
    _mutant("crc-32", "the CRC of magic 2 is CRC-32, as before", _crc(_ATTRIBUTES, zlib.crc32), _CRC_RANGE),
    _mutant("crc-signed", "the CRC is an int32", of_batches(_signed_crc), f"{_GITHUB}/apache/kafka/pull/13583"),
    _mutant(
        "crc-never-checked", "a batch with a wrong CRC is valid", but((DefaultBatch, {"ensure_valid": lambda _: None})),
        f"{_GITHUB}/thomhurst/Dekaf/issues/1727",
    ),
    _mutant("wrong-crc-is-invalid", "a wrong CRC is an InvalidRecordException",
            overriding(wrong_crc_is_invalid_record=True)),
    _mutant("size-of-all", "the size of a batch includes offset and size", encoded(_size_of_all)),
    _mutant("attributes-in-first-byte", "the attributes are in the first of two bytes", encoded(_first_byte)),
    _mutant("transactional-bit-lost", "a transactional batch is not marked", encoded(_without(0x10))),
    _mutant("control-bit-lost", "a control batch is not marked", encoded(_without(0x20))),
    _mutant("timestamp-type-bit-lost", "timestamps of the broker are not marked", encoded(_without(0x08))),
    _mutant("horizon-bit-lost", "a delete horizon is not marked", encoded(_without(0x40))),
    _mutant("times-swapped", "base and highest timestamp are swapped", encoded(_swapped_times),
            f"{_GITHUB}/tulios/kafkajs/issues/187"),
    _mutant("max-of-last", "the highest timestamp is that of the last record", encoded(_max_of_last),
            f"{_GITHUB}/tulios/kafkajs/issues/187"),
    _mutant("max-unset", "the highest timestamp is not set", encoded(_put(">q", _MAX_TIME, 0)),
            f"{_GITHUB}/IBM/sarama/pull/3108", f"{_GITHUB}/redpanda-data/redpanda/pull/25200"),
    _mutant("lowest-is-base", "the base timestamp is the lowest", encoded(_lowest_is_base),
            f"{_GITHUB}/influxdata/rskafka/pull/146"),
    _mutant("delta-of-count", "the delta of the last offset is the count less one", encoded(_count_is_delta),
            f"{_GITHUB}/IBM/sarama/pull/1037"),
    _mutant("producer-zero", "a batch without a producer has the producer 0", encoded(_zero_producer)),
    _mutant("no-leader-epoch", "the leader epoch is 0", encoded(_put(">i", 12, 0))),
    _mutant("sequence-unset", "a batch with a producer has no sequence", encoded(_put(">i", _SEQUENCE, -1))),
    _mutant("plain-varints", "varints have no zig-zag", but((encode, {"write_varint": _plain_varint})),
            f"{_GITHUB}/aio-libs/aiokafka/pull/1178"),
    _mutant("plain-varlongs", "timestamp deltas have no zig-zag", but((encode, {"write_varlong": _plain_varint}))),
    _mutant("deltas-written-in-32-bits", "a timestamp delta is written as an int32",
            but((encode, {"write_varlong": _varlong_in_32_bits})), *_LONG_DELTAS),
    _mutant("deltas-read-in-32-bits", "a timestamp delta is read as an int32",
            but((records, {"read_varlong": read_varint})), *_LONG_DELTAS),
    _mutant("times-written-through-seconds", "a timestamp is turned into seconds as a float, and back, before it is written",
            on(RULE.slug, _changed_records(timestamp=lambda ms: number(_through_seconds(ms))))),
    _mutant("times-read-through-seconds", "a timestamp that is read is turned into seconds as a float, and back",
            of_records(_read_through_seconds)),
    _mutant("gaps-closed", "offsets of records are counted", on(RULE.slug, _changed_records(offset=lambda _: None)),
            f"{_GITHUB}/zendesk/ruby-kafka/pull/495"),
    _mutant("null-value-is-empty", "a null value is written as an empty one",
            on(RULE.slug, _changed_records(value=lambda value: value or "")), *_TOMBSTONES),
    _mutant("null-is-written-as-empty", "a null key is written as an empty one",
            on(RULE.slug, _changed_records(key=lambda key: key or "")), *_NULLS),
    _mutant("empty-key-is-null", "an empty key is read as null", of_records(_empty_is_null("key")), *_NULLS),
    _mutant("empty-value-is-null", "an empty value is read as null", of_records(_empty_is_null("value")), *_NULLS),
    _mutant("headers-dropped", "headers are not read", of_records(_no_headers)),
    _mutant("headers-as-a-map", "of headers with one key the last is kept", of_records(_last_of_a_name), _NULLS[0]),
    _mutant("append-time-ignored", "records keep the producer's timestamps where the broker sets them",
            but((DefaultBatch, {"_fields": _no_log_append_time})), *_APPEND_TIME),
    _mutant("sequences-turn-negative", "after 2^31-1 sequences are negative", _sequences(_negative_sequence),
            f"{_GITHUB}/twmb/franz-go/issues/216", f"{_GITHUB}/apache/kafka/pull/5989"),
    _mutant("sequences-wrap-early", "2^31-1 is no sequence", _sequences(_one_short),
            f"{_GITHUB}/tulios/kafkajs/issues/1790"),
    _mutant("sequence-of-batch", "each record has the sequence of its batch", of_records(_sequence_of_batch)),
    _mutant("partial-is-an-error", "a batch cut off is an error", decoded(_partial_is_an_error), *_PARTIAL),
    _mutant("partial-drops-all", "a batch cut off drops those before it", decoded(_partial_drops_all),
            f"{_GITHUB}/IBM/sarama/pull/1030", f"{_GITHUB}/IBM/sarama/pull/998"),
    _mutant("first-batch-only", "only the first batch is read", decoded(_first_only), f"{_GITHUB}/optiopay/kafka/pull/110"),
    _mutant("next-of-last-record", "the next offset follows the last record, not the last offset of the batch",
            of_records(_next_of_last_record), *_COMPACTED),
    _mutant("count-of-offsets", "the number of records is that of offsets",
            but((DefaultBatch, {"_fields": _count_of_offsets})),
            f"{_GITHUB}/segmentio/kafka-go/pull/813"),
    _mutant("rest-ignored", "bytes behind the records of a compressed batch are ignored",
            but(*((module, {"ensure_none_remaining": lambda *_: None}) for module in (records, skipping)))),
    _mutant("control-as-data", "control batches are not recognized", of_batches(_no_control), *_CONTROL),
    _mutant("control-in-transactions", "only a transactional batch is a control batch", of_batches(_control_in_transactions),
            f"{_GITHUB}/zendesk/ruby-kafka/pull/893"),
    _mutant("markers-swapped", "0 commits and 1 aborts", of_records(_swapped_markers)),
    _mutant("two-control-types", "only commit and abort are known", but((record_batch, {"control_type": _known_types_only})),
            f"{_GITHUB}/apache/kafka/pull/21866"),
    _mutant("sizes-unchecked", "a size below the minimum is no error", but((batches, {"OVERHEAD": {0: 5, 1: 5}}))),
    _mutant("no-zstd", "codec 4 is unknown", overriding(zstd=False)),
    _mutant("no-delete-horizon", "bit 6 of the attributes means nothing", overriding(delete_horizon=False)),
    _mutant("incomplete-record-is-null", "a record that is cut off is null", overriding(incomplete_record_is_null=True)),
    _mutant("short-marker-is-invalid", "a short marker is an InvalidRecordException",
            overriding(short_marker_underflows=False)),
    _mutant("reads-in-whole-buffers", "a large record is read through the buffer like a small one, before a fault",
            but((Stream, {"seen_by": _in_whole_buffers}))),
    _mutant("faults-lose-nothing", "all bytes before a fault are read",
            but((Stream, {"seen_by": lambda stream, _: stream}))),
    _mutant("snappy-blocks-of-any-size", "a block of snappy above 512 MB is read until its bytes end",
            but((_SNAPPY, {"_LARGEST_BLOCK": INT_MAX}))),
)  # fmt: skip
