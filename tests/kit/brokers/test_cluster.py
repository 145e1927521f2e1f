"""What is said of a node that broke, and what may not be asked of one."""

from __future__ import annotations

import base64
import signal
from dataclasses import replace
from pathlib import Path

import pytest

from kafka_conformance.brokers import cluster
from kafka_conformance.brokers.cluster import Cluster, ClusterPlan, cluster_id, last_words, running_cluster
from kafka_conformance.brokers.settings import Node
from kafka_conformance.brokers.supervisor import ProcessSupervisor
from kafka_conformance.core.errors import BadInput, BrokerLost
from kafka_conformance.oracle.java_home import Java

# Stands in for Java: formats at once, and runs as the first line of the class path's only file says.
JAVA = """#!/bin/sh
for word in "$@"; do
    case "$word" in
        kafka.tools.StorageTool) . FORMAT; exit;;
        kafka.Kafka) . RUN;;
        org.apache.zookeeper.server.ZooKeeperServerMain) . SERVE;;
    esac
done
"""
SERVE = "echo Using checkIntervalMs=60000; while :; do sleep 0.05; done"
READY_WITH_ZOOKEEPER = "echo '[KafkaServer id=1] started'; while :; do sleep 0.05; done"
READY = "echo '[main] INFO - Kafka Server started'; trap 'exit 143' TERM; while :; do sleep 0.05; done"


@pytest.fixture
def plan(tmp_path: Path) -> ClusterPlan:
    (tmp_path / "format").write_text("echo Formatting")
    (tmp_path / "run").write_text(READY)
    java = tmp_path / "java"
    (tmp_path / "serve").write_text(SERVE)
    text = JAVA
    for word in ("FORMAT", "RUN", "SERVE"):
        text = text.replace(word, str(tmp_path / word.lower()))
    java.write_text(text)
    java.chmod(0o755)
    return ClusterPlan("4.4.0", Java(java, 17, "a test"), [tmp_path / "a.jar"], 1, {}, None, 256)


def runs(tmp_path: Path, script: str) -> None:
    (tmp_path / "run").write_text(script)


