"""Topics in segment files that are made without a broker, and audits of them."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import pyarrow as pa
import pyarrow.parquet as pq
from log_partitions import START_MS, Log, control

from kafka_conformance.audit.engines.local.export import LocalExport
from kafka_conformance.audit.engines.local.run import audit_locally
from kafka_conformance.audit.engines.local.segments import LocalSegments
from kafka_conformance.audit.plan import AuditRequest
from kafka_conformance.audit.result import Audit
from kafka_conformance.audit.segments.evidence import with_evidence
from kafka_conformance.audit.segments.folders import find_topic
from kafka_conformance.audit.segments.result import SegmentEvidence
from kafka_conformance.audit.segments.topic import OneByOne, SegmentTopic, survey_topic
from kafka_conformance.core.progress import Steps
from kafka_reference import partition_for_key
from kafka_reference.record_batch import Codec, NewBatch, NewRecord

__all__ = ["PARTITIONS", "Topic", "audited", "batch", "crc", "evidence_of", "keys", "mixture", "surveyed"]

PARTITIONS = 4
Row: TypeAlias = tuple[int, int, int, bytes | None]
"""Partition, offset, timestamp, key."""


def batch(keys: Sequence[bytes | None], producer: tuple[int, int, int] = (-1, -1, -1), **fields: Any) -> NewBatch:
    """A batch of a producer with this id, epoch and base sequence."""
    fields.setdefault("codec", Codec.NONE)
    records = [NewRecord(START_MS + n, key, b"value") for n, key in enumerate(keys)]
    return NewBatch(
        records=records, producer_id=producer[0], producer_epoch=producer[1], base_sequence=producer[2], **fields
    )


def crc(key: bytes, count: int) -> int:
    return zlib.crc32(key) % count


class Topic:
    """A topic's folders, and the records that a consumer reads."""

    def __init__(self, root: Path, name: str = "orders") -> None:
        self.root = root
        self.logs = [Log(root / f"{name}-{number}") for number in range(PARTITIONS)]
        self.rows: list[Row] = []
        self.sequences: dict[tuple[int, int, int], int] = {}

    def send(self, keys: Iterable[bytes | None], producer: int, rule: Any, *, epoch: int = 0, read: bool = True,
             **fields: Any) -> None:  # fmt: skip
        """Append a batch to each partition with those of the keys that the rule puts there."""
        every = list(keys)
        for number in range(PARTITIONS):
            of = [
                key
                for at, key in enumerate(every)
                if (at if key is None else rule(key, PARTITIONS)) % PARTITIONS == number
            ]
            if not of:
                continue
            place = number, producer, epoch
            sequence = self.sequences.get(place, 0) if producer >= 0 else -1
            self.append(number, batch(of, (producer, epoch if producer >= 0 else -1, sequence), **fields), read=read)
            self.sequences[place] = sequence + len(of)

    def append(self, number: int, made: NewBatch, *, read: bool = True) -> None:
        log = self.logs[number]
        if read:
            self.rows += [(number, log.offset + at, one.timestamp, one.key) for at, one in enumerate(made.records)]
        log.append(made)

    def roll(self) -> None:
        for log in self.logs:
            log.roll()

    def write(self) -> str:
        for log in self.logs:
            log.write()
        (self.root / "meta.properties").write_text("version=1\n", encoding="utf-8")
        return str(self.root)

    def export(self, path: Path) -> LocalExport:
        columns = dict(
            zip(("partition", "offset", "timestamp_ms", "key"), map(list, zip(*self.rows, strict=True)), strict=True)
        )
        columns["key"] = pa.array(columns["key"], pa.binary())
        pq.write_table(pa.table(columns), path)
        return LocalExport(str(path), "parquet", PARTITIONS)


def surveyed(root: str, *, committed: bool = True, partitions: int | None = None) -> SegmentTopic:
    """A data directory, or the folder of a topic's only partition."""
    if partitions is None and Path(root).name == "orders-0":
        partitions = 1
    return survey_topic(find_topic([root]), OneByOne(), partitions, committed=committed)


def audited(source: Any, folder: Path, **asked: Any) -> Audit:
    return audit_locally(source, AuditRequest("orders", "", **asked), str(folder), Steps("audit", 1))


def evidence_of(topic: SegmentTopic, folder: Path) -> SegmentEvidence:
    source = LocalSegments(topic)
    found = with_evidence(audited(source, folder), source, OneByOne()).segments
    assert found is not None
    return found


def keys(first: int, count: int) -> list[bytes | None]:
    return [b"customer-%d" % number for number in range(first, first + count)]


def mixture(root: Path) -> Topic:
    """Two writers with several codecs; a third that names partitions; transactions; markers; an open transaction."""
    topic = Topic(root)
    codecs = [Codec.NONE, Codec.GZIP, Codec.SNAPPY, Codec.LZ4, Codec.ZSTD]
    for turn in range(10):
        if turn in (4, 7):
            topic.roll()
        codec = codecs[turn % 5]
        topic.send([*keys(turn * 40, 60), None], 1, partition_for_key, codec=codec)
        topic.send(keys(turn * 40, 60), 2, crc, codec=codec)
        topic.send(keys(turn, 20), -1, crc)
        aborts = turn % 2 == 1
        topic.send(keys(turn * 7, 30), 3, partition_for_key, read=not aborts, transactional=True, codec=codec)
        for number in range(PARTITIONS):
            topic.append(number, control(3, 0, commit=not aborts), read=False)
    topic.send(keys(0, 30), 3, partition_for_key, read=False, transactional=True)
    topic.send(keys(0, 30), 1, partition_for_key, read=False)
    return topic
