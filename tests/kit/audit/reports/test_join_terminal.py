from __future__ import annotations

import io
from typing import Any

import msgspec
from rich.console import Console

from kafka_conformance.audit.isolation import Reading
from kafka_conformance.audit.join_result import Join, JoinFraming, JoinSide, KeyInPartition, MissedKey, MissedLogicalKey
from kafka_conformance.audit.reports import join_terminal
from kafka_conformance.audit.result import FormPlace, Place

_A = JoinSide("A", 3, 100, 1, 40, 0, 0, 5, 0)
_B = JoinSide("B\x1b", 3, 100, 0, 40, 4, 6, 6, 2)
_KEY = MissedKey(
    "6b31", False, 11, (1, 1), (KeyInPartition(1, 5, Place(1, 1, 0)),), (KeyInPartition(0, 6, Place(1, 0, 0)),)
)
_MISSED = Join(_A, _B, "murmur2", 30, 2, 1, 0, 100, 60, (_KEY,), "0", 1.0)


def _printed(**changes: Any) -> str:
    out = io.StringIO()
    join_terminal.show(Console(file=out, width=200, highlight=False), msgspec.structs.replace(_MISSED, **changes))
    return out.getvalue()


def test_join_report_names_missed_keys_and_counts_missed_pairs_and_misplaced_records() -> None:
    report = _printed()
    assert "'k1'" in report
    assert "off murmur2 for 4 keys, 6 records; 2 missed keys of these" in report
    assert (
        "misses 2 keys of 30 keys in both topics, 1 of them entirely; 60 of 100 pairs of records"
        in report.splitlines()[-1]
    )
    assert "\x1b" not in report


def test_join_report_states_offsets_without_records_or_after_last_stable_offset() -> None:
    report = _printed(reading=(Reading("read_committed", 10, 0, 0), Reading("read_committed", 120, 20, 7)))
    assert "20 of 120 offsets gave no record: of aborted transactions" in report
    assert "7 offsets after the last stable offset are not read" in report


def test_join_report_without_missed_keys_states_that_no_key_is_missed() -> None:
    assert "a join misses no key" in _printed(keys_missed=0, keys_never=0, pairs_missed=0, missed=()).splitlines()[-1]


def test_join_report_of_different_partition_counts_states_that_kafka_streams_rejects_the_join() -> None:
    other = {"keys_missed": 0, "pairs_missed": 0, "missed": (), "b": msgspec.structs.replace(_B, partitions=4)}
    report = _printed(**other)
    assert "Kafka Streams rejects the join" in report
    assert "misses no key" not in report
    assert not msgspec.structs.replace(_MISSED, **other).whole


def test_join_report_prints_binary_keys_as_hex() -> None:
    report = _printed(missed=(msgspec.structs.replace(_KEY, key="ff1b"),))
    assert "0xff1b" in report


def test_join_report_names_logical_keys_missed_by_different_schema_ids_or_states_none() -> None:
    places = FormPlace("schema id 7", Place(1, 2, 0), 5), FormPlace("schema id 9", Place(1, 4, 0), 6)
    worst = MissedLogicalKey(b"user".hex(), True, 30, places[:1], places[1:])
    framing = JoinFraming("confluent", 20, 3, 10, 4, 1, 90, 30, (worst,))
    whole = {"keys_missed": 0, "keys_never": 0, "pairs_missed": 0, "missed": ()}
    lines = _printed(framing=framing, **whole).splitlines()
    missed = "a join misses 4 logical keys because of different frames, 1 of them entirely"
    assert lines[-3] == f"{missed}; 30 of 90 pairs of records in different frames; 3 keys without confluent"
    first, second = "schema id 7 in partition 2 (5) in the first", "schema id 9 in partition 4 (6) in the second"
    assert lines[-2] == f"  'user': {first}, {second}"
    assert lines[-1].startswith("a join misses no key for another reason: 30 keys in both topics")
    assert not msgspec.structs.replace(_MISSED, framing=framing, **whole).whole
    nothing = msgspec.structs.replace(framing, missed=0, never=0, pairs_missed=0, worst=())
    report = _printed(framing=nothing, **whole)
    assert "none is missed because of different frames: 10 logical keys in both topics" in report
    assert report.splitlines()[-1].startswith("a join misses no key: ")
    assert msgspec.structs.replace(_MISSED, framing=nothing, **whole).whole


def test_join_report_prints_the_note_that_only_a_window_of_records_was_read() -> None:
    assert "only the records of a window are judged" in _printed(notes=("only the records of a window are judged",))
