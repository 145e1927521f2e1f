from __future__ import annotations

from kafka_conformance.spark.audit.attribution.block import Summary
from kafka_conformance.spark.audit.result import Growth, Place, Placed, Run
from kafka_conformance.spark.audit.totals.runs_merged import growth, merged

OLD, NEW = Placed("murmur2", 3), Placed("murmur2", 12)


def summary(partition: int, *runs: Run, last: dict[Placed, Place] | None = None) -> Summary:
    places = {str(placed): place for placed, place in (last or {}).items()}
    return Summary(partition, 0, 0, None, None, 0, 0, 0, 0, 0, 0, tuple(last or ()), {}, {}, {}, {}, places, runs)


def run(partition: int, placed: Placed, first: int, last: int, ms: int | None = None) -> Run:
    return Run(partition, (placed,), first, last, ms, ms, last - first + 1)


def test_what_goes_on_in_the_next_block_is_one_run() -> None:
    found = merged(
        [
            summary(0, run(0, OLD, 0, 9, 5)),
            summary(0, run(0, OLD, 10, 19, 7), run(0, NEW, 20, 29)),
            summary(1, run(1, NEW, 0, 4)),
        ]
    )
    assert found == [Run(0, (OLD,), 0, 19, 5, 7, 20), run(0, NEW, 20, 29), run(1, NEW, 0, 4)]
    assert merged([]) == []


def test_growth_is_until_the_last_record_of_the_older_count() -> None:
    summaries = [
        summary(0, last={OLD: Place(5, 0, 40)}),
        summary(0, last={OLD: Place(9, 0, 90), NEW: Place(30, 0, 200)}),
        summary(1, last={OLD: Place(8, 1, 70)}),
    ]
    assert growth(summaries, 12) == (Growth("murmur2", 3, 12, {0: 90, 1: 70}, 9),)
    assert growth(summaries[1:2], 3) == ()
