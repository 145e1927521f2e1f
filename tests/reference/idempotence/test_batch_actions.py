from __future__ import annotations

import pytest

from kafka_reference.accumulator.batches import Batch
from kafka_reference.accumulator.sizes import SizedRecord
from kafka_reference.idempotence.batch_actions import BatchAction, SideEffect, fate
from kafka_reference.idempotence.errors import produce_error
from kafka_reference.idempotence.transaction_manager import TransactionManager
from kafka_reference.releases import parse_release

GAP, UNKNOWN, DUPLICATE = "OUT_OF_ORDER_SEQUENCE_NUMBER", "UNKNOWN_PRODUCER_ID", "DUPLICATE_SEQUENCE_NUMBER"
RETRIED, FAILED = (BatchAction.RETRIED, SideEffect.NOTHING), (BatchAction.FAILED, SideEffect.NOTHING)
BUMPED = (BatchAction.RETRIED, SideEffect.BUMP)


def decided(
    at: str, error: str, *, place: int = 0, records: int = 1, log_start: int = -1, may_retry: bool = True,
    has_ended: bool = False, unresolved: int | None = None, reset: bool = False, stranger: bool = False,
    idempotent: bool = True,
) -> tuple[BatchAction, SideEffect]:  # fmt: skip
    """What becomes of the batch at a place of those in flight."""
    manager = TransactionManager(parse_release(at))
    manager.state = "INITIALIZING" if parse_release(at) >= parse_release("2.5.0") else manager.state
    manager.take_id(7, 0)
    batches = [Batch(parse_release(at), ("t", 0), number, 0, 1000, SizedRecord(0, None, 4)) for number in range(2)]
    for batch in batches:
        for _ in range(records - 1):
            batch.append(SizedRecord(0, None, 4), 0)
        manager.number(batch, False)
        batch.close()
    if unresolved is not None:
        manager.unresolved[("t", 0)] = unresolved
    if reset:
        batches[place].renumber((7, 0), 0)
    if stranger:
        manager.current = (8, 0)
    return fate(
        parse_release(at), produce_error(at, error), batches[place], manager if idempotent else None, log_start, may_retry,
        has_ended,
    )  # fmt: skip


@pytest.mark.parametrize("at", ["0.10.0.1", "1.1.1", "2.4.1", "4.4.0"])
def test_the_plain_errors(at: str) -> None:
    assert decided(at, "NONE") == (BatchAction.COMPLETED, SideEffect.NOTHING)
    assert decided(at, "NOT_ENOUGH_REPLICAS", idempotent=False) == RETRIED
    assert decided(at, "NOT_ENOUGH_REPLICAS", may_retry=False) == FAILED
    assert decided(at, "INVALID_TIMESTAMP") == FAILED


@pytest.mark.parametrize(
    ("at", "found"), [("1.1.1", BatchAction.DROPPED), ("2.4.1", BatchAction.DROPPED), ("2.5.1", BatchAction.RETRIED)]
)
def test_a_retry_for_another_producer(at: str, found: BatchAction) -> None:
    assert decided(at, "NOT_ENOUGH_REPLICAS", stranger=True) == (found, SideEffect.NOTHING)


@pytest.mark.parametrize(
    ("at", "first", "second"),
    [("0.11.0.3", FAILED, FAILED), ("1.1.1", FAILED, RETRIED), ("2.4.1", FAILED, RETRIED), ("4.4.0", BUMPED, RETRIED)],
)
def test_out_of_order(at: str, first: tuple[BatchAction, SideEffect], second: tuple[BatchAction, SideEffect]) -> None:
    assert decided(at, GAP) == first
    assert decided(at, GAP, place=1) == second


def test_out_of_order_and_numbered_anew_since() -> None:
    assert decided("2.4.1", GAP, reset=True) == RETRIED
    assert decided("4.4.0", GAP, reset=True) == RETRIED


def test_out_of_order_in_an_unresolved_partition() -> None:
    assert decided("2.4.1", GAP, place=1, unresolved=1) == FAILED
    assert decided("4.4.0", GAP, place=1, unresolved=1) == BUMPED
    assert decided("4.4.0", GAP, place=1, unresolved=2) == RETRIED


@pytest.mark.parametrize(("at", "found"), [("2.4.1", (BatchAction.RETRIED, SideEffect.RESTART)), ("4.4.0", BUMPED)])
def test_an_unknown_producer(at: str, found: tuple[BatchAction, SideEffect]) -> None:
    assert decided(at, UNKNOWN, log_start=-1) == RETRIED
    assert decided(at, UNKNOWN, log_start=0) == found
    assert decided(at, UNKNOWN, log_start=0, reset=True) == RETRIED
    assert decided("2.4.1", UNKNOWN, log_start=0, stranger=True) == FAILED


@pytest.mark.parametrize(
    ("at", "found"),
    [("0.11.0.3", BatchAction.RETRIED), ("1.0.0", BatchAction.COMPLETED), ("4.4.0", BatchAction.COMPLETED)],
)
def test_duplicates(at: str, found: BatchAction) -> None:
    assert decided(at, DUPLICATE) == (found, SideEffect.NOTHING)


def test_too_large() -> None:
    assert decided("4.4.0", "MESSAGE_TOO_LARGE", records=2, may_retry=False) == (BatchAction.SPLIT, SideEffect.NOTHING)
    assert decided("4.4.0", "MESSAGE_TOO_LARGE") == FAILED
    assert decided("0.10.0.1", "MESSAGE_TOO_LARGE", records=2) == FAILED
    assert decided("2.0.1", "MESSAGE_TOO_LARGE", records=2, has_ended=True) == (BatchAction.SPLIT, SideEffect.NOTHING)
    assert decided("2.1.1", "MESSAGE_TOO_LARGE", records=2, has_ended=True) == FAILED
