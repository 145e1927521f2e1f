"""What the tests of repairs share: a source whose truth is known, and the new topic read back without any of our code."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from topics import Records, create_topic, grow_topic

from kafka_reference.partitioning.murmur2_fast import murmur2


class Record(NamedTuple):
    """One record as a consumer sees it."""

    partition: int
    offset: int
    time_ms: int
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes | None], ...]

    @property
    def values(self) -> tuple[Any, ...]:
        """All but where it lies."""
        return self[2:]


def read(spark: Any, bootstrap: str, topic: str) -> dict[int, list[Record]]:
    """A topic by partition, in order of offsets, by Spark's connector as it comes."""
    frame = spark.session.read.format("kafka").option("kafka.bootstrap.servers", bootstrap).option("subscribe", topic)
    frame = frame.option("includeHeaders", "true").option("kafka.isolation.level", "read_committed").load()
    rows = frame.selectExpr("partition", "offset", "unix_millis(timestamp) t", "key", "value", "headers").collect()
    found: dict[int, list[Record]] = defaultdict(list)
    for row in sorted(rows, key=lambda row: (row[0], row[1])):
        plain = [None if each is None else bytes(each) for each in (row["key"], row["value"])]
        headers = tuple((h.key, None if h.value is None else bytes(h.value)) for h in row["headers"] or ())
        found[row[0]].append(Record(row[0], row[1], row[2], plain[0], plain[1], headers))
    return dict(found)


def java_partition(key: bytes, partitions: int) -> int:
    """Where Java puts a key, by the reference's scalar hash."""
    return (murmur2(key) & 0x7FFFFFFF) % partitions


def values_of(topic: Mapping[int, Sequence[Record]]) -> dict[int, list[tuple[Any, ...]]]:
    """The records of each partition, without where they lie."""
    return {partition: [one.values for one in records] for partition, records in topic.items()}


def model(
    source: Mapping[int, Iterable[Record]], partitions: int, ends: Sequence[Mapping[int, int]] = ()
) -> dict[int, list[tuple[Any, ...]]]:
    """The new topic as the documented rules require it: a small, slow implementation that shares no code with a repair.

    ``ends`` are the source's offsets at which each pass ended, by partition; the last pass has the rest.
    """
    whole: dict[int, list[tuple[Any, ...]]] = defaultdict(list)
    begins: Mapping[int, int] = {}
    for end in (*ends, None):
        chosen = {
            partition: [one for one in records if begins.get(partition, 0) <= one.offset
                        and (end is None or one.offset < end.get(partition, 0))]
            for partition, records in source.items()
        }  # fmt: skip
        for target, values in _merged(chosen, partitions).items():
            whole[target] += values
        begins = end or {}
    return dict(whole)


def _merged(source: Mapping[int, Iterable[Record]], partitions: int) -> dict[int, list[tuple[Any, ...]]]:
    """One pass."""
    placed: dict[int, list[tuple[tuple[int, int, int], tuple[Any, ...]]]] = defaultdict(list)
    for partition, records in source.items():
        latest = -1
        for one in records:
            latest = max(latest, one.time_ms)
            placed[target_of(one, partitions)].append(((latest, partition, one.offset), one.values))
    return {target: [values for _, values in sorted(both, key=lambda each: each[0])] for target, both in placed.items()}


def target_of(one: Record, partitions: int) -> int:
    """The partition of a record in the new topic."""
    if one.key is not None:
        return java_partition(one.key, partitions)
    return one.partition if one.partition < partitions else one.offset % partitions


def mixed_topic(bootstrap: str, topic: str, java: Any, records: int = 600) -> None:
    """Java's producer with 3 partitions, later 12, CRC-32, keys that somebody placed by hand, none; clocks that jump."""
    began = 1_500_000_000_000  # old, and kept for ever: a broker deletes what is older than a week unless configured
    keys = [None if at % 17 == 0 else b"" if at % 101 == 0 else b"key-%d" % (at % 97) for at in range(records)]
    values = [None if at % 13 == 0 else b"value-%d" % at for at in range(records)]
    times = [began + 1000 * at - (40_000 if at % 29 == 0 else 0) for at in range(records)]
    whole = Records(
        keys, values, times, [None if key is None or at % 3 else hash_of(key) % 12 for at, key in enumerate(keys)]
    )
    create_topic(bootstrap, topic, 3, settings={"retention.ms": "-1"})
    early = whole.part(0, records // 2)
    java.write(bootstrap, topic, Records(early.keys, early.values, early.timestamps))
    grow_topic(bootstrap, topic, 12)
    java.write(bootstrap, topic, whole.part(records // 2, records))


def hash_of(key: bytes) -> int:
    """CRC-32, librdkafka's default."""
    import zlib

    return zlib.crc32(key)
