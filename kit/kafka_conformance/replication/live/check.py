"""Play groups of histories, each on a cluster, several clusters at a time, and compare them with the reference."""

from __future__ import annotations

import contextlib
import queue
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass

from kafka_conformance.core.errors import TooSlow
from kafka_conformance.core.progress import Steps
from kafka_conformance.replication.histories import HistoryGroup
from kafka_conformance.replication.live.cluster import LiveCluster, live_cluster
from kafka_conformance.replication.live.comparison import Difference, compare
from kafka_conformance.replication.live.player import PlayedHistory, play
from kafka_conformance.replication.live.timing import Timing
from kafka_reference.cluster.history import simulate
from kafka_reference.cluster.observation import Answer

__all__ = ["CheckedHistory", "check_group", "check_groups"]

_TRIES = 3


@dataclass(frozen=True, slots=True)
class CheckedHistory:
    """A history that was played, and how it differs from what the reference predicts."""

    played: PlayedHistory
    """What was seen."""
    expected: Sequence[Answer]
    """What the reference predicts."""
    differences: tuple[Difference, ...]
    """What differs, by event."""


def check_groups(
    groups: Sequence[HistoryGroup], release: str, timing: Timing, progress: Steps, *, clusters: int
) -> list[list[CheckedHistory]]:
    """Play groups on a number of clusters and return the histories of each group, in the order of the groups.

    Raises BrokerLost if a cluster fails, TooSlow if the machine is too slow for a group again and again.
    """
    work: queue.SimpleQueue[int] = queue.SimpleQueue()
    for number in range(len(groups)):
        work.put(number)
    done: dict[int, list[CheckedHistory]] = {}

    def run(cluster: LiveCluster) -> None:
        with contextlib.suppress(queue.Empty):
            while True:
                number = work.get_nowait()
                done[number] = check_group(cluster, groups[number], progress)

    # The clusters are ended before the threads: whatever waits for one of them fails at once.
    with ThreadPoolExecutor(clusters) as pool, contextlib.ExitStack() as stack:
        playing = []
        for _ in range(min(clusters, len(groups))):
            progress.doing(f"starting a cluster of Kafka {release}")
            playing.append(pool.submit(run, stack.enter_context(live_cluster(release, timing))))
        for ended in as_completed(playing):
            ended.result()
    return [done[number] for number in range(len(groups))]


def check_group(cluster: LiveCluster, group: HistoryGroup, progress: Steps) -> list[CheckedHistory]:
    """Play the scripts of a group and compare them; again if the machine was too slow. Raises BrokerLost, TooSlow."""
    expected = [simulate(script, cluster.release, cluster.mode) for script in group.scripts]
    played = _played(cluster, group, expected, progress)
    progress.advance(len(played))
    return [
        CheckedHistory(one, answers, compare(one, answers, cluster.timing))
        for one, answers in zip(played, expected, strict=True)
    ]


def _played(
    cluster: LiveCluster, group: HistoryGroup, expected: Sequence[Sequence[Answer]], progress: Steps
) -> list[PlayedHistory]:
    for tries_left in reversed(range(_TRIES)):
        cluster.recover()
        try:
            return play(cluster, group.scripts, expected, lambda what: progress.doing(f"{group.title}: {what}"))
        except TooSlow:
            if not tries_left:
                raise
    raise AssertionError("the last try raises")
