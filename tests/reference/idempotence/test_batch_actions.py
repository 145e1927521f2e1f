from __future__ import annotations

from collections import Counter
from dataclasses import fields
from itertools import product

import pytest

from kafka_reference.accumulator.batches import Batch
from kafka_reference.accumulator.sizes import SizedRecord
from kafka_reference.idempotence import batch_actions
from kafka_reference.idempotence.batch_actions import (
    TABLE,
    Answer,
    BatchAction,
    SideEffect,
    Situation,
    answer_of,
    decide,
    matching_rows,
    situation_of,
)
from kafka_reference.idempotence.behaviour import SenderBehaviour
from kafka_reference.idempotence.errors import ErrorKind, produce_error, produce_errors
from kafka_reference.idempotence.transaction_manager import NoTransactionManager, TransactionManager
from kafka_reference.releases import parse_release

GAP, UNKNOWN, DUPLICATE = "OUT_OF_ORDER_SEQUENCE_NUMBER", "UNKNOWN_PRODUCER_ID", "DUPLICATE_SEQUENCE_NUMBER"
RETRIED, FAILED = (BatchAction.RETRIED, SideEffect.NOTHING), (BatchAction.FAILED, SideEffect.NOTHING)
BUMPED = (BatchAction.RETRIED, SideEffect.BUMP)
# One release of every combination of values that the behaviour records have for the table.
RELEASES = ("0.10.0.1", "0.11.0.3", "1.1.1", "2.0.1", "2.1.1", "2.2.2", "2.3.1", "2.4.1", "2.5.1", "4.4.0")
SITUATIONS = tuple(
    Situation(**dict(zip((fact.name for fact in fields(Situation)), values, strict=True)))
    for values in product((False, True), repeat=len(fields(Situation)))
)


def decided(
    release: str, error: str, *, place: int = 0, records: int = 1, log_start: int = -1, may_retry: bool = True,
    is_done: bool = False, unresolved: int | None = None, reset: bool = False, stale: bool = False, idempotent: bool = True,
    acknowledged: int = -1, last_offset: int = -1,
) -> tuple[BatchAction, SideEffect]:  # fmt: skip
    """Decide about the batch at a place of the two in flight."""
    at = parse_release(release)
    manager = TransactionManager(at) if idempotent else NoTransactionManager(at)
    manager.begin_initializing()
    manager.take_id(7, 0)
    batches = [Batch(at, ("t", 0), number, 0, 1000, SizedRecord(0, None, 4)) for number in range(2)]
    for batch in batches:
        for _ in range(records - 1):
            batch.append(SizedRecord(0, None, 4), 0)
        if idempotent:
            manager.number(batch, False)
        batch.close()
    if idempotent:
        manager.partitions["t", 0].last_acknowledged = acknowledged
        manager.partitions["t", 0].last_offset = last_offset
    if unresolved is not None:
        manager.unresolved["t", 0] = unresolved
    if reset:
        batches[place].renumber((7, 0), 0)
    if stale:
        manager.current = (8, 0)
    situation = situation_of(
        batches[place], manager, log_start, sender=SenderBehaviour.of(at), may_retry=may_retry, is_done=is_done
    )
    return decide(answer_of(produce_error(at, error)), situation)


@pytest.mark.parametrize("answer", Answer)
def test_batch_action_table_has_exactly_one_row_for_each_response_and_producer_state(answer: Answer) -> None:
    counts = Counter(len(matching_rows(answer, situation)) for situation in SITUATIONS)
    assert counts == {1: 2 ** len(fields(Situation))}


def test_every_row_of_the_batch_action_table_matches_some_response_and_producer_state() -> None:
    rows = {id(row) for answer in Answer for situation in SITUATIONS for row in matching_rows(answer, situation)}
    assert len(rows) == len(TABLE.strip().splitlines())


def test_docstring_of_situation_class_names_every_condition_of_the_batch_action_table() -> None:
    documented = Situation.__doc__ or ""
    assert all(f"``{fact.name}``" in documented and fact.name in TABLE for fact in fields(Situation))


@pytest.mark.parametrize(
    "line", ["retriable             may_retyr   retried    -", "surprise              always   retried    -"]
)
def test_batch_action_row_with_misspelt_response_or_condition_raises_value_error(line: str) -> None:
    with pytest.raises(ValueError, match=r"may_retyr|surprise"):
        batch_actions._row(line)


@pytest.mark.parametrize("release", RELEASES)
def test_produce_errors_and_producer_states_lead_to_every_batch_action_of_the_release(release: str) -> None:
    """One error stands for all that the table treats alike."""
    errors = {answer_of(error): name for name, error in produce_errors(release).items()}
    actions = Counter(
        decided(
            release, error, place=place, records=records, log_start=log_start, may_retry=may_retry, is_done=is_done,
            unresolved=unresolved, reset=reset, stale=stale, idempotent=idempotent,
        )[0]
        for error in errors.values()
        for place, records, log_start, may_retry, is_done, unresolved, reset, stale, idempotent in product(
            (0, 1), (1, 2), (-1, 0), (True, False), (True, False), (None, 1), (True, False), (True, False), (True, False)
        )
    )  # fmt: skip
    expected = {BatchAction.COMPLETED, BatchAction.RETRIED, BatchAction.FAILED}
    expected |= {BatchAction.SPLIT} if parse_release(release) >= parse_release("0.11.0.0") else set()
    drops = parse_release("0.11.0.0") <= parse_release(release) < parse_release("2.5.0")
    assert set(actions) == expected | ({BatchAction.DROPPED} if drops else set())


