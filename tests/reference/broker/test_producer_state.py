from __future__ import annotations

from contextlib import nullcontext

import pytest

from kafka_reference.broker.append_checks import Origin
from kafka_reference.broker.batches import DataBatch, Marker
from kafka_reference.broker.producer_state import Appended, Duplicate, ProducerStateManager
from kafka_reference.errors import DuplicateSequenceException, OutOfOrderSequenceException
from kafka_reference.releases import parse_release


def written(state: ProducerStateManager, first: int, records: int = 1, **more: object) -> Appended | Duplicate:
    batch = DataBatch(7, 0, first, records, state.end_offset, 100, **more)  # type: ignore[arg-type]
    return state.append([batch], Origin.CLIENT)


def test_repeat_of_one_of_last_5_batches_is_duplicate_and_repeat_of_older_batch_throws() -> None:
    state = ProducerStateManager("4.4.0", 1000)
    for number in range(6):
        written(state, 3 * number, 3)
    assert written(state, 6, 3) == Duplicate(6)
    assert state.end_offset == 18
    with pytest.raises(OutOfOrderSequenceException):
        written(state, 0, 3)


def test_producer_state_reloaded_from_snapshot_remembers_only_the_last_batch_as_duplicate() -> None:
    disk: dict[int, bytes] = {}
    state = ProducerStateManager("4.4.0", 1000, disk)
    written(state, 0)
    written(state, 1)
    state.take_snapshot()
    assert list(disk) == [2]
    again = ProducerStateManager("4.4.0", 1000, disk)
    again.truncate_and_reload(0, 2, 0)
    assert (again.end_offset, written(again, 1)) == (2, Duplicate(1))
    with pytest.raises(OutOfOrderSequenceException):
        written(again, 0)


def test_producer_with_minimum_timestamp_does_not_expire_because_age_overflows_64_bits() -> None:
    """A producer with a time that only a broken snapshot has does not expire."""
    state = ProducerStateManager("4.4.0", 1000)
    written(state, 0)
    (_, entry), *_ = state.producers.items()
    entry.timestamp = -(2**63)
    state.remove_expired(500)
    assert len(list(state.producers.items())) == 1
    entry.timestamp = -(2**63) + 501
    state.remove_expired(500)
    assert len(list(state.producers.items())) == 0


def test_corrupt_snapshot_is_deleted_and_the_previous_snapshot_is_loaded() -> None:
    disk: dict[int, bytes] = {}
    state = ProducerStateManager("4.4.0", 1000, disk)
    written(state, 0)
    state.take_snapshot()
    written(state, 1)
    state.take_snapshot()
    disk[2] = disk[2][:-1]
    again = ProducerStateManager("4.4.0", 1000, disk)
    again.truncate_and_reload(0, 9, 0)
    assert (again.end_offset, list(disk)) == (1, [1])


@pytest.mark.parametrize(("now_ms", "known"), [(1099, True), (1100, False)])
def test_producer_expires_when_idle_for_exactly_the_expiration_time(now_ms: int, known: bool) -> None:
    state = ProducerStateManager("4.4.0", 1000)
    written(state, 0)
    state.remove_expired(now_ms)
    assert (state.producers.get(7) is not None) is known


def test_open_transaction_prevents_expiration_until_marker() -> None:
    state = ProducerStateManager("4.4.0", 1000)
    written(state, 0, transactional=True)
    state.remove_expired(10**6)
    assert len(list(state.producers.items())) == 1
    state.append([Marker(7, 0, 1, 200, True, 0)], Origin.COORDINATOR)
    state.remove_expired(10**6)
    assert len(list(state.producers.items())) == 0


