from __future__ import annotations

import random
from collections import defaultdict
from typing import Any

import msgspec
import pytest
from repair_model import Record, model, target_of

from kafka_conformance.audit.repair.group_offsets import (
    Committed,
    Copied,
    GroupOffsets,
    Unread,
    cuts_of,
    lookups_of,
    mapped_offsets,
    unread_of,
)

TARGETS = 4


class Topics:
    """An old topic whose clocks jump, and the new one that two passes have made of it."""

    def __init__(self, seed: int) -> None:
        draw = random.Random(seed)
        self.old: dict[int, list[Record]] = {number: [] for number in range(3)}
        for at in range(80):
            partition = draw.randrange(3)
            key = None if draw.random() < 0.2 else b"k%d" % draw.randrange(9)
            offset = 5 + 2 * len(self.old[partition])  # with gaps, as compaction and transactions leave them
            time_ms = 1000 + 10 * at - (draw.randrange(400) if draw.random() < 0.3 else 0)
            self.old[partition].append(Record(partition, offset, time_ms, key, b"%d" % at, ()))
        first_pass = {number: ones[len(ones) // 2].offset for number, ones in self.old.items()}
        self.new = model(self.old, TARGETS, [first_pass])
        ends = {number: ones[-1].offset + 1 for number, ones in self.old.items()}
        written = {number: len(self.new.get(number, [])) for number in range(TARGETS)}
        first = dict.fromkeys(self.old, 5)
        self.copied = Copied(first, ends, first, written, dict.fromkeys(written, 0))
        self.groups = [
            Committed(f"g{each}", {number: draw.randrange(end + 5) for number, end in ends.items() if draw.random() < 0.9},
                      {}, 0, "Empty")
            for each in range(6)
        ]  # fmt: skip

    def rows(self, cuts: dict[int, list[int]]) -> list[Unread]:
        """What Spark finds in the old topic."""
        found: dict[tuple[int, int, int], list[int]] = defaultdict(list)
        for number, offsets in cuts.items():
            for one in self.old[number]:
                cut = sum(offset <= one.offset for offset in offsets) - 1
                if cut >= 0 and one.offset >= self.copied.first[number]:
                    found[number, cut, target_of(one, TARGETS)].append(one.time_ms)
        return [Unread(*place, min(times), len(times)) for place, times in found.items()]

    def offset_for(self, target: int, time_ms: int) -> int | None:
        """What a broker finds in the new topic."""
        return next((at for at, values in enumerate(self.new.get(target, [])) if values[0] >= time_ms), None)

    def mapped(self, *groups: Committed) -> list[GroupOffsets]:
        cuts = cuts_of(groups, self.copied)
        rows = self.rows(cuts)
        unread = {group.group: unread_of(group, self.copied, cuts, rows) for group in groups}
        found = {
            (target, time): self.offset_for(target, time)
            for each in lookups_of(unread)
            for target, time in each.items()
        }
        return [mapped_offsets(group, self.copied, unread[group.group], found) for group in groups]


@pytest.fixture
def topics() -> Topics:
    return Topics(1)


@pytest.mark.parametrize("seed", range(12))
def test_mapped_group_offsets_skip_no_unread_record_and_count_records_read_again(seed: int) -> None:
    topics = Topics(seed)
    some_read = 0
    for group, mapped in zip(topics.groups, topics.mapped(*topics.groups), strict=True):
        read = {
            one.value for number, ones in topics.old.items() for one in ones if one.offset < group.old.get(number, 0)
        }
        for one in mapped.offsets:
            assert one.new is not None
            before, after = topics.new.get(one.partition, [])[: one.new], topics.new.get(one.partition, [])[one.new :]
            assert all(values[2] in read for values in before), "an unread record would be skipped"
            assert one.again == sum(values[2] in read for values in after)
            assert one.unread == sum(values[2] not in read for values in after)
            some_read += len(before)
    assert some_read, "it is not all read again"


def committed(topics: Topics, **offsets: int) -> Committed:
    return Committed(str(offsets), {int(name[1:]): offset for name, offset in offsets.items()}, {}, 0, "Empty")


def test_group_that_read_the_whole_old_topic_continues_after_the_last_copied_record(topics: Topics) -> None:
    (mapped,) = topics.mapped(Committed("g", topics.copied.ends, {}, 0, "Empty"))
    assert mapped.new == topics.copied.written
    assert mapped.again == 0
    assert cuts_of([Committed("g", topics.copied.ends, {}, 0, "Empty")], topics.copied) == {}


def test_mapped_offset_never_exceeds_the_last_copied_record_of_the_new_topic(topics: Topics) -> None:
    """They lie after the last copied record: a later offset found there by time is not taken."""
    group = Committed("g", topics.copied.ends, {}, 0, "Empty")
    mapped = mapped_offsets(group, topics.copied, {0: (5, 1)}, {(0, 5): topics.copied.written[0] + 7})
    assert mapped.new == topics.copied.written
    assert mapped_offsets(group, topics.copied, {0: (5, 1)}, {(0, 5): None}).new == topics.copied.written


def test_partition_without_a_committed_offset_counts_as_unread(topics: Topics) -> None:
    ends = topics.copied.ends
    (mapped,) = topics.mapped(committed(topics, p0=ends[0], p1=ends[1]))
    assert sum(one.unread for one in mapped.offsets) == len(topics.old[2])
    assert [one.old for one in mapped.offsets] == [ends[0], ends[1], None, None]


def test_records_committed_beyond_the_copied_offsets_are_read_again(topics: Topics) -> None:
    ends = topics.copied.ends
    (mapped,) = topics.mapped(committed(topics, p0=ends[0] + 3, p1=ends[1], p2=ends[2] + 4, p3=2))
    assert mapped.ahead == 9
    assert mapped.again == 9


def test_group_restarts_from_the_beginning_if_the_old_topic_lost_unread_records(topics: Topics) -> None:
    topics.copied = msgspec.structs.replace(topics.copied, first={0: 5, 1: 11, 2: 5})
    lost, kept = topics.mapped(committed(topics, p0=99, p1=7, p2=99), committed(topics, p0=99, p1=11, p2=99))
    assert lost.from_beginning == 1
    assert set(lost.new.values()) == {0}
    assert kept.from_beginning is None
    assert sum(one.unread for one in lost.offsets) == sum(one.unread for one in kept.offsets)
    assert lost.again > kept.again


def test_committed_offsets_before_the_first_copied_offset_map_to_offset_0_of_the_new_topic(topics: Topics) -> None:
    low, begin = topics.mapped(committed(topics, p0=0, p1=0, p2=0), committed(topics, p0=5, p1=5, p2=5))
    assert low.new == begin.new == dict.fromkeys(range(TARGETS), 0)
    assert low.from_beginning is None


def test_mapped_offset_deleted_in_the_new_topic_is_raised_to_the_log_start(topics: Topics) -> None:
    """A consumer would begin at auto.offset.reset there, perhaps the end."""
    end = topics.copied.written[1]
    topics.copied = msgspec.structs.replace(topics.copied, first_new={0: 3, 1: end + 4})
    mapped = topics.mapped(committed(topics))[0].new
    assert mapped == {0: 3, 1: end + 4, 2: 0, 3: 0}


def test_timestamp_lookups_ask_for_each_partition_once_per_request() -> None:
    unread: dict[str, Any] = {"a": {0: (7, 1), 1: (7, 1)}, "b": {0: (7, 9), 1: (9, 1)}, "c": {0: (3, 1)}}
    assert lookups_of(unread) == [{0: 3, 1: 7}, {0: 7, 1: 9}]
    assert lookups_of({"a": {}}) == []
