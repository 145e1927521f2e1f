from __future__ import annotations

import re
import socket
from pathlib import Path
from typing import Any

import audits
import msgspec
import pytest
from click.testing import CliRunner

from kafka_conformance.cli.audit_source import Given
from kafka_conformance.cli.commands import audit as command
from kafka_conformance.cli.main import app
from kafka_conformance.core.errors import BadInput, KitError
from kafka_conformance.spark.audit.result import Audit, Doubt

DOUBT = Doubt(5, ("murmur2", "sign-abs"), 31, 1e-6)
LOCAL = ("--bootstrap-server", "127.0.0.1:9")


def refused(*words: str) -> str:
    """What the command line says of these words; Spark is never started for them."""
    result = CliRunner().invoke(app, ["audit", *words])
    error = result.exception
    assert isinstance(error, KitError), result.output
    return str(error)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("t",), "--bootstrap-server HOST:PORT names a topic's broker"),
        (("f.parquet", "--format", "parquet"), "--partitions N"),
        (("a", "b", *LOCAL), "one topic is audited at a time, not 2"),
        (("a", "--join", *LOCAL), "--join A B takes two topics"),
        (("a", "b", "--join", "--repair-to", "c", *LOCAL), "one at a time"),
        (("a", "--really", *LOCAL), "belong to --repair-to"),
        (("a", "--option", "nonsense", *LOCAL), "--option nonsense: NAME=VALUE"),
        (("a", "--setting", "=1", *LOCAL), "--setting =1: NAME=VALUE"),
        (("a", "--expect", "murmur9", *LOCAL), "murmur9"),
        (("a", *LOCAL), "no broker accepts connections at 127.0.0.1:9 (Connection refused): check --bootstrap-server"),
        (("a", "--bootstrap-server", "b"), "no broker accepts connections at b (HOST:PORT expected)"),
        (("no.parquet", "--format", "parquet", "--partitions", "3"), "no file matches 'no.parquet'"),
        (("/no/{a,b}*", "--format", "json", "--partitions", "3"), "no file matches '/no/{a,b}*'"),
    ],
)
def test_bad_input_is_one_line(words: tuple[str, ...], said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def started(*_: Any, **__: Any) -> None:
        raise AssertionError("Spark was started")

    monkeypatch.setattr("kafka_conformance.spark.session.open_spark", started)
    line = refused(*words)
    assert said in line
    assert "\n" not in line


def test_a_folder_of_its_own_for_each_run() -> None:
    made = Given().folder_for("orders of/../2026")
    assert re.search(r"\.kafka-conformance/audits/orders-of-\.\.-2026-\d{8}-\d{6}$", made)
    assert Given(folder="hdfs://x/y").folder_for("orders") == "hdfs://x/y"


def test_options_reach_the_connector_after_the_limits() -> None:
    options = Given("b:1", ("kafka.security.protocol=SSL", "kafka.request.timeout.ms=5")).kafka()
    assert options["kafka.bootstrap.servers"] == "b:1"
    assert options["kafka.security.protocol"] == "SSL"
    assert options["kafka.request.timeout.ms"] == "5"
    with pytest.raises(BadInput):
        Given("b:1", ("x",)).kafka()


def test_a_source_that_is_there_is_accepted(tmp_path: Path) -> None:
    (tmp_path / "a.json").touch()
    for name in (
        str(tmp_path),
        f"{tmp_path}/*.json",
        f"{tmp_path}/{{a,b}}.json",
        f"file://{tmp_path}/a.json",
        "hdfs://x/y",
    ):
        Given(form="json", partitions=3).check([name])
    with socket.create_server(("127.0.0.1", 0)) as broker:
        Given(bootstrap=f"127.0.0.1:9,127.0.0.1:{broker.getsockname()[1]}").check(["t"])


def test_files_of_a_cluster_are_checked_there() -> None:
    Given(form="json", partitions=3, master="spark://somewhere:7077").check(["/no/such/file"])


@pytest.mark.parametrize(
    ("audit", "code"),
    [
        (audits.healthy(), 0),
        (audits.mixed(), 1),
        (audits.empty(), 2),
        (audits.healthy(doubt=DOUBT), 2),
        (audits.mixed(doubt=DOUBT), 2),
    ],
    ids=["healthy", "mixed", "empty", "too few keys", "too few keys, and wrong ones"],
)
def test_the_exit_code(audit: Audit, code: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command._report(audit, as_json=True, html=tmp_path / "page.html", folder=str(tmp_path)) == code
    document = msgspec.json.decode(capsys.readouterr().out)
    assert bool(document["doubt"]) == (audit.doubt is not None)
    mood = re.search(r'class="verdict ([^"]*)"', (tmp_path / "page.html").read_text())
    assert mood
    assert mood[1] == (f"exit-{code}" if audit.records else "plain")
