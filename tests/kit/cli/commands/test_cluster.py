"""``cluster``: what cannot be played is one line, and what was played is reported; with stand-ins for the cluster."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from click.testing import CliRunner

from kafka_conformance.cli.commands import cluster
from kafka_conformance.cli.main import app
from kafka_conformance.core.errors import BadInput, NoJava
from kafka_conformance.core.extras import missing_extra
from kafka_conformance.replication.histories import HistoryGroup
from kafka_conformance.replication.live import cluster as live
from kafka_conformance.replication.live.check import CheckedHistory
from kafka_conformance.replication.live.comparison import compare
from kafka_conformance.replication.live.player import PlayedHistory
from kafka_conformance.replication.live.shrink import Shrink
from kafka_conformance.replication.live.timing import TIMING
from kafka_reference.cluster.history import simulate
from kafka_reference.cluster.observation import Produced
from kafka_reference.cluster.script import ClusterScript, Pause, Produce, Settle

SCRIPT = '{"events": [{"produce": "all"}, {"settle": true}]}'


GROUPS = (
    HistoryGroup("nothing happens", tuple(ClusterScript((Produce(acks), Settle())) for acks in (-1, 0, 1))),
    HistoryGroup("a broker is paused", (ClusterScript((Pause(3), Settle())),)),
)


@pytest.fixture
def script(tmp_path: Path) -> Path:
    file = tmp_path / "script.json"
    file.write_text(SCRIPT, encoding="utf-8")
    return file


@pytest.fixture
def differing(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Histories are as predicted; those whose number has True here differ."""
    wrong: list[bool] = []

    def check_groups(groups: Any, release: str, timing: Any, progress: Any, *, clusters: int) -> Any:
        return [[checked(script, number, release) for number, script in enumerate(group.scripts)] for group in groups]

    def checked(script: Any, number: int, release: str) -> CheckedHistory:
        expected = simulate(script, release)
        played = PlayedHistory(script, list(expected))
        played.shrinks.append(Shrink(0, 3, 2500))
        if wrong[number : number + 1] == [True]:
            played.answers[0] = Produced("REQUEST_TIMED_OUT", 17)
        return CheckedHistory(played, expected, compare(played, expected, TIMING))

    monkeypatch.setattr(cluster, "check_extra", lambda _: None)
    monkeypatch.setattr(cluster, "check_groups", check_groups)
    monkeypatch.setattr(cluster, "generate_histories", lambda _: GROUPS)
    return wrong


def run(*words: str) -> tuple[int, str]:
    ran = CliRunner().invoke(app, ["cluster", *words], standalone_mode=False)
    if ran.exception is not None:
        raise ran.exception
    return ran.return_value, ran.output


def test_cluster_play_exits_0_if_played_history_equals_the_predicted_history(
    script: Path, differing: list[bool]
) -> None:
    code, output = run("play", str(script), "--kafka", "4.4.0")
    assert code == 0
    assert "2 events on Kafka 4.4.0: the history is as the reference predicts" in output


def test_cluster_play_of_history_that_differs_exits_1_and_marks_the_event(script: Path, differing: list[bool]) -> None:
    differing.append(True)
    code, output = run("play", str(script), "--kafka", "3.9.2")
    assert code == 1
    assert "◀ event 0: error REQUEST_TIMED_OUT, expected NONE" in output
    assert "the history differs from the reference" in output


def test_cluster_check_counts_matching_histories_and_isr_shrink_times_and_saves_differing_scripts(
    differing: list[bool], tmp_path: Path
) -> None:
    words = ("check", "--kafka", "4.4.0", "--seed", "3", "--group", "0", "--keep", str(tmp_path / "kept"))
    code, output = run(*words)
    assert code == 0
    assert "Kafka 4.4.0, seed 3: 3 of 3 histories as predicted" in output
    assert "3 paused followers left the in-sync replicas after 2500 to 2500 ms (expected 1800 to 4000)" in output
    differing += [False, True]
    code, output = run(*words)
    assert code == 1
    assert "Kafka 4.4.0, seed 3: 2 of 3 histories as predicted" in output
    (file,) = (tmp_path / "kept").iterdir()
    assert json.loads(file.read_text())["events"]
    assert run("play", str(file), "--kafka", "4.4.0")[0] == 0