@pytest.mark.parametrize("release", RELEASES)
def test_only_success_and_since_1_0_duplicate_sequence_error_complete_a_batch(release: str) -> None:
    completing = {
        name for name in produce_errors(release) if decided(release, name)[0] is BatchAction.COMPLETED
    }  # fmt: skip
    assert completing == {"NONE"} | ({DUPLICATE} if parse_release(release) >= parse_release("1.0.0") else set())


@pytest.mark.parametrize("release", RELEASES)
def test_error_of_batch_without_idempotence_is_retried_only_if_retriable(release: str) -> None:
    for name, error in produce_errors(release).items():
        if name not in {"NONE", DUPLICATE, "MESSAGE_TOO_LARGE"}:
            expected = RETRIED if error.kind is ErrorKind.RETRIABLE else FAILED
            assert decided(release, name, idempotent=False) == expected


@pytest.mark.parametrize("release", ["0.10.0.1", "1.1.1", "2.4.1", "4.4.0"])
def test_batch_completes_on_success_is_retried_on_retriable_error_with_retries_left_else_fails(release: str) -> None:
    assert decided(release, "NONE") == (BatchAction.COMPLETED, SideEffect.NOTHING)
    assert decided(release, "NOT_ENOUGH_REPLICAS", idempotent=False) == RETRIED
    assert decided(release, "NOT_ENOUGH_REPLICAS", may_retry=False) == FAILED
    assert decided(release, "INVALID_TIMESTAMP") == FAILED


@pytest.mark.parametrize(
    ("release", "found"),
    [("1.1.1", BatchAction.DROPPED), ("2.4.1", BatchAction.DROPPED), ("2.5.1", BatchAction.RETRIED)],
)
def test_retriable_error_of_stale_producer_id_drops_batch_up_to_2_4(release: str, found: BatchAction) -> None:
    assert decided(release, "NOT_ENOUGH_REPLICAS", stale=True) == (found, SideEffect.NOTHING)


@pytest.mark.parametrize(
    ("release", "first", "second"),
    [("0.11.0.3", FAILED, FAILED), ("1.1.1", FAILED, RETRIED), ("2.4.1", FAILED, RETRIED), ("4.4.0", BUMPED, RETRIED)],
)
def test_sequence_gap_fails_first_batch_up_to_2_4_and_later_ones_only_in_0_11(
    release: str, first: tuple[BatchAction, SideEffect], second: tuple[BatchAction, SideEffect]
) -> None:
    assert decided(release, GAP) == first
    assert decided(release, GAP, place=1) == second


def test_out_of_order_sequence_of_renumbered_batch_is_retried() -> None:
    assert decided("2.4.1", GAP, reset=True) == RETRIED
    assert decided("4.4.0", GAP, reset=True) == RETRIED


def test_out_of_order_error_at_unresolved_sequence_fails_in_2_4_and_bumps_epoch_later() -> None:
    assert decided("2.4.1", GAP, place=1, unresolved=1) == FAILED
    assert decided("4.4.0", GAP, place=1, unresolved=1) == BUMPED
    assert decided("4.4.0", GAP, place=1, unresolved=2) == RETRIED


@pytest.mark.parametrize(
    ("release", "found"), [("2.4.1", (BatchAction.RETRIED, SideEffect.RESTART)), ("4.4.0", BUMPED)]
)
def test_unknown_producer_id_with_log_start_restarts_sequences_in_2_4_and_bumps_epoch_later(
    release: str, found: tuple[BatchAction, SideEffect]
) -> None:
    assert decided(release, UNKNOWN, log_start=-1) == RETRIED
    assert decided(release, UNKNOWN, log_start=0) == found
    assert decided(release, UNKNOWN, log_start=0, reset=True) == RETRIED
    assert decided("2.4.1", UNKNOWN, log_start=0, stale=True) == FAILED


def test_unknown_producer_id_fails_batch_in_2_4_unless_log_start_passed_last_offset() -> None:
    assert decided("2.4.1", UNKNOWN, log_start=5, last_offset=5) == FAILED
    assert decided("2.4.1", UNKNOWN, log_start=6, last_offset=5) == (BatchAction.RETRIED, SideEffect.RESTART)


@pytest.mark.parametrize(
    ("release", "found"),
    [("0.11.0.3", BatchAction.RETRIED), ("1.0.0", BatchAction.COMPLETED), ("4.4.0", BatchAction.COMPLETED)],
)
def test_duplicate_sequence_error_is_retried_in_0_11_and_completes_since_1_0(release: str, found: BatchAction) -> None:
    assert decided(release, DUPLICATE) == (found, SideEffect.NOTHING)


def test_message_too_large_splits_several_records_since_0_11_unless_batch_is_done_since_2_1() -> None:
    assert decided("4.4.0", "MESSAGE_TOO_LARGE", records=2, may_retry=False) == (BatchAction.SPLIT, SideEffect.NOTHING)
    assert decided("4.4.0", "MESSAGE_TOO_LARGE") == FAILED
    assert decided("0.10.0.1", "MESSAGE_TOO_LARGE", records=2) == FAILED
    assert decided("2.0.1", "MESSAGE_TOO_LARGE", records=2, is_done=True) == (BatchAction.SPLIT, SideEffect.NOTHING)
    assert decided("2.1.1", "MESSAGE_TOO_LARGE", records=2, is_done=True) == FAILED
