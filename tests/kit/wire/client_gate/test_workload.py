"""Workloads: what an adapter is given, and what a consumer finds."""

from __future__ import annotations

import pytest

pytest.importorskip("kafka")

from kafka_conformance.wire.client_gate.script import Script, shipped
from kafka_conformance.wire.client_gate.workload import workload_of


def test_workload_sends_every_record_and_flushes_after_each_round() -> None:
    workload = workload_of(Script("a", "b", rounds=2, records=3, keys=2), 1)
    assert [line.get("send", "flush") for line in workload.lines] == [0, 1, 2, "flush", 3, 4, 5, "flush"]
    assert all(record.value.startswith(f"{record.number} ") for record in workload.records)
    assert all(record.key is not None for record in workload.records)
    assert workload.case.steps == []


def test_warm_up_sends_one_record_to_each_partition_and_flushes_after_each_record() -> None:
    lines = workload_of(Script("a", "b", partitions=2, warm_up=True, rounds=1, records=2), 1).lines
    assert [line.get("partition", line.get("flush")) for line in lines] == [0, True, 1, True, None, None, True]


def test_workload_of_script_with_empty_key_option_has_a_record_with_the_empty_key() -> None:
    keys = {record.key for record in workload_of(Script("a", "b", keys=2, empty_key=True), 1).records}
    assert "" in keys


def test_workload_is_equal_for_equal_seeds_and_has_other_records_for_another_seed() -> None:
    script = Script("a", "b", keys=5)
    assert workload_of(script, 3) == workload_of(script, 3)
    assert workload_of(script, 3).records != workload_of(script, 4).records


@pytest.mark.parametrize("script", [each for each in shipped() if each.stored], ids=lambda each: str(each.id))
def test_last_consume_count_of_a_shipped_script_equals_the_number_of_visible_records(script: Script) -> None:
    workload = workload_of(script, 1)
    committed = script.settings.isolation == "read_committed"
    assert script.consume[-1] == sum(not (record.hidden and committed) for record in workload.records)
    assert [line["consume"] for line in workload.lines] == list(script.consume)


def test_transaction_workload_hides_some_records_and_ends_transactions_by_commit_or_abort() -> None:
    workload = workload_of(Script("a", "b", stored="transactions", consume=(60,)), 1)
    assert {record.hidden for record in workload.records} == {True, False}
    ends = [step.request["committed"] for step in workload.case.steps if step.api == "EndTxn"]
    assert ends == [True, False, True, True, False, True]
