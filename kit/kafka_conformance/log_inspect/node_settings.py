"""What of a broker's ``server.properties`` a start compares with its log directories.

Example: ``process.roles=broker,controller``, ``node.id=1``, ``controller.quorum.voters=1@host:9093`` and
``log.dirs=/a,/b`` are a node that is the only controller: without its ``__cluster_metadata-0`` no topic is known, and
every partition in ``/a`` and ``/b`` is set aside.

Java source mirrored: ``AbstractKafkaConfig.logDirs`` and ``metadataLogDir``, ``QuorumConfig.parseVoterConnections``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from kafka_conformance.core.errors import BadInput
from kafka_conformance.core.java_properties import read_properties
from kafka_conformance.core.java_text import parse_int

__all__ = ["NodeSettings", "read_node_settings"]

_DEFAULT_FOLDER = "/tmp/kafka-logs"  # noqa: S108  Kafka's default of log.dir


@dataclass(frozen=True, slots=True)
class NodeSettings:
    """The settings of one node.

    ``node_id`` is None if the file has none. ``voters`` are the ids in ``controller.quorum.voters``, None if it is not set.
    ``folders`` are those of ``log.dirs`` and ``metadata.log.dir``, that of the cluster's metadata first.
    """

    node_id: int | None
    roles: frozenset[str]
    voters: frozenset[int] | None
    folders: tuple[Path, ...]


def read_node_settings(path: Path) -> NodeSettings:
    """Return the settings in a file. Raises BadInput for a file that cannot be read, and for one that names no node."""
    found = read_properties("DATA", str(path))
    if not found.keys() & {"log.dirs", "log.dir", "node.id", "broker.id", "process.roles"}:
        raise BadInput(
            f"{path} is neither a segment nor a server.properties: it has no log.dirs, node.id or process.roles"
        )
    dirs = _listed(found.get("log.dirs", "")) or _listed(found.get("log.dir", "")) or [_DEFAULT_FOLDER]
    of_metadata = found.get("metadata.log.dir") or dirs[0]
    try:
        node = next((parse_int(found[name]) for name in ("node.id", "broker.id") if name in found), None)
        voters = _voters(found)
    except ValueError as error:
        raise BadInput(f"{path}: node.id or controller.quorum.voters: {error}") from error
    folders = dict.fromkeys(Path(each) for each in (of_metadata, *dirs))
    return NodeSettings(node, frozenset(_listed(found.get("process.roles", ""))), voters, tuple(folders))


def _voters(found: Mapping[str, str]) -> frozenset[int] | None:
    given = _listed(found.get("controller.quorum.voters", ""))
    return frozenset(parse_int(each.partition("@")[0]) for each in given) if given else None


def _listed(value: str) -> list[str]:
    return [each for part in value.split(",") if (each := part.strip())]
