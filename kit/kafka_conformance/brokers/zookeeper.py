"""The ZooKeeper server of a cluster: a separate process, standalone, from the jars of the Kafka release.

It listens on 127.0.0.1 only and has no admin server. It does not wait for its disk: its files last as long as its process.
"""

from __future__ import annotations

from pathlib import Path

from kafka_conformance.brokers.settings import HOST, properties_text

__all__ = ["NAME", "READY", "SESSION_END_S", "SESSION_SETTINGS", "TICK_MS", "server_properties", "server_words"]

NAME = "zookeeper"
"""The name of its process, its folder and its files."""
READY = b"Using checkIntervalMs="
"""In its log once it handles requests: the line of its last part, which all servers since 3.5.7 log."""

TICK_MS = 500
"""The ``tickTime`` of the server of a single broker."""
SESSION_SETTINGS = {"zookeeper.connection.timeout.ms": "60000", "zookeeper.session.timeout.ms": "6000"}
"""Settings of a single broker. Its session is 18 s otherwise, since 2.5; a connection may take as long as a start."""
SESSION_END_S = (6000 + 2 * TICK_MS) / 1000
"""How long after a broker was killed its session has ended: until then it is refused when it starts again."""

_MAIN = "org.apache.zookeeper.server.ZooKeeperServerMain"
_OPTIONS = (
    "-Xmx128m",
    "-Dorg.slf4j.simpleLogger.log.org.apache.zookeeper.server.ContainerManager=info",
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
