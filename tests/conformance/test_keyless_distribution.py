"""The real partitioners of every era spread records as their rules predict; and a wrong one would be noticed.

The seeds are fixed, so these are no flaky tests: the classes draw the same each time, and what they come to is held
against the exact expected distribution (see ``kafka_conformance.verify.skew`` for the test's variance).
"""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from kafka_conformance.answerers.java import JavaAnswerer
from kafka_conformance.answerers.mutant import mutant_answerer
from kafka_conformance.core.answerer import Answerer
from kafka_conformance.core.protocol import Answered, Unsupported
from kafka_conformance.oracle.oracle import Oracle
from kafka_conformance.rules import RULES
from kafka_conformance.rules.common.clusters import to_reference
from kafka_conformance.verify.skew import UNLIKELY, Fit, fit, look
from kafka_jars.pins import load
from kafka_reference.errors import NotInThisRelease
from kafka_reference.partitioning.expected_distribution import expected
from kafka_reference.partitioning.keyless_distribution import PARTITIONERS, check_arguments
from kafka_reference.releases import Release, parse_release

RULE = RULES["sticky-distribution"]
NODES = [{"id": 0}, {"id": 1}]
SLOW = [4, 4, 4, 4, 4, None]
ODD_PACES = [5, 6, 7, 16, None, 1]


def led(*ids: int) -> list[dict[str, Any]]:
    return [{"id": number, "leader": 0} for number in ids]


SIX = led(*range(6))
MIXED = [*led(9), {"id": 4, "leader": None}, *led(2, 5)]
NOBODY = [{"id": number, "leader": None} for number in (9, 4, 2, 8)]


def asked(partitioner: str, partitions: list[dict[str, Any]], seed: int, **more: Any) -> Any:
    document = {"partitioner": partitioner, "seed": seed, "cluster": {"nodes": NODES, "partitions": partitions}}
    return msgspec.convert(document | {"records": 200_000, "batch_records": 16} | more, type=RULE.question)


def judged(answerer: Answerer, version: str, question: Any) -> Fit:
    """How well what somebody answers fits what the rule predicts."""
    (outcome,) = answerer.answer(RULE, parse_release(version), [question])
    assert isinstance(outcome, Answered), outcome
    predicted = expected(
        question.partitioner, version, to_reference(question.cluster),
        batch_records=question.batch_records, drain_after=question.drain_after, queue_sizes=question.queue_sizes,
    )  # fmt: skip
    counts = dict(outcome.answer["counts"])
    assert sum(counts.values()) == question.records
    return fit(counts, predicted)


@pytest.mark.parametrize("seed", [1, 20261121, -5])
@pytest.mark.parametrize(
    ("partitioner", "versions", "partitions", "more"),
    [
        ("default", "0.10.0.1 1.1.1 2.3.1", MIXED, {}),
        ("default", "2.4.1 2.8.2 3.2.3 3.9.2", SIX, {}),
        ("default", "2.4.1 2.8.2 3.2.3 3.9.2", SIX, {"drain_after": SLOW}),
        ("default", "2.4.1 3.9.2", MIXED, {"drain_after": [3, 1, 2, None]}),
        ("default", "2.8.2", NOBODY, {}),
        ("default", "2.8.2", led(1, 0), {"drain_after": [1, 3]}),
        ("uniform-sticky", "2.4.1 3.2.3 3.9.2", SIX, {"drain_after": ODD_PACES}),
        ("builtin", "3.3.1 3.3.2 3.9.2 4.4.0", SIX, {}),
        ("builtin", "3.3.1 3.3.2 3.9.2 4.4.0", SIX, {"drain_after": SLOW}),
        ("builtin", "3.3.1 3.3.2 3.9.2 4.4.0", SIX, {"drain_after": ODD_PACES}),
        ("builtin", "3.3.1 3.3.2 3.9.2 4.4.0", SIX, {"queue_sizes": [0, 3, 1, 0, 0, 9]}),
        ("builtin", "3.3.2 4.4.0", MIXED, {"queue_sizes": [5, 9, 0, 1], "drain_after": [5, 1, 6, None]}),
        ("builtin", "3.3.2 4.4.0", NOBODY, {"queue_sizes": [5, 9, 0, 1]}),
        ("round-robin", "2.4.1 3.9.1 3.9.2 4.0.2 4.4.0", SIX, {"batch_records": 1}),
        ("round-robin", "2.4.1 3.9.1 3.9.2 4.0.2 4.4.0", MIXED, {"batch_records": 1}),
        ("round-robin", "3.9.2 4.0.2 4.4.0", SIX, {"drain_after": ODD_PACES}),
    ],
)
def test_java_distribution_of_keyless_records_matches_the_prediction_per_release(
    oracle: Oracle, partitioner: str, versions: str, partitions: list[dict[str, Any]], more: dict[str, Any], seed: int
) -> None:
    question = asked(partitioner, partitions, seed, **more)
    for version in versions.split():
        assert judged(JavaAnswerer(oracle), version, question).p >= UNLIKELY, version


