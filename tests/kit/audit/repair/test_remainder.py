from __future__ import annotations

import random
from itertools import pairwise
from typing import Any

import msgspec
import pytest
from repair_model import Record, model, target_of

from kafka_conformance.audit.repair.checksums import NOTHING, Sum
from kafka_conformance.audit.repair.plan import Compared, Gap, Moves, RepairPlan, Totals
from kafka_conformance.audit.repair.remainder import Reached, check_beginning, rest_plan
from kafka_conformance.audit.topics import Described, Span
from kafka_conformance.core.errors import BadInput

SOURCE = Described("a", "ID-1", 2, 1)
FIRST = RepairPlan("a", "ID-1", "b", 2, 3, 1, {}, {0: 3, 1: 0}, {0: 7, 1: 5})
SUMS = Compared(Sum(9, "f" * 16), Sum(9, "f" * 16), 0)
DONE = Totals(1, SUMS, (Moves(0, 4, 2, 1, 0), Moves(1, 5, 7, 2, 1), Moves(2, 0, 0, 0, 0)), 1)


def reached(**changes: Any) -> Reached:
    return msgspec.structs.replace(Reached(FIRST, FIRST.ends, DONE, FIRST.begins, "ID-2"), **changes)


def test_next_repair_pass_begins_at_the_end_offsets_of_the_last_pass() -> None:
    plan = rest_plan(reached(), SOURCE, {0: Span(3, 9), 1: Span(0, 5)})
    assert plan.spans == {0: Span(7, 9), 1: Span(5, 5)}
    assert (plan.number, plan.offsets, plan.target_id) == (1, 2, "ID-2")
    assert plan.bases == {0: 2, 1: 7, 2: 0}, "record i of the pass comes after all records of the first"


def test_next_repair_pass_is_empty_if_the_source_gained_no_records() -> None:
    assert rest_plan(reached(), SOURCE, {0: Span(5, 7), 1: Span(0, 5)}).offsets == 0


def test_offsets_the_source_gained_since_the_last_pass_are_counted() -> None:
    assert reached().behind({0: Span(3, 7), 1: Span(0, 5)}) == 0
    assert reached().behind({0: Span(8, 9), 1: Span(0, 6), 2: Span(0, 4)}) == 6


def test_offsets_read_by_all_repair_passes_are_summed() -> None:
    assert reached().offsets == 9
    later = rest_plan(reached(), SOURCE, {0: Span(10, 12), 1: Span(0, 6)})
    assert later.earlier is not None
    assert Reached(later, later.ends, later.earlier, FIRST.begins, "ID-2").offsets == 9 + 2 + 1


def test_partition_added_to_the_source_is_copied_from_the_beginning() -> None:
    grown = msgspec.structs.replace(SOURCE, partitions=3)
    plan = rest_plan(reached(), grown, {0: Span(3, 7), 1: Span(0, 5), 2: Span(0, 4)})
    assert plan.spans[2] == Span(0, 4)
    assert plan.before == 3


def test_records_deleted_before_the_copy_are_reported_as_gaps() -> None:
    plan = rest_plan(reached(), SOURCE, {0: Span(10, 12), 1: Span(8, 8)})
    assert plan.spans == {0: Span(10, 12), 1: Span(8, 8)}
    assert plan.earlier is not None
    assert plan.earlier.gaps == (Gap(0, 7, 10), Gap(1, 5, 8))
    assert Gap(0, 7, 10).offsets == 3


@pytest.mark.parametrize(
    ("source", "spans", "words"),
    [
        (Described("a", "ID-9", 2, 1), {0: Span(0, 9), 1: Span(0, 9)}, "a was deleted or recreated"),
        (SOURCE, {0: Span(0, 6), 1: Span(0, 9)}, "partition 0 of a ends at offset 6, but 7 were copied"),
        (SOURCE, {0: Span(0, 9)}, "partition 1 of a is gone"),
    ],
)
def test_next_repair_pass_refuses_a_source_that_was_recreated_truncated_or_lost_a_partition(
    source: Described, spans: dict[int, Span], words: str
) -> None:
    with pytest.raises(BadInput, match=f"^{words}"):
        rest_plan(reached(), source, spans)


def test_target_with_fewer_records_than_copied_before_or_more_than_after_the_pass_raises() -> None:
    plan = rest_plan(reached(), SOURCE, {0: Span(3, 9), 1: Span(0, 5)})
    check_beginning(plan, {0: 1, 2: 1}, {0: 3, 1: 7, 2: 0})
    with pytest.raises(
        BadInput, match=r"^partition 1 of b ends at offset 8, but this pass ends at 7: another producer"
    ):
        check_beginning(plan, {0: 1, 2: 1}, {0: 2, 1: 8, 2: 0})
    with pytest.raises(BadInput, match=r"^partition 0 of b ends at offset 1, but 2 records were copied to it"):
        check_beginning(plan, {0: 1, 2: 1}, {0: 1, 1: 7, 2: 0})


