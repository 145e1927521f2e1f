"""The settings and the command of a ZooKeeper server."""

from __future__ import annotations

from pathlib import Path

from kafka_conformance.brokers.zookeeper import server_properties, server_words


def test_zookeeper_properties_have_loopback_address_port_data_folder_tick_time_and_no_admin_server() -> None:
    made = dict(line.split("=", 1) for line in server_properties(21_000, Path("/data/zookeeper"), 500).splitlines())
    assert made == {
        "admin.enableServer": "false",
        "clientPort": "21000",
        "clientPortAddress": "127.0.0.1",
        "dataDir": "/data/zookeeper",
        "maxClientCnxns": "0",
        "tickTime": "500",
    }


def test_zookeeper_command_ends_with_server_class_and_properties_file() -> None:
    assert server_words(Path("/data/z.properties"))[-2:] == (
        "org.apache.zookeeper.server.ZooKeeperServerMain",
        "/data/z.properties",
    )
