"""How long things take in a cluster that histories are played on, and the brokers' settings that make it so."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

__all__ = ["TIMING", "ZOOKEEPER_TIMING", "Timing", "ZooKeeperTiming"]


@dataclass(frozen=True, slots=True)
class Timing:
    """Times in ms.

    A leader removes a follower from the in-sync replicas after 1 to 1.5 times the lag, since it looks every half of it; all
    of this is over before the session of a broker that stops ends, so that the two do not race. A request that is never
    answered otherwise times out after both.
    """

    lag_ms: int = 2000
    """``replica.lag.time.max.ms``."""
    session_ms: int = 5500
    """``broker.session.timeout.ms``."""
    heartbeat_ms: int = 200
    """``broker.heartbeat.interval.ms``."""
    fetch_wait_ms: int = 100
    """``replica.fetch.wait.max.ms``."""
    request_timeout_ms: int = 9000
    """``timeout.ms`` of a produce request."""
    slack_ms: int = 1000
    """What a loaded machine adds to the shrinking of the in-sync replicas."""
    settle_limit_s: float = 30.0
    """How long to wait for the cluster to settle as expected."""

    @property
    def shrink_bounds_ms(self) -> tuple[int, int]:
        """How long after its pause a follower leaves the in-sync replicas: at least, at most.

        The lag counts from the follower's last fetch, which was up to one wait before the pause.
        """
        return self.lag_ms - 2 * self.fetch_wait_ms, self.lag_ms * 3 // 2 + self.slack_ms

    @property
    def pause_effect_s(self) -> float:
        """How long after a pause the leader may still answer a fetch that waited: its response reaches a stopped process."""
        return 2.5 * self.fetch_wait_ms / 1000

    @property
    def first_fetch_s(self) -> float:
        """How long after a partition is made its followers may still not have fetched.

        The leader takes a follower that never fetched for one that lags, be the log empty.
        """
        return 10 * self.fetch_wait_ms / 1000

    @property
    def hold_s(self) -> float:
        """How long a settled state has to stay unchanged: the leader checks the in-sync replicas in that time."""
        return (self.lag_ms / 2 + 2 * self.fetch_wait_ms) / 1000

    def broker_settings(self) -> dict[str, str]:
        """Return the settings of the brokers and the controller.

        ``unclean.leader.election.interval.ms``: the controller looks for leaderless partitions every 5 minutes by default.
        Eligible leader replicas are on or off as in a new cluster of the release: on since 4.1.0.
        """
        return self._common_settings() | {
            "broker.heartbeat.interval.ms": str(self.heartbeat_ms),
            "broker.session.timeout.ms": str(self.session_ms),
            "unclean.leader.election.interval.ms": "500",
        }

    def _common_settings(self) -> dict[str, str]:
        return {
            "auto.leader.rebalance.enable": "false",
            "replica.fetch.backoff.ms": str(self.fetch_wait_ms),
            "replica.fetch.wait.max.ms": str(self.fetch_wait_ms),
            "replica.high.watermark.checkpoint.interval.ms": str(self.fetch_wait_ms),
            "replica.lag.time.max.ms": str(self.lag_ms),
            "replica.socket.timeout.ms": str(max(self.session_ms, 1000)),
        }


@dataclass(frozen=True, slots=True)
class ZooKeeperTiming(Timing):
    """Times in ms of a cluster with ZooKeeper.

    A broker pings ZooKeeper every third of its session, so the session ends 2/3 to 1 of its timeout after the broker stops,
    and up to a tick later, since the server looks once a tick. It is longer than on KRaft, so that followers shrink first.
    """

    session_ms: int = 7500
    """``zookeeper.session.timeout.ms``."""
    request_timeout_ms: int = 11_000
    """``timeout.ms`` of a produce request."""
    tick_ms: int = 500
    """``tickTime`` of the ZooKeeper server, which allows sessions of 2 to 20 ticks."""
    connect_ms: int = 60_000
    """``zookeeper.connection.timeout.ms``: by default that of a session."""

    @property
    def session_bounds_ms(self) -> tuple[int, int]:
        """How long after a broker stops its session ends: at least, at most."""
        return self.session_ms * 2 // 3, self.session_ms + self.tick_ms

    def broker_settings(self) -> dict[str, str]:
        """Return the settings of the brokers. There is none for unclean elections: the controller holds them at once."""
        return self._common_settings() | {
            "zookeeper.connection.timeout.ms": str(self.connect_ms),
            "zookeeper.session.timeout.ms": str(self.session_ms),
        }


TIMING: Final = Timing()
"""The times of every play on KRaft."""

ZOOKEEPER_TIMING: Final = ZooKeeperTiming()
"""The times of every play with ZooKeeper."""
