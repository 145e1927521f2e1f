from __future__ import annotations

import pytest

from kafka_reference.broker.behaviour import ProducerStateBehaviour
from kafka_reference.broker.transactions import CompletedTxn, Transactions
from kafka_reference.errors import IllegalArgumentException


def test_completed_transaction_is_unstable_until_marker_is_replicated() -> None:
    transactions = Transactions(ProducerStateBehaviour.of("4.4.0"))
    transactions.start(7, 3)
    transactions.start(8, 5)
    assert transactions.complete(CompletedTxn(7, 3, 6, aborted=False)) == 5
    assert (transactions.first_unstable, transactions.first_undecided) == (3, 5)
    transactions.remove_replicated(6)
    assert transactions.first_unstable == 3
    transactions.remove_replicated(7)
    assert transactions.first_unstable == 5
    transactions.remove_ongoing({8})
    assert transactions.first_unstable is None


@pytest.mark.parametrize(("version", "stable"), [("2.2.0", 9), ("2.2.1", 7)])
def test_second_open_transaction_of_a_producer_holds_back_last_stable_offset_up_to_2_2_0(
    version: str, stable: int
) -> None:
    transactions = Transactions(ProducerStateBehaviour.of(version))
    transactions.start(7, 3)
    transactions.start(7, 9)
    assert transactions.complete(CompletedTxn(7, 3, 6, aborted=True)) == stable


def test_completing_a_transaction_that_was_not_started_throws() -> None:
    transactions = Transactions(ProducerStateBehaviour.of("4.4.0"))
    with pytest.raises(IllegalArgumentException):
        transactions.complete(CompletedTxn(7, 3, 6, aborted=False))
