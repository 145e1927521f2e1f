from __future__ import annotations

from dataclasses import dataclass

import pytest

from kafka_reference.errors import (
    ConcurrentModificationException,
    IllegalStateException,
    KafkaException,
    NullPointerException,
)
from kafka_reference.idempotence.errors import produce_error
from kafka_reference.idempotence.transaction_manager import ManagerState, TransactionManager
from kafka_reference.releases import parse_release

T0, T1 = ("t", 0), ("t", 1)
REFUSED, GAP, FATAL = "InvalidTimestampException", "OutOfOrderSequenceException", "ClusterAuthorizationException"


@dataclass(eq=False)
class Sent:
    """A batch."""

    record_count: int = 1
    topic_partition: tuple[str, int] = T0
    sequence: int | None = None
    producer: tuple[int, int] | None = None

    def renumber(self, producer: tuple[int, int], sequence: int) -> None:
        self.producer, self.sequence = producer, sequence


def manager(at: str, epoch: int = 0) -> TransactionManager:
    made = TransactionManager(parse_release(at))
    made.begin_initializing()
    made.take_id(7, epoch)
    return made


def sent(of: TransactionManager, *batches: Sent) -> tuple[Sent, ...]:
    for batch in batches:
        of.number(batch, False)
    return batches


@pytest.mark.parametrize("at", ["0.11.0.3", "1.1.1", "2.4.1"])
def test_out_of_order_sequence_resets_the_producer_id_up_to_2_4(at: str) -> None:
    one = manager(at)
    (batch,) = sent(one, Sent())
    one.failed(batch, GAP, True)
    assert not one.has_id
    assert not one.partitions


@pytest.mark.parametrize("exception", [GAP, REFUSED])
def test_failed_batch_bumps_epoch_and_renumbers_other_batches_of_the_same_partition_only(exception: str) -> None:
    one = manager("2.5.0")
    first, second, other = sent(one, Sent(), Sent(2), Sent(topic_partition=T1))
    one.failed(first, exception, True)
    assert one.bump_required
    one.bump()
    assert one.current == (7, 1)
    assert (second.producer, second.sequence, one.partitions[T0].next) == ((7, 1), 0, 2)
    assert (other.producer, other.sequence) == ((7, 0), 0)
    assert not one.bump_required


def test_batch_that_exhausted_retries_requires_no_epoch_bump() -> None:
    one = manager("4.4.0")
    (batch,) = sent(one, Sent())
    one.failed(batch, REFUSED, False)
    assert not one.bump_required


@pytest.mark.parametrize("at", ["1.1.1", "2.4.1"])
def test_batches_behind_a_refused_batch_are_renumbered_up_to_2_4(at: str) -> None:
    one = manager(at)
    first, second = sent(one, Sent(2), Sent())
    one.failed(first, REFUSED, True)
    assert (second.sequence, one.partitions[T0].next) == (0, 1)


@pytest.mark.parametrize(("at", "bumps"), [("2.5.1", False), ("2.6.3", False), ("2.7.2", True), ("4.4.0", True)])
def test_out_of_order_sequence_of_previous_epoch_bumps_epoch_since_2_7(at: str, bumps: bool) -> None:
    one = manager(at)
    (batch,) = sent(one, Sent())
    one.current = (7, 1)
    one.failed(batch, GAP, False)
    assert one.bump_required is bumps


def test_epoch_bump_at_maximum_epoch_clears_producer_id_of_in_flight_batches() -> None:
    one = manager("4.4.0", epoch=2**15 - 1)
    (batch,) = sent(one, Sent())
    one.request_bump(T0)
    one.bump()
    assert (one.current, one.state.value, batch.producer, batch.sequence) == ((-1, -1), "UNINITIALIZED", (-1, -1), 0)


@pytest.mark.parametrize(("at", "bumps"), [("2.5.1", True), ("2.6.0", False), ("4.4.0", False)])
def test_fatal_error_requires_an_epoch_bump_only_in_2_5(at: str, bumps: bool) -> None:
    one = manager(at)
    (batch,) = sent(one, Sent())
    one.failed(batch, FATAL, True)
    assert one.is_fatal
    assert one.last_error == FATAL
    assert one.bump_required is bumps


@pytest.mark.parametrize(("at", "raised"), [("3.0.2", KafkaException), ("3.1.1", IllegalStateException)])
def test_producer_id_received_after_fatal_error_throws(at: str, raised: type[Exception]) -> None:
    one = TransactionManager(parse_release(at))
    one.fail_for_good(FATAL)
    with pytest.raises(raised):
        one.take_id(8, 0)


