from __future__ import annotations

import io

import msgspec
from rich.console import Console

from kafka_conformance.audit.repair.checksums import Sum, sum_of
from kafka_conformance.audit.repair.plan import Compared, Gap, Moves, Repair, Staged
from kafka_conformance.audit.reports import repair_terminal

_MOVES = (Moves(0, 5, 7, 4, 1), Moves(1, 0, 3, 3, 0))


def _repair(compared: Compared | None) -> Repair:
    return Repair(
        "or\x1bders", "orders-new", 1, 2, 10, 1, 7, 0, _MOVES, compared is not None, False, compared, "r", "0", 1.5
    )


def _printed(repair: Repair) -> str:
    out = io.StringIO()
    repair_terminal.show(Console(file=out, width=140, highlight=False), repair)
    return out.getvalue()


def test_repair_dry_run_report_states_that_nothing_was_written() -> None:
    report = _printed(_repair(None))
    assert "would be rewritten" in report
    assert "7 records of 10 would change partition" in report
    assert report.rstrip().splitlines()[-1].startswith("a dry run: nothing was written")


def test_repair_report_shows_both_checksums_and_ends_with_the_verdict() -> None:
    right = _printed(_repair(Compared(Sum(10, "aa"), Sum(10, "aa"), 0)))
    assert right.count("10 records, checksum aa") == 2
    assert "nothing lost, nothing duplicated" in right.splitlines()[-1]
    for wrong in (
        Compared(Sum(10, "aa"), Sum(10, "ab"), 0),
        Compared(Sum(10, "aa"), Sum(9, "aa"), 0),
        Compared(Sum(10, "aa"), Sum(10, "aa"), 1),
    ):
        assert "is NOT as planned" in _printed(_repair(wrong)).splitlines()[-1]
        assert not _repair(wrong).right


RIGHT = _repair(Compared(Sum(10, "aa"), Sum(10, "aa"), 0))


def test_repair_report_states_offsets_gained_by_the_source_and_records_copied_or_to_copy() -> None:
    assert "has gained" not in _printed(RIGHT)
    report = _printed(msgspec.structs.replace(RIGHT, behind=42))
    assert "has gained 42 offsets since: run the same command again to copy the rest, or with --follow" in report
    assert "is as planned" in report.splitlines()[-1]
    resumed = _printed(msgspec.structs.replace(RIGHT, resumed=True, copied=3))
    assert "resumed from r: 3 records copied in this run" in resumed
    dry = _printed(msgspec.structs.replace(_repair(None), copied=7))
    assert "7 records more to copy than the run in r has copied" in dry


def test_repair_report_states_offsets_deleted_in_the_source_before_the_copy() -> None:
    lost = _printed(msgspec.structs.replace(RIGHT, gaps=(Gap(3, 10, 15),)))
    assert "offsets 10 to 14 were deleted there before they were copied" in lost


def test_repair_report_names_place_and_size_of_the_staged_copy_and_whether_kept() -> None:
    for kept, words in ((True, "was kept"), (False, "was removed")):
        report = _printed(msgspec.structs.replace(RIGHT, staged=Staged("/runs/r/chunks/chunk-000000", 1_500_000, kept)))
        assert f"the staged copy, 1.5 MB in /runs/r/chunks/chunk-000000, {words}" in report


def test_repair_report_escapes_control_characters_of_topic_names() -> None:
    assert "\x1b" not in _printed(_repair(None))


def test_repair_checksums_are_modulo_two_to_the_64() -> None:
    assert sum_of(2, -1) == Sum(2, "f" * 16)
    assert sum_of(2, 2**64 + 5) == Sum(2, "0000000000000005")
    assert sum_of(0, None) == Sum(0, "0" * 16)
