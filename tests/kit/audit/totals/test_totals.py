"""The doubt about a sample, held against all records."""

from __future__ import annotations

import audit_truth
from audit_truth import Topic

from kafka_conformance.audit.attribution.block import BlockSummary, judge
from kafka_conformance.audit.result import Doubt, Placed
from kafka_conformance.audit.totals.totals import doubt_of_all, never_splits


def summary(key: bytes, partition: int) -> BlockSummary:
    topic = Topic(partition, 12)
    topic.keys, topic.truth = [key] * 3, [("random", 0)] * 3
    return judge(topic.block(), 12, Placed("murmur2", 12), doubtful=True).summary


def test_inconclusive_totals_list_only_partitioners_that_explain_every_record_of_all_blocks() -> None:
    sampled = Doubt(1, ("murmur2", "librdkafka-consistent"), 12, 1e-6)
    java, crc = (audit_truth.place(rule, b"a", 12) for rule in sampled.fitting)
    assert java != crc
    blocks = [summary(b"a", java)]
    assert doubt_of_all(blocks, sampled, 2, 12) == Doubt(2, ("murmur2",), 12, 1e-6)
    assert doubt_of_all([*blocks, summary(b"a", crc)], sampled, 2, 12) == Doubt(2, (), 12, 1e-6)


def test_inconclusive_sample_is_resolved_by_enough_keys_in_the_topic_unless_single_partition() -> None:
    assert doubt_of_all([], None, 5, 12) is None
    assert doubt_of_all([], Doubt(5, (), 12, 1e-6), 12, 12) is None
    assert doubt_of_all([], Doubt(5, (), 12, 1e-6), 11, 12) == Doubt(11, (), 12, 1e-6)
    assert doubt_of_all([], Doubt(5, (), None, 1e-6), 10**9, 1) == Doubt(10**9, (), None, 1e-6)


def test_at_most_one_known_partitioner_never_splits_keys_except_a_randomly_placed_empty_key() -> None:
    assert never_splits({"murmur2@12"}, empty=True)
    assert never_splits({"librdkafka-consistent@12"}, empty=False)
    assert not never_splits({"librdkafka-consistent@12"}, empty=True)
    assert not never_splits({"murmur2@12", "murmur2@3"}, empty=False)
    assert not never_splits({"unexplained"}, empty=False)
    assert not never_splits({"either"}, empty=True)
    assert never_splits(set(), empty=False)
