"""The gate of brokers against real brokers: they agree, and a proxy that changes one answer is found out."""

from __future__ import annotations

import os
import random
import secrets
import signal
import subprocess
import sys
from collections.abc import Iterator

import pytest
from changing_proxy import changing_proxy
from click.testing import CliRunner

from kafka_conformance.brokers.broker import Broker, running_broker
from kafka_conformance.cli.main import app
from kafka_conformance.wire.broker_gate.case import frozen
from kafka_conformance.wire.broker_gate.runner import PREFIX, BrokerTarget
from kafka_conformance.wire.client import parse_address

PLANTED, LEAST = 200, 198
LIMIT_S = 20.0


@pytest.fixture(scope="module", params=["4.4.0", "3.9.2", "2.8.2"])
def broker(request: pytest.FixtureRequest) -> Iterator[Broker]:
    with running_broker(request.param, engine="jars") as started:
        yield started


def topics(broker: Broker) -> list[str]:
    target = BrokerTarget(*parse_address(broker.bootstrap), LIMIT_S, PREFIX)
    try:
        return target.topic_names()
    finally:
        target.close()


def test_real_kafka_broker_passes_every_gate_case_and_the_gate_leaves_no_topics(broker: Broker) -> None:
    ran = CliRunner().invoke(
        app, ["gate", "broker", broker.bootstrap, "--as", broker.release, "--timeout", str(LIMIT_S)],
        standalone_mode=False, catch_exceptions=False,
    )  # fmt: skip
    assert ran.return_value == 0, ran.output
    assert topics(broker) == []


def test_broker_gate_interrupted_by_sigint_exits_2_and_deletes_the_created_topics(broker: Broker) -> None:
    words = [
        sys.executable,
        "-u",
        "-m",
        "kafka_conformance",
        "gate",
        "broker",
        broker.bootstrap,
        "--as",
        broker.release,
    ]
    with subprocess.Popen(
        [*words, "--seed", "1"], stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    ) as process:  # fmt: skip
        assert process.stderr is not None
        assert "creates" in process.stderr.readline()
        while not topics(broker):
            assert process.poll() is None
        os.kill(process.pid, signal.SIGINT)
        _, errors = process.communicate(timeout=120)
    assert process.returncode == 2
    assert "interrupted" in errors
    assert topics(broker) == []


def test_broker_gate_detects_at_least_198_of_200_planted_response_changes(broker: Broker) -> None:
    seed = secrets.randbits(32)
    print(f"seed {seed}")
    draw = random.Random(seed)
    cases = [case for case in frozen().cases if case.answers_of(broker.release) is not None]
    missed, planted = [], 0
    with changing_proxy(parse_address(broker.bootstrap)) as proxy:
        target = BrokerTarget(*proxy.address, 5.0, f"{PREFIX}{secrets.token_hex(4)}")
        with target.prepared(cases):
            for case in draw.sample(cases, len(cases)):
                proxy.plant(draw.randrange(len(case.steps)), draw)
                found = target.run(case, broker.release)
                planted += bool(proxy.planted)
                if proxy.planted and not found.is_failure:
                    missed.append(f"{case.id}: {proxy.planted}")
                if not proxy.planted:
                    assert not found.is_failure, (seed, case.id, found.difference)
                if planted == PLANTED:
                    break
            proxy.plant(-1, draw)
        target.close()
    assert planted == PLANTED
    assert PLANTED - len(missed) >= LEAST, f"seed {seed}: {missed}"
