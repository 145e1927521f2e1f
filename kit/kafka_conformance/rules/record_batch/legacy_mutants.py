"""Known mistakes in message sets of magic 0 and 1: CRCs, wrappers and their offsets and timestamps, framing of codecs."""

from __future__ import annotations

import zlib
from typing import Any

from kafka_conformance.core.mutant import Ask, Mutant
from kafka_conformance.core.protocol import Answer
from kafka_conformance.rules.record_batch.mutations import but, of_batches, overriding
from kafka_conformance.rules.record_batch.question import number
from kafka_conformance.rules.record_batch.rule import RULE
from kafka_reference.java.int64 import int64
from kafka_reference.record_batch import codecs, encode, legacy
from kafka_reference.record_batch.codecs.snappy import unsnappy
from kafka_reference.record_batch.codecs.stream import InputFault
from kafka_reference.record_batch.legacy import LegacyBatch, Message
from kafka_reference.record_batch.types import NO_TIMESTAMP, TimestampType

__all__ = ["MUTANTS"]

_GITHUB = "https://github.com"
_CHECKSUM = (
    f"{_GITHUB}/IBM/sarama/issues/1205",
    f"{_GITHUB}/linkedin/Burrow/issues/494",
    f"{_GITHUB}/IBM/sarama/issues/875",
)
_BROKEN = f"{_GITHUB}/apache/kafka/pull/1212", f"{_GITHUB}/dpkp/kafka-python/pull/522"
_RELATIVE = f"{_GITHUB}/SOHU-Co/kafka-node/issues/1225", f"{_GITHUB}/IBM/sarama/pull/721"
_XERIAL = (
    f"{_GITHUB}/kafka-protocol-rs/kafka-protocol-rs/issues/79", f"{_GITHUB}/dpkp/kafka-python/issues/126",
    f"{_GITHUB}/nisshi-io/nisshi/issues/67",
)  # fmt: skip
_READ_TIMESTAMP = Message.timestamp.fget  # type: ignore[attr-defined]
_READ_TYPE = Message.timestamp_type.fget  # type: ignore[attr-defined]
_OPEN, _COMPRESS, _BASE = codecs.open_stream, codecs.compress, LegacyBatch._base_of_inner_offsets  # noqa: SLF001


def _own_timestamp(message: Message) -> int:
    return int(_READ_TIMESTAMP(Message(message.offset, message.data, message.behaviour)))


def _own_type(message: Message) -> TimestampType:
    found: TimestampType = _READ_TYPE(Message(message.offset, message.data, message.behaviour))
    return found


def _shifted(magic: int, offsets: Any) -> Ask:
    """Answer with other offsets of the messages in wrappers of this magic; ``offsets`` takes the last one and those read."""

    def change(batch: Answer) -> None:
        header = batch["header"]
        found = [one for one in batch["records"] if "offset" in one]
        if batch["magic"] != magic or header.get("compression", "none") == "none" or not found:
            return
        made = offsets(int(header["last_offset"]), [int(one["offset"]) for one in found])
        for one, offset in zip(found, made, strict=True):
            one["offset"] = number(int64(offset))
        batch["base_offset"] = found[0]["offset"]

    return of_batches(change)


def _relative(last: int, offsets: list[int]) -> list[int]:
    return [last - offsets[-1] + offset for offset in offsets]


def _counted(last: int, offsets: list[int]) -> list[int]:
    return [last - len(offsets) + 1 + place for place in range(len(offsets))]


def _first_is_wrapper(last: int, offsets: list[int]) -> list[int]:
    return [last + offset - offsets[0] for offset in offsets]


def _unwrapped(messages: list[Message]) -> Any:
    return iter(messages)


def _no_blocks(data: bytes, behaviour: Any) -> Any:
    if data.startswith(b"\x82SNAPPY"):
        raise InputFault
    return unsnappy(data, behaviour)


def _always_relative(batch: LegacyBatch, last: int) -> int:
    return int64(batch.last_offset - last)


