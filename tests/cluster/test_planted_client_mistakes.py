"""Mistakes planted into a client: one request is changed before the proxy receives it, and the gate has to find each."""

from __future__ import annotations

import random
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from client_mistakes import MISTAKES, RUNNING, Planter, replace_reader

from kafka_conformance.brokers.broker import running_broker
from kafka_conformance.wire.broker_gate.runner import BrokerTarget
from kafka_conformance.wire.client import parse_address
from kafka_conformance.wire.client_gate.runner import ScriptVerdict, run_script
from kafka_conformance.wire.client_gate.script import Script, shipped
from kafka_conformance.wire.client_gate.workload import workload_of

ADAPTER = Path(__file__).parents[2] / "ci/adapters/confluent_kafka_adapter.py"
PLANTED, PARALLEL, SEED, LIMIT_S = 150, 4, 20261129, 20.0
SCRIPTS = {script.id: script for script in shipped()}


@pytest.fixture(autouse=True)
def planting(monkeypatch: pytest.MonkeyPatch) -> None:
    replace_reader(monkeypatch)


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with running_broker("4.4.0", engine="jars") as started:
        yield started.bootstrap


def judged(address: str, folder: Path, script: Script, planter: Planter) -> tuple[ScriptVerdict, Counter[str]]:
    folder.mkdir()
    RUNNING.planter = planter
    workload, target = workload_of(script, SEED), BrokerTarget(*parse_address(address), 30.0, f"gate-{folder.name}")
    try:
        with target.prepared([workload.case]):
            command = [sys.executable, str(ADAPTER)]
            outcome = run_script(script, workload, target, parse_address(address), command, folder, LIMIT_S)
    finally:
        target.close()
    return outcome.verdict, Counter(one.kind for one in outcome.findings)


@pytest.mark.timeout(7_200)
def test_client_gate_finds_99_percent_of_planted_client_request_mistakes(address: str, tmp_path: Path) -> None:
    print(f"seed {SEED}")
    draw, missed, count = random.Random(SEED), [], Counter[str]()
    drawn = []
    for number in range(PLANTED):
        name = list(MISTAKES)[number % len(MISTAKES)]
        mistake = MISTAKES[name]
        script, nth = draw.choice(mistake.scripts), 1
        if mistake.api != "OffsetCommit" and mistake.at == "any":
            # A later fetch may be at the end, where no batch is left to skip.
            nth = draw.randint(1, 5) if mistake.api == "Produce" else 1
        drawn.append((f"{name}, {nth} in {script}", Planter(mistake, nth), SCRIPTS[script], tmp_path / str(number)))
    with ThreadPoolExecutor(PARALLEL) as pool:
        results = pool.map(lambda one: judged(address, one[3], one[2], one[1]), drawn)
        for (what, planter, _, _), (verdict, kinds) in zip(drawn, results, strict=True):
            line = f"{what}: {verdict.value} {dict(kinds)}"
            print(line if planter.planted else f"{line}, not planted", flush=True)  # shown if the test fails
            count["planted"] += planter.planted
            count["found"] += planter.planted and verdict is ScriptVerdict.DIFFERS
            if planter.planted and verdict is not ScriptVerdict.DIFFERS:
                missed.append(line)
    print(dict(count))
    assert count["planted"] >= PLANTED * 0.95
    assert count["found"] >= count["planted"] * 0.99, missed
