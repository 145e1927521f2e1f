from __future__ import annotations

import pytest

from kafka_reference.accumulator.batches import Batch
from kafka_reference.errors import ConcurrentModificationException, IllegalStateException
from kafka_reference.idempotence.in_flight import InFlightBatches
from kafka_reference.idempotence.outcomes import Numbered, Outcomes
from kafka_reference.releases import parse_release


def batch(number: int, partition: int = 0) -> Batch:
    return Batch(parse_release("4.4.0"), ("t", partition), 0, 0, 1000, Numbered(0, None, 4, (), number))


def test_expired_in_flight_batches_are_taken_up_to_the_first_unexpired() -> None:
    in_flight, outcomes = InFlightBatches(), Outcomes(parse_release("4.4.0"))
    old, young, older = batch(0), batch(1), batch(2)
    for one in (old, young, older):
        in_flight.add(one)
    assert in_flight.take_expired(lambda one: one is not young, outcomes) == [old]
    in_flight.remove(young)
    assert in_flight.take_expired(lambda _: True, outcomes) == [older]
    assert in_flight.take_expired(lambda _: True, outcomes) == []


def test_expiry_of_aborted_in_flight_batch_throws_in_3_9_1() -> None:
    in_flight, outcomes, done = InFlightBatches(), Outcomes(parse_release("3.9.1")), batch(0)
    in_flight.add(done)
    outcomes.abort([done], "ClusterAuthorizationException")
    with pytest.raises(IllegalStateException):
        in_flight.take_expired(lambda _: True, outcomes)


def test_no_batch_expires_after_the_in_flight_batches_are_cleared() -> None:
    in_flight, outcomes = InFlightBatches(), Outcomes(parse_release("4.4.0"))
    in_flight.add(batch(0))
    in_flight.clear()
    assert in_flight.take_expired(lambda _: True, outcomes) == []


def test_expiry_in_two_partitions_throws_concurrent_modification_in_2_1_0() -> None:
    in_flight, outcomes = InFlightBatches(), Outcomes(parse_release("2.1.0"))
    for partition in (0, 1):
        in_flight.add(batch(partition, partition))
    with pytest.raises(ConcurrentModificationException):
        in_flight.take_expired(lambda _: True, outcomes, breaks=True)
    assert len(in_flight.take_expired(lambda _: True, outcomes, breaks=True)) == 1, "the last one breaks nothing"