def _always_checked(codec: Any, data: bytes, _: int, behaviour: Any) -> Any:
    return _OPEN(codec, data, 1, behaviour)


def _never_checked(codec: Any, data: bytes, _: int, behaviour: Any) -> Any:
    return _OPEN(codec, data, 0, behaviour)


def _broken_checksum(codec: Any, data: bytes, _: int, level: int | None = None) -> bytes:
    return _COMPRESS(codec, data, 0, level)


def _no_timestamp(_: Message) -> int:
    return NO_TIMESTAMP


def _mutant(slug: str, description: str, ask: Ask, *references: str) -> Mutant:
    return Mutant(slug, RULE.slug, description, ask, references=references)


MUTANTS = (
    _mutant("message-crc-of-itself", "the CRC of a message covers the CRC",
            but((Message, {"computed_checksum": lambda message: zlib.crc32(message.data)})),
            f"{_GITHUB}/redpanda-data/redpanda/issues/5685"),
    _mutant("message-crc-unchecked", "a message with a wrong CRC is valid",
            but((LegacyBatch, {"ensure_valid": lambda _: None}))),
    _mutant("inner-offsets-absolute", "inner offsets of magic 1 are absolute",
            but((LegacyBatch, {"_base_of_inner_offsets": lambda *_: 0})), *_RELATIVE),
    _mutant("relative-in-magic-0", "inner offsets of magic 0 are relative", _shifted(0, _relative),
            f"{_GITHUB}/confluentinc/librdkafka/issues/1192"),
    _mutant("inner-offsets-counted", "inner messages are counted back from the wrapper", _shifted(1, _counted),
            f"{_GITHUB}/zendesk/ruby-kafka/pull/495"),
    _mutant("wrapper-has-first-offset", "a wrapper has the offset of its first message", _shifted(1, _first_is_wrapper),
            f"{_GITHUB}/zendesk/ruby-kafka/issues/505"),
    _mutant("wrapper-at-0", "a wrapper at offset 0 has offsets below 0, and no offset is checked",
            but((LegacyBatch, {"_base_of_inner_offsets": _always_relative})), f"{_GITHUB}/apache/kafka/pull/3203"),
    _mutant("inner-timestamps-kept", "inner messages keep their timestamps where the broker sets the wrapper's",
            but((Message, {"timestamp": property(_own_timestamp)})), f"{_GITHUB}/apache/kafka/pull/764"),
    _mutant("inner-timestamp-type-kept", "inner messages keep their timestamp type",
            but((Message, {"timestamp_type": property(_own_type)})), f"{_GITHUB}/apache/kafka/pull/764"),
    _mutant("magic-1-without-timestamps", "messages of magic 1 have no timestamp",
            but((Message, {"timestamp": property(_no_timestamp)}))),
    _mutant("wrapper-in-wrapper", "a compressed message in a wrapper is returned as it is",
            but((LegacyBatch, {"_unwrapped": staticmethod(_unwrapped)}))),
    _mutant("snappy-without-blocks", "snappy has no header and no blocks",
            but((codecs, {"unsnappy": _no_blocks})), *_XERIAL),
    _mutant("lz4-checksum-of-magic-0", "the lz4 header's checksum is checked in magic 0",
            but((legacy, {"open_stream": _always_checked})), *_CHECKSUM),
    _mutant("lz4-checksum-never-checked", "the lz4 header's checksum is checked in no magic",
            but((legacy, {"open_stream": _never_checked})), *_CHECKSUM),
    _mutant("lz4-checksum-broken", "the lz4 header's checksum includes its magic bytes in each magic",
            but((encode, {"compress": _broken_checksum})), *_BROKEN),
    _mutant("short-messages", "messages of fewer than 14 bytes are read", but((legacy, {"OVERHEAD": {0: 6, 1: 6}}))),
    _mutant("gzip-ends-at-first-member", "gzip ends at its first member", overriding(gzip_sees_rest_of_input=False)),
)  # fmt: skip
