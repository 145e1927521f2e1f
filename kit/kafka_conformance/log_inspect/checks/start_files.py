"""What a start reads before it loads partitions: ``meta.properties``, names of folders, the quorum's state and snapshots.

Each check tells what real brokers do: ``tests/cluster/test_broker_starts.py`` starts them on damaged directories.

Java source mirrored: ``MetaPropertiesEnsemble``, ``LogManager.loadLogs``,
``FileQuorumStateStore``, ``KafkaMetadataLog.recoverSnapshots``, ``BootstrapDirectory.read``.
"""

from __future__ import annotations

import json
import re
import struct
from collections import defaultdict
from collections.abc import Container, Mapping

from kafka_conformance.core.java_properties import parse_properties
from kafka_conformance.core.java_text import lines_of, parse_int
from kafka_conformance.log_inspect.directory import METADATA, LogDirectory, Partition, small_file, small_text
from kafka_conformance.log_inspect.findings import Effect, Findings, Severity
from kafka_conformance.log_inspect.metadata_fields import MetadataFields
from kafka_conformance.log_inspect.scan import Damage, Segment, scan
from kafka_reference.errors import JavaException
from kafka_reference.record_batch.batches import DefaultBatch, decode_batches
from kafka_reference.releases import NEWEST, Release

__all__ = [
    "FIRST_TO_SET_ASIDE",
    "check_folders",
    "check_meta_properties",
    "check_quorum",
    "has_zookeeper",
    "quorum_state",
]

_UUID = re.compile(r"[A-Za-z0-9_-]{22}(==)?", re.ASCII)
_LARGEST = 2**20
_META = "meta.properties"
_NO_VERSION = "it has no version=1 and node.id"
_FIRST_WITHOUT_ZOOKEEPER = (4, 0, 0)
_FIRST_WITH_VERSIONS = (3, 7, 0)
FIRST_TO_SET_ASIDE = (3, 7, 0)
"""A broker renames a partition that it does not expect to ``-stray``; before, it deletes it or keeps it."""
_FIRST_WITH_TWO_STATES = (3, 8, 0)
_BOOTSTRAP = "bootstrap.checkpoint"
_FEATURE_LEVEL = 12


def check_meta_properties(
    directory: LogDirectory, findings: Findings, release: Release, *, spare: bool = False
) -> Mapping[str, str]:
    """Return the properties of ``meta.properties``, none if a broker does not start with them.

    ``spare``: the cluster's metadata is in another directory; a broker takes this one offline if the file cannot be read.
    """
    try:
        text = small_file(directory.root / _META, _LARGEST).decode("latin-1")
        properties = parse_properties(text)
        if why := _wrong(properties, release):
            raise ValueError(why)
    except FileNotFoundError:
        findings.add("meta-properties-missing", _META, "the file is not there")
    except OSError as error:
        findings.add("unreadable", _META, str(error.strerror))
    except ValueError as error:
        # Without version=1 the file is read as one of a broker with ZooKeeper, and lacks its node.
        offline = spare and not str(error).startswith(_NO_VERSION)
        findings.add("meta-properties-corrupt", _META, str(error), effect=Effect.OFFLINE if offline else None)
    else:
        return properties
    return {}


def _wrong(properties: Mapping[str, str], release: Release) -> str:
    """Return why a broker does not start with these properties, "" if it does."""
    version = parse_int(properties.get("version", "0"))
    if version not in {0, 1}:
        return f"version {version} is not 0 or 1"
    if version == 0:
        if release.numbers < _FIRST_WITHOUT_ZOOKEEPER and "broker.id" in properties:
            parse_int(properties["broker.id"])
            return ""
        return _NO_VERSION + (": its broker had ZooKeeper, which 4.0.0 removed" if "broker.id" in properties else "")
    for name in ("node.id", "cluster.id"):
        if name not in properties:
            return f"it has no {name}"
    parse_int(properties["node.id"])
    directory_id = properties.get("directory.id")
    if directory_id is not None and not _UUID.fullmatch(directory_id):
        return f"directory.id {directory_id[:40]!r} is not 16 bytes in Base64"
    return ""


def has_zookeeper(properties: Mapping[str, str]) -> bool:
    """Return whether they are the ``meta.properties`` of a broker with ZooKeeper, as one before 4.0.0 accepts them."""
    return bool(properties) and parse_int(properties.get("version", "0")) == 0


def check_folders(
    directory: LogDirectory,
    findings: Findings,
    *,
    release: Release,
    zookeeper: bool = False,
    aside: Container[str] = (),
) -> None:
    """Report folders whose names are not partitions, and two folders of one partition, but for those set ``aside``.

    ``orders-00`` and ``orders-0`` are one partition. A broker with ``zookeeper`` does not end a move between disks within
    one directory: it uses the partition, and keeps the copy. With KRaft it renames the copy to the partition, which is
    not empty, and exits.
    """
    for name in directory.foreign:
        findings.add(
            "folder-not-a-partition", name, "its name is not that of a topic and a partition, such as orders-0"
        )
    for name in directory.leftovers if release.numbers < FIRST_TO_SET_ASIDE else ():
        if name.endswith("-stray"):
            findings.add("folder-not-a-partition", name, "a broker before 3.7.0 does not have names that end in -stray")
    folders = defaultdict(list)
    for partition in directory.partitions:
        found = partition.topic_partition
        if found is not None and partition.name not in aside:
            folders[found, partition.future].append(partition.name)
    for (found, future), names in folders.items():
        copies = len(names)
        if future:
            names = [*names, *folders.get((found, False), ())]
        if len(names) > 1:
            kept = zookeeper and copies == 1
            uses = f"; a broker with ZooKeeper starts and uses {names[1]}" if kept else ""
            findings.add("folders-of-one-partition", names[0],
                         f"{found[0]}-{found[1]} is also in {', '.join(names[1:])}{uses}",
                         severity=Severity.SUSPICIOUS if kept else None, effect=Effect.NONE if kept else None)  # fmt: skip


