"""No record is attributed to another placement than the one that placed it, and few are left open."""

from __future__ import annotations

import audit_truth
import numpy as np
import pytest
from audit_truth import Producer, Topic
from hypothesis import given
from hypothesis import strategies as st

from kafka_conformance.audit.attribution.attribution import (
    EITHER_AT,
    MOST_RUNS,
    UNEXPLAINED_AT,
    attribute,
    bits_of,
    runs,
)
from kafka_conformance.audit.result import AttributedRun, Placed

JAVA, CRC, FNV, GROWN = ("murmur2", 12), ("librdkafka-consistent", 12), ("sarama-hash", 12), ("murmur2", 3)


def attributed(topic: Topic, *members: Producer) -> tuple[np.ndarray, np.ndarray]:
    column = topic.column()
    placed = tuple(Placed(*member) for member in members)
    bits = bits_of([column.by(one) for one in placed], column.size)
    return attribute(bits, placed, column.ids), bits


def hold(topic: Topic, *members: Producer, either: float) -> np.ndarray:
    """Check every attribution against the scalar rules and the true writers; return how many records are left open."""
    got, _ = attributed(topic, *members)
    truth = np.array([members.index(producer) if producer in members else UNEXPLAINED_AT for producer in topic.truth])
    wrong = np.flatnonzero((got != truth) & (got != EITHER_AT))
    assert not wrong.size, [(int(at), topic.truth[at], int(got[at])) for at in wrong[:5]]
    for at in np.flatnonzero(got >= 0):
        assert audit_truth.place(*(members[got[at]][0], topic.keys[at], members[got[at]][1])) == topic.partition
    assert np.count_nonzero(got == EITHER_AT) <= either * len(topic.truth)
    return got


def test_two_successive_partitioners_leave_at_most_6_percent_unattributed_near_the_switch_or_ends() -> None:
    topic = Topic(1, 12).write(2000, JAVA).write(2000, CRC)
    got = hold(topic, JAVA, CRC, either=0.06)
    open_ = np.flatnonzero(got == EITHER_AT)
    assert open_.size
    assert ((open_ > 1000) & (open_ < 3000) | (open_ < 5) | (open_ > 3990)).all()


@pytest.mark.parametrize("share", [0.5, 0.1, 0.01])
def test_two_alternating_partitioners_leave_at_most_13_percent_unattributed_and_none_misattributed(
    share: float,
) -> None:
    hold(Topic(5, 12).write(3000, JAVA, CRC, shares=(1 - share, share)), JAVA, CRC, either=0.13)


def test_three_alternating_partitioners_leave_at_most_22_percent_unattributed_and_none_misattributed() -> None:
    hold(Topic(2, 12).write(3000, JAVA, CRC, FNV), JAVA, CRC, FNV, either=0.22)


@pytest.mark.parametrize(("before", "after", "partition"), [(3, 12, 0), (12, 24, 5), (5, 7, 1), (2, 3, 0), (6, 9, 1)])
def test_partition_count_increase_leaves_at_most_30_percent_unattributed_and_none_misattributed(
    before: int, after: int, partition: int
) -> None:
    old, new = ("murmur2", before), ("murmur2", after)
    got = hold(Topic(partition, after).write(1500, old).write(1500, new), new, old, either=0.3)
    if after % before == 0:
        needed = -np.log(1e-9) / np.log(after / before)
        assert np.count_nonzero(got == EITHER_AT) < 1000 * before / after + 4 * needed
        assert (got[1600:2500] == 0).all()
    assert (got[-100:] != 1).all()


def test_partition_count_increase_with_two_partitioners_leaves_at_most_35_percent_open_none_wrong() -> None:
    topic = Topic(0, 12).write(1500, GROWN, CRC).write(1500, JAVA, CRC)
    hold(topic, JAVA, CRC, GROWN, either=0.35)


def test_three_successive_partition_counts_leave_at_most_45_percent_unattributed_and_none_misattributed() -> None:
    topic = Topic(0, 12).write(1500, GROWN).write(1500, ("murmur2", 6)).write(1500, JAVA)
    got = hold(topic, JAVA, ("murmur2", 6), GROWN, either=0.45)
    assert set(got.tolist()) == {0, 1, 2, EITHER_AT}


@pytest.mark.parametrize("share", [0.5, 0.1])
def test_records_of_alternating_partition_counts_are_never_attributed_incorrectly(share: float) -> None:
    hold(Topic(0, 12).write(4000, GROWN, JAVA, shares=(1 - share, share)), JAVA, GROWN, either=0.7)


def test_hot_key_that_fits_two_partition_counts_is_not_attributed_to_the_newer_one() -> None:
    topic = Topic(0, 12).write(300, GROWN)
    hot = next(key for key in (b"hot-%d" % at for at in range(999)) if audit_truth.place(*("murmur2", key, 12)) == 0)
    topic.keys += [hot] * 500
    topic.truth += [GROWN] * 500
    topic.write(300, GROWN)
    hold(topic, JAVA, GROWN, either=0.8)