# The same test, the same questions, somebody who is wrong. Without this the test above could be one that cannot fail.
@pytest.mark.parametrize(
    ("mutant", "version", "question"),
    [
        ("spread-never-drained", "2.8.2", asked("default", SIX, 1, drain_after=SLOW)),
        ("spread-sticky-repeats", "3.2.3", asked("default", led(1, 0), 1)),
        ("spread-second-call-left-out", "3.9.1", asked("round-robin", SIX, 1, batch_records=1)),
        ("sticky-distribution-3.9.2-like-3.9.1", "3.9.2", asked("round-robin", SIX, 1, batch_records=1)),
        ("spread-switch-not-completed", "4.4.0", asked("builtin", SIX, 1, drain_after=SLOW)),
        ("spread-switch-not-put-off", "4.4.0", asked("builtin", SIX, 1, drain_after=ODD_PACES)),
        ("spread-queues-unseen", "4.4.0", asked("builtin", SIX, 1, queue_sizes=[0, 3, 1, 0, 0, 9])),
    ],
)
def test_statistical_fit_of_keyless_distribution_rejects_mutants_and_accepts_java(
    oracle: Oracle, mutant: str, version: str, question: Any
) -> None:
    assert judged(mutant_answerer(mutant), version, question).p < 1e-6
    assert judged(JavaAnswerer(oracle), version, question).p >= UNLIKELY


def figures(oracle: Oracle, version: str, scenario: str) -> list[float]:
    """The shares of one of the command's scenarios, in per cent."""
    seen = look(JavaAnswerer(oracle), parse_release(version), 100_000, 1)
    return [100 * share for one in seen if one.scenario.title == scenario for share in one.shares]


# KAFKA-10888. The sticky partitioner of 2.4.0 to 3.2.x went on when a batch was begun. With linger.ms=0 the batches of a
# quick broker were taken after a few records, those of a slow one filled up first: each visit to it took more, and what
# was slow got slower. With batches of 16, taken after 4 by five of six brokers, the sixth got 16 of every 36 records.
# KIP-794 (3.3.0) counts bytes, however many batches they are in, and the round of 2.3 did not look at batches at all.
def test_slow_broker_got_44_percent_of_keyless_records_in_2_8_2_only(oracle: Oracle) -> None:
    assert figures(oracle, "2.8.2", "one slow broker") == pytest.approx([100 / 9] * 5 + [400 / 9], abs=0.6)
    assert figures(oracle, "3.3.2", "one slow broker") == pytest.approx([100 / 6] * 6, abs=1.2)
    assert figures(oracle, "2.3.1", "one slow broker") == pytest.approx([100 / 6] * 6, abs=0.01)


# KAFKA-9965. For the sticky partitioners the producer of 2.4.0 asked a second time whenever a record began a batch. Round
# robin counted both times, so it passed a partition over: with an even number of partitions and a batch for each record
# it was always the same half that got nothing. 3.9.2 answers the second time what it answered first (KAFKA-17632);
# 4.0.0 asks once.
@pytest.mark.parametrize(
    ("version", "even"),
    [("3.9.1", [0, 100 / 3] * 3), ("3.9.2", [100 / 6] * 6), ("4.0.2", [100 / 6] * 6)],
)
def test_java_round_robin_starves_every_other_partition_of_even_counts_in_3_9_1_not_3_9_2(
    oracle: Oracle, version: str, even: list[float]
) -> None:
    assert figures(oracle, version, "round robin, even") == pytest.approx(even, abs=0.01)
    assert figures(oracle, version, "round robin, odd") == [20] * 5


# ``verify`` counts a question as unsupported, and not as wrong, where a release has no such partitioner. So who has which
# is asked here: a class looked for under a wrong name would be missing everywhere. At each change, of releases on both
# sides of those that added or removed one.
_SIDES = {"0.10.0.0", "2.3.1", "2.4.0", "3.2.3", "3.3.0", "3.9.2", "4.0.0", "4.4.0"}


def _in(release: Release) -> Any:
    return pytest.param(release, id=str(release), marks=() if str(release) in _SIDES else _WHERE_CHANGED)


_WHERE_CHANGED = [pytest.mark.exhaustive, pytest.mark.about("sticky-distribution")]


@pytest.mark.parametrize("release", [_in(release) for release in sorted(map(parse_release, load().releases))])
def test_java_release_has_exactly_the_declared_partitioner_classes(oracle: Oracle, release: Release) -> None:
    questions = [asked(partitioner, SIX, 1, records=1) for partitioner in PARTITIONERS]
    outcomes = JavaAnswerer(oracle).answer(RULE, release, questions)
    oracle.close_release(str(release))
    for question, outcome in zip(questions, outcomes, strict=True):
        try:
            check_arguments(question.partitioner, release, to_reference(question.cluster), 1, None, None)
        except NotInThisRelease:
            assert isinstance(outcome, Unsupported), outcome
        else:
            assert isinstance(outcome, Answered), outcome