def check_quorum(directory: LogDirectory, findings: Findings, release: Release) -> None:
    """Check ``quorum-state``, the snapshots of ``__cluster_metadata-0``, and ``bootstrap.checkpoint`` beside it."""
    for partition in directory.partitions:
        if partition.name == METADATA:
            _check_quorum_state(directory, partition, findings, release)
            _check_snapshots(directory, partition, findings)
            _check_bootstrap(directory, findings)


class UnreadableState(ValueError):
    """A ``quorum-state`` that is not one JSON object with a version: up to 3.7.x a broker clears it and starts."""


def quorum_state(partition: Partition, release: Release = NEWEST) -> Mapping[str, object]:
    """Return the state in ``quorum-state``. Raises OSError; UnreadableState; ValueError for what always stops a start.

    Java source mirrored: ``FileQuorumStateStore.readStateFromFile``, up to 3.7.x ``FileBasedStateStore`` and
    ``QuorumState.initialize``, which clears a file at an IOException.
    """
    try:
        document = json.loads((lines_of(small_text(partition.folder / "quorum-state")) or [""])[0])
    except ValueError as error:
        raise UnreadableState(str(error)) from error
    if not isinstance(document, dict) or not isinstance(document.get("data_version"), int):
        raise UnreadableState("it has no data_version")
    known = range(2 if release.numbers >= _FIRST_WITH_TWO_STATES else 1)
    if document["data_version"] not in known and release.numbers >= _FIRST_WITH_VERSIONS:
        raise ValueError(f"data_version {document['data_version']} is not {' or '.join(map(str, known))}")
    for field in ("leaderId", "leaderEpoch", "votedId"):
        if not isinstance(document.get(field), int):
            raise ValueError(f"it has no {field}")  # noqa: TRY004  as what json raises
    return document


def _check_quorum_state(directory: LogDirectory, partition: Partition, findings: Findings, release: Release) -> None:
    name = directory.relative(partition.folder / "quorum-state")
    try:
        quorum_state(partition, release)
    except FileNotFoundError:
        findings.add("quorum-state-missing", name, "the file is not there")
    except OSError as error:
        findings.add("unreadable", name, str(error.strerror))
    except ValueError as error:
        cleared = isinstance(error, UnreadableState) and release.numbers < _FIRST_WITH_TWO_STATES
        findings.add("quorum-state-corrupt", name, f"no JSON object of a quorum's state: {error}"[:200],
                     effect=Effect.DELETES if cleared else None)  # fmt: skip


def _check_snapshots(directory: LogDirectory, partition: Partition, findings: Findings) -> None:
    first = partition.segments[0].base_offset if partition.segments else 0
    newest = partition.metadata_snapshots[-1] if partition.metadata_snapshots else None
    if first > 0 and (newest is None or int(newest[:20]) < first):
        findings.add(
            "metadata-snapshot-missing", directory.relative(partition.folder), f"the log begins with offset {first}, and "
            f"the newest snapshot is {newest or 'none'}", offset=first,
        )  # fmt: skip
    if newest is None:
        return
    path = partition.folder / newest
    name = directory.relative(path)
    try:
        with Segment(path) as segment:
            for item in scan(segment):
                if isinstance(item, Damage):
                    effect = Effect.WRONG if item.kind == "cut-batch" else None  # a broker takes it for the end
                    findings.add("metadata-snapshot-corrupt", name, item.what, position=item.position, effect=effect)
                    return
                if not item.valid:
                    findings.add("metadata-snapshot-corrupt", name, "a batch has another checksum than that in its header",
                                 position=item.position)  # fmt: skip
                    return
            if not segment.size:
                findings.add("metadata-snapshot-corrupt", name, "the file is empty", effect=Effect.WRONG)
    except OSError as error:
        findings.add("unreadable", name, str(error.strerror))


def _check_bootstrap(directory: LogDirectory, findings: Findings) -> None:
    """Check that a broker can read ``bootstrap.checkpoint``, which since 3.3.0 has the version of the metadata."""
    try:
        if not _has_metadata_version(small_file(directory.root / _BOOTSTRAP, _LARGEST)):
            raise ValueError("it has no record with the level of metadata.version")
    except FileNotFoundError:
        return
    except OSError as error:
        findings.add("unreadable", _BOOTSTRAP, str(error.strerror))
    except (JavaException, ValueError, IndexError, struct.error) as error:
        findings.add("bootstrap-corrupt", _BOOTSTRAP, str(error)[:200])


def _has_metadata_version(data: bytes) -> bool:
    for batch in decode_batches(data):
        for record in batch.records() if isinstance(batch, DefaultBatch) and not batch.control else ():
            fields = MetadataFields((record and record.value) or b"")
            fields.unsigned()  # version of the frame
            kind = fields.unsigned()
            fields.unsigned()
            if kind == _FEATURE_LEVEL and fields.text() == "metadata.version":
                return True
    return False
