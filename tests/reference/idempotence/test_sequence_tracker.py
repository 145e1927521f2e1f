from __future__ import annotations

from dataclasses import dataclass

import pytest

from kafka_reference.errors import IllegalStateException
from kafka_reference.idempotence.sequence_tracker import Producer, SequenceTracker
from kafka_reference.releases import parse_release

T0 = ("t", 0)
MOST = 2**31 - 1
TRACKING = ["1.0.0", "2.2.2", "2.4.1", "2.5.1", "2.7.1", "4.4.0"]


@dataclass(eq=False)
class Sent:
    """A batch for one partition."""

    record_count: int = 1
    topic_partition: tuple[str, int] = T0
    sequence: int | None = None
    producer: tuple[int, int] | None = None

    def renumber(self, producer: tuple[int, int], sequence: int) -> None:
        self.producer, self.sequence = producer, sequence


def sent(state: SequenceTracker, *counts: int) -> list[Sent]:
    batches = [Sent(count) for count in counts]
    for batch in batches:
        assert not state.waits_for(batch)
        state.number(batch, False)
    return batches


def sequences(*batches: Sent) -> list[int | None]:
    return [batch.sequence for batch in batches]


def state_in(version: str, epoch: int = 0, next_sequence: int | None = None) -> SequenceTracker:
    known = {} if next_sequence is None else {T0: next_sequence}
    return SequenceTracker(parse_release(version), Producer(7, epoch, known))


@pytest.mark.parametrize("version", TRACKING)
def test_sequences_advance_by_the_number_of_records(version: str) -> None:
    assert sequences(*sent(state_in(version), 2, 3, 1)) == [0, 2, 5]


def test_sequences_in_0_11_advance_with_acknowledged_records() -> None:
    state = state_in("0.11.0.3")
    first, second = sent(state, 2, 3)
    assert sequences(first, second) == [0, 0]
    state.acknowledge(first)
    assert sequences(*sent(state, 1)) == [2]


# KAFKA-7693
@pytest.mark.parametrize(
    ("version", "following"), [("2.0.1", -(2**31)), ("2.1.0", -(2**31)), ("2.1.1", 0), ("2.3.1", 0), ("4.4.0", 0)]
)
def test_sequence_after_the_highest_is_0_since_2_1_1_and_negative_before(version: str, following: int) -> None:
    assert sequences(*sent(state_in(version, next_sequence=MOST), 1, 1)) == [MOST, following]


@pytest.mark.parametrize("version", TRACKING)
def test_resent_batch_waits_for_earlier_batches_of_partition(version: str) -> None:
    state = state_in(version)
    first, second = sent(state, 1, 1)
    assert state.waits_for(second)
    assert not state.waits_for(first)
    assert not state.waits_for(Sent())
    state.acknowledge(first)
    assert not state.waits_for(second)
    assert state.partitions[T0].last_acknowledged == 0


@pytest.mark.parametrize("version", ["2.3.1", "2.7.2", "4.4.0"])
def test_batch_after_sequence_wraparound_is_treated_as_first_in_flight(version: str) -> None:
    state = state_in(version, next_sequence=MOST)
    first, second = sent(state, 1, 1)
    assert state.waits_for(first)
    assert not state.waits_for(second)
    state.acknowledge(second)
    assert state.partitions[T0].last_acknowledged == MOST - 1


@pytest.mark.parametrize(("version", "up_to"), [("1.0.0", None), ("2.4.1", None), ("2.5.1", 2), ("4.4.0", 2)])
def test_unresolved_sequence_blocks_new_batches_of_partition(version: str, up_to: int | None) -> None:
    state = state_in(version)
    first, _ = sent(state, 2, 1)
    state.fail(first, refused=False)
    state.mark_unresolved(first)
    assert state.unresolved == {T0: up_to}
    assert state.waits_for(Sent())


def test_unresolved_sequence_in_0_11_blocks_new_batches() -> None:
    state = state_in("0.11.0.3")
    state.mark_unresolved(*sent(state, 1))
    assert state.waits_for(Sent())


