"""``audit --join``: what a join misses, exactly, held against counting in plain Python."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest

from kafka_conformance.core.errors import BadInput
from kafka_conformance.spark.audit.join import Join, join_audit
from kafka_conformance.spark.session import Spark, open_spark
from kafka_reference.partitioning.murmur2_fast import murmur2

pytestmark = [
    pytest.mark.jvm,
    # py4j and pyspark leave sockets to the garbage collector.
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"),
]

Row = tuple[int, int, int | None, bytes | None]


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


def test_counts_are_those_of_every_pair_of_records(spark: Spark) -> None:
    drawn = random.Random(7)

    def rows(partitions: int) -> list[Row]:
        keys = [None if drawn.random() < 0.1 else b"k%d" % drawn.randrange(40) for _ in range(300)]
        return [(drawn.randrange(partitions) if key is None or drawn.random() < 0.1 else java(key, partitions), at, at, key)
                for at, key in enumerate(keys)]  # fmt: skip

    a, b = rows(3), rows(4)
    found = joined(spark, a, b, (3, 4))
    pairs = [(one, other) for one in a for other in b if one[3] is not None and one[3] == other[3]]
    apart = [(one, other) for one, other in pairs if one[0] != other[0]]
    missed = {one[3] for one, _ in apart}
    meeting = {one[3] for one, other in pairs if one[0] == other[0]}
    assert (found.pairs, found.pairs_missed) == (len(pairs), len(apart))
    assert (found.keys_missed, found.keys_never) == (len(missed), len(missed - meeting))
    assert found.keys_in_both == len({one[3] for one, _ in pairs})
    assert found.a.affected == len({one for one, _ in apart})
    assert found.b.affected == len({other for _, other in apart})
    assert found.a.off_records == sum(one[3] is not None and java(one[3], 3) != one[0] for one in a)
    assert found.b.keyless == sum(one[3] is None for one in b)
    assert (found.same_count, found.whole) == (False, False)
    reported = {bytes.fromhex(one.key): one for one in found.missed}
    assert set(reported) == missed
    lies = Counter(one[0] for one in a if one[3] in reported and one[3] == found_key(found))
    assert {one.partition: one.records for one in found.missed[0].a} == lies
    assert [one.affected for one in found.missed] == sorted((one.affected for one in found.missed), reverse=True)


def found_key(found: Join) -> bytes:
    return bytes.fromhex(found.missed[0].key)


def test_a_key_is_missed_even_where_both_topics_have_it_on_the_same_partitions(spark: Spark) -> None:
    both: list[Row] = [(0, 0, 1, b"x"), (1, 0, 2, b"x")]
    found = joined(spark, both, both)
    assert (found.keys_missed, found.keys_never, found.pairs, found.pairs_missed) == (1, 0, 4, 2)
    assert (found.a.affected, found.b.affected) == (2, 2)


def test_topics_that_agree_miss_nothing_whatever_the_rule(spark: Spark) -> None:
    rows: list[Row] = [(at % 3, at, None, b"k%d" % at) for at in range(30)]
    found = joined(spark, rows, rows)
    assert found.whole
    assert found.missed == ()
    assert found.a.off_records > 0, "off Java's rule, both in the same way"
    assert (found.a.to_blame, found.neither_to_blame) == (0, 0)


def test_who_is_to_blame_follows_the_rule_that_is_expected(spark: Spark) -> None:
    import zlib

    keys = [b"k%d" % at for at in range(60)]
    by_java: list[Row] = [(java(key, 3), at, 1, key) for at, key in enumerate(keys)]
    by_crc: list[Row] = [(zlib.crc32(key) % 3, at, 1, key) for at, key in enumerate(keys)]
    found = joined(spark, by_java, by_crc)
    assert (found.a.to_blame, found.b.to_blame) == (0, found.keys_missed)
    other = joined(spark, by_java, by_crc, rule="librdkafka-consistent")
    assert (other.a.to_blame, other.b.to_blame) == (found.keys_missed, 0)
    assert found.keys_missed == sum(one[0] != two[0] for one, two in zip(by_java, by_crc, strict=True))


def test_only_so_many_keys_are_kept_and_all_are_counted(spark: Spark) -> None:
    a: list[Row] = [(0, at, 1, b"k%d" % at) for at in range(50)]
    b: list[Row] = [(1, at, 1, b"k%d" % at) for at in range(50)]
    found = joined(spark, a, b, kept=7)
    assert (found.keys_missed, len(found.missed)) == (50, 7)
    assert msgspec.json.decode(msgspec.json.encode(found), type=Join) == found


def test_nothing_to_join_by_is_no_verdict(spark: Spark) -> None:
    rows: list[Row] = [(0, 0, 1, b"k")]
    with pytest.raises(BadInput, match="B has no records"):
        joined(spark, rows, [])
    with pytest.raises(BadInput, match="A has no record with a key"):
        joined(spark, [(0, 0, 1, None)], rows)