def test_generated_cluster_id_never_begins_with_a_dash(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = iter([b"\xf8" + bytes(15), b"\xfb" + bytes(15), b"\x01" + bytes(15)])  # the first two begin with a dash
    monkeypatch.setattr("secrets.token_bytes", lambda _: next(drawn))
    made = cluster_id()
    assert not made.startswith("-")
    assert len(made) == 22
    assert base64.urlsafe_b64decode(made + "==") == b"\x01" + bytes(15)


@pytest.mark.parametrize(
    ("log", "words"),
    [
        ("", "no output"),
        ("one\ntwo\n\n", "two"),
        ("a ERROR b\njava.net.BindException: Address already in use\n\tat sun.nio(X.java:1)\n\t... 3 more\nshut down\n",
         "java.net.BindException: Address already in use"),
        ("x" * 1000, "x" * 400),
    ],
)  # fmt: skip
def test_broker_node_error_is_the_exception_or_last_log_line_cut_to_400_characters(
    tmp_path: Path, log: str, words: str
) -> None:
    (tmp_path / "log").write_text(log)
    assert last_words(tmp_path / "log") == words


def test_missing_log_of_a_broker_node_is_reported_as_no_output(tmp_path: Path) -> None:
    assert last_words(tmp_path / "log") == "no output"


def test_cluster_node_is_stopped_restarted_and_killed_unless_unknown_or_in_the_wrong_state(plan: ClusterPlan) -> None:
    with running_cluster(plan) as running:
        (first,) = running.pids().values()
        assert running.ended_alone() == ""
        running.stop(1)
        assert running.pids() == {}
        assert running.ended_alone() == "", "it was asked to"
        with pytest.raises(BadInput, match=r"^node 1 does not run"):
            running.kill(1)
        running.restart(1)
        assert running.pids()[1] != first
        with pytest.raises(BadInput, match=r"^node 1 runs already"):
            running.restart(1)
        running.kill(1)
        with pytest.raises(BadInput, match=r"^unknown node 2: expected 1"):
            running.kill(2)
        folder = running.folder
    assert not folder.exists()


def test_node_with_the_only_controller_vote_cannot_be_stopped_or_killed(plan: ClusterPlan) -> None:
    with ProcessSupervisor() as supervisor:
        three = Cluster(plan, supervisor, (Node(1, 21_000, 21_003), Node(2, 21_001), Node(3, 21_002)))
        three.format()
        three.start(1, 2, 3)
        for end in (three.stop, three.kill):
            with pytest.raises(BadInput, match="node 1 has the controllers' only vote"):
                end(1)
        three.stop(3)
        assert sorted(three.pids()) == [1, 2]


def test_node_that_exits_while_starting_raises_broker_lost_with_the_exception_without_retry(
    plan: ClusterPlan, tmp_path: Path
) -> None:
    tries = tmp_path / "tries"
    runs(tmp_path, f"echo once >> {tries}; echo 'java.lang.IllegalStateException: too bad'; echo bye; exit 1")
    with pytest.raises(BrokerLost, match=r"^node 1 ended with code 1 while starting: java.lang.Ill.*: too bad$"):
        running_cluster(plan).__enter__()
    assert tries.read_text() == "once\n", "other ports would not help"


def test_node_not_ready_within_the_start_limit_raises_broker_lost(
    plan: ClusterPlan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs(tmp_path, "echo waiting; sleep 60")
    monkeypatch.setattr(cluster, "START_LIMIT_S", 0.5)
    with pytest.raises(BrokerLost, match=r"^node 1 was not ready within 0.5 s: waiting$"):
        running_cluster(plan).__enter__()


def test_failed_storage_format_raises_broker_lost_with_the_error_line(plan: ClusterPlan, tmp_path: Path) -> None:
    (tmp_path / "format").write_text("echo 'Exception: no'; false")
    with pytest.raises(BrokerLost, match=r"^formatting node 1 ended with code 1: Exception: no$"):
        running_cluster(plan).__enter__()


def test_storage_format_that_hangs_raises_broker_lost_after_the_limit(
    plan: ClusterPlan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "format").write_text("sleep 60")
    monkeypatch.setattr(cluster, "START_LIMIT_S", 0.3)
    with pytest.raises(BrokerLost, match=r"^formatting node 1 did not end within 0.3 s: no output$"):
        running_cluster(plan).__enter__()


def test_node_start_is_retried_on_new_ports_after_a_bind_exception(plan: ClusterPlan, tmp_path: Path) -> None:
    taken = tmp_path / "taken"
    taken.touch()
    runs(tmp_path, f"[ -e {taken} ] && rm {taken} && echo 'BindException: Address already in use' && exit 1; {READY}")
    with running_cluster(plan) as running:
        assert len(running.pids()) == 1


def test_node_start_raises_broker_lost_if_every_port_is_in_use(plan: ClusterPlan, tmp_path: Path) -> None:
    runs(tmp_path, "echo 'java.net.BindException: Address already in use'; exit 1")
    with pytest.raises(BrokerLost, match="Address already in use"):
        running_cluster(plan).__enter__()


def test_stop_of_node_that_ignores_sigterm_kills_the_node_and_raises_broker_lost(
    plan: ClusterPlan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs(tmp_path, "trap '' TERM; echo 'Kafka Server started'; while :; do sleep 0.05; done")
    monkeypatch.setattr(cluster, "STOP_LIMIT_S", 0.3)
    with running_cluster(plan) as running:
        with pytest.raises(BrokerLost, match=r"^node 1 did not end within 0.3 s and was killed"):
            running.stop(1)
        assert running.pids() == {}


def test_node_that_exits_unexpectedly_is_reported_with_exit_code(plan: ClusterPlan) -> None:
    with running_cluster(plan) as running:
        running._supervisor.signal("1", signal.SIGKILL)
        assert running._supervisor.wait("1", 10) == -9
        assert running.ended_alone().startswith("node 1 ended unexpectedly with code -9: ")


@pytest.fixture
def plan_with_zookeeper(plan: ClusterPlan, tmp_path: Path) -> ClusterPlan:
    runs(tmp_path, READY_WITH_ZOOKEEPER)
    (tmp_path / "format").write_text("false")  # nothing is formatted
    return replace(plan, release="3.9.2", nodes=3, separate_controller=True, zookeeper_tick_ms=500)


def test_zookeeper_cluster_refuses_to_stop_the_controller_and_reports_a_zookeeper_crash(
    plan_with_zookeeper: ClusterPlan,
) -> None:
    with running_cluster(plan_with_zookeeper) as running:
        assert sorted(running.pids()) == [1, 2, 3, 100]
        assert running.zookeeper_port not in {None, *(node.port for node in running.nodes)}
        settings = (running.folder / "zookeeper.properties").read_text()
        assert f"clientPort={running.zookeeper_port}\n" in settings
        assert "tickTime=500\n" in settings
        assert f"dataDir={running.folder}/zookeeper\n" in settings
        for end in (running.stop, running.kill):
            with pytest.raises(BadInput, match=r"^node 100 is the controller"):
                end(100)
        running.kill(2)
        running.restart(2)
        assert running.ended_alone() == ""
        running._supervisor.signal("zookeeper", signal.SIGKILL)
        running._supervisor.wait("zookeeper", 10)
        assert running.ended_alone() == "ZooKeeper ended unexpectedly with code -9: Using checkIntervalMs=60000"
        folder = running.folder
    assert not folder.exists()


def test_single_broker_with_zookeeper_starts_after_zookeeper_and_may_be_stopped_killed_and_started(
    plan_with_zookeeper: ClusterPlan,
) -> None:
    plan = replace(plan_with_zookeeper, nodes=1, separate_controller=False)
    with running_cluster(plan) as running:
        assert list(running.pids()) == [1]
        assert running.nodes == (Node(1, running.nodes[0].port),), "a port as controller is for KRaft"
        assert "process.roles" not in (running.folder / "node-1.properties").read_text()
        for end in (running.stop, running.kill):
            end(1)
            assert running.pids() == {}
            assert running.ended_alone() == ""
            running.restart(1)
        assert list(running.pids()) == [1]


def test_zookeeper_that_exits_while_starting_raises_broker_lost_with_the_exception(
    plan_with_zookeeper: ClusterPlan, tmp_path: Path
) -> None:
    (tmp_path / "serve").write_text("echo 'java.lang.IllegalArgumentException: bad tick'; exit 2")
    with pytest.raises(BrokerLost, match=r"^ZooKeeper ended with code 2 while starting: .*: bad tick$"):
        running_cluster(plan_with_zookeeper).__enter__()


def test_broker_jvm_writes_temporary_files_only_into_the_data_folder(plan: ClusterPlan, tmp_path: Path) -> None:
    command = plan.command(tmp_path, "kafka.Kafka")
    assert f"-Djava.io.tmpdir={tmp_path / 'tmp'}" in command
    assert "-XX:-UsePerfData" in command
