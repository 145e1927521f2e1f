"""What is expected of a codec, by topic or by producer, and what a batch comes to."""

from __future__ import annotations

from typing import Any

import pytest

from kafka_reference.accumulator.accumulator import RecordAccumulator
from kafka_reference.accumulator.backoff import StepDraws
from kafka_reference.accumulator.batches import Batch
from kafka_reference.accumulator.compression import Compressed
from kafka_reference.accumulator.metadata import Metadata
from kafka_reference.accumulator.sizes import SizedRecord
from kafka_reference.accumulator.state import AccumulatorConfig
from kafka_reference.partitioning.cluster import Cluster, Node, Partition

CLUSTER = Cluster((Node(0),), (Partition(0, 0), Partition(1, 0)))


class Play:
    def __init__(self, version: str, *achieved: int, **config: Any) -> None:
        self.metadata = Metadata(version, CLUSTER, ("t", "u"), (0, 0))
        asked = {"batch_size": 200, "linger_ms": 0, "ratio": 1.0, **config}
        self.it = RecordAccumulator(
            version,
            AccumulatorConfig(
                retry_backoff_ms=0, retry_backoff_max_ms=0, delivery_timeout_ms=100, buffer_memory=10**6, adaptive=True,
                availability_timeout_ms=0, compression="gzip", achieved_per_mille=achieved, **asked,
            ),
            StepDraws(),
        )  # fmt: skip

    def append(self, length: int = 60, topic: str = "t", partition: int = 0) -> Batch:
        self.it.append(topic, partition, SizedRecord(0, None, length), self.metadata)
        return self.it.state.queue((topic, partition))[-1]

    def drain(self) -> list[Batch]:
        return list(self.it.drain(self.metadata, [0], 10**6))

    def expected(self, topic: str = "t") -> float:
        made = self.it.state.expected_ratios.compressed(topic, 0)
        assert made is not None
        return made.ratio


@pytest.mark.parametrize(("per_mille", "packed"), [(1000, 500), (1, 1), (0, 1), (1500, 750), (333, 166)])
def test_compressed_size_is_per_mille_of_input_rounded_down_to_at_least_1_byte(per_mille: int, packed: int) -> None:
    assert Compressed(1.0, per_mille).packed(500) == packed


@pytest.mark.parametrize("version", ["0.10.0.1", "0.11.0.3", "2.4.1", "4.4.0"])
def test_drained_batch_reports_built_size_instead_of_open_estimate(version: str) -> None:
    play = Play(version, 500)
    batch = play.append()
    open_ = batch.estimated
    play.drain()
    assert batch.estimated == batch.built
    assert batch.built != open_


@pytest.mark.parametrize("version", ["0.11.0.3", "2.4.1", "4.4.0"])
def test_well_compressed_batch_lowers_expected_ratio_of_topic(version: str) -> None:
    play = Play(version, 500)
    play.append()
    play.drain()
    assert play.expected() < 1.0
    assert play.expected("u") == 1.0


def test_open_batch_keeps_compression_ratio_expected_at_creation() -> None:
    play = Play("4.4.0", 500)
    play.append()
    other = play.append(partition=1)
    play.it.state.mute(("t", 1))
    play.drain()
    assert other.size.ratio == 1.0


def test_compression_ratio_up_to_0_10_is_global_and_updates_open_batches() -> None:
    play = Play("0.10.2.2", 500)
    play.append()
    other = play.append(topic="u", partition=1)
    play.it.state.mute(("u", 1))
    play.drain()
    assert other.size.ratio == play.expected("u") < 1.0


def test_second_drain_of_a_reenqueued_batch_lowers_the_expected_compression_ratio_again() -> None:
    play = Play("4.4.0", 500)
    play.append()
    (batch,) = play.drain()
    once = play.expected()
    play.it.reenqueue(batch)
    play.drain()
    assert play.expected() < once


@pytest.mark.parametrize(("per_mille", "least"), [(500, 1.0), (2000, 2.0)])
def test_split_sets_expected_ratio_to_achieved_ratio_of_at_least_1(per_mille: int, least: float) -> None:
    play = Play("4.4.0", per_mille, batch_size=400)
    for _ in range(3):
        play.append()
    (batch,) = play.drain()
    play.it.split(batch)
    assert play.expected() == pytest.approx(least, abs=0.02)
