"""Releases without a row in the certificate are refused as text, everywhere, and taken as a Release."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from kafka_reference import UnprovenRelease, choose_partition, parse_release, proven
from kafka_reference.accumulator.accumulator import RecordAccumulator
from kafka_reference.broker.producer_state import ProducerStateManager
from kafka_reference.certificate import Certificate, CertificateRow
from kafka_reference.delivery import Scenario, simulate
from kafka_reference.idempotence.config import producer_outcome
from kafka_reference.java.thread_local_random import SeededDraws
from kafka_reference.partitioning.builtin import BuiltInPartitioner
from kafka_reference.partitioning.cluster import Cluster, Node, Partition
from kafka_reference.partitioning.default import DefaultPartitioner, UniformStickyPartitioner
from kafka_reference.partitioning.keyless_distribution import distribute
from kafka_reference.partitioning.round_robin import RoundRobinPartitioner
from kafka_reference.producer.kafka_producer import KafkaProducer
from kafka_reference.proven import is_proven, lacks_proof, nearest_proven, proven_releases

_CLUSTER = Cluster((Node(0),), (Partition(0, 0),))
_DOORS: dict[str, Callable[[Any], Any]] = {
    "choose_partition": lambda version: choose_partition(cluster=_CLUSTER, version=version),
    "simulate": lambda version: simulate(Scenario({}, records=1), version),
    "producer_outcome": lambda version: producer_outcome({}, version),
    "DefaultPartitioner": lambda version: DefaultPartitioner(version, SeededDraws(1)),
    "UniformStickyPartitioner": lambda version: UniformStickyPartitioner(version, SeededDraws(1)),
    "RoundRobinPartitioner": lambda version: RoundRobinPartitioner(version),
    "BuiltInPartitioner": lambda version: BuiltInPartitioner(version, 1, SeededDraws(1)),
    "ProducerStateManager": lambda version: ProducerStateManager(version, 1000),
    "distribute": lambda version: distribute(
        "round-robin", version, _CLUSTER, SeededDraws(1), records=1, batch_records=1
    ),
    "RecordAccumulator": lambda version: RecordAccumulator(version, None),  # type: ignore[arg-type]
    "KafkaProducer": lambda version: KafkaProducer(version, None, None),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("door", _DOORS.values(), ids=_DOORS)
@pytest.mark.parametrize("version", ["3.9.9", "9.9.9"])
def test_unproven_release_given_as_text_raises_unproven_release_with_suggestion(
    door: Callable[[Any], Any], version: str
) -> None:
    with pytest.raises(UnprovenRelease, match=f"release {version} is not proven: .*did you mean"):
        door(version)


@pytest.mark.parametrize("name", [name for name in _DOORS if name not in {"RecordAccumulator", "KafkaProducer"}])
def test_unproven_release_is_accepted_as_a_release_object(name: str) -> None:
    _DOORS[name](parse_release("3.9.9"))
    _DOORS[name]("3.9.1")


def test_choose_partition_with_malformed_version_raises_value_error() -> None:
    with pytest.raises(ValueError, match="is not a Kafka release"):
        choose_partition(cluster=_CLUSTER, version="3.x")


def test_certificate_proves_the_newest_release_and_at_least_28_releases() -> None:
    assert len(proven_releases()) >= 28
    assert is_proven(parse_release("4.4.0"))


@pytest.fixture
def half_proven(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A certificate of two rules in 4.3.1, and of one of them in 4.4.0."""
    pairs = [("round-robin-partitioner", "4.3.1"), ("delivery", "4.3.1"), ("delivery", "4.4.0")]
    rows = tuple(CertificateRow(rule, release, 1, 1, {}, "", pinned=True) for rule, release in pairs)
    made = Certificate("", "", 1, "", "", rows, unproven={"round-robin-partitioner": ["4.4.0"]})
    monkeypatch.setattr(proven, "certificate", lambda: made)
    caches = (proven_releases, proven._shipped)
    for one in caches:
        one.cache_clear()
    yield
    for one in caches:
        one.cache_clear()


@pytest.mark.usefixtures("half_proven")
def test_rule_without_certificate_row_in_a_release_raises_unproven_release_for_text_version() -> None:
    message = "^round-robin-partitioner in release 4.4.0 is not proven: .* did you mean 4.3.1"
    with pytest.raises(UnprovenRelease, match=message):
        RoundRobinPartitioner("4.4.0")
    RoundRobinPartitioner("4.3.1")
    RoundRobinPartitioner(parse_release("4.4.0"))
    simulate(Scenario({}, records=1), "4.4.0")


@pytest.mark.usefixtures("half_proven")
def test_rule_listed_as_unproven_in_a_release_lacks_proof_and_unlisted_rule_does_not() -> None:
    newest, other = parse_release("4.4.0"), parse_release("4.3.1")
    assert (is_proven(newest), is_proven(newest, "delivery"), is_proven(newest, "round-robin-partitioner")) == (
        True, True, False,
    )  # fmt: skip
    assert [lacks_proof(newest, slug) for slug in ("round-robin-partitioner", "murmur2")] == [True, False]
    assert proven_releases("round-robin-partitioner") == (other,)
    assert proven_releases() == (other, newest)


def test_proof_lookups_of_many_rules_and_releases_read_the_certificate_once(monkeypatch: pytest.MonkeyPatch) -> None:
    made, read = proven.certificate(), []
    monkeypatch.setattr(proven, "certificate", lambda: read.append(1) or made)
    for one in vars(proven).values():
        if hasattr(one, "cache_clear"):
            one.cache_clear()
    releases = [parse_release(f"9.{minor}.{patch}") for minor in range(8) for patch in range(8)]
    assert not any(lacks_proof(release, rule) for rule in made.rules() for release in releases)
    assert proven_releases("murmur2")
    assert len(read) == 1


def test_nearest_proven_releases_of_an_unproven_release_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    known = tuple(map(parse_release, ("0.10.0.1", "2.0.1", "2.3.1", "3.9.1", "3.9.2", "4.4.0")))
    monkeypatch.setattr(proven, "proven_releases", lambda *_: known)
    assert [str(one) for one in nearest_proven(parse_release("3.9.9"))] == ["3.9.1", "3.9.2"]
    assert [str(one) for one in nearest_proven(parse_release("9.9.9"))] == ["4.4.0"]
    assert [str(one) for one in nearest_proven(parse_release("0.9.0.0"))] == ["0.10.0.1"]
    assert [str(one) for one in nearest_proven(parse_release("2.1.0"))] == ["2.0.1", "2.3.1"]
