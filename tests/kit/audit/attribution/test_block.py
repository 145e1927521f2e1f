"""A block's summary and columns hold together, and what is not a block is refused."""

from __future__ import annotations

from typing import Any

import audit_truth
import msgspec
import numpy as np
import pyarrow as pa
import pytest
from audit_truth import Topic, names

from kafka_conformance.audit.attribution.attribution import KEYLESS_AT, UNEXPLAINED_AT
from kafka_conformance.audit.attribution.block import Block, BlockSummary, Judged, judge
from kafka_conformance.audit.attribution.distinct_keys import pack
from kafka_conformance.audit.attribution.placements import number
from kafka_conformance.audit.result import EITHER, UNEXPLAINED, Place, Placed

JAVA, CRC = ("murmur2", 12), ("librdkafka-consistent", 12)
EXPECTED = Placed("murmur2", 12)


def block(keys: list[bytes | None], partition: int = 0, times: list[int] | None = None, kind: Any = None) -> Block:
    offsets = np.arange(len(keys), dtype=np.int64) + 100
    times_ms = np.array(times if times is not None else offsets, np.int64)
    return Block(partition, offsets, times_ms, pa.array(keys, kind or pa.binary()))


def test_block_summary_of_two_producers_equals_counting_record_by_record() -> None:
    topic = Topic(3, 12).write(1500, JAVA, CRC)
    judged = judge(topic.block(), 12, EXPECTED)
    summary = judged.summary
    assert names(judged.present) == ["murmur2@12", "librdkafka-consistent@12"]
    by_java = [audit_truth.place("murmur2", key, 12) == 3 for key in topic.keys]
    by_crc = [audit_truth.place("librdkafka-consistent", key, 12) == 3 for key in topic.keys]
    assert judged.offending.tolist() == [not right for right in by_java]
    assert summary.offending == by_java.count(False)
    assert summary.explains["murmur2@12"] == sum(by_java)
    assert summary.explains["librdkafka-consistent@12"] == sum(by_crc)
    assert summary.alone["murmur2@12"] == sum(java and not crc for java, crc in zip(by_java, by_crc, strict=True))
    assert sum(summary.attributed.values()) == summary.records == summary.keyed == 1500
    assert UNEXPLAINED not in summary.attributed
    at = np.flatnonzero(judged.attributed == 1)
    offset, time = int(at[0]) + 500, (int(at[0]) + 500) * 7 + 1_700_000_000_000
    assert summary.first["librdkafka-consistent@12"] == Place(time, 3, offset)
    assert summary.last["librdkafka-consistent@12"].offset == int(at[-1]) + 500
    assert (summary.first_offset, summary.last_offset, summary.skipped) == (500, 1999, 0)
    assert judged.masks is not None
    assert [bool(mask >> number("librdkafka-consistent") & 1) for mask in judged.masks.tolist()] == by_crc
    assert sum(run.records for run in summary.runs) == 1500
    assert len(judged.keys_seen.ids) == len(set(topic.keys))
    assert msgspec.json.decode(msgspec.json.encode(summary), type=BlockSummary) == summary


@pytest.mark.parametrize("kind", [pa.binary(), pa.large_binary()], ids=str)
def test_null_keys_in_a_block_count_as_keyless_and_never_as_misplaced(kind: Any) -> None:
    topic = Topic(3, 12).write(300, JAVA)
    keys: list[bytes | None] = [None, *topic.keys[:100], None, *topic.keys[100:], None]
    judged = judge(block(keys, 3, kind=kind), 12, EXPECTED)
    missing = [0, 101, 302]
    assert np.flatnonzero(judged.attributed == KEYLESS_AT).tolist() == missing
    assert not judged.offending.any()
    assert judged.masks is not None
    assert (judged.masks[missing] == 0).all()
    assert (judged.summary.keyed, judged.summary.keyless, judged.summary.records) == (300, 3, 303)
    assert judged.summary.attributed == {"murmur2@12": 300}
    assert judged.summary.first["murmur2@12"].offset == 101


def test_slice_of_an_arrow_array_is_judged_by_the_sliced_keys() -> None:
    topic = Topic(3, 12).write(50, JAVA)
    keys = pa.array([b"xx", *topic.keys, b"yyy"], pa.binary())[1:-1]
    offsets = np.arange(50, dtype=np.int64)
    judged = judge(Block(3, offsets, offsets, keys), 12, EXPECTED)
    assert judged.summary.offending == 0
    assert judged.summary.attributed == {"murmur2@12": 50}


@pytest.mark.parametrize("keys", [[], [None], [None] * 5])
def test_block_without_keys_is_attributed_as_keyless(keys: list[bytes | None]) -> None:
    judged = judge(block(keys), 12, EXPECTED)
    assert judged.present == ()
    assert judged.attributed.tolist() == [KEYLESS_AT] * len(keys)
    assert judged.summary.explains == judged.summary.attributed == {}
    assert judged.summary.first_offset == (100 if keys else None)
    assert len(judged.keys_seen.ids) == 0


def test_single_record_is_attributed_to_murmur2_if_placed_so_else_unexplained_and_misplaced() -> None:
    right = judge(block([b"foobar"], audit_truth.place("murmur2", b"foobar", 12)), 12, EXPECTED)
    assert right.summary.attributed == {"murmur2@12": 1}
    wrong = judge(block([b"foobar"], (audit_truth.place("murmur2", b"foobar", 12) + 1) % 12), 12, EXPECTED)
    assert wrong.summary.attributed == {UNEXPLAINED: 1}
    assert wrong.summary.offending == 1
    assert wrong.attributed.tolist() == [UNEXPLAINED_AT]


