"""A cluster of Spark's own, a master and a worker as processes of their own: a sweep and an audit run on it unchanged."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import topics
from spark_daemons import environment, free_port, spark_program, standalone
from topics import JavaWriter, Librdkafka, Records, keys_of

from kafka_conformance.brokers.broker import Broker
from kafka_conformance.spark import session as spark_session
from kafka_conformance.spark.errors import SparkFault
from kafka_conformance.spark.session import open_spark

pytestmark = [pytest.mark.long, pytest.mark.timeout(900)]
LIMIT_S = 300


@pytest.fixture(scope="module")
def master(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with standalone(tmp_path_factory.mktemp("cluster"), environment()) as url:
        yield url


Kit = Callable[..., tuple[int, Any]]


@pytest.fixture
def kit(master: str, tmp_path: Path) -> Kit:
    """The command line, on the cluster: asked for by ``--master``, or within ``spark-submit``; its exit code, its JSON."""
    script = tmp_path / "kit.py"
    script.write_text("from kafka_conformance.cli.main import main; main()\n", encoding="utf-8")

    def run(*arguments: str, submitted: bool = False) -> tuple[int, Any]:
        command = [sys.executable, "-m", "kafka_conformance", *arguments, "--master", master]
        if submitted:
            command = [spark_program("spark-submit"), "--master", master, str(script), *arguments]
        ran = subprocess.run(
            [*command, "--json"],
            env=environment(),
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
            check=False,
        )
        assert ran.stdout, ran.stderr[-2000:]
        return ran.returncode, json.loads(ran.stdout)

    return run


@pytest.mark.parametrize("submitted", [False, True], ids=["--master", "spark-submit"])
def test_sweep_on_spark_cluster_agrees_with_java_and_detects_a_mutant(kit: Kit, submitted: bool) -> None:
    asked = ("sweep", "--rules", "murmur2", "--every", "1", "--keys", "70000", "--seed", "1")
    code, document = kit(*asked, submitted=submitted)
    assert code == 0
    assert (
        sum(part["asked"] for part in document["results"])
        == sum(part["alike"] for part in document["results"])
        == 70_257
    )
    code, document = kit(*asked[:-4], "--keys", "0", "--answerer", "mutant:signed-tail", submitted=submitted)
    assert code == 1
    assert sum(part["alike"] for part in document["results"]) < 257


def test_audit_on_spark_cluster_equals_the_audit_on_one_machine(
    kit: Kit, kafka_broker: Broker, java: JavaWriter, tmp_path: Path
) -> None:
    topics.create_topic(kafka_broker.bootstrap, "clustered", 6)
    sent = [(java, Records(keys_of(20_000, seed=1))), (Librdkafka(), Records(keys_of(20_000, seed=2)))]
    topics.in_turns(kafka_broker.bootstrap, "clustered", sent)
    asked = ("audit", "clustered", "--bootstrap-server", kafka_broker.bootstrap)
    local = subprocess.run(
        [sys.executable, "-m", "kafka_conformance", *asked, "--json", "--folder", str(tmp_path / "local")],
        capture_output=True, text=True, timeout=LIMIT_S, check=False, cwd=tmp_path,
    )  # fmt: skip
    assert local.returncode == 1, local.stderr[-2000:]
    one = json.loads(local.stdout)
    assert one["offending"] > 10_000
    for submitted in (False, True):
        code, other = kit(*asked, "--folder", str(tmp_path / f"run-{submitted}"), submitted=submitted)
        assert code == 1
        same = {name: value for name, value in other.items() if name not in {"took_s", "offending_records"}}
        assert same == {name: one[name] for name in same}


def test_spark_session_without_executor_raises_spark_fault_after_the_limit(
    master: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spark_session, "EXECUTOR_LIMIT_S", 5.0)
    monkeypatch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
    with (
        pytest.raises(SparkFault, match=r"registered no executor within 5 s"),
        open_spark(master, settings={"spark.executor.memory": "64g"}) as spark,
    ):
        spark.check_executors()


def test_unreachable_spark_master_raises_spark_fault_in_one_line() -> None:
    nowhere = f"spark://127.0.0.1:{free_port()}"
    with (
        pytest.raises(SparkFault, match=f"^no master responds at {nowhere}, or it refused the application$"),
        open_spark(nowhere),
    ):
        pass