def test_zookeeper_cluster_history_that_differs_exits_1_and_prints_play_command(
    differing: list[bool], tmp_path: Path
) -> None:
    differing.append(True)
    words = ("--kafka", "3.9.2", "--zookeeper")
    code, output = run("check", *words, "--seed", "3", "--group", "0", "--keep", str(tmp_path / "kept"))
    assert code == 1
    assert "Kafka 3.9.2 with ZooKeeper, seed 3: 2 of 3 histories as predicted" in output
    (file,) = (tmp_path / "kept").iterdir()
    assert f"kafka-conformance cluster play {file} --kafka 3.9.2 --zookeeper" in output.replace("\n", "")
    differing.clear()
    code, output = run("play", str(file), *words)
    assert code == 0
    assert "2 events on Kafka 3.9.2 with ZooKeeper: the history is as the reference predicts" in output


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (("check", "--group", "2"), "^unknown group 2: expected 0 to 1$"),
        (("check", "--kafka", "3.8.1"), r"^histories are played since 3\.9, not on 3\.8\.1$"),
        (
            ("check", "--zookeeper", "--kafka", "4.3.1"),
            r"^Kafka 4\.3\.1 has no ZooKeeper: use --kafka with a release of 3\.9",
        ),
        (("check", "--zookeeper"), r"^Kafka [0-9.]+ has no ZooKeeper: "),
        (("check", "--zookeeper", "--kafka", "3.8.1"), r"^histories are played since 3\.9, not on 3\.8\.1$"),
        (("play", "none.json"), "^none.json cannot be read: "),
    ],
)
def test_cluster_command_with_unknown_group_unsupported_release_or_missing_file_raises_bad_input(
    differing: list[bool], words: tuple[str, ...], line: str
) -> None:
    with pytest.raises(BadInput, match=line):
        run(*words)


def test_cluster_script_with_nondeterministic_outcome_is_refused_with_the_reason(tmp_path: Path) -> None:
    file = tmp_path / "chance.json"
    file.write_text('{"events": [{"kill": 1}, {"produce": 1}]}', encoding="utf-8")
    with pytest.raises(BadInput, match=r"^script .*chance.json leaves its outcome to chance: a produce request"):
        run("play", str(file), "--kafka", "4.4.0")


def test_missing_kafka_or_kazoo_module_is_reported_with_pip_extra() -> None:
    for module in INSTALL:
        error = ModuleNotFoundError(f"no {module}", name=f"{module}.protocol")
        assert missing_extra(error) == f"this command needs {module}: {INSTALL[module]}"


INSTALL = {
    "kafka": "pip install '.[wire]' in a checkout, or '.[cluster]' for histories on real clusters",
    "kazoo": "pip install '.[cluster]' in a checkout",
}


@pytest.mark.parametrize(
    ("words", "module"),
    [
        (("play", "SCRIPT"), "kafka"),
        (("check", "--group", "0"), "kafka"),
        (("play", "SCRIPT", "--zookeeper", "--kafka", "3.9.2"), "kazoo"),
        (("check", "--zookeeper", "--kafka", "3.9.1"), "kazoo"),
    ],
)
def test_missing_python_client_module_is_reported_before_a_cluster_starts(
    monkeypatch: pytest.MonkeyPatch, script: Path, words: tuple[str, ...], module: str
) -> None:
    def check_groups(*_: Any, **__: Any) -> Any:
        raise AssertionError("a cluster would start")

    monkeypatch.setattr(cluster, "check_groups", check_groups)
    monkeypatch.setitem(sys.modules, "kafka.errors", ModuleType("kafka.errors"))
    for name in [name for name in sys.modules if name.partition(".")[0] == module]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ModuleNotFoundError) as missing:
        run(*(str(script) if word == "SCRIPT" else word for word in words))
    assert missing_extra(missing.value) == f"this command needs {module}: {INSTALL[module]}"


def test_missing_java_is_reported_before_a_cluster_starts(monkeypatch: pytest.MonkeyPatch, script: Path) -> None:
    def find_java() -> Any:
        raise NoJava("no Java 17 or newer found")

    monkeypatch.setattr(live, "find_java", find_java)
    monkeypatch.setitem(sys.modules, "kafka.errors", ModuleType("kafka.errors"))
    monkeypatch.setattr(cluster, "check_groups", None)
    with pytest.raises(NoJava):
        run("play", str(script), "--kafka", "4.4.0")


def test_cluster_check_with_runs_3_plays_every_history_three_times(differing: list[bool]) -> None:
    done = CliRunner().invoke(app, ["cluster", "check", "--runs", "3"], standalone_mode=False)
    assert done.exception is None, done.exception
    assert "12 of 12 histories as predicted" in done.output
