"""Transcripts of two clients, lane by lane: what is a difference, and what depends on time alone."""

from __future__ import annotations

import pytest

pytest.importorskip("kafka")

from kafka_conformance.wire.client_gate.transcript import Exchange, Transcript, java_transcripts
from kafka_conformance.wire.client_gate.transcript_comparison import ComparedLane, compare_transcripts


def produced(relation: str, outcome: str = "ok", *, partition: int = 0, records: int = 5, version: int = 9) -> Exchange:
    return Exchange("Produce", version, partition, relation, 0, 0, records, outcome)


def asked(api: str, outcome: str = "ok") -> Exchange:
    return Exchange(api, 1, -1, "", -1, -1, 0, outcome)


def compared(client: list[Exchange], java: list[Exchange]) -> list[ComparedLane]:
    return compare_transcripts(Transcript(client), Transcript(java))


def test_first_differing_line_of_a_lane_is_marked_with_that_of_java() -> None:
    same = [produced("next"), produced("next", "response lost")]
    (lane,) = compared([*same, produced("next"), produced("again")], [*same, produced("again"), produced("next")])
    assert (lane.name, lane.verdict, lane.first) == ("Produce, partition 0", "differs", 2)
    assert lane.rows[2] == (produced("next"), produced("again"))


@pytest.mark.parametrize(
    ("client", "java"),
    [
        ([produced("next", version=9)], [produced("next", version=13)]),
        ([produced("next", records=1)] * 5, [produced("next")]),
        ([produced("next", "response lost")], [produced("next", "request lost")]),
        ([produced("next", "error 6 X"), produced("next", "error 45 Y"), produced("again")],
         [produced("next", "error 6 X"), produced("again")]),
        ([produced("next", "response lost"), produced("next", "no response"), produced("again")],
         [produced("next", "response lost"), produced("again")]),
        ([produced("next"), produced("next", partition=1)], [produced("next")]),
        ([produced("next", "error 45 X"), produced("again, new epoch"), produced("again, renumbered")],
         [produced("next", "error 45 X"), produced("again, new epoch")]),
        ([*map(asked, ("JoinGroup", "SyncGroup", "JoinGroup", "SyncGroup", "OffsetFetch", "LeaveGroup"))],
         [*map(asked, ("JoinGroup", "SyncGroup", "OffsetFetch", "LeaveGroup"))]),
        ([asked("Metadata"), asked("Metadata", "error 5 X")], [asked("DescribeCluster")]),
    ],
)  # fmt: skip
def test_difference_in_sizes_versions_or_batches_in_flight_is_harmless(
    client: list[Exchange], java: list[Exchange]
) -> None:
    lanes = compared(client, java)
    assert {lane.verdict for lane in lanes} <= {"harmless", "same"}
    assert any(lane.verdict == "harmless" for lane in lanes)
    assert all(lane.first == -1 for lane in lanes)


@pytest.mark.parametrize(
    ("client", "java"),
    [
        ([produced("next", "error 45 Y")], [produced("next")]),
        ([produced("next", "error 6 X"), produced("next")], [produced("next", "error 6 X"), produced("again")]),
        ([], [produced("next", "error 6 X")]),
        ([asked("JoinGroup")], [asked("JoinGroup"), asked("SyncGroup")]),
        ([asked("InitProducerId", "error 14 X")], [asked("InitProducerId")]),
        (
            [asked("JoinGroup"), asked("JoinGroup", "error 1 X"), asked("SyncGroup")],
            [asked("JoinGroup"), asked("SyncGroup")],
        ),
        ([*map(asked, ("JoinGroup", "OffsetCommit"))], [*map(asked, ("JoinGroup", "OffsetCommit", "JoinGroup"))]),
        ([produced("again"), produced("again, renumbered", "error 6 X")], [produced("again")]),
    ],
)
def test_difference_in_order_or_outcome_of_work_differs(client: list[Exchange], java: list[Exchange]) -> None:
    assert compared(client, java)[0].verdict == "differs"


def test_partitions_hit_by_a_fault_are_compared_with_each_other() -> None:
    hit = [("next", "error 6 X"), ("again", "ok")]
    client = [*(produced(*each, partition=2) for each in hit), produced("next", partition=0)]
    java = [*(produced(*each, partition=0) for each in hit), produced("next", partition=2)]
    lanes = compared(client, java)
    assert [lane.name for lane in lanes] == ["Produce, partition 0 (Java: 2)", "Produce, partition 2 (Java: 0)"]
    assert not any(lane.verdict == "differs" for lane in lanes)


def test_lanes_that_differ_come_first_with_batches_before_groups() -> None:
    client = [asked("Metadata"), asked("JoinGroup", "error 1 X"), produced("gap"), produced("next", partition=1)]
    java = [asked("Metadata"), asked("JoinGroup"), produced("next"), produced("next", partition=1)]
    assert [lane.name for lane in compared(client, java)] == [
        "Produce, partition 0", "group", "Produce, partition 1", "Metadata",
    ]  # fmt: skip


def test_every_recorded_transcript_of_java_is_the_same_as_itself() -> None:
    for each in java_transcripts().by_key.values():
        lanes = compared(each.exchanges, each.exchanges)
        assert {lane.verdict for lane in lanes} == {"same"}, each.script
        rows = [row for lane in lanes for row in lane.rows]
        assert sorted(map(str, each.exchanges)) == sorted(str(row.client) for row in rows), "no line is lost"


def test_planted_change_of_each_recorded_outcome_of_java_is_found() -> None:
    for each in java_transcripts().by_key.values():
        for number, line in enumerate(each.exchanges):
            if line.api not in {"Produce", "Fetch"} or line.partition < 0 or line.outcome != "ok":
                continue
            changed = list(each.exchanges)
            changed[number] = Exchange(*(getattr(line, name) for name in line.__struct_fields__[:-1]), "error 87 X")
            assert compared(changed, each.exchanges)[0].verdict == "differs", (each.script, number)
