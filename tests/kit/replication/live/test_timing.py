"""The times of a cluster: followers shrink before sessions end, and sessions end before a request times out."""

from __future__ import annotations

import pytest

from kafka_conformance.replication.live.cluster import timing_of
from kafka_conformance.replication.live.timing import TIMING, ZOOKEEPER_TIMING, Timing

ON_KRAFT = {"broker.heartbeat.interval.ms", "broker.session.timeout.ms", "unclean.leader.election.interval.ms"}
WITH_ZOOKEEPER = {"zookeeper.connection.timeout.ms", "zookeeper.session.timeout.ms"}


@pytest.mark.parametrize(
    ("timing", "session_ms"),
    [(TIMING, (TIMING.session_ms, TIMING.session_ms)), (ZOOKEEPER_TIMING, ZOOKEEPER_TIMING.session_bounds_ms)],
    ids=["kraft", "zookeeper"],
)
def test_isr_shrink_time_is_below_session_timeout_and_session_timeout_below_request_timeout(
    timing: Timing, session_ms: tuple[int, int]
) -> None:
    assert timing.shrink_bounds_ms[1] < session_ms[0] <= session_ms[1] < timing.request_timeout_ms


def test_zookeeper_session_timeout_is_2_to_20_ticks() -> None:
    timing = ZOOKEEPER_TIMING
    assert 2 * timing.tick_ms <= timing.session_ms <= 20 * timing.tick_ms


def test_kraft_and_zookeeper_brokers_have_different_session_settings_and_equal_replica_lag_time() -> None:
    kraft, zookeeper = TIMING.broker_settings(), ZOOKEEPER_TIMING.broker_settings()
    assert kraft.keys() - zookeeper.keys() == ON_KRAFT
    assert zookeeper.keys() - kraft.keys() == WITH_ZOOKEEPER
    assert kraft["broker.session.timeout.ms"] == "5500"
    assert zookeeper["zookeeper.session.timeout.ms"] == "7500"
    assert kraft["replica.lag.time.max.ms"] == zookeeper["replica.lag.time.max.ms"] == "2000"


def test_timing_of_cluster_mode_is_kraft_or_zookeeper_timing() -> None:
    assert timing_of("kraft") is TIMING
    assert timing_of("zookeeper") is ZOOKEEPER_TIMING
