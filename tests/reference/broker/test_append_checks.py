"""The table, over its whole product, in every era; and a refused batch changes nothing."""

from __future__ import annotations

from itertools import product

import pytest

from kafka_reference.broker.append_checks import Epoch, NotInTheTable, Origin, Sequence, decided, table_of
from kafka_reference.broker.batches import DataBatch, Marker
from kafka_reference.broker.producer_state import ProducerState
from kafka_reference.errors import (
    InvalidProducerEpochException,
    InvalidTxnStateException,
    JavaException,
    OutOfOrderSequenceException,
    ProducerFencedException,
    UnknownProducerIdException,
)
from kafka_reference.releases import parse_release

ERAS = ("0.11.0.3", "1.1.1", "2.0.0", "2.0.1", "2.4.1", "2.5.1", "2.6.3", "2.7.2", "4.4.0")


@pytest.mark.parametrize("version", ERAS)
def test_every_two_facts_are_decided_or_cannot_both_be(version: str) -> None:
    at = parse_release(version)
    impossible = {(epoch, fact) for epoch in (Epoch.FIRST, Epoch.NEWER) for fact in (Sequence.AGAIN, Sequence.GAP)}
    for epoch, sequence in product(Epoch, Sequence):
        if (epoch, sequence) in impossible:
            with pytest.raises(NotInTheTable):
                decided(at, epoch, sequence)
        else:
            refused = decided(at, epoch, sequence)
            assert refused is None or issubclass(refused, JavaException)
            assert table_of(at)[epoch, sequence] is refused


@pytest.mark.parametrize("version", ERAS)
def test_the_next_sequence_of_a_current_epoch_is_written_and_an_older_epoch_is_not(version: str) -> None:
    at = parse_release(version)
    for epoch in Epoch:
        refused = decided(at, epoch, Sequence.NEXT)
        assert (refused is None) == (epoch is not Epoch.OLDER)
    expected = InvalidProducerEpochException if at >= parse_release("2.7.0") else ProducerFencedException
    assert {decided(at, Epoch.OLDER, sequence) for sequence in Sequence} == {expected}


@pytest.mark.parametrize(
    ("version", "refused"),
    [("1.1.1", UnknownProducerIdException), ("2.4.1", UnknownProducerIdException), ("2.5.1", None), ("4.4.0", None)],
)
def test_an_unknown_producer_that_does_not_begin_at_0(version: str, refused: type[JavaException] | None) -> None:
    state = ProducerState(version, 1000)
    batch = DataBatch(7, 0, 5, 1, 0, 0)
    if refused is None:
        state.append([batch], Origin.CLIENT)
        assert state.end == 1
    else:
        with pytest.raises(refused):
            state.append([batch], Origin.CLIENT)


def seen(state: ProducerState) -> object:
    entry = state.producers.get(7)
    assert entry is not None
    transactions = state.transactions.first_unstable, state.transactions.first_undecided
    return entry.epoch, tuple(entry.batches), entry.timestamp, entry.transaction, entry.coordinator_epoch, transactions


@pytest.mark.parametrize("version", ERAS)
def test_what_is_refused_leaves_everything_as_it_was(version: str) -> None:
    refusals = set()
    for origin, epoch, first, transactional in product(Origin, (2, 3, 4), (0, 1, 3, 4, 9), (False, True)):
        state = ProducerState(version, 1000)
        state.append([DataBatch(7, 3, 0, 3, 0, 5, transactional=True)], Origin.CLIENT)
        before = seen(state)
        try:
            state.append([DataBatch(7, epoch, first, 1, 3, 9, transactional)], origin)
        except JavaException as refused:
            refusals.add(type(refused))
            assert seen(state) == before
            assert state.end == 3
    assert {OutOfOrderSequenceException, InvalidTxnStateException} < refusals


@pytest.mark.parametrize(("version", "allowed"), [("4.1.2", True), ("4.2.2", False), ("4.3.1", True)])
def test_the_highest_epoch_may_end_its_transaction(version: str, allowed: bool) -> None:
    state = ProducerState(version, 1000)
    state.append([DataBatch(7, 32767, 0, 1, 0, 0, transactional=True)], Origin.CLIENT)
    marker = Marker(7, 32767, 1, 0, True, 0, transaction_version=2)
    if allowed:
        state.append([marker], Origin.COORDINATOR)
        assert state.transactions.first_undecided is None
    else:
        with pytest.raises(InvalidProducerEpochException):
            state.append([marker], Origin.COORDINATOR)
