"""Thirty kinds of topic with a known writer of each record, and how an audit judges them."""

from __future__ import annotations

import random
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow.parquet as pq
from random_topics import KEYS, RANDOM, places
from topic_files import audited

from kafka_conformance.audit.result import EITHER, KEYLESS, UNEXPLAINED, Audit
from kafka_reference.partitioning.places import CLIENTS

__all__ = ["KINDS", "Judgement", "Kind", "judged"]

Writer = tuple[str, int]
"""A rule, ``random`` or the name of an unknown function, and the partition count that it used."""


@dataclass(frozen=True, slots=True)
class Written:
    """The records of a topic in order: the partition and key of each, and its writer; None without a key."""

    records: list[tuple[int, bytes | None]] = field(default_factory=list)
    writers: list[Writer | None] = field(default_factory=list)

    def write(
        self, keys: Sequence[bytes], *writers: Writer, shares: Sequence[float] | None = None, seed: int = 1
    ) -> Written:
        """Add a record of each key, by one of these writers at random."""
        draws = random.Random(seed)
        chosen = draws.choices(range(len(writers)), shares, k=len(keys))
        put = [
            [draws.randrange(count) for _ in keys] if rule == RANDOM else places(rule, keys, count).tolist()
            for rule, count in writers
        ]
        for number, (key, writer) in enumerate(zip(keys, chosen, strict=True)):
            self.records.append((put[writer][number], key))
            self.writers.append(writers[writer])
        return self

    def bare(self, partitions: Iterable[int]) -> Written:
        """Add records without a key in these partitions."""
        for partition in partitions:
            self.records.append((partition, None))
            self.writers.append(None)
        return self


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of topic: ``truth`` names its writers, ``make`` returns its records; ``expected`` is a rule or a client."""

    name: str
    truth: str
    make: Callable[[], Written]
    partitions: int = 12
    gaps: int = 0
    expected: str = "murmur2"


def keys_of(records: int, distinct: int, kind: str = "name", seed: int = 1) -> list[bytes]:
    """Return this many keys, each one of ``distinct`` at random."""
    draws = random.Random(seed)
    return [KEYS[kind](draws.randrange(distinct)) for _ in range(records)]


def _one(
    rule: str, kind: str = "name", *, records: int = 6000, distinct: int = 2000, count: int = 12
) -> Callable[[], Written]:
    return lambda: Written().write(keys_of(records, distinct, kind), (rule, count))


def _mixed(
    records: int, distinct: int, *writers: Writer, shares: Sequence[float] | None = None
) -> Callable[[], Written]:
    return lambda: Written().write(keys_of(records, distinct), *writers, shares=shares)


def _phases(*phases: tuple[int, Writer]) -> Callable[[], Written]:
    def make() -> Written:
        out = Written()
        for number, (records, writer) in enumerate(phases):
            out.write(keys_of(records, 2000, seed=number), writer)
        return out

    return make


def _with_empty_keys() -> Written:
    """librdkafka's default draws a partition for an empty key."""
    out, draws = Written(), random.Random(5)
    for key in keys_of(6000, 2000):
        if draws.random() < 0.02:
            out.records.append((draws.randrange(12), b""))
            out.writers.append(("librdkafka-consistent", 12))
        else:
            out.write([key], ("librdkafka-consistent", 12))
    return out


def _half_without_a_key() -> Written:
    """kafka-go's Hash takes partitions in turn for records without a key."""
    out = Written()
    for turn, key in enumerate(keys_of(3000, 1000)):
        out.write([key], SARAMA).bare([turn % 12])
    return out


def _compacted() -> Written:
    """The last record of each key alone is left."""
    last = {key: number for number, key in enumerate(keys_of(12_000, 4000))}
    return Written().write(sorted(last, key=lambda key: last[key]), JAVA)


JAVA, CRC, SARAMA, OLD, NEW = (
    ("murmur2", 12), ("librdkafka-consistent", 12), ("sarama-hash", 12), ("murmur2", 3), ("murmur2", 24),
)  # fmt: skip

