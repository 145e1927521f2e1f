from __future__ import annotations

from fractions import Fraction

import pytest

from kafka_reference.errors import NotInThisRelease, QuestionError
from kafka_reference.java.thread_local_random import SeededDraws
from kafka_reference.partitioning.cluster import Cluster, Node, Partition
from kafka_reference.partitioning.expected_distribution import Turns, Visits, expected
from kafka_reference.partitioning.keyless_distribution import distribute

WHOLE = 2**31


def cluster(*partitions: tuple[int, int | None]) -> Cluster:
    """Partitions as (id, leader)."""
    return Cluster((Node(0),), tuple(Partition(*each) for each in partitions))


def led(count: int) -> Cluster:
    return cluster(*((place, 0) for place in range(count)))


def test_uniform_choice_modulo_6_slightly_favours_the_first_two_partitions() -> None:
    """2^31 = 6 x 357913941 + 2: the first two remainders come up once more than the others."""
    shares = expected("builtin", "4.4.0", led(6), batch_records=16).shares
    assert list(shares.values()) == [Fraction(357913942, WHOLE)] * 2 + [Fraction(357913941, WHOLE)] * 4
    assert set(expected("builtin", "4.4.0", led(8), batch_records=16).shares.values()) == {Fraction(1, 8)}


def test_expected_shares_are_proportional_to_inverted_queue_sizes() -> None:
    """0, 3, 1: 4, 1 and 3 of 8."""
    shares = expected("builtin", "4.4.0", led(3), batch_records=16, queue_sizes=[0, 3, 1]).shares
    assert list(shares.values()) == [Fraction(1, 2), Fraction(1, 8), Fraction(3, 8)]


def test_equal_queue_sizes_give_equal_expected_shares() -> None:
    some = cluster((0, 0), (1, None), (2, 0), (3, 0), (4, 0))
    for sizes in ([2] * 5, None, [2, 9, 2, 2, 2]):
        shares = expected("builtin", "4.4.0", some, batch_records=16, queue_sizes=sizes).shares
        assert shares == dict.fromkeys((0, 2, 3, 4), Fraction(1, 4))


@pytest.mark.parametrize("partitions", [3, 6, 7, 200])
def test_sticky_partition_visit_frequencies_are_stationary_under_a_transition(partitions: int) -> None:
    predicted = expected("default", "2.8.2", led(partitions), batch_records=1)
    assert isinstance(predicted, Visits)
    now, chances = predicted.frequencies, predicted.chances
    after = {j: sum((now[i] * chances[j] / (1 - chances[i]) for i in now if i != j), start=Fraction(0)) for j in now}
    assert after == now
    assert sum(now.values()) == 1


# KAFKA-10888, as fractions: nobody's bias comes near a slow broker's.
def test_slow_broker_is_expected_half_of_records_in_2_8_and_a_fifth_in_3_3() -> None:
    paces = [4, 4, 4, 4, None]
    slow = expected("default", "2.8.2", led(5), batch_records=16, drain_after=paces).shares[4]
    assert slow == pytest.approx(16 / 32, abs=1e-8)
    even = expected("builtin", "3.3.2", led(5), batch_records=16, drain_after=paces).shares[4]
    assert even == pytest.approx(1 / 5, abs=1e-8)


def test_expected_stay_at_a_partition_of_builtin_partitioner_is_rounded_up_to_whole_batches() -> None:
    predicted = expected("builtin", "4.4.0", led(4), batch_records=16, drain_after=[5, 16, 99, 1])
    assert isinstance(predicted, Visits)
    assert list(predicted.lengths.values()) == [20, 16, 16, 16]


def test_expected_distribution_of_round_robin_counters_visits_available_partitions_in_turn() -> None:
    assert expected("default", "2.3.1", cluster((7, 0), (3, None), (5, 0)), batch_records=9) == Turns((7, 5))
    assert expected("round-robin", "4.4.0", led(3), batch_records=9) == Turns((0, 1, 2))
    assert expected("round-robin", "3.9.2", led(3), batch_records=9).shares == dict.fromkeys(range(3), Fraction(1, 3))


# KAFKA-9965.
def test_round_robin_with_even_partition_count_reaches_only_every_second_partition_up_to_3_9_1() -> None:
    assert expected("round-robin", "3.9.1", led(6), batch_records=1).shares == dict.fromkeys((1, 3, 5), Fraction(1, 3))
    assert set(expected("round-robin", "2.4.0", led(5), batch_records=1).shares) == set(range(5))
    drained = expected("round-robin", "3.9.1", led(2), batch_records=9, drain_after=[1, 1]).shares
    assert drained == {1: Fraction(1)}


def test_expected_distribution_without_closed_form_raises_question_error() -> None:
    with pytest.raises(QuestionError, match="no closed form unless every record begins one"):
        expected("round-robin", "3.9.1", led(6), batch_records=2)
    for sizes in ([-1, 0, 0], [2**31 - 1, 0, 0]):
        with pytest.raises(QuestionError, match="no closed form for queue sizes"):
            expected("builtin", "4.4.0", led(3), batch_records=2, queue_sizes=sizes)
    for none_or_twice in (led(0), cluster((1, 0), (1, 0))):
        with pytest.raises(QuestionError, match="each with an id of its own"):
            expected("builtin", "4.4.0", none_or_twice, batch_records=2)
    with pytest.raises(NotInThisRelease):
        expected("default", "4.0.0", led(3), batch_records=2)


MIXED = cluster((9, 0), (4, None), (2, 0), (5, 0))
NOBODY = cluster((9, None), (4, None), (2, None))


# Sent, it comes near. How near it has to come is what a chi-square test says: see tests/kit/verify/test_skew.py.
@pytest.mark.parametrize(
    ("partitioner", "version", "cluster", "more"),
    [
        ("default", "2.8.2", led(1), {}),
        ("default", "2.8.2", led(2), {"drain_after": [1, 3]}),
        ("default", "2.4.0", led(3), {"drain_after": [1, 2, None]}),
        ("uniform-sticky", "3.9.2", MIXED, {"drain_after": [1, 2, None, 3]}),
        ("default", "3.2.3", NOBODY, {}),
        ("builtin", "3.3.2", MIXED, {"drain_after": [3, 3, None, 2]}),
        ("builtin", "4.4.0", MIXED, {"queue_sizes": [5, 0, 0, 1]}),
        ("builtin", "4.4.0", NOBODY, {"queue_sizes": [5, 0, 0]}),
        ("default", "2.3.1", MIXED, {}),
        ("round-robin", "4.0.2", MIXED, {}),
    ],
)
def test_simulated_shares_of_30_000_records_match_expected_distribution(
    partitioner: str, version: str, cluster: Cluster, more: dict[str, list[int]]
) -> None:
    shares = expected(partitioner, version, cluster, batch_records=4, **more).shares  # type: ignore[arg-type]
    found = distribute(partitioner, version, cluster, SeededDraws(3), records=30_000, batch_records=4, **more)  # type: ignore[arg-type]
    assert {i: n / 30_000 for i, n in found.counts.items()} == pytest.approx(
        {i: float(share) for i, share in shares.items()}, abs=0.015
    )
