from __future__ import annotations

import pytest

from kafka_reference.broker.append_checks import Origin
from kafka_reference.broker.append_info import ProducerAppendInfo
from kafka_reference.broker.batches import DataBatch, Marker
from kafka_reference.broker.behaviour import ProducerStateBehaviour
from kafka_reference.broker.entries import ProducerStateEntry
from kafka_reference.errors import InvalidTxnStateException, OutOfOrderSequenceException


def info(version: str, origin: Origin = Origin.CLIENT) -> ProducerAppendInfo:
    return ProducerAppendInfo(ProducerStateEntry(ProducerStateBehaviour.of(version), 7), origin, None)


def test_later_batch_of_a_request_with_sequence_gap_or_outside_open_transaction_throws() -> None:
    request = info("2.4.1")
    request.append(DataBatch(7, 0, 0, 3, 10, 0, transactional=True))
    request.append(DataBatch(7, 0, 3, 1, 13, 0, transactional=True))
    assert (request.started, request.updated.transaction, len(request.updated.batches)) == ([10], 10, 2)
    with pytest.raises(OutOfOrderSequenceException):
        request.append(DataBatch(7, 0, 9, 1, 14, 0, transactional=True))
    with pytest.raises(InvalidTxnStateException):
        request.append(DataBatch(7, 0, 4, 1, 14, 0))
    assert request.current.epoch == -1


@pytest.mark.parametrize(("version", "completes"), [("2.7.2", True), ("2.8.2", False)])
def test_marker_without_open_transaction_completes_empty_transaction_up_to_2_7(version: str, completes: bool) -> None:
    request = info(version, Origin.COORDINATOR)
    ended = request.append_marker(Marker(7, 0, 10, 5, True, 2))
    assert (ended is not None) is completes
    assert request.started == ([10] if completes else [])
    assert (request.updated.coordinator_epoch, request.updated.transaction) == (2, None)


def test_end_marker_in_0_11_moves_last_batch_to_marker_and_newer_epoch_resets_sequence() -> None:
    request = info("0.11.0.3")
    request.append(DataBatch(7, 0, 0, 3, 10, 0))
    request.append_marker(Marker(7, 0, 13, 5, True, 0))
    (note,) = request.updated.batches
    assert (note.first_sequence, note.last_sequence, note.first_offset) == (2, 2, 13)
    request.append_marker(Marker(7, 1, 14, 5, True, 0))
    assert request.updated.last_sequence == -1
