"""Patterns are recognised in counts of the real rules, and mixed ones are not reported as pure."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from kafka_conformance.audit.totals import keyless as totals_keyless
from kafka_conformance.audit.totals.keyless import (
    EVEN_BATCHES,
    ONE_PARTITION,
    RANDOM,
    ROUND_ROBIN,
    STICKY,
    UNCLEAR,
    bucket_ms,
    keyless,
    patterns,
)  # fmt: skip
from kafka_reference.java.thread_local_random import SeededDraws
from kafka_reference.partitioning.builtin import BuiltInPartitioner
from kafka_reference.partitioning.cluster import Cluster, Node, Partition
from kafka_reference.partitioning.round_robin import RoundRobinPartitioner
from kafka_reference.partitioning.sticky_cache import StickyPartitionCache

BUCKETS = 30


def cluster(partitions: int) -> Cluster:
    return Cluster((Node(0),), tuple(Partition(at, 0) for at in range(partitions)))


def builtin(records: int, partitions: int, seed: int, run: int) -> list[int]:
    """Java's from 3.3 on, records of one byte: ``run`` bytes to a partition."""
    made, seen, out = BuiltInPartitioner("4.4.0", run, SeededDraws(seed)), cluster(partitions), []
    for _ in range(records):
        info = made.peek(seen)
        out.append(info.partition)
        made.update(info, 1, seen, enable_switch=True)
    return out


def sticky(records: int, partitions: int, seed: int, run: int) -> list[int]:
    """Java's of 2.4 to 3.2, in batches of ``run`` records."""
    made, seen, out = StickyPartitionCache(SeededDraws(seed)), cluster(partitions), []
    for at in range(records):
        current = made.partition("t", seen)
        out.append(current if at % run else made.next_partition("t", seen, current))
    return out


def rotation(records: int, partitions: int, seed: int, _: int) -> list[int]:
    made, seen = RoundRobinPartitioner("4.0.2"), cluster(partitions)
    return [made.partition("t", seen) for _ in range(seed % partitions + records)][-records:]


def dice(records: int, partitions: int, seed: int, _: int) -> list[int]:
    return np.random.default_rng(seed).integers(0, partitions, records).tolist()


def one(records: int, partitions: int, seed: int, _: int) -> list[int]:
    return [seed % partitions] * records


def counts(partitions: int, *producers: tuple[object, int, float], seed: int = 3, each: int = 50) -> np.ndarray:
    """Records of producers that send at random times; each is a rule, its run, its share."""
    out = np.zeros((BUCKETS, partitions), np.int64)
    draws = np.random.default_rng(seed)
    for at, (rule, run, share) in enumerate(producers):
        records = int(each * partitions * BUCKETS * share)
        bucket = np.sort(draws.integers(0, BUCKETS, records))
        np.add.at(out, (bucket, rule(records, partitions, seed + at, run)), 1)
    return out


def share_of(pattern: str, table: np.ndarray) -> float:
    return Counter(patterns(table))[pattern] / len(table)


def kafka_go(partitions: int, *, keyed: float, jitter_ms: float, chunk: int = 1, per_second: int = 3000) -> np.ndarray:
    """The counts of segmentio/kafka-go's Hash: records without a key in turn, in batches of 100 or of a second.

    The writer leaves the timestamps to the batch, which takes the time when it is sent.
    """
    draws = np.random.default_rng(8)
    buckets = 4 * BUCKETS if partitions < 6 else BUCKETS
    records = int(buckets * 50 * partitions / (1 - keyed))
    batch = [[0, 0, 0.0] for _ in range(partitions)]  # records, of them without a key, since
    times, where, turn = [], [], 0

    def flush(partition: int, now: float) -> None:
        times.extend([now + draws.random() * jitter_ms] * batch[partition][1])
        where.extend([partition] * batch[partition][1])
        batch[partition][:2] = 0, 0

    for number in range(records):
        now = number * 1000 / per_second
        has_key = draws.random() < keyed
        partition = int(draws.integers(partitions)) if has_key else turn // chunk % partitions
        turn += not has_key
        for other in range(partitions):
            if batch[other][0] and now - batch[other][2] >= 1000:
                flush(other, now)
        if not batch[partition][0]:
            batch[partition][2] = now
        batch[partition][0] += 1
        batch[partition][1] += not has_key
        if batch[partition][0] == 100:
            flush(partition, now)
    out = np.zeros((buckets, partitions), np.int64)
    bucket = (np.array(times) * buckets / (max(times) + 1)).astype(int)
    np.add.at(out, (bucket, where), 1)
    return out


