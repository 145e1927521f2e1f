from __future__ import annotations

from kafka_conformance.audit.attribution.block import BlockSummary
from kafka_conformance.audit.result import AttributedRun, Growth, Place, Placed, SplitKey, Splits
from kafka_conformance.audit.totals.run_merge import growth, merged, split_by_moves
from kafka_reference import partition_for_key

OLD, NEW = Placed("murmur2", 3), Placed("murmur2", 12)


def summary(partition: int, *runs: AttributedRun, last: dict[Placed, Place] | None = None) -> BlockSummary:
    places = {str(placed): place for placed, place in (last or {}).items()}
    return BlockSummary(partition, 0, 0, None, None, 0, 0, 0, 0, 0, 0, tuple(last or ()), {}, {}, {}, {}, places, runs)


def run(partition: int, placed: Placed, first: int, last: int, ms: int | None = None) -> AttributedRun:
    return AttributedRun(partition, (placed,), first, last, ms, ms, last - first + 1)


def test_adjacent_runs_of_one_partitioner_in_successive_blocks_are_merged() -> None:
    found = merged(
        [
            summary(0, run(0, OLD, 0, 9, 5)),
            summary(0, run(0, OLD, 10, 19, 7), run(0, NEW, 20, 29)),
            summary(1, run(1, NEW, 0, 4)),
        ]
    )
    assert found == [AttributedRun(0, (OLD,), 0, 19, 5, 7, 20), run(0, NEW, 20, 29), run(1, NEW, 0, 4)]
    assert merged([]) == []


def test_partition_count_increase_reports_last_offsets_and_time_of_records_of_the_old_count() -> None:
    summaries = [
        summary(0, last={OLD: Place(5, 0, 40)}),
        summary(0, last={OLD: Place(9, 0, 90), NEW: Place(30, 0, 200)}),
        summary(1, last={OLD: Place(8, 1, 70)}),
    ]
    assert growth(summaries, 12) == (Growth("murmur2", 3, 12, {0: 90, 1: 70}, 9),)
    assert growth(summaries[1:2], 3) == ()


def test_partition_count_increase_is_rejected_if_all_split_keys_are_listed_and_none_moved() -> None:
    one = Growth("murmur2", 3, 12, {0: 90}, 9)
    keys = [b"key-%d" % number for number in range(200)]
    old, new = ([partition_for_key(key, count) for key in keys] for count in (3, 12))
    moved = next(at for at in range(200) if old[at] != new[at])
    stayed = next(at for at in range(200) if old[at] == new[at])

    def split(at: int, *partitions: int, keys_in_all: int = 1) -> Splits:
        places = tuple(Place(7, partition, 5) for partition in partitions)
        return Splits(keys_in_all, 200, 2, places[-1], (SplitKey(keys[at].hex(), places, 2),))

    assert split_by_moves((one,), split(moved, old[moved], new[moved])) == ((one,), ())
    assert split_by_moves((one,), split(moved, old[moved], (new[moved] + 1) % 12)) == ((), (one,))
    assert split_by_moves((one,), split(stayed, old[stayed], (old[stayed] + 1) % 12)) == ((), (one,))
    assert split_by_moves((one,), Splits(0, 200, 0, None, ())) == ((), (one,))
    many = split(stayed, old[stayed], (old[stayed] + 1) % 12, keys_in_all=2)
    assert split_by_moves((one,), many) == ((one,), ())  # the other split key may have moved
