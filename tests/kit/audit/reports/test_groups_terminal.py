from __future__ import annotations

import io

import msgspec
from rich.console import Console

from kafka_conformance.audit.repair.group_mapping import GroupMapping
from kafka_conformance.audit.repair.group_offsets import GroupOffsets, Offset
from kafka_conformance.audit.reports import groups_terminal

OFFSETS = (Offset(0, 1200, 1100, 30, 12), Offset(1, None, 0, 0, 0), Offset(2, 7, None, 0, 0))
GROUP = GroupOffsets("bill\x1bing", "Empty", 0, OFFSETS, 2)
MAPPING = GroupMapping("orders", "orders-2", (GROUP,), False, 0)


def printed(mapping: GroupMapping) -> list[str]:
    out = io.StringIO()
    groups_terminal.show(Console(file=out, width=300, highlight=False), mapping)
    assert "\x1b" not in out.getvalue()
    return [" ".join(line.split()) for line in out.getvalue().splitlines()]


def test_group_report_lists_offsets_and_records_read_again_by_partition_and_notes_dry_run() -> None:
    lines = printed(MAPPING)
    assert lines[0] == "group partition offset in orders offset in orders-2 unread read again at most"
    assert [line.split()[1:] for line in lines[1:4]] == [
        ["0", "1,200", "1,100", "30", "12"], ["1", "-", "0", "0", "0"], ["2", "7", "-", "0", "0"],
    ]  # fmt: skip
    assert lines[4].endswith("reads at most 14 records again, 2 of them not copied yet")
    assert lines[5] == "a dry run: nothing was committed. Give --execute to commit."


def test_group_report_prints_members_lost_records_and_existing_offsets() -> None:
    group = msgspec.structs.replace(
        GROUP, members=1, state="Stable", from_beginning=3, skipped="has offsets of orders-2 already"
    )
    lines = printed(msgspec.structs.replace(MAPPING, groups=(group,), behind=5))
    assert "has 1 member (Stable): stop its consumers" in lines[4]
    assert "begins at 0, because orders has lost unread records of partition 3" in lines[4]
    assert "has offsets of orders-2 already" in lines[4]
    assert "not copied yet: 5 offsets of orders" in "".join(lines)


def test_group_report_ends_with_the_number_of_committed_groups_or_that_none_has_offsets() -> None:
    skipped = msgspec.structs.replace(GROUP, skipped="has offsets of orders-2 already")
    done = msgspec.structs.replace(MAPPING, groups=(GROUP, skipped), committed=True)
    assert printed(done)[-1] == "offsets of orders-2 committed for 1 group: no record is skipped"
    assert printed(msgspec.structs.replace(MAPPING, groups=()))[-1] == "no group has committed offsets of orders"
