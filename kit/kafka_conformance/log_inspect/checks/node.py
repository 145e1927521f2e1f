"""What a start compares across the log directories of a node, with each other and with the cluster's metadata.

A broker of 4.4.0 was started on two directories with each of these faults: it exits with all of them but one partition
whose ``-future`` copy is in the other directory, which is a move between disks that has not ended.

Java source mirrored: ``MetaPropertiesEnsemble.verify``, ``KafkaRaftServer.initializeLogDirs``, ``LogManager.loadLog``,
``LogManager.isStrayKraftReplica``.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from kafka_conformance.core.java_text import parse_int
from kafka_conformance.core.sanitize import harmless
from kafka_conformance.log_inspect.checks.checkpoints import topic_id
from kafka_conformance.log_inspect.checks.start_files import FIRST_TO_SET_ASIDE, check_meta_properties, quorum_state
from kafka_conformance.log_inspect.directory import METADATA, LogDirectory, Partition, small_text
from kafka_conformance.log_inspect.findings import Effect, Findings, Severity
from kafka_conformance.log_inspect.metadata_topics import MetadataTopics, read_metadata_topics
from kafka_conformance.log_inspect.node_settings import NodeSettings
from kafka_reference.releases import Release

__all__ = [
    "Places", "check_all_meta_properties", "check_folders_across", "check_topic_ids", "is_spare",
    "read_local_metadata",
]  # fmt: skip

Places = Sequence[tuple[LogDirectory, Findings]]
"""Log directories of one node, each with its findings."""

_META = "meta.properties"


def is_spare(directory: LogDirectory, directories: Sequence[LogDirectory]) -> bool:
    """Return whether the cluster's metadata is in another directory: a broker starts if this one cannot be read."""
    having = [each for each in directories if any(partition.name == METADATA for partition in each.partitions)]
    return bool(having) and directory not in having


def check_all_meta_properties(places: Places, release: Release, settings: NodeSettings | None) -> Mapping[str, str]:
    """Check each ``meta.properties`` and compare them; return those of the first directory that has readable ones."""
    first: Mapping[str, str] = {}
    expected: dict[str, tuple[str, str]] = {}
    if settings is not None and settings.node_id is not None:
        expected["node"] = str(settings.node_id), "server.properties"
    for directory, findings in places:
        spare = is_spare(directory, [each for each, _ in places])
        properties = check_meta_properties(directory, findings, release, spare=spare)
        here = harmless(str(directory.root))
        values = {
            "node": properties.get("node.id", properties.get("broker.id")),
            "cluster.id": properties.get("cluster.id"),
        }
        for name, value in values.items():
            if value is None:
                continue
            other, where = expected.setdefault(name, (value, here))
            if value != other and (name != "node" or parse_int(value) != parse_int(other)):
                findings.add(
                    "node-or-cluster-differs",
                    _META,
                    f"{'node.id' if name == 'node' else name} is {harmless(value)}; in {where} it is {harmless(other)}",
                )
        if (own := properties.get("directory.id")) is not None:
            _, where = expected.setdefault(f"directory {own}", (own, here))
            if where != here:
                findings.add("directory-id-twice", _META, f"directory.id {own} is also that of {where}")
        first = first or properties
    return first


def check_folders_across(places: Places) -> None:
    """Report partitions that are in two log directories; a ``-future`` copy in another one is legal."""
    found: dict[tuple[tuple[str, int], bool], str] = {}
    for directory, findings in places:
        here = harmless(str(directory.root))
        own = {(each.topic_partition, each.future): each for each in directory.partitions}
        for (partition, future), folder in own.items():
            if partition is None or folder.name == METADATA:
                continue
            if (other := found.setdefault((partition, future), here)) != here:
                findings.add("folders-of-one-partition", directory.relative(folder.folder),
                             f"{harmless(partition[0])}-{partition[1]} is also in {other}")  # fmt: skip


