"""Secured brokers: what cannot work is named within seconds, what works leaves no secret anywhere."""

from __future__ import annotations

import contextlib
import json
import os
import re
import secrets
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self

import pytest
from confluent_kafka import Producer
from processes import accept_interrupts, is_group_gone
from secured_brokers import Secured, running_secured
from spark_daemons import environment, spark_program
from topics import Librdkafka, Records, create_topic, keys_of

from kafka_conformance.audit.sources import TopicAddress
from kafka_conformance.cli.audit_source import check as check_sources
from kafka_conformance.core.errors import BadInput

pytestmark = pytest.mark.timeout(600)

SECONDS = 5.0
PROGRESS = re.compile(r"[a-z ]+.*: \d+ of \d+, \d+ s$")
SPARKS_LOG = re.compile(r"\d\d/\d\d/\d\d \d\d:\d\d:\d\d [A-Z]+ ")
TOPIC = "orders"


@pytest.fixture(scope="module")
def secured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Secured]:
    with running_secured(tmp_path_factory.mktemp("secured"), f"s3cret-{secrets.token_hex(12)}") as broker:
        create_topic(broker.broker.bootstrap, TOPIC, 3)
        Librdkafka("murmur2_random").write(broker.broker.bootstrap, TOPIC, Records(keys_of(3_000)))
        broker.allow(TOPIC)
        yield broker


def check(address: str, settings: dict[str, str], topic: str = TOPIC) -> str:
    """The line that a check before Spark ends with; empty if it passes. It takes seconds at most."""
    began = time.monotonic()
    try:
        kafka = {"kafka.bootstrap.servers": address, **{f"kafka.{name}": value for name, value in settings.items()}}
        check_sources([TopicAddress(topic, kafka)])
    except BadInput as refused:
        return str(refused)
    finally:
        assert time.monotonic() - began < SECONDS
    return ""


def test_preflight_check_accepts_valid_logins_and_an_absent_jks_truststore_file(secured: Secured) -> None:
    trust = {"security.protocol": "SSL", "ssl.truststore.type": "PEM", "ssl.truststore.location": secured.trust}
    assert check(secured.broker.bootstrap, {}) == ""
    assert check(secured.sasl, secured.login()) == ""
    assert check(secured.tls, trust) == ""
    assert check(secured.tls, {"security.protocol": "SSL", "ssl.truststore.location": "/trust.jks"}) == ""


def test_preflight_of_secured_broker_names_wrong_protocol_mechanism_login_or_topic(secured: Secured) -> None:
    plain, login = secured.broker.bootstrap, secured.login()
    assert check(plain, {}, "order") == f"topic order does not exist at {plain}: did you mean orders?"
    assert check(plain, {}, "or der").startswith("'or der' is not a valid topic name")
    assert check(secured.tls, {}).startswith("plaintext sent to a TLS port")
    assert check(plain, {"security.protocol": "SSL"}).startswith("TLS sent to a plaintext port")
    assert check(plain, login).startswith(f"the listener at {plain} has no SASL")
    assert check(secured.sasl, {}).startswith(f"the listener at {secured.sasl} expects SASL (PLAIN)")
    scram = login | {"sasl.mechanism": "SCRAM-SHA-256",
                     "sasl.jaas.config": login["sasl.jaas.config"].replace("plain.Plain", "scram.Scram")}  # fmt: skip
    assert (
        check(secured.sasl, scram) == f"sasl.mechanism SCRAM-SHA-256 is not enabled at {secured.sasl}: it enables PLAIN"
    )
    line = check(secured.sasl, secured.login("alice", "wrong"))
    assert line.startswith(f"the broker at {secured.sasl} refused the login")
    line = check(secured.sasl, secured.login("bob", "builder"))
    assert line.startswith(f"the login may not describe topic {TOPIC}")


class Watched(contextlib.AbstractContextManager["Watched"]):
    """All processes of the machine, looked at while the block lasts: those whose command line or environment has a text."""

    def __init__(self, text: str) -> None:
        self._text, self._ends, self.found = text.encode(), threading.Event(), set[str]()
        self._thread = threading.Thread(target=self._look, daemon=True)

    def _look(self) -> None:
        while not self._ends.wait(0.2):
            for process in Path("/proc").glob("[0-9]*"):
                for part in ("cmdline", "environ"):
                    with contextlib.suppress(OSError):
                        if self._text in (process / part).read_bytes():
                            self.found.add(f"{process.name} {part}")

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ends.set()
        self._thread.join(10)


