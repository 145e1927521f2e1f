"""The state of a partition as its leader keeps it: offsets and the time are its own."""

from __future__ import annotations

import pytest

from kafka_reference.broker import AppendResult, ProducerState
from kafka_reference.errors import (
    InvalidProducerEpochException,
    OutOfOrderSequenceException,
    UnknownProducerIdException,
)


def test_repeated_batch_is_a_duplicate_with_the_original_offset() -> None:
    state = ProducerState()
    assert state.append(7, 0, 0, records=3) == AppendResult(0)
    assert state.append(7, 0, 3, records=2) == AppendResult(3)
    assert state.append(7, 0, 0, records=3) == AppendResult(0, duplicate=True)
    assert (state.end_offset, len(state.producers)) == (5, 1)


def test_broker_refuses_sequence_gap_older_epoch_and_in_2_4_1_an_unknown_producer() -> None:
    state = ProducerState("4.4.0")
    state.append(7, 1, 0)
    with pytest.raises(OutOfOrderSequenceException):
        state.append(7, 1, 5)
    with pytest.raises(InvalidProducerEpochException):
        state.append(7, 0, 1)
    assert state.end_offset == 1
    with pytest.raises(UnknownProducerIdException):
        ProducerState("2.4.1").append(7, 0, 5)


def test_open_transaction_keeps_producer_past_expiration_until_the_transaction_ends() -> None:
    state = ProducerState(expiration_ms=100)
    state.append(7, 0, 0, transactional=True)
    assert state.producers[0].transaction == 0
    state.now_ms = 150
    state.remove_expired()
    assert state.producers, "a producer with an open transaction is kept"
    assert state.end_transaction(7, 0) == AppendResult(1)
    assert state.producers[0].transaction is None
    state.now_ms = 250
    state.remove_expired()
    assert not state.producers