@pytest.mark.parametrize("partitions", [3, 6, 12])
@pytest.mark.parametrize(("keyed", "jitter_ms", "chunk", "per_second"), [
    (0, 0, 1, 3000), (0, 20, 1, 30_000), (0.5, 5, 1, 30_000), (0.5, 5, 1, 1000), (0, 5, 25, 3000), (0, 5, 100, 3000),
])  # fmt: skip
def test_kafka_go_is_95_percent_round_robin_or_even_batches_never_sticky_or_random(
    partitions: int, keyed: float, jitter_ms: float, chunk: int, per_second: int
) -> None:
    table = kafka_go(partitions, keyed=keyed, jitter_ms=jitter_ms, chunk=chunk, per_second=per_second)
    found = keyless(table)
    named = found.patterns.get(ROUND_ROBIN, 0) + found.patterns.get(EVEN_BATCHES, 0)
    assert named >= 0.95 * found.records
    assert not {STICKY, RANDOM} & set(found.patterns)


@pytest.mark.parametrize("partitions", [6, 12])
def test_loaded_adaptive_partitioner_is_at_least_half_even_batches_never_round_robin_or_random(
    partitions: int,
) -> None:
    """Since 3.3 a partition is chosen with a chance that falls with its waiting batches; a request takes one of each."""
    draws = np.random.default_rng(1)
    waiting, chosen = np.zeros(partitions), list[int]()
    while len(chosen) < BUCKETS * 50 * partitions:
        chances = waiting.max() + 1 - waiting
        partition = int(draws.choice(partitions, p=chances / chances.sum()))
        chosen += [partition] * 16
        waiting[partition] += 1
        if draws.random() < 1 / (2 * partitions):
            waiting = np.maximum(waiting - 1, 0)
    table = np.zeros((BUCKETS, partitions), np.int64)
    every = np.array(chosen[: BUCKETS * 50 * partitions])
    np.add.at(table, (np.arange(every.size) // (50 * partitions), every), 1)
    assert not {ROUND_ROBIN, RANDOM} & set(patterns(table))
    assert share_of(EVEN_BATCHES, table) >= 0.5


def test_few_kafka_go_batches_over_three_partitions_are_not_recognised_as_sticky() -> None:
    table = kafka_go(3, keyed=0.5, jitter_ms=5, per_second=30_000)[:20]
    assert STICKY not in patterns(table)


@pytest.mark.parametrize("partitions", [3, 6, 12, 50])
@pytest.mark.parametrize(
    ("pattern", "producers"),
    [
        (ROUND_ROBIN, [(rotation, 1, 1)]),
        (ROUND_ROBIN, [(rotation, 1, 0.25)] * 4),
        (RANDOM, [(dice, 1, 1)]),
        (RANDOM, [(dice, 1, 0.5)] * 2),
        (ONE_PARTITION, [(one, 1, 1)]),
        (STICKY, [(builtin, 150, 1)]),
        (STICKY, [(builtin, 30, 0.5)] * 2),
        (STICKY, [(sticky, 80, 1)]),
    ],
)
def test_one_keyless_pattern_is_recognised_in_at_least_80_percent_of_buckets_else_unclear(
    partitions: int, pattern: str, producers: list[tuple[object, int, float]]
) -> None:
    table = counts(partitions, *producers)
    assert share_of(pattern, table) >= 0.8
    assert share_of(pattern, table) + share_of(UNCLEAR, table) == 1


@pytest.mark.parametrize("partitions", [6, 12, 50])
@pytest.mark.parametrize(
    "producers",
    [
        [(rotation, 1, 0.5), (builtin, 150, 0.5)],
        [(dice, 1, 0.5), (builtin, 150, 0.5)],
        [(one, 1, 0.3), (dice, 1, 0.7)],
        [(one, 1, 0.3), (rotation, 1, 0.7)],
    ],
)
def test_mixture_of_two_keyless_patterns_is_unclear_in_at_least_85_percent_of_buckets(
    partitions: int, producers: list[tuple[object, int, float]]
) -> None:
    assert share_of(UNCLEAR, counts(partitions, *producers)) >= 0.85


def test_round_robin_mixed_with_random_is_never_round_robin_and_90_percent_unclear() -> None:
    assert share_of(ROUND_ROBIN, counts(12, (rotation, 1, 0.5), (dice, 1, 0.5))) == 0
    assert share_of(UNCLEAR, counts(12, (rotation, 1, 0.5), (dice, 1, 0.5))) >= 0.9


def test_keyless_records_with_constant_unequal_partition_shares_are_unclear_or_random() -> None:
    draws = np.random.default_rng(5)
    for shares in [0.3, 0.2, *[0.05] * 10], [0.64 / 6, 0.36 / 6] * 6:
        assert set(patterns(draws.multinomial(600, shares, BUCKETS))) <= {UNCLEAR, RANDOM}


def test_round_robin_over_every_second_partition_is_recognised() -> None:
    table = np.zeros((BUCKETS, 12), np.int64)
    table[:, ::2] = counts(6, (rotation, 1, 1))
    assert share_of(ROUND_ROBIN, table) == 1


def test_successive_keyless_patterns_are_recognised_in_order_or_unclear() -> None:
    table = np.concatenate([counts(12, (rotation, 1, 1)), counts(12, (builtin, 150, 1)), counts(12, (dice, 1, 1))])
    got = patterns(table)
    assert set(got[:25]) == {ROUND_ROBIN}
    assert set(got[:30]) <= {ROUND_ROBIN, UNCLEAR}
    assert Counter(got[35:55])[STICKY] >= 18
    assert set(got[30:60]) <= {STICKY, UNCLEAR}
    assert set(got[60:]) <= {RANDOM, UNCLEAR}


def test_too_few_keyless_records_are_reported_as_unclear() -> None:
    assert set(patterns(counts(12, (rotation, 1, 1), each=2))) == {UNCLEAR}
    assert patterns(np.array([[0, 3, 0]])) == [UNCLEAR]
    assert patterns(np.zeros((3, 4), np.int64)) == [UNCLEAR] * 3
    assert patterns(np.zeros((0, 4), np.int64)) == []


def test_sticky_runs_longer_than_a_time_bucket_are_recognised_as_sticky_not_one_partition() -> None:
    table = np.zeros((12, 4), np.int64)
    for bucket in range(12):
        table[bucket, bucket // 4] = 200
    assert set(patterns(table)) == {STICKY}


def test_keyless_records_of_a_single_partition_topic_have_the_pattern_one_partition() -> None:
    assert set(patterns(np.full((3, 1), 7))) == {ONE_PARTITION}


def test_keyless_record_counts_by_pattern_add_up_to_the_total() -> None:
    table = counts(12, (dice, 1, 1))
    got = keyless(table)
    assert got.records == table.sum() == sum(got.patterns.values())
    assert keyless(np.zeros((2, 3), np.int64)).patterns == {}


def test_bucket_width_shrinks_with_records_and_is_at_least_one_millisecond() -> None:
    assert bucket_ms(6000, 12, 1000) == 100
    assert bucket_ms(10**9, 12, 1000) == 1
    assert bucket_ms(0, 12, 1000) == 1000
    assert bucket_ms(10, 12, 0) == 1


def test_partition_without_records_and_share_does_not_change_the_chi_square_statistic() -> None:
    rows = np.array([[30, 10, 0], [10, 30, 0]])
    assert totals_keyless._scatter(rows, np.array([0.5, 0.5, 0.0])) == pytest.approx(20.0)
