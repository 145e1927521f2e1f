"""The ZooKeeper server of a cluster: a separate process, standalone, from the jars of the Kafka release.

It listens on 127.0.0.1 only and has no admin server. It does not wait for its disk: its files last as long as its process.
"""

from __future__ import annotations

from pathlib import Path

from kafka_conformance.brokers.settings import HOST, properties_text

__all__ = ["NAME", "READY", "server_properties", "server_words"]

NAME = "zookeeper"
"""The name of its process, its folder and its files."""
READY = b"PrepRequestProcessor"
"""In its log once it handles requests."""

_MAIN = "org.apache.zookeeper.server.ZooKeeperServerMain"
_OPTIONS = (
    "-Xmx128m",
    "-Dorg.slf4j.simpleLogger.log.org.apache.zookeeper.server.PrepRequestProcessor=info",
    "-Dzookeeper.forceSync=no",
)


def server_words(file: Path) -> tuple[str, ...]:
    """Return the end of the command that runs a server with the settings in ``file``."""
    return (*_OPTIONS, _MAIN, str(file))


def server_properties(port: int, folder: Path, tick_ms: int) -> str:
    """Return the settings of a server on ``port``. Sessions last 2 to 20 times ``tick_ms``."""
    settings = {
        "admin.enableServer": "false",
        "clientPort": str(port),
        "clientPortAddress": HOST,
        "dataDir": str(folder).replace("\\", "\\\\"),
        "maxClientCnxns": "0",
        "tickTime": str(tick_ms),
    }
    return properties_text(settings)