def command_line(folder: Path, secured: Secured, *words: str, submit: bool = False) -> tuple[list[str], dict[str, str]]:
    """A command with a file of settings, and its environment: all it writes is in ``folder``."""
    config = folder.parent / "client.properties"
    config.write_text("".join(f"{name}={value}\n" for name, value in secured.login().items()))
    folder.mkdir(exist_ok=True)
    given = ["audit", *words, "--bootstrap-server", secured.sasl, "--command-config", str(config)]
    given_env = (environment() if submit else dict(os.environ)) | {"TMPDIR": str(folder / "tmp")}
    (folder / "tmp").mkdir(exist_ok=True)
    (folder / "events").mkdir(exist_ok=True)
    events = {"spark.eventLog.enabled": "true", "spark.eventLog.dir": f"file://{folder / 'events'}"}
    if not submit:
        settings = [word for name, value in events.items() for word in ("--setting", f"{name}={value}")]
        return [sys.executable, "-m", "kafka_conformance", *given, *settings], given_env
    script = folder / "kit.py"
    script.write_text("from kafka_conformance.cli.main import main; main()\n")
    conf = [word for name, value in events.items() for word in ("--conf", f"{name}={value}")]
    return [spark_program("spark-submit"), "--master", "local[2]", *conf, str(script), *given], given_env


def written(folder: Path) -> bytes:
    """Everything that was written into a folder."""
    return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())


@pytest.mark.long
@pytest.mark.parametrize("submit", [False, True], ids=["own JVM", "spark-submit"])
def test_audit_of_sasl_broker_leaks_no_password_prints_only_json_and_reports_time_taken(
    submit: bool, secured: Secured, tmp_path: Path
) -> None:
    folder = tmp_path / "all"
    words = (TOPIC, "--folder", str(folder / "run"), "--html", str(folder / "page.html"), "--json", "--all-records")
    command, given_env = command_line(folder, secured, *words, submit=submit)
    began = time.monotonic()
    with Watched(secured.password) as watched:
        ran = subprocess.run(command, capture_output=True, cwd=folder, env=given_env, timeout=300, check=False)
    took_s = time.monotonic() - began
    assert ran.returncode == 0, ran.stderr.decode()[-3000:]
    assert watched.found == set()
    document = json.loads(ran.stdout)
    assert ran.stdout.count(b"\n") == 1
    assert document["records"] == 3_000
    assert document["reading"] == {"isolation": "read_committed", "offsets": 3_000, "without_record": 0, "open": 0}
    # Outside spark-submit, whose JVM starts first, all but the end of Python is within the report's time.
    assert took_s - (15 if submit else 3) < document["took_s"] < took_s
    everything = written(folder) + ran.stdout + ran.stderr
    assert b"orders" in everything
    assert b"jaas" not in ran.stdout
    assert secured.password.encode() not in everything
    assert any((folder / "events").iterdir())


@pytest.mark.long
@pytest.mark.parametrize("submit", [False, True], ids=["own JVM", "spark-submit"])
def test_audit_of_sasl_broker_ended_by_ctrl_c_prints_one_line_and_resumes(
    submit: bool, secured: Secured, tmp_path: Path
) -> None:
    folder = tmp_path / "all"
    words = (TOPIC, "--folder", str(folder / "run"), "--engine", "spark", "--chunk", "1000", "--json")
    command, given_env = command_line(folder, secured, *words, submit=submit)
    log = folder / "err"
    with log.open("ab") as err, (folder / "out").open("wb") as out:
        process = subprocess.Popen(command, stdout=out, stderr=err, cwd=folder, env=given_env, start_new_session=True,
                                   preexec_fn=accept_interrupts)  # fmt: skip
    try:
        limit = time.monotonic() + 200
        while not (folder / "run" / "chunks" / "chunk-000000" / "_SUCCESS").exists():
            assert process.poll() is None, log.read_text()[-3000:]
            assert time.monotonic() < limit, log.read_text()[-3000:]
            time.sleep(0.05)
        time.sleep(1.0)
        before = len(log.read_bytes())
        os.killpg(process.pid, signal.SIGINT)
        code = process.wait(60)
        assert is_group_gone(process.pid)
    finally:
        process.kill()
    lines = log.read_bytes()[before:].decode().splitlines()
    said = [line for line in lines if not PROGRESS.match(line)]
    assert said == ["kafka-conformance: interrupted: run the same command again to resume"]
    assert code == (130 if submit else 2)  # the JVM of spark-submit ends with the signal's own exit code
    assert (folder / "out").read_bytes() == b""
    ran = subprocess.run(command, capture_output=True, cwd=folder, env=given_env, timeout=300, check=False)
    assert ran.returncode == 0, ran.stderr.decode()[-3000:]
    assert json.loads(ran.stdout)["records"] == 3_000