@pytest.mark.parametrize(
    ("version", "numbered_down"),
    [("0.11.0.3", False), ("1.0.0", True), ("2.4.1", True), ("2.5.1", False), ("4.4.0", False)],
)
def test_batches_behind_a_refused_batch_are_renumbered_in_1_0_to_2_4(version: str, numbered_down: bool) -> None:
    state = state_in(version)
    first, second, third = sent(state, 2, 3, 1)
    before = sequences(second, third)
    state.fail(first, refused=True)
    assert sequences(second, third) == ([0, 3] if numbered_down else before)


@pytest.mark.parametrize("version", ["2.3.1", "2.4.1"])
def test_sequence_adjustment_to_a_negative_sequence_throws_illegal_state(version: str) -> None:
    state = state_in(version, next_sequence=MOST)
    (batch,) = sent(state, 2)
    with pytest.raises(IllegalStateException):
        state.fail(batch, refused=True)


@pytest.mark.parametrize(
    ("version", "waits"), [("2.4.1", False), ("2.5.1", True), ("2.7.0", True), ("2.7.1", True), ("4.4.0", True)]
)
def test_new_epoch_starts_at_sequence_0_after_old_batches_complete_since_2_5(version: str, waits: bool) -> None:
    state = state_in(version)
    (old,) = sent(state, 2)
    state.become(7, 1)
    assert (state.waits_for(Sent()) is not None) == waits
    if waits:
        state.acknowledge(old)
    (new,) = sent(state, 1)
    assert (new.sequence, new.producer) == (0, (7, 1))


@pytest.mark.parametrize(
    ("version", "begins_at"), [("2.4.1", 0), ("2.5.1", 2), ("2.7.0", 2), ("2.7.1", 0), ("4.4.0", 0)]
)
def test_epoch_bump_without_in_flight_batches_continues_sequences_in_2_5_to_2_7_0(version: str, begins_at: int) -> None:
    state = state_in(version)
    state.acknowledge(*sent(state, 2))
    state.become(7, 1)
    assert sequences(*sent(state, 1)) == [begins_at]


def test_batch_of_producer_without_id_is_not_ready_to_send() -> None:
    state = SequenceTracker(parse_release("4.4.0"), Producer(None))
    assert state.waits_for(Sent())


@pytest.mark.parametrize("version", ["1.1.1", "2.3.1", "2.4.1"])
def test_response_to_batch_of_previous_producer_id_changes_no_state(version: str) -> None:
    state = state_in(version)
    (old,) = sent(state, 1)
    state.become(8, 0)
    (new,) = sent(state, 1)
    for answer in (state.acknowledge, lambda batch: state.fail(batch, refused=False)):
        answer(old)
        assert state.partitions[T0].last_acknowledged == -1
    assert state.has_in_flight(T0)
    state.acknowledge(new)
    assert not state.has_in_flight(T0)


@pytest.mark.parametrize("version", ["2.3.1", "2.4.1"])
def test_tracking_split_batch_of_previous_producer_id_throws_illegal_state(version: str) -> None:
    state = state_in(version)
    (old,) = sent(state, 1)
    state.become(8, 0)
    with pytest.raises(IllegalStateException):
        state.track(old)


def test_acknowledging_batch_after_producer_id_reset_throws_in_0_11() -> None:
    state = state_in("0.11.0.3")
    (old,) = sent(state, 1)
    state.become(7, 0)
    with pytest.raises(IllegalStateException):
        state.acknowledge(old)


def test_sequences_of_split_batches_overflow_to_negative_without_wraparound_to_0() -> None:
    state = state_in("4.4.0", next_sequence=MOST)
    (batch,) = sent(state, 2)
    pieces = [Sent(), Sent()]
    state.number_pieces(batch, pieces)
    assert sequences(*pieces) == [MOST, -(2**31)]


def test_batch_waits_for_a_producer_id_while_only_the_epoch_is_set() -> None:
    state = SequenceTracker(parse_release("4.4.0"), Producer(7, 0))
    state.current = (-1, 0)
    assert state.waits_for(Sent()) == "a producer id"


def test_next_sequence_wraps_below_0_at_acknowledgement_in_0_11() -> None:
    state = state_in("0.11.0.3", next_sequence=MOST)
    state.acknowledge(*sent(state, 1))
    assert state.partitions[T0].next == -(2**31)
