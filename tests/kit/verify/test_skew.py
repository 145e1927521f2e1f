"""The chi-square test of ``skew``: its p-values are what p-values have to be, and what is wrong gets a small one."""

from __future__ import annotations

import sys

import pytest

from kafka_conformance.answerers.reference import ReferenceAnswerer
from kafka_conformance.core.errors import KitError, OracleFault
from kafka_conformance.core.protocol import Answer
from kafka_conformance.verify.skew import SCENARIOS, UNLIKELY, Fit, Seen, fit, look
from kafka_reference.errors import DrawsExhausted
from kafka_reference.java.thread_local_random import SeededDraws
from kafka_reference.partitioning.cluster import Cluster, Node, Partition
from kafka_reference.partitioning.expected_distribution import Turns, expected
from kafka_reference.partitioning.keyless_distribution import distribute
from kafka_reference.releases import parse_release


def led(count: int) -> Cluster:
    return Cluster((Node(0),), tuple(Partition(place, 0) for place in range(count)))


def fits(partitioner: str, version: str, partitions: int, seeds: int, **more: object) -> list[Fit]:
    predicted = expected(partitioner, version, led(partitions), **more)  # type: ignore[arg-type]
    return [
        fit(
            distribute(partitioner, version, led(partitions), SeededDraws(7919 * seed), records=3000, **more).counts,
            predicted,
        )  # type: ignore[arg-type]
        for seed in range(1, seeds + 1)
    ]


# A p-value is uniform between 0 and 1 if the variance is the right one. By the plain chi-square test, which has that of
# independent visits, those of three sticky partitions would be crowded near 1: they have a third of it.
@pytest.mark.parametrize(
    ("partitioner", "version", "partitions", "more"),
    [
        ("default", "2.8.2", 3, {"batch_records": 4}),
        ("default", "2.8.2", 6, {"batch_records": 16, "drain_after": [4, 4, 4, 4, 4, None]}),
        ("uniform-sticky", "3.9.2", 4, {"batch_records": 4, "drain_after": [1, 2, 3, 4]}),
        ("builtin", "4.4.0", 6, {"batch_records": 8, "drain_after": [4, 5, 6, 7, None, 1]}),
        ("builtin", "4.4.0", 3, {"batch_records": 4, "queue_sizes": [0, 3, 1]}),
    ],
)
def test_skew_p_values_of_correct_partitioner_are_uniform(
    partitioner: str, version: str, partitions: int, more: dict[str, object]
) -> None:
    from scipy.stats import kstest

    found = fits(partitioner, version, partitions, 120, **more)
    assert {each.freedom for each in found} == {partitions - 1}
    assert kstest([each.p for each in found], "uniform").pvalue > 0.01


def test_alternating_sticky_partitions_fit_only_equal_counts() -> None:
    assert set(fits("default", "2.8.2", 2, 5, batch_records=4)) == {Fit(None, 0, 1.0)}
    predicted = expected("default", "2.8.2", led(2), batch_records=4)
    assert fit({0: 1600, 1: 1400}, predicted) == Fit(None, 0, 0.0)


def test_single_partition_fits_with_p_value_1() -> None:
    assert fits("builtin", "4.4.0", 1, 1, batch_records=4) == [Fit(None, 0, 1.0)]


def test_round_robin_counts_off_by_more_than_one_are_rejected() -> None:
    assert fit({0: 34, 1: 33, 2: 33}, Turns((0, 1, 2))) == Fit(None, 0, 1.0)
    assert fit({0: 35, 1: 32, 2: 33}, Turns((0, 1, 2))) == Fit(None, 0, 0.0)


def test_records_in_an_unexpected_partition_have_p_value_0() -> None:
    assert fit({0: 50, 1: 50, 7: 1}, expected("builtin", "4.4.0", led(2), batch_records=4)).p == 0


def test_even_counts_are_rejected_where_a_skew_is_predicted() -> None:
    predicted = expected("default", "2.8.2", led(6), batch_records=16, drain_after=[4, 4, 4, 4, 4, None])
    assert fit(dict.fromkeys(range(6), 2000), predicted).p < 1e-6


def test_skew_run_covers_partitioners_of_the_release_and_finds_no_unlikely_p_value() -> None:
    def titles(version: str) -> list[tuple[str, str]]:
        seen = look(ReferenceAnswerer(), parse_release(version), 10_000, 1)
        assert all(one.fit.p >= UNLIKELY for one in seen)
        assert all(sum(one.counts) == 10_000 for one in seen)
        return [(one.scenario.title, one.partitioner) for one in seen]

    own, turns = ["all equal", "one slow broker"], ["round robin, even", "round robin, odd"]
    assert [scenario.title for scenario in SCENARIOS] == [*own, *turns]
    assert titles("2.3.1") == [(title, "default") for title in own]
    assert titles("3.2.3") == [*((title, "default") for title in own), *((title, "round-robin") for title in turns)]
    assert titles("4.4.0") == [*((title, "builtin") for title in own), *((title, "round-robin") for title in turns)]


def test_skew_reports_largest_share_over_mean() -> None:
    one = Seen(parse_release("2.8.2"), SCENARIOS[1], "default", (10, 10, 10, 10, 10, 40), (), Fit(None, 0, 1.0))
    assert one.shares[5] == pytest.approx(4 / 9)
    assert one.largest_over_mean == pytest.approx(24 / 9)


def test_skew_with_a_failing_implementation_raises_oracle_fault() -> None:
    def broken(_: object, __: object) -> Answer:
        raise DrawsExhausted("no more draws")

    with pytest.raises(OracleFault, match=r"java 4\.4\.0, all equal: no more draws"):
        look(ReferenceAnswerer("java", broken), parse_release("4.4.0"), 10_000, 1)


def test_skew_without_scipy_raises_error_with_the_install_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "scipy.stats", None)
    with pytest.raises(KitError, match=r"pip install '\.\[plot\]' in a checkout"):
        look(ReferenceAnswerer(), parse_release("4.4.0"), 10_000, 1)
