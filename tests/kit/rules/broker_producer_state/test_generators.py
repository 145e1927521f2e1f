from __future__ import annotations

from kafka_conformance.rules.broker_producer_state.generators import snapshot_file, spelled_broker_history
from kafka_conformance.rules.broker_producer_state.question import AppendStep, LoadStep, LookStep, ReloadStep
from kafka_reference.broker.behaviour import ProducerStateBehaviour
from kafka_reference.broker.snapshots import read_snapshot


def test_history_generated_from_empty_or_zero_bytes_only_inspects_the_producer_state() -> None:
    assert spelled_broker_history(b"").steps == (LookStep(),)
    assert spelled_broker_history(bytes(60)).steps == (LookStep(),)


def test_generated_appends_of_a_producer_have_consecutive_sequences() -> None:
    *steps, _ = spelled_broker_history(bytes((0, 0, 0, 0, 1, 2, 1))).steps
    assert [(step.first_sequence, step.records) for step in steps] == [(0, 1), (1, 3), (4, 1)]
    assert {step.producer_id for step in steps} == {7}


def test_generated_history_loads_snapshot_at_offset_100_and_wraps_sequence_to_0() -> None:
    load, opened, append, _ = spelled_broker_history(bytes((0, 0, 2, 0, 1))).steps
    assert isinstance(load, LoadStep)
    assert isinstance(opened, ReloadStep)
    assert isinstance(append, AppendStep)
    assert append.first_sequence == 0, "the one after 2**31 - 1"
    assert load.offset == 100


def test_generated_histories_load_over_90_distinct_malformed_snapshot_files() -> None:
    files = set()
    for number in range(107):
        load, opened, _ = spelled_broker_history(bytes((0, 0, 4, number))).steps
        assert isinstance(load, LoadStep)
        assert isinstance(opened, ReloadStep)
        files.add(load.bytes)
    assert len(files - {snapshot_file((7, 8, 23, 39), 5)}) > 90


def test_generated_snapshot_file_decodes_to_four_producers_and_a_transaction() -> None:
    entries = read_snapshot(ProducerStateBehaviour.of("4.4.0"), bytes.fromhex(snapshot_file((7, 8, 23, 39), 5)))
    assert [(entry.producer_id, entry.epoch, len(entry.batches)) for entry in entries] == [
        (7, 0, 1),
        (8, 1, 1),
        (23, 2, 1),
        (39, 3, 0),
    ]
    assert entries[2].transaction == 88
