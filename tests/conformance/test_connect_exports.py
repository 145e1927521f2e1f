"""Exports by Kafka Connect's own classes are read by the audit as its page says.

The object store sinks themselves are not on Maven Central. What they write files with is: Kafka's transform and JSON
converter, and the writers that Aiven's sinks share.
"""

from __future__ import annotations

import os
import random
import re
import shlex
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner

from kafka_conformance.cli.main import app
from kafka_conformance.oracle.bridge import Compiler
from kafka_conformance.oracle.java_home import find_java
from kafka_conformance.oracle.oracle import Oracle
from kafka_jars.brokers import load_brokers
from kafka_jars.pins import Jar, load
from kafka_jars.store import default_store
from kafka_reference import partition_for_key

PAGE = Path(__file__).parents[2] / "kit" / "docs" / "audit.md"
CONNECT = {
    "org.apache.kafka:connect-api:4.4.0": "1f13c2617cb3ff39924a6d7a1265b3582b09f35c146c1547b38ebd308c8b61eb",
    "org.apache.kafka:connect-json:4.4.0": "0136d64e5cc05c1597e0dccbba8da83857809f5eb696e24ce1764bf4238646b2",
    "org.apache.kafka:connect-transforms:4.4.0": "d35aca9af5eada32721f751a2d7c53f0ef0eb9ae6bef839250f4b0a9064da4fb",
    "io.aiven:commons-for-apache-kafka-connect:0.12.0": "42171fddcada5a8fd6f6449754a6dd0f9e2638c76503f821281c6374ed8f8d16",
    "com.fasterxml.jackson.module:jackson-module-blackbird:2.21.7": (
        "b41fb816cbaa5f2393136cf1c525e0d9a9f9bcea14207a09e8e703df53351596"
    ),
}
"""The SHA-256 of what a broker of 4.4.0 does not have."""

PARTITIONS, SEED, LIMIT_S = 12, 20261201, 60


@pytest.fixture(scope="module")
def exports(oracle: Oracle, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder with an export of each kind."""
    folder = tmp_path_factory.mktemp("connect")
    draw = random.Random(SEED)
    keys = [f"order-{draw.randrange(10**9)}" for _ in range(200)]
    lines = [f"{partition_for_key(key.encode(), PARTITIONS)} {at} {key}" for at, key in enumerate(keys)]
    (folder / "records").write_text("\n".join(lines))
    stored = oracle.resolve([*(Jar(*each) for each in CONNECT.items()), *load_brokers().jars("4.4.0")])
    compiler = Compiler(oracle.jvm, oracle.resolve(load().compiler), default_store().folder)
    own = compiler.jar([Path(__file__).with_name("ConnectExports.java")], "Kafka Connect", stored)
    class_path = os.pathsep.join(map(str, [own, *(each.path for each in stored)]))
    words = [str(find_java().program), "-cp", class_path, "ConnectExports", str(folder / "records"), str(folder)]
    subprocess.run(words, check=True, capture_output=True, timeout=LIMIT_S)
    return folder


@pytest.mark.parametrize(("row", "kind"), [("Kafka Connect's object store sinks", "connect"), ("Aiven's", "aiven")])
def test_documented_audit_command_finds_exports_of_kafka_connect_placed_as_java(
    exports: Path, monkeypatch: pytest.MonkeyPatch, row: str, kind: str
) -> None:
    found = re.search(rf"\| {row}[^|]*\|[^|]*\| `audit topics/([^`]*)` \|", PAGE.read_text(encoding="utf-8"))
    assert found
    monkeypatch.chdir(exports / kind)
    ran = CliRunner().invoke(app, ["audit", *shlex.split(found[1]), "--engine", "local"], standalone_mode=False)
    assert "All 200 keyed records are where Java's producer puts them." in ran.output, ran.exception