@pytest.mark.parametrize(("version", "known"), [("2.3.1", False), ("2.4.1", True)])
def test_raised_log_start_offset_removes_producer_and_open_transaction_up_to_2_3(version: str, known: bool) -> None:
    state = ProducerStateManager(version, 1000)
    written(state, 0, 3, transactional=True)
    state.raise_log_start(3)
    assert (state.producers.get(7) is not None) is known
    assert (state.transactions.first_undecided == 0) is known
    assert state.end_offset == 3


def test_snapshot_is_written_only_after_end_offset_changed_and_deleted_below_given_offset() -> None:
    disk: dict[int, bytes] = {}
    state = ProducerStateManager("4.4.0", 1000, disk)
    state.take_snapshot()
    assert disk == {}
    state.truncate_fully(5)
    state.take_snapshot()
    assert list(disk) == [5]
    state.delete_snapshots_before(6)
    assert disk == {}


def test_truncate_fully_clears_producers_and_open_transactions() -> None:
    state = ProducerStateManager("4.4.0", 1000)
    written(state, 0, transactional=True)
    state.truncate_fully(7)
    assert (state.end_offset, len(list(state.producers.items())), state.transactions.first_unstable) == (7, 0, None)


def test_transaction_verification_returns_none_before_3_6_and_ignores_epoch_bump_in_3_6() -> None:
    assert ProducerStateManager("3.5.2", 1000).verify(7, 0, 0, supports_epoch_bump=True, now_ms=0) is None
    verified = ProducerStateManager("3.6.2", 1000).verify(7, 4, 0, supports_epoch_bump=True, now_ms=0)
    assert verified is not None
    assert (verified.lowest_sequence, verified.supports_epoch_bump) == (4, False)


@pytest.mark.parametrize(("version", "thrown"), [("0.11.0.1", True), ("0.11.0.2", False)])
def test_replicated_sequence_gap_is_refused_up_to_0_11_0_1_unless_batch_has_no_epoch(
    version: str, thrown: bool
) -> None:
    state = ProducerStateManager(parse_release(version), 1000)
    gap = DataBatch(7, 0, 5, 1, 0, 100)
    with pytest.raises(OutOfOrderSequenceException) if thrown else nullcontext():
        state.append([gap], Origin.REPLICATION)
    state.append([DataBatch(8, -1, 5, 1, state.end_offset, 100)], Origin.REPLICATION)
    assert state.producers.get(8) is not None, "without an epoch nothing is checked"


@pytest.mark.parametrize(("version", "known"), [("1.0.1", 1), ("1.0.2", 0)])
def test_refused_request_still_updates_producer_entry_up_to_1_0_1(version: str, known: int) -> None:
    state = ProducerStateManager(parse_release(version), 1000)
    written(state, 0)
    with pytest.raises(OutOfOrderSequenceException):
        state.append([DataBatch(7, 0, 1, 1, 1, 100), DataBatch(7, 0, 9, 1, 2, 100)], Origin.CLIENT)
    entry = state.producers.get(7)
    assert entry is not None
    assert (entry.last_sequence, state.end_offset) == (known, 1)


@pytest.mark.parametrize(
    ("version", "thrown"), [("1.0.1", DuplicateSequenceException), ("1.0.2", OutOfOrderSequenceException)]
)
def test_batch_older_than_remembered_batches_is_a_duplicate_up_to_1_0_1(version: str, thrown: type[Exception]) -> None:
    state = ProducerStateManager(parse_release(version), 1000)
    for number in range(6):
        written(state, 3 * number, 3)
    with pytest.raises(thrown):
        written(state, 0, 3)


def test_next_batch_after_sequence_wraparound_throws_duplicate_sequence_in_1_0_1() -> None:
    last = 2**31 - 1
    for version, thrown in (("1.0.1", True), ("1.0.2", False)):
        state = ProducerStateManager(parse_release(version), 1000)
        state.append([DataBatch(7, 0, last - 1, 2, 0, 100)], Origin.REPLICATION)
        with pytest.raises(DuplicateSequenceException) if thrown else nullcontext():
            written(state, 0, 2)
