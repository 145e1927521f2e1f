"""Histories on real clusters: as the reference predicts, and different where the reference or the cluster is wrong."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from click.testing import CliRunner
from live_plays import played

from kafka_conformance.cli.main import app
from kafka_conformance.core.errors import BadInput
from kafka_conformance.replication.live.cluster import LiveCluster, live_cluster
from kafka_conformance.replication.live.comparison import compare
from kafka_conformance.replication.live.player import play
from kafka_conformance.replication.live.timing import TIMING, Timing
from kafka_conformance.replication.script_json import write_script
from kafka_reference.cluster.history import simulate
from kafka_reference.cluster.observation import Produced, Settled
from kafka_reference.cluster.script import (
    ClusterScript,
    Continue,
    Elect,
    Kill,
    Pause,
    Produce,
    SetMinInsyncReplicas,
    Settle,
    SetUncleanElection,
    Start,
)

pytestmark = [
    pytest.mark.long,
    pytest.mark.timeout(900),
    # kafka-python reads its schemas with a function of importlib that Python 3.11 deprecates.
    pytest.mark.filterwarnings("ignore:.*Use files.. instead:DeprecationWarning"),
]

LOST = ClusterScript(
    (
        Produce(-1), Settle(), Pause(2), Pause(3), Produce(1, 2), Kill(1), Continue(2), Continue(3), Settle(),
        Produce(-1), Settle(), Start(1), Settle(),
    ),
)  # fmt: skip
"""A record with acks=1 is lost with its leader, whose log is truncated when it returns."""

SETTINGS = ClusterScript(
    (
        Produce(0, 3), Produce(2), Elect("preferred"), Settle(), Pause(3), Produce(-1, wait=False), Settle(),
        SetMinInsyncReplicas(3), Produce(-1), Produce(1), SetMinInsyncReplicas(2), SetUncleanElection(True), Settle(),
        Continue(3), Settle(),
    ),
    replicas=(2, 3, 1),
    min_insync_replicas=2,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class LateTiming(Timing):
    """A cluster whose leaders wait longer for followers than they should, and not as long as a session."""

    def broker_settings(self) -> dict[str, str]:
        return Timing.broker_settings(self) | {"replica.lag.time.max.ms": "4200"}


@pytest.fixture(scope="module")
def cluster() -> Iterator[LiveCluster]:
    with live_cluster("4.4.0", TIMING) as running:
        yield running


@pytest.mark.parametrize("script", [LOST, SETTINGS], ids=["lost", "settings"])
def test_replication_history_with_faults_on_a_real_cluster_matches_the_reference(
    cluster: LiveCluster, script: ClusterScript
) -> None:
    expected = simulate(script, "4.4.0")
    one = played(cluster, script, expected)
    assert compare(one, expected, TIMING) == ()


def test_observed_cluster_history_does_not_depend_on_expected_answers(cluster: LiveCluster) -> None:
    """Expectations that are wrong change no answer."""
    expected = simulate(LOST, "4.4.0")
    wrong = tuple(
        replace(one, leader=3, readable=9) if isinstance(one, Settled) else Produced("NONE", 7) for one in expected
    )
    one = played(cluster, LOST, wrong)
    assert compare(one, expected, TIMING) == ()
    assert {each.event for each in compare(one, wrong, TIMING)} >= {0, 1, 4, 8, 9, 10, 12}
    assert one.answers[4] == Produced("NONE", 1)
    last = one.answers[-1]
    assert isinstance(last, Settled)
    assert [batch[:2] for batch in last.replicas[1].batches] == [(0, 1), (1, 1)]  # the two records of event 4 are gone


def test_cluster_scripts_with_different_faults_on_a_shared_cluster_raise_bad_input(cluster: LiveCluster) -> None:
    with pytest.raises(BadInput, match=r"^the scripts have different faults"):
        play(cluster, [LOST, SETTINGS], [None, None])


def test_cluster_with_longer_replica_lag_time_differs_from_the_reference() -> None:
    script = ClusterScript((Produce(-1), Settle(), Pause(3), Produce(1), Settle(), Continue(3), Settle()))
    expected = simulate(script, "4.4.0")
    with live_cluster("4.4.0", LateTiming()) as running:
        one = played(running, script, expected)
    (difference,) = compare(one, expected, TIMING)
    assert difference.event == 4
    assert "broker 3 left the in-sync replicas" in difference.what


@pytest.mark.parametrize(
    ("words", "cluster"),
    [
        (("3.9.2", "--zookeeper"), "Kafka 3.9.2 with ZooKeeper"),
        (("3.9.2",), "Kafka 3.9.2"),
        (("4.3.1",), "Kafka 4.3.1"),
        (("4.4.0",), "Kafka 4.4.0"),
    ],
)
def test_cluster_play_command_matches_the_reference_on_kraft_and_zookeeper(
    words: tuple[str, ...], cluster: str, tmp_path: Path
) -> None:
    file = tmp_path / "lost.json"
    file.write_text(write_script(LOST), encoding="utf-8")
    ran = CliRunner().invoke(app, ["cluster", "play", str(file), "--kafka", *words], standalone_mode=False)
    assert ran.return_value == 0, ran.output
    assert f"13 events on {cluster}: the history is as the reference predicts" in ran.output
    assert "kill broker 1" in ran.output


def test_cluster_check_command_with_zookeeper_matches_the_reference() -> None:
    words = ["cluster", "check", "--kafka", "3.9.2", "--zookeeper", "--seed", "7", "--group", "4", "--clusters", "1"]
    ran = CliRunner().invoke(app, words, standalone_mode=False)
    assert ran.return_value == 0, ran.output
    assert "Kafka 3.9.2 with ZooKeeper, seed 7: 6 of 6 histories as predicted" in ran.output
