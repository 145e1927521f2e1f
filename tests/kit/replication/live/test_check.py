"""Groups of histories on clusters: each once, again where the machine was too slow; with stand-ins for the clusters."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest

from kafka_conformance.core.errors import BrokerLost, TooSlow
from kafka_conformance.core.progress import Steps
from kafka_conformance.replication.histories import HistoryGroup
from kafka_conformance.replication.live import check
from kafka_conformance.replication.live.player import PlayedHistory
from kafka_conformance.replication.live.timing import TIMING
from kafka_reference.cluster.history import ClusterMode, simulate
from kafka_reference.cluster.observation import Produced
from kafka_reference.cluster.script import ClusterScript, Pause, Produce, Settle

GROUPS = [
    HistoryGroup(f"{number} records", (ClusterScript((Produce(-1, number), Settle(), Pause(3), Settle())),))
    for number in (1, 2, 3)
]


@dataclass
class Fake:
    """Clusters that answer as predicted, but for what is planned."""

    slow: int = 0
    lost: bool = False
    wrong: bool = False
    started: int = 0
    ended: int = 0
    recovered: int = 0
    played: list[ClusterScript] = field(default_factory=list)
    release: str = "4.4.0"
    mode: ClusterMode = "kraft"
    timing: Any = TIMING

    def recover(self) -> None:
        self.recovered += 1

    @contextmanager
    def live_cluster(self, _: str, __: Any) -> Iterator[Fake]:
        self.started += 1
        try:
            yield self
        finally:
            self.ended += 1

    def play(self, _: Any, scripts: Any, expected: Any, __: Any) -> list[PlayedHistory]:
        if self.lost:
            raise BrokerLost("a broker ended unexpectedly")
        if self.slow:
            self.slow -= 1
            raise TooSlow("slow")
        self.played += scripts
        found = [PlayedHistory(script, list(answers)) for script, answers in zip(scripts, expected, strict=True)]
        if self.wrong:
            found[0].answers[0] = Produced("REQUEST_TIMED_OUT", None)
        return found


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> Fake:
    made = Fake()
    monkeypatch.setattr(check, "live_cluster", made.live_cluster)
    monkeypatch.setattr(check, "play", made.play)
    return made


def run(clusters: int = 1) -> list[list[check.CheckedHistory]]:
    return check.check_groups(GROUPS, "4.4.0", TIMING, Steps("playing", 3), clusters=clusters)


@pytest.mark.parametrize("clusters", [1, 2, 9])
def test_history_groups_run_once_in_order_on_up_to_n_clusters(fake: Fake, clusters: int) -> None:
    found = run(clusters)
    assert [one.played.script for (one,) in found] == [group.scripts[0] for group in GROUPS]
    assert not any(one.differences for (one,) in found)
    assert fake.started == fake.ended == min(clusters, 3)
    assert len(fake.played) == fake.recovered == 3


def test_history_on_a_zookeeper_cluster_is_compared_with_the_zookeeper_prediction(fake: Fake) -> None:
    fake.release, fake.mode = "3.9.2", "zookeeper"
    script = ClusterScript((Pause(3), Settle()))
    group = HistoryGroup("a follower", (script,))
    ((one,),) = check.check_groups([group], "3.9.2", TIMING, Steps("playing", 1), clusters=1)
    assert one.expected == simulate(script, "3.9.2", "zookeeper") != simulate(script, "3.9.2")


def test_wrong_answer_of_a_cluster_is_a_difference_at_the_index_of_the_event(fake: Fake) -> None:
    fake.wrong = True
    assert all(one.differences[0].event == 0 for (one,) in run())


def test_history_group_is_replayed_after_a_too_slow_run(fake: Fake) -> None:
    fake.slow = 2
    assert len(run()) == 3
    assert fake.recovered == 5


def test_history_group_too_slow_three_times_raises_too_slow(fake: Fake) -> None:
    fake.slow = 3
    with pytest.raises(TooSlow):
        run()
    assert fake.started == fake.ended == 1


def test_lost_broker_ends_the_check_and_stops_all_clusters(fake: Fake) -> None:
    fake.lost = True
    with pytest.raises(BrokerLost, match="ended unexpectedly"):
        run(2)
    assert fake.started == fake.ended
