"""The append table beside Java's order of checks, over concrete states in every release; a refusal changes nothing."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import pytest

from kafka_reference.broker.append_checks import (
    Origin,
    UnreachableCombination,
    append_verdict,
    check_data,
    epoch_relation,
    sequence_relation,
)
from kafka_reference.broker.append_info import ProducerAppendInfo
from kafka_reference.broker.append_table import EpochRelation, SequenceRelation, Verdict
from kafka_reference.broker.batches import DataBatch, Marker
from kafka_reference.broker.behaviour import ProducerStateBehaviour
from kafka_reference.broker.entries import ProducerStateEntry
from kafka_reference.broker.producer_state import ProducerStateManager
from kafka_reference.errors import (
    DuplicateSequenceNumberException,
    InvalidProducerEpochException,
    InvalidTxnStateException,
    JavaException,
    OutOfOrderSequenceException,
    ProducerFencedException,
    UnknownProducerIdException,
)

RELEASES = ("0.11.0.3", "1.1.1", "2.0.0", "2.0.1", "2.4.1", "2.5.1", "2.6.3", "2.7.2", "4.4.0")
MOST = 2**31 - 1
COMPARED_WITH_A_BATCH = (SequenceRelation.REPEATED, SequenceRelation.GAP)
UNREACHABLE = set(product((EpochRelation.UNKNOWN_PRODUCER, EpochRelation.NEWER), COMPARED_WITH_A_BATCH))


def javas_check(
    version: str, batch: DataBatch, updated: ProducerStateEntry, current: ProducerStateEntry
) -> type[JavaException] | None:
    """ProducerAppendInfo.checkProducerEpoch and checkSequence, statement by statement and release by release."""
    numbers = tuple(map(int, version.split(".")))
    if batch.epoch < updated.epoch:
        return InvalidProducerEpochException if numbers >= (2, 7) else ProducerFencedException
    if numbers < (1, 0):
        return javas_0_11(batch, updated)
    if batch.epoch != updated.epoch:
        if batch.first_sequence == 0:
            return None
        if updated.epoch != -1:
            return OutOfOrderSequenceException
        return None if numbers >= (2, 5) else UnknownProducerIdException
    if updated.batches:
        last = updated.batches[-1].last_sequence
    elif batch.epoch == current.epoch:
        last = current.batches[-1].last_sequence if current.batches else -1
    else:
        last = -1
    if numbers >= (2, 5) and current.epoch == -1:
        return None
    if (2, 0, 1) <= numbers < (2, 5) and last == -1 and batch.first_sequence != 0:
        return UnknownProducerIdException
    return None if in_sequence(last, batch.first_sequence) else OutOfOrderSequenceException


def javas_0_11(batch: DataBatch, info: ProducerStateEntry) -> type[JavaException] | None:
    """ProducerAppendInfo.validateAppend of 0.11, which has one batch and no second entry."""
    last = info.batches[-1]
    if batch.epoch != info.epoch:
        return OutOfOrderSequenceException if batch.first_sequence != 0 else None
    if last.first_sequence == -1 and batch.first_sequence != 0:
        return OutOfOrderSequenceException
    if (last.first_sequence, last.last_sequence) == (batch.first_sequence, batch.last_sequence):
        return DuplicateSequenceNumberException
    return None if in_sequence(last.last_sequence, batch.first_sequence) else OutOfOrderSequenceException


def in_sequence(last: int, following: int) -> bool:
    return following == last + 1 or (following == 0 and last == MOST)


def infos(version: str) -> Iterator[ProducerAppendInfo]:
    """Producers as a request finds them (nothing, a marker, batches, the highest sequence), after 0 to 2 of its batches."""
    behaviour = ProducerStateBehaviour.of(version)
    marker = Marker(7, 3, 5, 0, commit=True, coordinator_epoch=0)
    histories = (
        (),
        (marker,),
        (DataBatch(7, 3, 0, 3, 0, 0),),
        (DataBatch(7, 3, 0, 3, 0, 0), marker),
        (DataBatch(7, 3, MOST, 1, 0, 0),),
        (DataBatch(7, 3, MOST, 2, 0, 0),),
    )
    requests = ((), (marker,), *((DataBatch(7, epoch, first, 2, 9, 0),) for epoch in (-1, 3, 4) for first in (0, 3, 5)))
    for history, request in product(histories, requests):
        entry = ProducerStateEntry(behaviour, 7)
        for batches in (history, request):
            info = ProducerAppendInfo(entry, Origin.REPLICATION, None)
            for batch in batches:
                info.append(batch) if isinstance(batch, DataBatch) else info.append_marker(batch)
            if batches is history:
                entry.update(info.updated)
        yield info


def refusal(info: ProducerAppendInfo, batch: DataBatch) -> type[JavaException] | None:
    try:
        check_data(info.behaviour, batch, Origin.CLIENT, info.updated, info.current, None)
    except JavaException as refused:
        return type(refused)
    return None


@pytest.mark.parametrize("version", RELEASES)
def test_append_decision_table_matches_java_check_order_in_each_release(version: str) -> None:
    reached: set[tuple[EpochRelation, SequenceRelation]] = set()
    for info in infos(version):
        for epoch, first, records in product((-1, 2, 3, 4), (0, 1, 2, 3, 5, 6, MOST), (1, 2, 3)):
            batch = DataBatch(7, epoch, first, records, 20, 0)
            expected = javas_check(version, batch, info.updated, info.current)
            relations = (
                epoch_relation(epoch, info.updated, info.current),
                sequence_relation(batch, info.updated, info.current),
            )
            reached.add(relations)
            assert refusal(info, batch) is expected, (relations, batch)
    # Batches of an older epoch are no longer remembered, so none is repeated or leaves a gap; its verdict is one for all.
    not_remembered = set(product((EpochRelation.OLDER,), COMPARED_WITH_A_BATCH))
    assert reached == set(product(EpochRelation, SequenceRelation)) - UNREACHABLE - not_remembered


@pytest.mark.parametrize("version", RELEASES)
def test_append_decision_table_has_verdict_for_reachable_cells_and_raises_for_unreachable_ones(version: str) -> None:
    behaviour = ProducerStateBehaviour.of(version)
    for epoch, sequence in product(EpochRelation, SequenceRelation):
        if (epoch, sequence) in UNREACHABLE:
            with pytest.raises(UnreachableCombination, match="ask about another cell"):
                append_verdict(behaviour, epoch, sequence)
        else:
            assert append_verdict(behaviour, epoch, sequence) is not Verdict.UNREACHABLE


@pytest.mark.parametrize("version", RELEASES)
def test_next_sequence_is_appended_and_older_producer_epoch_is_fenced(version: str) -> None:
    behaviour = ProducerStateBehaviour.of(version)
    for epoch in EpochRelation:
        refused = append_verdict(behaviour, epoch, SequenceRelation.NEXT).exception
        assert (refused is None) == (epoch is not EpochRelation.OLDER)
    old = version.startswith(("0.", "1.", "2.0", "2.4", "2.5", "2.6"))
    expected = ProducerFencedException if old else InvalidProducerEpochException
    verdicts = {append_verdict(behaviour, EpochRelation.OLDER, sequence).exception for sequence in SequenceRelation}
    assert verdicts == {expected}


@pytest.mark.parametrize(
    ("version", "refused"),
    [("1.1.1", UnknownProducerIdException), ("2.4.1", UnknownProducerIdException), ("2.5.1", None), ("4.4.0", None)],
)
def test_first_batch_of_unknown_producer_with_nonzero_sequence_is_refused_up_to_2_4(
    version: str, refused: type[JavaException] | None
) -> None:
    state = ProducerStateManager(version, 1000)
    batch = DataBatch(7, 0, 5, 1, 0, 0)
    if refused is None:
        state.append([batch], Origin.CLIENT)
        assert state.end_offset == 1
    else:
        with pytest.raises(refused):
            state.append([batch], Origin.CLIENT)


def visible_state(state: ProducerStateManager) -> object:
    entry = state.producers.get(7)
    assert entry is not None
    transactions = state.transactions.first_unstable, state.transactions.first_undecided
    return entry.epoch, tuple(entry.batches), entry.timestamp, entry.transaction, entry.coordinator_epoch, transactions


@pytest.mark.parametrize("version", RELEASES)
def test_refused_batch_leaves_producer_state_and_end_offset_unchanged(version: str) -> None:
    refusals = set()
    for origin, epoch, first, transactional in product(Origin, (2, 3, 4), (0, 1, 3, 4, 9), (False, True)):
        state = ProducerStateManager(version, 1000)
        state.append([DataBatch(7, 3, 0, 3, 0, 5, transactional=True)], Origin.CLIENT)
        before = visible_state(state)
        try:
            state.append([DataBatch(7, epoch, first, 1, 3, 9, transactional)], origin)
        except JavaException as refused:
            refusals.add(type(refused))
            assert visible_state(state) == before
            assert state.end_offset == 3
    assert {OutOfOrderSequenceException, InvalidTxnStateException} < refusals


@pytest.mark.parametrize(("version", "allowed"), [("4.1.2", True), ("4.2.2", False), ("4.3.1", True)])
def test_transaction_marker_with_producer_epoch_32767_throws_in_4_2_only(version: str, allowed: bool) -> None:
    state = ProducerStateManager(version, 1000)
    state.append([DataBatch(7, 32767, 0, 1, 0, 0, transactional=True)], Origin.CLIENT)
    marker = Marker(7, 32767, 1, 0, True, 0, transaction_version=2)
    if allowed:
        state.append([marker], Origin.COORDINATOR)
        assert state.transactions.first_undecided is None
    else:
        with pytest.raises(InvalidProducerEpochException):
            state.append([marker], Origin.COORDINATOR)
