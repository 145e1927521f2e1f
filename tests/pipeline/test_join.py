"""``join``: what a join misses, exactly, held against counting in plain Python."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from functools import partial
from typing import Any

import msgspec
import pytest
from join_truth import Row, check_agreement, check_every_pair, check_nothing_to_join, check_same_partitions

from kafka_conformance.audit.engines.spark.join import join_audit
from kafka_conformance.audit.join_result import Join
from kafka_conformance.spark.session import Spark, open_spark
from kafka_reference.partitioning.murmur2_fast import murmur2

pytestmark = [
    pytest.mark.jvm,
    # py4j and pyspark leave sockets to the garbage collector.
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"),
]


@pytest.fixture(scope="module")
def spark() -> Iterator[Spark]:
    with open_spark("local[2]", settings={"spark.sql.shuffle.partitions": "2"}) as opened:
        yield opened


class Rows:
    """A source of these rows."""

    def __init__(self, spark: Spark, name: str, partitions: int, rows: list[Row]) -> None:
        self.name, self.partitions, self._spark, self._rows = name, partitions, spark, rows

    def frame(self) -> Any:
        columns = "partition int, offset bigint, timestamp_ms bigint, key binary"
        return self._spark.session.createDataFrame(self._rows, columns)


def joined(spark: Spark, a: list[Row], b: list[Row], counts: tuple[int, int] = (3, 3), **given: Any) -> Join:
    sources = [Rows(spark, name, count, rows) for name, count, rows in zip("AB", counts, (a, b), strict=True)]
    return join_audit(spark, sources[0], sources[1], kit="0", clock=itertools.count().__next__, **given)


def java(key: bytes, partitions: int) -> int:
    return (murmur2(key) & 0x7FFFFFFF) % partitions


def test_join_counts_on_spark_equal_counting_every_pair_of_records(spark: Spark) -> None:
    check_every_pair(partial(joined, spark))


def test_join_misses_pairs_of_a_key_that_both_topics_have_in_two_partitions(spark: Spark) -> None:
    check_same_partitions(partial(joined, spark))


def test_join_on_spark_of_equally_placed_topics_misses_no_key_even_if_misplaced(spark: Spark) -> None:
    check_agreement(partial(joined, spark))


def test_join_audit_blames_the_topic_that_differs_from_the_expected_partitioner(spark: Spark) -> None:
    import zlib

    keys = [b"k%d" % at for at in range(60)]
    by_java: list[Row] = [(java(key, 3), at, 1, key) for at, key in enumerate(keys)]
    by_crc: list[Row] = [(zlib.crc32(key) % 3, at, 1, key) for at, key in enumerate(keys)]
    found = joined(spark, by_java, by_crc)
    assert (found.a.to_blame, found.b.to_blame) == (0, found.keys_missed)
    other = joined(spark, by_java, by_crc, rule="librdkafka-consistent")
    assert (other.a.to_blame, other.b.to_blame) == (found.keys_missed, 0)
    assert found.keys_missed == sum(one[0] != two[0] for one, two in zip(by_java, by_crc, strict=True))


def test_join_on_spark_counts_all_missed_keys_but_lists_only_the_requested_number(spark: Spark) -> None:
    a: list[Row] = [(0, at, 1, b"k%d" % at) for at in range(50)]
    b: list[Row] = [(1, at, 1, b"k%d" % at) for at in range(50)]
    found = joined(spark, a, b, kept=7)
    assert (found.keys_missed, len(found.missed)) == (50, 7)
    assert msgspec.json.decode(msgspec.json.encode(found), type=Join) == found


def test_join_on_spark_with_a_topic_without_records_or_keys_raises_naming_the_topic(spark: Spark) -> None:
    check_nothing_to_join(partial(joined, spark))


def test_join_audit_finds_keys_missed_due_to_different_schema_ids(spark: Spark) -> None:
    """Each topic is where Java puts its keys, and no whole key is in both."""
    names = [b"user-%d" % number for number in range(60)]
    framed = [[b"\0" + schema.to_bytes(4, "big") + name for name in names] for schema in (7, 9)]
    sides: list[list[Row]] = [[(java(key, 12), at, at, key) for at, key in enumerate(keys)] for keys in framed]
    sides[0].append((0, 60, 1, b"plain"))
    found = joined(spark, *sides, (12, 12), key_format="confluent")
    apart = {name for name, one, other in zip(names, *framed, strict=True) if java(one, 12) != java(other, 12)}
    assert (found.keys_in_both, found.keys_missed) == (0, 0)
    framing = found.framing
    assert framing is not None
    assert (framing.framed, framing.unframed) == (120, 1)
    assert (framing.keys, framing.missed, framing.never, framing.pairs) == (60, len(apart), len(apart), 60)
    assert {bytes.fromhex(one.key) for one in framing.worst} == apart
    assert not found.whole
    assert joined(spark, *sides, (12, 12)).framing is None