def test_record_that_no_partitioner_explains_is_attributed_as_unexplained() -> None:
    topic = Topic(4, 12).write(200, JAVA)
    stray = next(key for key in (b"s-%d" % at for at in range(99)) if audit_truth.place(*("murmur2", key, 12)) != 4)
    topic.keys.append(stray)
    got, _ = attributed(topic, JAVA)
    assert got.tolist() == [0] * 200 + [UNEXPLAINED_AT]
    assert attributed(topic)[0].tolist() == [UNEXPLAINED_AT] * 201


@given(st.lists(st.integers(0, 7), max_size=60))
def test_attributed_partitioner_always_explains_the_record(given_bits: list[int]) -> None:
    bits = np.array(given_bits, np.uint32)
    ids = np.zeros((bits.size, 2), np.uint64)
    ids[:, 0] = np.arange(bits.size)
    got = attribute(bits, (Placed("murmur2", 12), Placed("sarama-hash", 12), Placed("murmur2", 3)), ids)
    for one, owner in zip(given_bits, got.tolist(), strict=True):
        assert (owner == UNEXPLAINED_AT) == (one == 0)
        assert owner < 0 or one >> owner & 1


def test_ambiguous_record_is_attributed_only_if_records_within_1000_on_both_sides_agree() -> None:
    members = Placed("murmur2", 12), Placed("sarama-hash", 12)

    def attributed_to(*given_bits: int) -> list[int]:
        bits = np.array(given_bits, np.uint32)
        return attribute(bits, members, np.zeros((bits.size, 2), np.uint64)).tolist()

    assert attributed_to(3, 1, 3, 1, 3) == [EITHER_AT, 0, 0, 0, EITHER_AT]
    assert attributed_to(1, 3, 2) == [0, EITHER_AT, 1]
    assert attributed_to(2, *[1] * 1000, 3, *[1] * 999, 2) == [1, *[0] * 1000, EITHER_AT, *[0] * 999, 1]
    assert attributed_to(2, *[1] * 1000, 3, *[1] * 1000, 2) == [1, *[0] * 1000, 0, *[0] * 1000, 1]
    assert attributed_to(1, *[3] * 999, 1)[1:-1] == [0] * 999
    assert attributed_to(1, *[3] * 2001, 1)[500] == EITHER_AT


def run_of(attributed_: list[int], times: list[int] | None = None) -> list[tuple[list[str], int, int, int]]:
    got = np.array(attributed_, np.int16)
    bits = np.where(got == EITHER_AT, 3, np.where(got < 0, 0, 1 << np.maximum(got, 0))).astype(np.uint32)
    offsets = np.arange(got.size, dtype=np.int64) * 10
    made = runs(
        got, bits, (Placed("murmur2", 3), Placed("sarama-hash", 3)), 2, offsets, np.array(times or offsets, np.int64)
    )
    assert sum(run.records for run in made) == got.size
    assert len(made) <= MOST_RUNS
    return [([placed.rule for placed in run.placed], run.first_offset, run.last_offset, run.records) for run in made]


def test_records_of_one_partitioner_or_frequent_alternation_form_a_run_with_offsets_and_count() -> None:
    assert run_of([0] * 20 + [1] * 30) == [(["murmur2"], 0, 190, 20), (["sarama-hash"], 200, 490, 30)]
    assert run_of([0] * 20 + [1] + [0] * 20) == [
        (["murmur2"], 0, 190, 20), (["sarama-hash"], 200, 200, 1), (["murmur2"], 210, 400, 20),
    ]  # fmt: skip
    assert run_of([0, 1] * 200) == [(["murmur2", "sarama-hash"], 0, 3990, 400)]
    assert run_of([-1] * 20 + [0] * 20) == [([], 0, 190, 20), (["murmur2"], 200, 390, 20)]
    assert run_of([-2, 0, -2, -2]) == [(["murmur2"], 0, 30, 4)]
    assert run_of([-2, -2]) == [(["murmur2", "sarama-hash"], 0, 10, 2)]
    assert run_of([]) == []


def test_number_of_runs_is_limited_when_partitioners_alternate_often() -> None:
    assert len(run_of(([0] * 40 + [1]) * 500)) == 1
    assert len(run_of([0] * 2000 + ([0] * 40 + [1]) * 500 + [1] * 3000)) <= MOST_RUNS
    assert len(run_of(([0] * 40 + [1]) * 20)) == 40


def test_run_times_are_minimum_and_maximum_of_the_known_timestamps_or_none() -> None:
    got = np.zeros(3, np.int16)
    made = runs(got, np.ones(3, np.uint32), (Placed("murmur2", 3),), 0, np.arange(3), np.array([50, -1, 20]))
    assert made == (AttributedRun(0, (Placed("murmur2", 3),), 0, 2, 20, 50, 3),)
    made = runs(got, np.ones(3, np.uint32), (Placed("murmur2", 3),), 0, np.arange(3), np.array([-1, -1, -1]))
    assert (made[0].first_ms, made[0].last_ms) == (None, None)
