"""How evenly a release spreads records without a key, in four standard scenarios, and whether its rule predicts that.

The real Java answers where the records went, by the rule ``sticky-distribution``. The exact expected distribution is
computed by ``kafka_reference.partitioning.expected_distribution``. A chi-square test compares the two.

**The test's variance is the chain's.** The plain test, the sum of (seen - expected)²/expected, is for independent draws.
A sticky partition never follows itself, so visits even out: with n equal partitions, the variance of the visits to each is
(n-2)/n of the variance of independent visits. And visits have different lengths while the number of *records* is given, so
the number of visits is random too. Both are in the covariance of a stationary chain. With P the chances from one
partition to the next, f the share of visits, Z = (I - P + 1f)^-1, and V = diag(f) Z + Zᵀ diag(f) - diag(f) - f fᵀ, the
numbers of visits after m steps have the covariance m V in the long run. One visit to j, of l(j) records, moves partition
i away from its share s(i) by a(i, j) = l(j) (d(i, j) - s(i)), with d(i, j) 1 for i = j and else 0. So after N records,
which is N / (f·l) visits, seen minus expected has the covariance N / (f·l) a V aᵀ, and its square in that measure is
chi-square with as many degrees of freedom as that matrix has rank: n-1, but 0 for two partitions that alternate.

A counter is not random: its counts are within one of what is expected, or they are wrong.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from kafka_conformance.core.answerer import Answerer
from kafka_conformance.core.errors import KitError, OracleFault
from kafka_conformance.core.extras import how_to_install
from kafka_conformance.core.protocol import Answered, Failed
from kafka_conformance.rules.common.clusters import AskedCluster, AskedNode, AskedPartition, to_reference
from kafka_conformance.rules.sticky_distribution.question import StickyDistributionQuestion
from kafka_conformance.rules.sticky_distribution.rule import RULE
from kafka_reference.partitioning.behaviour import ProducerPartitionBehaviour
from kafka_reference.partitioning.expected_distribution import Turns, Visits, expected
from kafka_reference.releases import Release

__all__ = ["SCENARIOS", "UNLIKELY", "Fit", "Seen", "SkewScenario", "check_extra", "fit", "look"]

UNLIKELY = 1e-4


@dataclass(frozen=True, slots=True)
class SkewScenario:
    """A number of partitions, each on a separate broker. The default partitioner is that of the release."""

    title: str
    description: str
    partitions: int
    batch_records: int
    drain_after: tuple[int | None, ...] | None
    partitioner: str | None = None

    def question(self, release: Release, records: int, seed: int) -> StickyDistributionQuestion:
        """What is asked about this release."""
        brokers = range(self.partitions)
        return StickyDistributionQuestion(
            self.partitioner
            or ("builtin" if ProducerPartitionBehaviour.of(release).keyless_left_to_accumulator else "default"),  # type: ignore[arg-type]
            seed,
            AskedCluster(tuple(map(AskedNode, brokers)), tuple(AskedPartition(broker, broker) for broker in brokers)),
            records,
            self.batch_records,
            self.drain_after,
        )


SCENARIOS = (
    SkewScenario("all equal", "no partitioner set; batches of 16, drained after 4 records", 6, 16, (4,) * 6),
    SkewScenario(
        "one slow broker", "the same, but batches of partition 5 wait until they are full", 6, 16, (*(4,) * 5, None)
    ),
    SkewScenario("round robin, even", "six partitions, every record begins a batch", 6, 1, None, "round-robin"),
    SkewScenario("round robin, odd", "five partitions, every record begins a batch", 5, 1, None, "round-robin"),
)


@dataclass(frozen=True, slots=True)
class Fit:
    """How well counts fit; ``chi_square`` is None where nothing is left to chance, and ``p`` then 1 or 0."""

    chi_square: float | None
    freedom: int
    p: float


@dataclass(frozen=True, slots=True)
class Seen:
    """One scenario in one release: the records of each partition, in order, and the shares that were expected."""

    release: Release
    scenario: SkewScenario
    partitioner: str
    counts: tuple[int, ...]
    expected: tuple[Fraction, ...]
    fit: Fit

    @property
    def shares(self) -> tuple[float, ...]:
        """The share of records of each partition."""
        return tuple(count / sum(self.counts) for count in self.counts)

    @property
    def largest_over_mean(self) -> float:
        """1 if all are equal."""
        return max(self.shares) * len(self.shares)


def look(answerer: Answerer, release: Release, records: int, seed: int) -> list[Seen]:
    """Every scenario whose partitioner this release has. Raises OracleFault when there was no answer."""
    questions = [scenario.question(release, records, seed) for scenario in SCENARIOS]
    seen = []
    for scenario, question, outcome in zip(
        SCENARIOS, questions, answerer.answer(RULE, release, questions), strict=True
    ):
        if isinstance(outcome, Failed):
            raise OracleFault(f"{answerer.name} {release}, {scenario.title}: {outcome.what}")
        if isinstance(outcome, Answered):
            seen.append(_seen(scenario, question, release, dict(outcome.answer["counts"])))
    return seen


def _seen(
    scenario: SkewScenario, question: StickyDistributionQuestion, release: Release, counts: dict[int, int]
) -> Seen:
    predicted = expected(
        question.partitioner,
        release,
        to_reference(question.cluster),
        batch_records=question.batch_records,
        drain_after=question.drain_after,
    )
    places = range(scenario.partitions)
    return Seen(
        release,
        scenario,
        question.partitioner,
        tuple(counts.get(place, 0) for place in places),
        tuple(predicted.shares.get(place, Fraction(0)) for place in places),
        fit(counts, predicted),
    )


def fit(counts: Mapping[int, int], predicted: Turns | Visits) -> Fit:
    """Hold records by partition against what is predicted. Raises KitError without SciPy."""
    records, shares = sum(counts.values()), predicted.shares
    if set(counts) - set(shares):
        return Fit(None, 0, 0.0)
    away = [float(counts.get(i, 0) - share * records) for i, share in shares.items()]
    if isinstance(predicted, Turns):
        return Fit(None, 0, float(all(abs(each) < 1 for each in away)))
    return _by_chi_square(away, records, predicted)


def _by_chi_square(away: Sequence[float], records: int, predicted: Visits) -> Fit:
    np, chi2 = _numeric()
    lengths = np.array([float(length) for length in predicted.lengths.values()])
    measures, directions = np.linalg.eigh(records * _covariance_of_a_record(np, predicted, lengths))
    along = directions.T @ np.array(away)
    free = measures > max(measures) * 1e-9
    # Where the chain has no freedom, only the first visit and the last, which is cut off, can differ.
    if any(abs(along[~free]) > 2 * max(lengths)):
        return Fit(None, 0, 0.0)
    if not any(free):
        return Fit(None, 0, 1.0)
    square, freedom = float(sum(along[free] ** 2 / measures[free])), int(sum(free))
    return Fit(square, freedom, float(chi2.sf(square, freedom)))


def _covariance_of_a_record(np: Any, predicted: Visits, lengths: Any) -> Any:
    """Return the covariance of the partitions' record counts, per record sent, in the long run."""
    chances = np.array([float(chance) for chance in predicted.chances.values()])
    visits = np.array([float(often) for often in predicted.frequencies.values()])
    shares = np.array([float(share) for share in predicted.shares.values()])
    count = len(chances)
    steps = np.tile(chances, (count, 1))
    if not predicted.repeats:
        np.fill_diagonal(steps, 0)
        steps /= steps.sum(axis=1, keepdims=True)
    fundamental = np.linalg.inv(np.eye(count) - steps + np.tile(visits, (count, 1)))
    weighted = visits[:, None] * fundamental
    of_visits = weighted + weighted.T - np.diag(visits) - np.outer(visits, visits)
    moved = (np.eye(count) - shares[:, None]) * lengths
    return moved @ of_visits @ moved.T / (visits @ lengths)


def check_extra() -> None:
    """Refuse, before anything is asked, what could not be worked out afterwards. Raises KitError without SciPy."""
    _numeric()


def _numeric() -> tuple[Any, Any]:
    try:
        import numpy as np
        from scipy.stats import chi2
    except ImportError as error:
        raise KitError(f"p-values need {error.name}: {how_to_install('plot')}") from error
    return np, chi2