def read_local_metadata(
    places: Places, properties: Mapping[str, str], settings: NodeSettings | None
) -> tuple[MetadataTopics | None, str]:
    """Return the topics in the local copy of the cluster's metadata; None if nothing can be said of them, and why.

    A copy that is gone is a finding if the node is the only controller, which makes an empty one: its broker then has no
    topic. Where that is not known, it is not checked.
    """
    if "node.id" not in properties:
        return None, ""
    node = parse_int(properties["node.id"])
    copies = [(place, each) for place in places for each in place[0].partitions if each.name == METADATA]
    if copies and (copies[0][1].segments or copies[0][1].metadata_snapshots):
        return read_metadata_topics(copies[0][1], node), ""
    if not any(
        each.topic_partition for directory, _ in places for each in directory.partitions if each.name != METADATA
    ):
        return None, ""
    findings = (copies[0][0] if copies else places[0])[1]
    what = "there is no copy of the cluster's metadata"
    if _only_controller(copies, node, settings):
        findings.add("metadata-log-missing", METADATA, f"{what}, and node {node} is the only controller")
        return MetadataTopics(node), ""
    if settings is None or "controller" in settings.roles:
        return (
            None,
            f"{what}: if node {node} is the only controller, a start sets every partition aside; name server.properties",
        )
    return None, ""


def _only_controller(
    copies: Sequence[tuple[tuple[LogDirectory, Findings], Partition]], node: int, settings: NodeSettings | None
) -> bool:
    """Is the node known to be the only voter, by its settings or by its ``quorum-state``?"""
    if settings is not None and settings.roles:
        return "controller" in settings.roles and settings.voters == frozenset({node})
    for _, partition in copies[:1]:
        try:
            voters = quorum_state(partition).get("currentVoters")
        except (OSError, ValueError):
            return False
        return isinstance(voters, list) and voters == [{"voterId": node}]
    return False


def check_topic_ids(places: Places, release: Release, metadata: MetadataTopics | None) -> None:
    """Report partitions that a start sets aside: those without a topic id, and those that the metadata does not have.

    Before 3.7.0 a start deletes the latter, and keeps the former. Brokers of 3.3.2, 3.4.1, 3.5.2 and 3.6.2 renamed the
    folder of a partition with another topic id to ``-delete``, those of 3.7.2, 3.8.1, 3.9.2 and 4.4.0 to ``-stray``.
    """
    by_topic: dict[str, dict[str, list[tuple[LogDirectory, Findings, Partition]]]] = defaultdict(
        lambda: defaultdict(list)
    )
    sets_aside = release.numbers >= FIRST_TO_SET_ASIDE
    for directory, findings in places:
        for partition in directory.partitions:
            found = partition.topic_partition
            if found is None or partition.name == METADATA:
                continue
            path = partition.folder / "partition.metadata"
            name = directory.relative(path)
            try:
                known = topic_id(small_text(path))
            except FileNotFoundError:
                keeps = "" if sets_aside else "; a broker before 3.7.0 keeps the partition"
                findings.add("partition-metadata-missing", name, f"the file is not there{keeps}",
                             severity=None if sets_aside else Severity.SUSPICIOUS,
                             effect=None if sets_aside else Effect.NONE)  # fmt: skip
                continue
            except (OSError, ValueError):
                continue  # a finding already
            by_topic[found[0]][known].append((directory, findings, partition))
            if metadata is not None and (why := metadata.why_stray(known, found[1])):
                deletes = "" if sets_aside else "; a broker before 3.7.0 deletes the folder a minute after its start"
                findings.add("partition-not-in-metadata", name, f"topic id {known}: {why}{deletes}",
                             effect=None if sets_aside else Effect.DELETES_PARTITION)  # fmt: skip
    for ids in by_topic.values() if metadata is None else ():
        _check_one_id(ids, several=len(places) > 1, effect=None if sets_aside else Effect.DELETES_PARTITION)


def _check_one_id(
    ids: Mapping[str, list[tuple[LogDirectory, Findings, Partition]]], *, several: bool, effect: Effect | None
) -> None:
    """Report the partitions of a topic whose id is not that of most of its partitions."""
    most = max(map(len, ids.values()))
    certain = sum(len(each) == most for each in ids.values()) == 1
    first = {known: harmless(str(each[0][2].folder) if several else each[0][2].name) for known, each in ids.items()}
    for known, partitions in ids.items():
        if certain and len(partitions) == most:
            continue
        # Of two ids that are as frequent, each is named at its own partition.
        others = ", ".join(
            f"{name} has {other if certain else 'another'}" for other, name in first.items() if other != known
        )
        which = "" if certain else ": one of them is set aside"
        for directory, findings, partition in partitions:
            name = directory.relative(partition.folder / "partition.metadata")
            findings.add("topic-ids-differ", name, f"topic id {known}; {others}{which}", effect=effect)