KINDS: tuple[Kind, ...] = (
    Kind("Java", "Java", _one("murmur2")),
    Kind("franz-go, UUIDs", "murmur2", _one("murmur2", "uuid")),
    Kind("kafka-python, a thousand keys", "murmur2", _one("murmur2", distinct=1000)),
    Kind("librdkafka, 2 % empty keys", "librdkafka's default", _with_empty_keys, expected="librdkafka"),
    Kind("sarama", "FNV-1a", _one("sarama-hash"), expected="sarama"),
    Kind("KafkaJS 1", "KafkaJS's old murmur2", _one("kafkajs-legacy")),
    Kind("KafkaJS 2, keys of bytes", "murmur2", _one("murmur2", "raw")),
    Kind("platformatic-kafka, 16 partitions", "murmur2, unsigned: here as Java", _one("unsigned", count=16), 16),
    Kind("kafka-go's Hash, half without a key", "FNV-1a, and in turn", _half_without_a_key, expected="sarama"),
    Kind("kafka-go's default", "partitions in turn", _one(RANDOM), expected="kafka-go"),
    Kind("Java and librdkafka", "half and half", _mixed(6000, 2000, JAVA, CRC)),
    Kind("Java, librdkafka and sarama", "58 %, 40 % and 2 %", _mixed(8000, 4000, JAVA, CRC, SARAMA, shares=(58, 40, 2))),
    Kind("Java, then librdkafka", "half and half", _phases((3000, JAVA), (3000, CRC))),
    Kind("Java and a rare librdkafka", "0.07 % librdkafka", _mixed(60_000, 50_000, JAVA, CRC, shares=(99.93, 0.07))),
    Kind("Java and librdkafka, 300 keys", "half and half", _mixed(6000, 300, JAVA, CRC)),
    Kind("3 partitions, then 12", "Java", _phases((4000, OLD), (6000, JAVA))),
    Kind("3 partitions, then 12, then 24", "Java", _phases((4000, OLD), (6000, JAVA), (12_000, NEW)), 24),
    Kind("12 partitions, producers that know of 3", "Java, half and half", _mixed(8000, 2000, OLD, JAVA)),
    Kind("transactions", "Java; a marker in every tenth offset", _one("murmur2"), gaps=9),
    Kind("compaction", "Java; two of three records gone", _compacted, gaps=1),
    Kind("digits modulo 12", "the integer", _one("text-integer", "digits")),
    Kind("8-byte longs modulo 12", "the integer", _one("int64-big-endian", "long")),
    Kind("4-byte integers modulo 12", "the integer", _one("int32-big-endian", "int")),
    Kind("all in partition 0", "one partition", _one("constant-0")),
    Kind("an unknown hash", "SHA-1, bytes 5 to 8", _one("inner sha1")),
    Kind("an unknown function of digits", "the integer over 7", _one("seventh", "digits")),
    Kind("partitions named by the sender", "at random", _one(RANDOM)),
    Kind("Java, and partitions named by the sender", "80 % and 20 %", _mixed(6000, 2000, JAVA, (RANDOM, 12), shares=(4, 1))),
    Kind("5 keys", "librdkafka's default", _one("librdkafka-consistent", records=500, distinct=5)),
    Kind("8 keys of two clients", "Java and librdkafka", _mixed(2000, 8, JAVA, CRC)),
    Kind("one partition", "Java", _one("murmur2", records=1000, count=1), 1),
    Kind("5 records", "librdkafka's default", _one("librdkafka-consistent", records=5)),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Judgement:
    """An audit of a kind, with its keyed records by attribution; ``wrong``: attributed to a rule that did not write them."""

    audit: Audit
    attributed: int
    either: int
    unexplained: int
    wrong: int


def judged(kind: Kind) -> Judgement:
    """Write, audit and check a topic of this kind; a rule that puts all keys where the writer puts them is right."""
    topic = kind.make()
    with tempfile.TemporaryDirectory() as folder:
        audit = audited(
            Path(folder),
            topic.records,
            kind.partitions,
            gaps=kind.gaps,
            expected=CLIENTS.get(kind.expected, kind.expected),
        )
        files = sorted(Path(folder).glob("run/chunks/*/kind=record/*.parquet"))
        rows = [
            row
            for file in files
            for row in pq.ParquetFile(file).read(["partition", "offset", "attributed"]).to_pylist()
        ]
    by_partition: dict[int, list[Writer | None]] = {}
    for (partition, _), writer in zip(topic.records, topic.writers, strict=True):
        by_partition.setdefault(partition, []).append(writer)
    turns = {partition: iter(writers) for partition, writers in by_partition.items()}
    counts: Counter[tuple[str, Writer]] = Counter()
    for row in sorted(rows, key=lambda row: (row["partition"], row["offset"])):
        writer = next(turns[row["partition"]])
        if writer:
            counts[row["attributed"], writer] += 1
    keys = sorted({key for _, key in topic.records if key})
    totals: Counter[str] = Counter()
    for (name, writer), count in counts.items():
        totals[
            name if name in {EITHER, UNEXPLAINED, KEYLESS} else "right" if _same(name, writer, keys) else "wrong"
        ] += count
    return Judgement(audit, totals["right"] + totals["wrong"], totals[EITHER], totals[UNEXPLAINED], totals["wrong"])


def _same(name: str, writer: Writer, keys: list[bytes]) -> bool:
    rule, _, count = name.rpartition("@")
    if name == f"{writer[0]}@{writer[1]}" or (writer[0] == RANDOM and rule == "any-partition"):
        return True
    known = writer[0] != RANDOM and rule != "any-partition"
    return known and bool((places(rule, keys, int(count)) == places(writer[0], keys, writer[1])).all())
