"""Read and commit offsets of consumer groups through Kafka's Admin."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from kafka_conformance.audit.repair.group_offsets import Committed, GroupOffsets
from kafka_conformance.audit.topics import Topics
from kafka_conformance.core.errors import BadInput, KitError

__all__ = ["check_members", "commit", "committed_groups", "offsets_for_times", "without_moved"]


def committed_groups(topics: Topics, source: str, target: str, named: Sequence[str]) -> list[Committed]:
    """Return the groups that have committed offsets of ``source``: those ``named``, or all.

    Raises BadInput if a named group has none, SparkFault.
    """
    held = {name: _offsets(topics, name) for name in named or _groups(topics)}
    chosen = {name: offsets for name, offsets in held.items() if offsets.get(source)}
    if missing := sorted(set(named) - set(chosen)):
        raise BadInput(f"group {missing[0]} has no committed offsets of {source}: check its name")
    states = _states(topics, list(chosen))
    return [Committed(name, offsets[source], offsets.get(target, {}), *states[name])
            for name, offsets in sorted(chosen.items())]  # fmt: skip


def without_moved(group: Committed, target: str, named: Sequence[str]) -> str:
    """Return why the offsets of a group are not committed, or an empty text.

    A group that has offsets of the new topic may have moved already, and goes back only if it is named.
    """
    if not group.new or group.group in named:
        return ""
    return f"has offsets of {target} already; name it with --group to map it again"


def check_members(groups: Iterable[Committed]) -> None:
    """Raise BadInput for a group with members: it would go on reading, and commit, the old topic."""
    for group in groups:
        if group.members:
            raise BadInput(
                f"group {group.group} has {group.members} member{'s' * (group.members > 1)}: stop its consumers first, or"
                " name the groups to map with --group; nothing was committed"
            )


def commit(topics: Topics, target: str, mapped: GroupOffsets) -> None:
    """Commit a group's offsets of the new topic and read them back. Raises KitError, SparkFault."""

    def request() -> Any:
        common, consumer = topics.kafka.common, topics.kafka.clients.consumer
        offsets = {
            common.TopicPartition(target, number): consumer.OffsetAndMetadata(offset)
            for number, offset in mapped.new.items()
        }
        return topics.admin.alterConsumerGroupOffsets(mapped.group, offsets).all()

    topics.get(request, f"committing the offsets of group {mapped.group}")
    if (found := _offsets(topics, mapped.group).get(target, {})) != mapped.new:
        raise KitError(
            f"group {mapped.group} has the offsets {found} of {target}, not {mapped.new}: is a consumer running?"
        )


def offsets_for_times(topics: Topics, name: str, times_ms: Mapping[int, int]) -> dict[int, int | None]:
    """Return for each partition the first offset with this timestamp or a later one; None if there is none."""

    def request() -> Any:
        specs = topics.kafka.clients.admin.OffsetSpec
        wanted = {topics.kafka.common.TopicPartition(name, number): specs.forTimestamp(time)
                  for number, time in times_ms.items()}  # fmt: skip
        return topics.admin.listOffsets(wanted).all()

    def read(offsets: Any) -> dict[int, int | None]:
        found = {int(each.partition()): int(one.offset()) for each, one in offsets.items()}
        return {number: offset if offset >= 0 else None for number, offset in found.items()}

    return topics.get(request, f"finding offsets of {name} by time", read)


def _groups(topics: Topics) -> list[str]:
    read = lambda listed: [str(one.groupId()) for one in listed]  # noqa: E731
    return topics.get(lambda: topics.admin.listConsumerGroups().all(), "listing the consumer groups", read)


def _offsets(topics: Topics, group: str) -> dict[str, dict[int, int]]:
    """Return the group's committed offsets by topic and partition."""

    def read(offsets: Any) -> dict[str, dict[int, int]]:
        found: dict[str, dict[int, int]] = {}
        for place, one in offsets.items():
            if one is not None:
                found.setdefault(str(place.topic()), {})[int(place.partition())] = int(one.offset())
        return found

    request = lambda: topics.admin.listConsumerGroupOffsets(group).partitionsToOffsetAndMetadata()  # noqa: E731
    return topics.get(request, f"reading the offsets of group {group}", read)


def _states(topics: Topics, groups: list[str]) -> dict[str, tuple[int, str]]:
    """Return each group's number of members, and its state."""
    if not groups:
        return {}
    read = lambda found: {str(name): (len(one.members()), str(one.state().toString())) for name, one in found.items()}  # noqa: E731
    return topics.get(lambda: topics.admin.describeConsumerGroups(groups).all(), "describing consumer groups", read)
