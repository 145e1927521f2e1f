"""Brokers that ran and were missed all the same: signs of a slow machine."""

from __future__ import annotations

import pytest

from kafka_conformance.replication.live.metadata_source import PartitionChange, PartitionView
from kafka_conformance.replication.live.outages import Outages


@pytest.fixture
def outages() -> Outages:
    """Broker 3 was stopped from 1000 to 2000 ms, and broker 2 is stopped since 5000."""
    found = Outages(slack_ms=500)
    found.begin(3, 1000.0)
    found.begin(3, 1500.0)  # killed while paused
    found.end(3, 2000.0)
    found.begin(2, 5000.0)
    return found


@pytest.mark.parametrize(
    ("broker", "time_ms", "covered"),
    [
        (3, 999, False),
        (3, 1000, True),
        (3, 2500, True),
        (3, 2501, False),
        (2, 4999, False),
        (2, 9999, True),
        (1, 1500, False),
    ],
)
def test_broker_outage_includes_the_slack_time_after_the_broker_returns(
    outages: Outages, broker: int, time_ms: int, covered: bool
) -> None:
    assert outages.covers(broker, time_ms) is covered


def test_session_that_ends_outside_an_outage_is_reported_lost(outages: Outages) -> None:
    assert list(outages.lost_sessions([(1500, 3), (6000, 2)])) == []
    assert list(outages.lost_sessions([(1500, 3), (3000, 3)])) == ["the session of broker 3 ended, which ran"]


def test_running_follower_removed_from_isr_without_election_is_reported(outages: Outages) -> None:
    def at(time_ms: int, epoch: int, *isr: int) -> PartitionChange:
        return PartitionChange(time_ms, PartitionView(1, epoch, frozenset(isr)))

    assert list(outages.lagging([at(0, 0, 1, 2, 3), at(1900, 0, 1, 2), at(5100, 0, 1)])) == []
    found = list(outages.lagging([at(0, 0, 1, 2, 3), at(1900, 0, 1)]))
    assert found == ["broker 2 left the in-sync replicas, and ran"]
    assert (
        list(outages.lagging([at(0, 0, 1, 2, 3), at(1900, 1, 1)])) == []
    )  # an election leaves the leader alone in sync
