from __future__ import annotations

import pytest

from kafka_reference.broker.batches import DataBatch, Marker
from kafka_reference.broker.behaviour import ProducerStateBehaviour
from kafka_reference.broker.verification import VerificationStateEntry, ends_verification


@pytest.mark.parametrize(
    ("sequence", "epoch", "then"), [(3, 1, (3, 1)), (9, 1, (5, 1)), (9, 2, (9, 2)), (0, 0, (5, 1)), (5, 1, (5, 1))]
)
def test_transaction_verification_keeps_lowest_sequence_of_the_newest_producer_epoch(
    sequence: int, epoch: int, then: tuple[int, int]
) -> None:
    verified = VerificationStateEntry(0, 5, 1, supports_epoch_bump=False)
    verified.lower(sequence, epoch)
    assert (verified.lowest_sequence, verified.epoch) == then


@pytest.mark.parametrize(
    ("version", "bumps", "epoch", "ends"),
    [("3.9.2", True, 1, True), ("4.0.2", True, 1, False), ("4.0.2", True, 0, True), ("4.0.2", False, 1, True)],
)
def test_marker_of_same_epoch_keeps_verification_if_producer_supports_epoch_bump_since_4_0(
    version: str, bumps: bool, epoch: int, ends: bool
) -> None:
    marker = Marker(7, epoch, 0, 0, True, 0)
    assert ends_verification(ProducerStateBehaviour.of(version), marker, VerificationStateEntry(0, 5, 1, bumps)) is ends


def test_transactional_batch_ends_transaction_verification_and_plain_batch_does_not() -> None:
    verified, behaviour = VerificationStateEntry(0, 0, 0, supports_epoch_bump=True), ProducerStateBehaviour.of("4.4.0")
    assert ends_verification(behaviour, DataBatch(7, 0, 0, 1, 0, 0, transactional=True), verified)
    assert not ends_verification(behaviour, DataBatch(7, 0, 0, 1, 0, 0), verified)
    assert not ends_verification(behaviour, DataBatch(7, 0, 0, 1, 0, 0, transactional=True), None)