@pytest.mark.long
@pytest.mark.parametrize("configured", [False, True])
def test_audit_under_spark_submit_shows_spark_log_only_if_configured(
    configured: bool, secured: Secured, tmp_path: Path
) -> None:
    folder = tmp_path / "all"
    words = (TOPIC, "--folder", str(folder / "run"), "--engine", "spark")
    command, given_env = command_line(folder, secured, *words, submit=True)
    if configured:
        command[1:1] = ["--conf", "spark.log.level=INFO"]
    ran = subprocess.run(command, capture_output=True, cwd=folder, env=given_env, timeout=300, check=False)
    text = ran.stderr.decode()
    assert ran.returncode == 0, text[-3000:]
    # What is logged before Python starts is spark-submit's own.
    logged = [line for line in text.splitlines() if SPARKS_LOG.match(line) and " INFO " in line]
    assert bool(logged) == configured, logged[:10]


def transactions(address: str, topic: str) -> None:
    """Write 30 records of a committed transaction, 20 of an aborted one, 10 without one; 5 of one that stays open."""
    keys = keys_of(200)

    def produce(producer: Producer, count: int) -> None:
        for at in range(count):
            producer.produce(topic, b"v", keys[at])

    settings = {"bootstrap.servers": address, "partitioner": "murmur2_random", "log_level": 0}
    for at, (count, ends) in enumerate(((30, "commit"), (20, "abort"), (5, ""))):
        producer = Producer({**settings, "transactional.id": f"{topic}-{at}", "transaction.timeout.ms": 600_000})
        producer.init_transactions(30)
        producer.begin_transaction()
        produce(producer, count)
        assert producer.flush(30) == 0
        if ends:
            getattr(producer, f"{ends}_transaction")(30)
        else:
            OPEN.append(producer)  # its end would abort the transaction
        if at == 1:
            plain = Producer(settings)
            produce(plain, 10)
            assert plain.flush(30) == 0


OPEN: list[Producer] = []


@pytest.mark.long
@pytest.mark.parametrize("engine", ["auto", "spark"])
def test_audit_omits_open_and_aborted_transactions_unless_isolation_is_read_uncommitted(
    engine: str, secured: Secured, tmp_path: Path
) -> None:
    """Of 65 records, 40 are committed or without a transaction; 5 are of an open transaction."""
    topic = f"transactions-{engine}"
    create_topic(secured.broker.bootstrap, topic, 1)
    transactions(secured.broker.bootstrap, topic)

    def audited(*words: str) -> dict[str, Any]:
        command = [sys.executable, "-m", "kafka_conformance", "audit", topic, *words, "--engine", engine, "--json"]
        ran = subprocess.run([*command, "--bootstrap-server", secured.broker.bootstrap], capture_output=True, cwd=tmp_path,
                             timeout=300, check=False)  # fmt: skip
        assert ran.stdout, ran.stderr.decode()[-3000:]
        return dict(json.loads(ran.stdout))

    found = audited()
    # 60 records and 2 markers before the open transaction; the aborted records and the markers give no record.
    assert found["reading"] == {"isolation": "read_committed", "offsets": 62, "without_record": 22, "open": 5}
    assert found["records"] == 40
    found = audited("--isolation", "read_uncommitted")
    assert found["reading"] == {"isolation": "read_uncommitted", "offsets": 67, "without_record": 2, "open": 0}
    assert found["records"] == 65
