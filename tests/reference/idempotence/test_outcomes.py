from __future__ import annotations

import pytest

from kafka_reference.accumulator.batches import Batch
from kafka_reference.accumulator.sizes import SizedRecord
from kafka_reference.idempotence.outcomes import Numbered, Outcomes, number_of
from kafka_reference.releases import parse_release


def batch(*numbers: int, partition: int = 0) -> Batch:
    first, *rest = (Numbered(0, None, 4, (), number) for number in numbers)
    made = Batch(parse_release("4.4.0"), ("t", partition), 0, 0, 1000, first)
    for record in rest:
        made.append(record, 0)
    return made


def test_ended_batch_gives_every_record_an_offset_or_the_error() -> None:
    outcomes = Outcomes(parse_release("4.4.0"))
    assert outcomes.end(batch(3, 4), None, 100)
    assert outcomes.end(batch(5), None, -1)
    assert outcomes.end(batch(6), "TimeoutException", -1)
    assert outcomes.ended == [(3, 100), (4, 101), (5, -1), (6, "TimeoutException")]


@pytest.mark.parametrize("version", ["4.4.0", "2.1.0"])
def test_late_response_to_a_failed_batch_is_ignored_since_2_1(version: str) -> None:
    late, outcomes = batch(0), Outcomes(parse_release(version))
    outcomes.end(late, "TimeoutException", -1)
    assert not outcomes.end(late, None, 7)
    assert outcomes.ended == [(0, "TimeoutException")]


def test_late_response_to_an_aborted_batch_is_ignored() -> None:
    late = batch(0)
    outcomes = Outcomes(parse_release("2.0.1"))
    outcomes.abort([late], "ProducerFencedException")
    assert not outcomes.end(late, None, 7)
    assert outcomes.is_done(late)


def test_late_response_to_a_failed_batch_completes_record_again_in_0_10() -> None:
    late = batch(0)
    outcomes = Outcomes(parse_release("0.10.0.1"))
    assert outcomes.end(late, "TimeoutException", -1)
    assert outcomes.end(late, None, 7)
    assert outcomes.ended == [(0, "TimeoutException"), (0, 7)]


def test_number_of_an_unnumbered_record_is_minus_1() -> None:
    assert number_of(SizedRecord(0, None, None)) == -1