def test_totals_of_two_repair_passes_add_up() -> None:
    moves = Moves(1, 1, 0, 0, 0), Moves(3, 0, 1, 1, 0)
    other = Totals(1, Compared(Sum(1, "2".zfill(16)), NOTHING, 1), moves, 2, (Gap(0, 1, 2),))
    both = msgspec.structs.replace(DONE, gaps=(Gap(1, 5, 8),)) + other
    assert both.gaps == (Gap(1, 5, 8), Gap(0, 1, 2))
    assert both.compared == Compared(Sum(10, "1".zfill(16)), SUMS.found, 1)
    assert not both.compared.same
    assert both.moves == (Moves(0, 4, 2, 1, 0), Moves(1, 6, 7, 2, 1), Moves(2, 0, 0, 0, 0), Moves(3, 0, 1, 1, 0))
    assert (both.passes, both.spread) == (2, 3)


def test_plan_of_a_later_repair_pass_survives_a_json_round_trip() -> None:
    plan = rest_plan(reached(), SOURCE, {0: Span(9, 9), 1: Span(0, 6)})
    written = msgspec.json.decode(msgspec.json.encode(msgspec.to_builtins(plan, str_keys=True)))
    assert msgspec.convert(written, RepairPlan, str_keys=True) == plan


def grown_source(seed: int) -> tuple[dict[int, list[Record]], list[dict[int, int]]]:
    """A source whose clocks jump, as it is in the end, and where it ended at the time of each look."""
    draw = random.Random(seed)
    source: dict[int, list[Record]] = {number: [] for number in range(3)}
    looks = []
    for at in range(90):
        partition = draw.randrange(3)
        key = None if draw.random() < 0.2 else b"k%d" % draw.randrange(6)
        records = source[partition]
        records.append(Record(partition, len(records), 1000 + 10 * at - draw.randrange(300), key, b"%d" % at, ()))
        if draw.random() < 0.1:
            looks.append({number: len(ones) for number, ones in source.items()})
    return source, looks


@pytest.mark.parametrize("seed", range(8))
def test_repair_passes_over_a_growing_source_keep_every_record_once_and_in_order(seed: int) -> None:
    source, looks = grown_source(seed)
    ends = {number: len(ones) for number, ones in source.items()}
    now = Reached(msgspec.structs.replace(FIRST, before=3, begins=dict.fromkeys(range(3), 0), ends=looks[0]), looks[0],
                  Totals(1, SUMS, _moves(source, {}, looks[0]), 0), {}, "ID-2")  # fmt: skip
    cuts = [looks[0]]
    for look in [*looks[1:], ends]:
        spans = {number: Span(0, end) for number, end in look.items()}
        plan = rest_plan(now, msgspec.structs.replace(SOURCE, partitions=3), spans)
        assert plan.earlier is not None
        assert {number: span.first for number, span in plan.spans.items()} == cuts[-1]
        whole = model(source, 3, cuts)
        assert plan.bases == {
            number: sum(len(v) for v in [_before(source, whole, number, cuts[-1])]) for number in range(3)
        }
        totals = plan.earlier + Totals(1, SUMS, _moves(source, plan.begins, plan.ends), 0)
        now, cuts = Reached(plan, plan.ends, totals, {}, "ID-2"), [*cuts, plan.ends]
    target = model(source, 3, cuts[:-1])
    values = [record[2] for records in target.values() for record in records]
    assert sorted(values, key=int) == [b"%d" % at for at in range(90)], "each record once"
    place = {record[2]: at for records in target.values() for at, record in enumerate(records)}
    for records in source.values():
        for one, other in pairwise(records):
            if target_of(one, 3) == target_of(other, 3):
                assert place[one.value] < place[other.value], "the order of each old partition is kept"
    assert target != model(source, 3), "merging by time ends at the border of a pass"


def _moves(source: dict[int, list[Record]], begins: dict[int, int], ends: dict[int, int]) -> tuple[Moves, ...]:
    chosen = [one for number, ones in source.items() for one in ones[begins.get(number, 0) : ends[number]]]
    return tuple(Moves(at, 0, sum(target_of(one, 3) == at for one in chosen), 0, 0) for at in range(3))


def _before(source: dict[int, list[Record]], whole: Any, number: int, ends: dict[int, int]) -> list[Any]:
    """The records of a partition of the new topic that passes up to these ends have copied."""
    copied = {one.value for partition, ones in source.items() for one in ones[: ends[partition]]}
    found = [record[2] in copied for record in whole.get(number, [])]
    assert found == sorted(found, reverse=True), "records of a later pass come after those of earlier ones"
    return [each for each in found if each]
