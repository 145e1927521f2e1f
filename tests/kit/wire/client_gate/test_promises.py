"""The judges of what is stored and delivered: each kind of mistake is found, and nothing is found without one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import msgspec
import pytest

pytest.importorskip("kafka")

from kafka_conformance.wire.client_gate.log import LogRecord
from kafka_conformance.wire.client_gate.promises import KINDS, ResultLine, Results, judge_consumer, judge_producer
from kafka_conformance.wire.client_gate.script import Script, Settings
from kafka_conformance.wire.client_gate.workload import Record
from kafka_reference.partitioning import partition_for_key

IDEMPOTENT = Settings(idempotence=True)
RECORDS = [Record(number, None, f"{number} v") for number in range(4)]
LOG = [LogRecord(0, number, None, f"{number} v".encode()) for number in range(4)]
LINES = [ResultLine(number, 0, number) for number in range(4)]
SCRIPT = Script("a", "b", IDEMPOTENT, 1, lose_response=("Produce=1",))


def kinds(
    script: Script = SCRIPT, lines: list[ResultLine] = LINES, log: list[LogRecord] = LOG, records: Any = RECORDS
) -> list[str]:
    return [one.kind for one in judge_producer(script, records, Results(lines), log)]


def changed(script: Script, **fields: Any) -> Script:
    return msgspec.structs.replace(script, **fields)


def test_producer_records_stored_as_acknowledged_give_no_finding() -> None:
    assert kinds() == []


def test_acknowledged_record_missing_in_the_log_is_found_as_lost_unless_acks_is_0() -> None:
    assert kinds(log=LOG[:3]) == ["lost"]
    assert kinds(changed(SCRIPT, settings=Settings(acks="0")), log=LOG[:3]) == []


def test_record_reported_as_failed_is_a_finding_unless_java_fails_in_that_script_too() -> None:
    lines = [*LINES[:3], ResultLine(3, error="timed out")]
    assert kinds(lines=lines, log=LOG[:3]) == ["failed"]
    assert kinds(lines=lines) == ["failed"]
    assert kinds(changed(SCRIPT, java_fails=True), lines=lines, log=LOG[:3]) == []


def test_failed_record_refused_as_too_large_in_a_batch_of_one_record_gives_no_finding() -> None:
    failed = [*LINES[:2], ResultLine(2, error="too large"), ResultLine(3, error="too large")]
    (found,) = judge_producer(SCRIPT, RECORDS, Results(failed), LOG, {b"2 v"})
    assert (found.kind, found.what) == ("failed", "record 3: too large")
    assert list(judge_producer(SCRIPT, RECORDS, Results(failed), LOG, {b"2 v", b"3 v"})) == []


def test_record_stored_at_other_offset_or_partition_than_the_client_reported_is_found() -> None:
    assert kinds(lines=[*LINES[:3], ResultLine(3, 0, 7)]) == ["stored-elsewhere"]
    assert kinds(lines=[*LINES[:3], ResultLine(3, 1, 3)]) == ["stored-elsewhere"]
    assert kinds(lines=[*LINES[:3], ResultLine(3)]) == []
    assert kinds(lines=[*LINES[:3], ResultLine(3, 0, None)]) == []


def test_record_stored_in_other_partition_than_the_workload_names_is_found() -> None:
    assert kinds(records=[*RECORDS[:3], replace(RECORDS[3], partition=1)]) == ["stored-elsewhere"]


def test_record_stored_twice_is_found_unless_a_connection_was_lost_without_idempotence() -> None:
    log = [*LOG, LogRecord(0, 4, None, b"3 v")]
    assert kinds(log=log) == ["stored-twice"]
    plain = changed(SCRIPT, settings=Settings(in_flight=1))
    assert kinds(plain, log=log) == []
    assert kinds(changed(plain, lose_response=(), refuse=("Produce=1:6",)), log=log) == ["stored-twice"]


def test_reordering_without_pipelined_non_idempotent_retries_is_found_but_harmless_if_declared_unordered() -> None:
    log = [replace(LOG[0], value=b"1 v"), replace(LOG[1], value=b"0 v"), *LOG[2:]]
    lines = [ResultLine(0, 0, 1), ResultLine(1, 0, 0), *LINES[2:]]
    assert kinds(lines=lines, log=log) == ["stored-out-of-order"]
    assert kinds(changed(SCRIPT, settings=Settings(in_flight=5)), lines=lines, log=log) == []
    assert kinds(changed(SCRIPT, settings=Settings(in_flight=1)), lines=lines, log=log) == ["stored-out-of-order"]
    assert kinds(changed(SCRIPT, settings=Settings(), lose_response=()), lines=lines, log=log) == [
        "stored-out-of-order"
    ]
    (found,) = judge_producer(SCRIPT, RECORDS, Results([*lines, ResultLine(order=False)]), log)
    assert (found.kind, found.harmless) == ("stored-out-of-order", True)


def test_record_of_unsent_value_or_key_is_found_altered_and_the_replaced_one_lost() -> None:
    assert kinds(log=[*LOG, LogRecord(0, 4, None, b"9 x")]) == ["stored-altered"]
    assert kinds(log=[*LOG[:3], replace(LOG[3], key=b"")]) == ["lost", "stored-altered"][::-1]


def test_key_outside_java_default_partition_is_found_only_in_script_that_judges_keys() -> None:
    records, script = [Record(0, "key", "0 v")], changed(SCRIPT, partitions=7)
    logs = {partition: [LogRecord(partition, 0, b"key", b"0 v")] for partition in range(7)}
    judged = {at: kinds(changed(script, judges_keys=True), [ResultLine(0)], log, records) for at, log in logs.items()}
    right = partition_for_key(b"key", 7)
    assert judged == {at: [] if at == right else ["key-elsewhere"] for at in range(7)}
    assert all(kinds(script, [ResultLine(0)], log, records) == [] for log in logs.values())


GIVEN = [ResultLine(partition=0, offset=number, value=f"{number} v") for number in range(4)]
READ = Script("a", "b", Settings(isolation="read_committed"), 1, stored="transactions", consume=(4,))


def read(lines: list[ResultLine] = GIVEN, committed: int = 4, records: list[Record] = RECORDS) -> list[str]:
    return [one.kind for one in judge_consumer(READ, records, Results(lines), LOG, {0: committed})]


def test_consumed_records_once_in_order_and_committed_give_no_finding() -> None:
    assert read() == []
    assert read(committed=9) == []


@pytest.mark.parametrize(
    ("change", "committed", "found"),
    [
        (lambda lines: lines[:3], 3, ["not-delivered"]),
        (lambda lines: lines[:3], 4, ["not-delivered", "commit-beyond"]),
        (lambda lines: [*lines, lines[0]], 4, ["delivered-twice"]),
        (lambda lines: [*lines[:3], lines[0]], 3, ["delivered-twice"]),  # it ended at the count of 4
        (
            lambda lines: [*lines[:3], ResultLine(partition=1, offset=0, value="marker")],
            3,
            ["delivered-hidden", "commit-behind"],
        ),
        (lambda lines: [*lines[:2], lines[3], lines[0]], 4, ["delivered-twice", "not-delivered", "commit-beyond"]),
        (lambda lines: [*lines[:3], lines[0]], 4, ["delivered-twice", "commit-beyond"]),
        (lambda lines: [lines[1], lines[0], *lines[2:]], 4, ["delivered-out-of-order"]),
        (lambda lines: [*lines, ResultLine(partition=0, offset=8, value="x")], 9, ["delivered-hidden"]),
        (lambda lines: [*lines[:3], ResultLine(partition=0, offset=3, value="x")], 4, ["delivered-hidden"]),
        (lambda lines: lines, 3, ["commit-behind"]),
        (lambda lines: lines, -1, ["commit-behind"]),
        (lambda lines: [*lines, ResultLine(error="commit failed")], 4, ["failed"]),
    ],
)
def test_consumer_that_skips_repeats_reorders_invents_or_miscommits_records_or_reports_error_is_found(
    change: Callable[[list[ResultLine]], list[ResultLine]], committed: int, found: list[str]
) -> None:
    assert read(change(GIVEN), committed) == found


def test_unfinished_consumer_is_judged_only_for_records_skipped_before_the_last_received_one() -> None:
    found = judge_consumer(READ, RECORDS, Results([GIVEN[0], GIVEN[2]]), LOG, {0: 2}, ended=False)
    assert [(one.kind, one.what) for one in found] == [
        ("not-delivered", "0@1"),
        ("commit-beyond", "0@1 is skipped: 2 is committed"),
    ]


def test_delivery_of_aborted_record_is_found_for_read_committed_but_not_for_read_uncommitted() -> None:
    records = [*RECORDS[:3], replace(RECORDS[3], hidden=True)]
    assert read(records=records) == ["delivered-hidden"]
    assert read(GIVEN[:3], 4, records) == []
    uncommitted = changed(READ, settings=Settings())
    assert [one.kind for one in judge_consumer(uncommitted, records, Results(GIVEN), LOG, {0: 4})] == []


def test_every_kind_of_finding_has_a_sentence_on_the_meaning() -> None:
    assert len(KINDS) > 10
    assert all(len(meaning.split()) > 3 and meaning.endswith(".") for meaning in KINDS.values())
