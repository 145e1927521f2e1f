"""The settings and the command of a ZooKeeper server."""

from __future__ import annotations

from pathlib import Path

from kafka_conformance.brokers.zookeeper import server_properties, server_words


def test_a_server_listens_on_this_machine_only_and_writes_to_its_folder() -> None:
    made = dict(line.split("=", 1) for line in server_properties(21_000, Path("/data/zookeeper"), 500).splitlines())
    assert made == {
        "admin.enableServer": "false",
        "clientPort": "21000",
        "clientPortAddress": "127.0.0.1",
        "dataDir": "/data/zookeeper",
        "maxClientCnxns": "0",
        "tickTime": "500",
    }


def test_a_server_runs_with_its_file() -> None:
    assert server_words(Path("/data/z.properties"))[-2:] == (
        "org.apache.zookeeper.server.ZooKeeperServerMain",
        "/data/z.properties",
    )
