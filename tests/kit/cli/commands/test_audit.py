from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import audit_truth
import audits
import click
import listeners
import msgspec
import pytest
import topic_files
from click.testing import CliRunner

from kafka_conformance.audit.result import Audit, Doubt
from kafka_conformance.audit.sources import ExportFiles, TopicAddress
from kafka_conformance.cli import audit_scope
from kafka_conformance.cli.audit_source import SourceOptions, check
from kafka_conformance.cli.commands import audit as command
from kafka_conformance.cli.main import app
from kafka_conformance.core.errors import BadInput, KitError

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
        (("f.parquet",), "--partitions N is required for files"),
        (("f.jsonl.gz", "--partitions", "3"), "no file matches 'f.jsonl.gz'"),
        (("t.json", *LOCAL), "no broker accepts connections"),
        (("f.csv.gz", "--partitions", "3"), "no file matches 'f.csv.gz'"),
        (("a", "b", *LOCAL), "expected the name of one topic, or of files with --format, not 2 names"),
        (("", *LOCAL), "a name is empty"),
        (("a", "--option", "nonsense", *LOCAL), "--option nonsense: NAME=VALUE"),
        (
            ("a", "--option", "security.protocol=SSL", *LOCAL),
            "ignore it; settings of Kafka's clients begin with kafka.: write kafka.security.protocol",
        ),
        (("a", "--option", "kafka.security.protcol=SSL", *LOCAL), "did you mean security.protocol?"),
        (("a", "--setting", "=1", *LOCAL), "--setting =1: NAME=VALUE"),
        (("a", "--expect", "murmur9", *LOCAL), "murmur9"),
        (("a", "--from", "noon", *LOCAL), "--from noon: expected a time"),
        (("a", "--sample", "2", *LOCAL), "--sample 2: expected a share"),
        (("a", "--report-only", "--folder", "f"), "--report-only reports what is in --folder FOLDER"),
        (("--report-only",), "name the folder of a finished audit"),
        ((*LOCAL,), "expected the name of one topic, or of files with --format, not 0 names"),
        (("a", "--candidate", "mine", *LOCAL), "--candidate 'mine': expected MODULE:FUNCTION"),
        (("a", "--candidate", "json:dumps", *LOCAL), "--candidate json:dumps raises TypeError: "),
        (("a", *LOCAL), "no broker accepts connections at 127.0.0.1:9 (Connection refused): check --bootstrap-server"),
        (("a", "--bootstrap-server", "b"), "no broker accepts connections at b (HOST:PORT expected)"),
        (("no.parquet", "--format", "parquet", "--partitions", "3"), "no file matches 'no.parquet'"),
        (("/no/{a,b}*", "--format", "json", "--partitions", "3"), "no file matches '/no/{a,b}*'"),
    ],
)
def test_audit_with_bad_arguments_is_refused_in_one_line_before_spark_starts(
    words: tuple[str, ...], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def started(*_: Any, **__: Any) -> None:
        raise AssertionError("Spark was started")

    monkeypatch.setattr("kafka_conformance.spark.session.open_spark", started)
    line = refused(*words)
    assert said in line
    assert "\n" not in line


@pytest.mark.parametrize(
    ("option", "words"),
    [
        ("--join", "join TOPIC TOPIC"),
        ("--repair-to", "repair TOPIC NEW-TOPIC"),
        ("--execute", "repair TOPIC NEW-TOPIC"),
        ("--map-groups", "repair TOPIC NEW-TOPIC"),
    ],
)
def test_audit_with_option_of_join_or_repair_exits_2_and_names_the_right_command(option: str, words: str) -> None:
    line = f"audit has no {option}: use kafka-conformance {words}"
    done = CliRunner().invoke(app, ["audit", "a", option])
    assert done.exit_code == 2
    assert line in done.output


def test_help_of_audit_fits_two_screens_of_50_lines() -> None:
    done = CliRunner().invoke(app, ["audit", "--help"], terminal_width=100)
    assert len(done.output.splitlines()) <= 100


def test_audit_without_spark_does_not_import_pyspark_py4j_hypothesis_or_jinja2() -> None:
    """They take a sixth of the processor time of a small audit."""
    others = ["hypothesis", "jinja2", "pyspark", "py4j"]
    script = (
        "import sys, kafka_conformance.cli.commands.audit, kafka_conformance.audit.engines.run,"
        " kafka_conformance.audit.engines.local.run, kafka_conformance.audit.reports.terminal;"
        f"print([one for one in {others} if one in sys.modules])"
    )
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=120)
    assert ran.stdout == "[]\n"


def test_unknown_audit_file_format_is_refused_with_list_of_formats() -> None:
    result = CliRunner().invoke(app, ["audit", "f.orc", "--format", "orc", "--partitions", "3"])
    assert result.exit_code == 2
    assert "'orc' is not one of 'parquet', 'json', 'csv', 'avro', 'console-consumer'." in result.output