@pytest.mark.parametrize(
    ("at", "exception", "state", "error"),
    [
        ("2.4.1", FATAL, "FATAL_ERROR", FATAL),
        ("3.5.2", FATAL, "FATAL_ERROR", FATAL),
        ("3.6.0", FATAL, "ABORTABLE_ERROR", FATAL),
        ("2.4.1", REFUSED, "FATAL_ERROR", REFUSED),
        ("3.6.0", REFUSED, "FATAL_ERROR", "KafkaException"),
    ],
)
def test_producer_id_authorization_error_is_abortable_since_3_6_and_other_errors_are_fatal(
    at: str, exception: str, state: str, error: str
) -> None:
    one = TransactionManager(parse_release(at))
    one.state = ManagerState.INITIALIZING
    one.refuse_id(exception)
    assert (one.state.value, one.last_error) == (state, error)


@pytest.mark.parametrize(("at", "again"), [("2.4.1", True), ("2.5.0", False), ("3.3.1", False), ("3.3.2", True)])
def test_request_timed_out_for_producer_id_is_not_retried_in_2_5_to_3_3_1(at: str, again: bool) -> None:
    one = TransactionManager(parse_release(at))
    one.begin_initializing()
    assert one.handle_id_response(produce_error(at, "COORDINATOR_LOAD_IN_PROGRESS"), -1, -1)
    assert one.handle_id_response(produce_error(at, "REQUEST_TIMED_OUT"), -1, -1) is again


@pytest.mark.parametrize("at", ["1.1.1", "2.4.1", "2.5.1", "4.4.0"])
def test_unresolved_partition_is_resolved_after_later_sequences_are_acknowledged(at: str) -> None:
    one = manager(at)
    lost, later = sent(one, Sent(), Sent())
    one.failed(lost, "TimeoutException", False)
    one.mark_unresolved(lost)
    one.resolve()
    assert T0 in one.unresolved
    one.completed(later, 5)
    one.resolve()
    assert (one.unresolved, one.current, one.bump_required) == ({}, (7, 0), False)
    assert one.last_offset(T0) == 5


@pytest.mark.parametrize(("at", "current", "bumps"), [("2.4.1", (-1, -1), False), ("2.5.1", (7, 0), True)])
def test_unresolved_partition_with_gap_resets_id_up_to_2_4_else_bumps_epoch(
    at: str, current: tuple[int, int], bumps: bool
) -> None:
    one = manager(at)
    (lost,) = sent(one, Sent())
    one.failed(lost, "TimeoutException", False)
    one.mark_unresolved(lost)
    one.resolve()
    assert (one.unresolved, one.current, one.bump_required) == ({}, current, bumps)


@pytest.mark.parametrize("at", ["1.0.0", "1.0.2"])
def test_resolving_two_partitions_throws_concurrent_modification_in_1_0(at: str) -> None:
    one = manager(at)
    one.unresolved = {T1: None, T0: None}
    with pytest.raises(ConcurrentModificationException):
        one.resolve()
    assert one.unresolved == {T0: None}
    one.resolve()
    assert not one.unresolved


@pytest.mark.parametrize(
    ("at", "raised"),
    [("1.0.2", NullPointerException), ("2.2.2", NullPointerException), ("2.3.1", IllegalStateException)],
)
def test_sequence_restart_of_a_removed_partition_throws_npe_up_to_2_2_then_illegal_state(
    at: str, raised: type[Exception]
) -> None:
    one = manager(at)
    sent(one, Sent(), Sent(topic_partition=T1))
    one.restart(T1)
    one.become(7, 0)
    with pytest.raises(raised):
        one.restart(T1)


@pytest.mark.parametrize("at", ["1.1.1", "2.0.1", "2.2.2"])
def test_sequence_restart_with_only_split_batches_in_flight_throws(at: str) -> None:
    one = manager(at)
    one.track(Sent(sequence=0, producer=(7, 0)))
    with pytest.raises(IllegalStateException):
        one.restart(T0)


@pytest.mark.parametrize("again", [True, False])
def test_acknowledging_batch_after_producer_id_reset_in_0_11_throws_unless_batch_was_retried(again: bool) -> None:
    one = manager("0.11.0.3")
    (batch,) = sent(one, Sent())
    one.become(7, 0)
    if again:
        one.retry(batch)
        one.acknowledge(batch)
        assert one.partitions[T0].next == 1
    else:
        with pytest.raises(IllegalStateException):
            one.acknowledge(batch)


@pytest.mark.parametrize(("at", "fatal"), [("0.11.0.0", False), ("0.11.0.1", True), ("4.4.0", True)])
def test_unsupported_version_error_is_fatal_since_0_11_0_1(at: str, fatal: bool) -> None:
    one = manager(at)
    (batch,) = sent(one, Sent())
    one.failed(batch, "UnsupportedVersionException", True)
    assert one.is_fatal is fatal