def test_keyed_records_of_a_single_partition_topic_are_all_attributed_and_none_misplaced() -> None:
    judged = judge(block([b"a", None, b"b"]), 1, Placed("murmur2", 1))
    assert judged.summary.attributed == {"murmur2@1": 2}
    assert judged.summary.offending == 0


def test_empty_key_is_judged_as_a_key_not_as_null() -> None:
    at = audit_truth.place("murmur2", b"", 12)
    judged = judge(block([b""] * 3, at), 12, EXPECTED)
    assert (judged.summary.keyed, judged.summary.empty, judged.summary.offending) == (3, 3, 0)
    assert judge(block([b"", b""], (at + 1) % 12), 12, EXPECTED).summary.offending == 2


def test_block_times_are_min_and_max_of_unordered_timestamps_or_none_if_all_missing() -> None:
    keys = Topic(3, 12).write(30, JAVA).keys
    summary = judge(block(keys, 3, times=[1000 - at for at in range(30)]), 12, EXPECTED).summary
    assert (summary.first_ms, summary.last_ms) == (971, 1000)
    assert summary.first["murmur2@12"] == Place(971, 3, 129)
    assert summary.last["murmur2@12"] == Place(1000, 3, 100)
    none = judge(block(keys, 3, times=[-1] * 30), 12, EXPECTED).summary
    assert (none.first_ms, none.last_ms, none.runs[0].first_ms) == (None, None, None)
    assert none.first["murmur2@12"] == Place(-1, 3, 100)


def test_gaps_between_offsets_are_counted_as_skipped() -> None:
    offsets = np.array([5, 6, 9, 20], np.int64)
    keys = pa.array(Topic(3, 12).write(4, JAVA).keys, pa.binary())
    assert judge(Block(3, offsets, offsets, keys), 12, EXPECTED).summary.skipped == 12


def test_partial_judgement_of_a_block_equals_full_and_omits_masks_for_a_single_producer() -> None:
    for producers in [(JAVA,), (JAVA, CRC)]:
        topic = Topic(3, 12).write(400, *producers)
        whole, quick = judge(topic.block(), 12, EXPECTED), judge(topic.block(), 12, EXPECTED, whole=False)
        assert quick.summary.attributed == whole.summary.attributed
        assert quick.summary.runs == whole.summary.runs
        assert (quick.offending == whole.offending).all()
        assert (quick.masks is None) == (len(producers) == 1)


def test_explained_records_are_counted_for_a_known_partitioner_absent_in_the_block() -> None:
    judged = judge(Topic(0, 12).write(400, JAVA).block(), 12, EXPECTED, (Placed("murmur2", 3),), whole=False)
    assert judged.present == (EXPECTED,)
    assert judged.summary.explains["murmur2@3"] == 400


def test_records_of_a_former_single_partition_are_attributed_only_if_that_count_is_given() -> None:
    """One partition explains everything, so that nothing but the rest of the topic can say that there was one."""
    topic = Topic(0, 12).write(500, ("murmur2", 1)).write(500, JAVA)
    alone = judge(topic.block(), 12, EXPECTED)
    assert names(alone.present) == ["murmur2@12"]
    assert alone.summary.attributed[UNEXPLAINED] > 400
    judged = judge(topic.block(), 12, EXPECTED, (EXPECTED, Placed("murmur2", 1)))
    assert judged.summary.attributed["murmur2@1"] >= 440
    assert judged.summary.attributed["murmur2@12"] >= 480
    assert not (judged.attributed[:480] == 0).any()
    assert not (judged.attributed[500:] == 1).any()


def test_block_of_randomly_placed_records_is_unexplained() -> None:
    judged = judge(Topic(7, 12).write(3000, ("random", 0)).block(), 12, EXPECTED)
    assert judged.present == ()
    assert judged.summary.attributed == {UNEXPLAINED: 3000}


def test_few_randomly_placed_records_amid_java_records_are_unexplained_and_misplaced() -> None:
    topic = Topic(7, 12).write(1000, JAVA).write(20, ("random", 0)).write(1000, JAVA)
    judged = judge(topic.block(), 12, EXPECTED)
    assert names(judged.present) == ["murmur2@12"]
    assert judged.summary.attributed[UNEXPLAINED] == judged.summary.offending > 10
    assert EITHER not in judged.summary.attributed


def refused(made: Any, message: str, partitions: int = 12) -> None:
    with pytest.raises(ValueError, match=message):
        judge(made, partitions, EXPECTED)


def test_block_with_wrong_partition_unequal_columns_or_unordered_offsets_raises_value_error() -> None:
    refused(block([b"a"], 12), "records in partition 12, but the topic has 12, from 0 to 11")
    refused(block([b"a"], -1), "records in partition -1")
    refused(Block(0, np.arange(2), np.arange(1), pa.array([b"a", b"b"])), "not 2, 2 and 1")
    refused(Block(0, np.array([2, 2]), np.arange(2), pa.array([b"a", b"b"])), "do not ascend")


def test_block_with_string_keys_raises_type_error() -> None:
    with pytest.raises(TypeError, match="BinaryArray or LargeBinaryArray, not StringArray"):
        judge(Block(0, np.arange(2), np.arange(2), pa.array(["a", "b"])), 12, EXPECTED)


def test_judging_a_block_twice_gives_equal_summaries() -> None:
    made = Topic(3, 12).write(800, JAVA, CRC).block()
    one, other = judge(made, 12, EXPECTED), judge(made, 12, EXPECTED)
    assert isinstance(one, Judged)
    assert one.summary == other.summary
    assert pack(one.keys_seen) == pack(other.keys_seen)