@pytest.mark.parametrize("completes", [False, True])
def test_audit_expect_option_resolves_a_client_name_to_a_rule(completes: bool) -> None:
    context = click.Context(click.Command("audit"), resilient_parsing=completes)
    assert audit_scope._rule(context, click.Option(["--expect"]), "sarama") == "sarama-hash"


@pytest.mark.parametrize(("expect", "code"), [("sarama", 0), ("kafka-go", 0), ("librdkafka", 1)])
def test_audit_of_sarama_topic_expecting_sarama_or_kafka_go_exits_0_expecting_librdkafka_1(
    expect: str, code: int, tmp_path: Path
) -> None:
    keys = [b"order-%d" % number for number in range(200)]
    topic_files.export(tmp_path, [(audit_truth.place("sarama-hash", key, 12), key) for key in keys], 12)
    words = [
        str(tmp_path / "topic.parquet"),
        "--format",
        "parquet",
        "--partitions",
        "12",
        "--folder",
        str(tmp_path / "run"),
    ]
    ran = CliRunner().invoke(app, ["audit", *words, "--expect", expect], standalone_mode=False)
    assert ran.return_value == code, ran.output


def test_default_audit_folder_is_named_by_topic_and_time() -> None:
    made = command._new_folder("orders of/../2026")
    assert re.search(r"\.kafka-conformance/audits/orders-of-\.\.-2026-\d{8}-\d{6}$", made)


def test_audit_options_split_into_kafka_settings_and_connector_options_or_raise_if_malformed() -> None:
    given = ("kafka.security.protocol=SSL", "kafka.request.timeout.ms=5", "minPartitions=2")
    (address,) = SourceOptions("b:1", options=given).topics(["t"])
    assert address.kafka["kafka.bootstrap.servers"] == address.where == "b:1"
    assert address.kafka["kafka.security.protocol"] == "SSL"
    assert address.kafka["kafka.request.timeout.ms"] == "5"
    assert address.connector == ("minPartitions",)
    with pytest.raises(BadInput):
        SourceOptions("b:1", options=("x",)).topics(["t"])


def test_audit_accepts_existing_paths_globs_remote_urls_and_reachable_brokers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.json").touch()
    for name in (
        str(tmp_path),
        f"{tmp_path}/*.json",
        f"{tmp_path}/{{a,b}}.json",
        f"file://{tmp_path}/a.json",
        "hdfs://x/y",
    ):
        check([ExportFiles(name, "json", 3)])
    monkeypatch.setattr("kafka_conformance.brokers.preflight.check_readable", lambda *_: None)
    with listeners.kafka() as address:
        check([TopicAddress("t", {"kafka.bootstrap.servers": f"127.0.0.1:9,{address}"})])


def test_audit_with_remote_spark_master_does_not_check_local_paths() -> None:
    check([ExportFiles("/no/such/file", "json", 3)], "spark://somewhere:7077")


@pytest.mark.parametrize(
    ("audit", "code"),
    [
        (audits.healthy(), 0),
        (audits.mixed(), 1),
        (audits.healthy(framing=audits.framing()), 1),
        (audits.healthy(framing=audits.framing(split=0, earliest=())), 0),
        (audits.empty(), 2),
        (audits.healthy(doubt=DOUBT), 2),
        (audits.mixed(doubt=DOUBT), 2),
    ],
    ids=[
        "healthy",
        "mixed",
        "split by frames",
        "in one partition each",
        "empty",
        "too few keys",
        "too few keys, and wrong ones",
    ],
)
def test_audit_exits_1_if_keys_misplaced_or_schema_split_2_if_empty_or_inconclusive(
    audit: Audit, code: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command._report(audit, as_json=True, html=tmp_path / "page.html", folder=str(tmp_path)) == code
    document = msgspec.json.decode(capsys.readouterr().out)
    assert bool(document["doubt"]) == (audit.doubt is not None)
    mood = re.search(r'class="verdict ([^"]*)"', (tmp_path / "page.html").read_text())
    assert mood
    assert mood[1] == (f"exit-{code}" if audit.records else "plain")


def test_interrupted_audit_hint_names_the_same_command_and_the_folder_unless_already_given() -> None:
    assert command._how_to_resume("", "/a b/run") == "run the same command again with --folder '/a b/run' to resume"
    assert command._how_to_resume("f", "f") == "run the same command again to resume"


def test_audit_key_format_choices_equal_the_supported_framing_formats() -> None:
    from kafka_conformance.audit.framing.formats import FORMATS
    from kafka_conformance.cli.audit_scope import _KEY_FORMATS

    assert tuple(FORMATS) == _KEY_FORMATS
