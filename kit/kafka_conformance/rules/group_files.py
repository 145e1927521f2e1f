"""Files of ``group play``: a group as JSON, or the output of ``kafka-consumer-groups --describe``."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

import msgspec

from kafka_conformance.core.errors import BadInput
from kafka_conformance.rules.group_play import Event, Group, Member

__all__ = ["MOST_PARTITIONS", "checked_group", "parse_event", "parse_group"]

MOST_PARTITIONS = 10_000
"""The most partitions of a topic, as in the questions of the rules."""
_MOST_MEMBERS, _MOST_TOPICS = 1_000, 4_000
_DIGITS = re.compile(r"[0-9]+")
_ASSIGNMENTS = {
    "CURRENT-ASSIGNMENT": re.compile(r"([^\s:;]+):([0-9,]+)"),  # t:0,1;u:2
    "ASSIGNMENT": re.compile(r"([^\s(),:]+)\(([0-9,\s]*)\)"),  # t(0,1), u(2): older tools
}


def parse_group(text: str, events: Sequence[Event] = ()) -> Group:
    """Return the group of a file, and ``events`` after its own. Raises BadInput."""
    try:
        group = msgspec.json.decode(text, type=Group) if text.lstrip().startswith("{") else _described(text)
    except msgspec.MsgspecError as error:
        raise BadInput(f"not a valid group: {error}") from error
    return checked_group(msgspec.structs.replace(group, events=(*group.events, *events)))


def parse_event(text: str) -> Event:
    """Return the event of ``join:ID``, ``leave:ID`` or ``partitions:TOPIC=N``. Raises BadInput."""
    what, _, name = text.partition(":")
    topic, _, count = name.rpartition("=")
    if what == "join" and name:
        return Event(join=(Member(name),))
    if what == "leave" and name:
        return Event(leave=(name,))
    if what == "partitions" and topic and count.isdecimal() and count.isascii() and len(count) < 6:
        return Event(partitions={topic: int(count)})
    raise BadInput(f"{text!r} is not an event: write join:ID, leave:ID or partitions:TOPIC=N")


def checked_group(group: Group) -> Group:
    """Return the group if it can be played. Raises BadInput."""
    if not 0 < len(group.topics) <= _MOST_TOPICS:
        raise BadInput(f"the group has {len(group.topics):,} topics: name 1 to {_MOST_TOPICS:,}, each with its number of "
                       "partitions")  # fmt: skip
    if not group.members and not group.events:
        raise BadInput("the group has no member and no event: name members, or --event join:ID")
    _check_topics(group.topics)
    present: set[str] = set()
    topics = dict(group.topics)
    for event in (Event(join=group.members), *group.events):
        _apply_partitions(event, topics)
        for each in event.leave:
            if each not in present:
                raise BadInput(f"{each!r} leaves and is not in the group: its members are {_some(present)}")
            present.remove(each)
        for member in event.join:
            if member.id in present:
                raise BadInput(f"{member.id!r} joins and is in the group already")
            present.add(member.id)
            _check_member(member, topics)
        if len(present) > _MOST_MEMBERS:
            raise BadInput(f"{len(present):,} members: at most {_MOST_MEMBERS:,} are played")
    _check_owners(group)
    return group


def _check_owners(group: Group) -> None:
    for joining in (member for event in group.events for member in event.join if member.owned):
        raise BadInput(
            f"{joining.id!r} joins and cannot own partitions yet: only members of the group at the start can"
        )
    owners: dict[tuple[str, int], str] = {}
    for member in group.members:
        for partition in member.owned:
            if partition in owners:
                raise BadInput(f"{owners[partition]!r} and {member.id!r} both own {partition[0]}-{partition[1]}")
            owners[partition] = member.id


def _apply_partitions(event: Event, topics: dict[str, int]) -> None:
    for topic, count in event.partitions.items():
        if topic not in topics:
            raise BadInput(f"an event changes topic {topic!r}, which the group does not have")
        if count < topics[topic]:
            raise BadInput(f"topic {topic!r} has {topics[topic]} partitions: Kafka does not take any away")
        topics[topic] = count
    _check_topics(event.partitions)


def _check_topics(topics: Mapping[str, int]) -> None:
    for topic, count in topics.items():
        if not 1 <= count <= MOST_PARTITIONS:
            raise BadInput(f"topic {topic!r} has {count:,} partitions: 1 to {MOST_PARTITIONS:,} are played")


def _check_member(member: Member, topics: dict[str, int]) -> None:
    if unknown := [topic for topic in member.topics if topic not in topics]:
        raise BadInput(f"{member.id!r} subscribes to {unknown[0]!r}, which the group does not have")
    for topic, number in member.owned:
        if not 0 <= number < topics.get(topic, 0):
            raise BadInput(f"{member.id!r} owns {topic}-{number}, which the group does not have")


def _some(names: set[str]) -> str:
    shown = sorted(names)
    return ", ".join(shown[:8]) + (", …" if len(shown) > 8 else "") if shown else "none"


def _described(text: str) -> Group:
    """Return the group of ``kafka-consumer-groups --describe``, with or without ``--members --verbose``."""
    owned: dict[str, set[tuple[str, int]]] = defaultdict(set)
    counts: dict[str, int] = {}
    groups: set[str] = set()
    for row in _rows(text):
        groups.add(row.get("GROUP", ""))
        member = row["CONSUMER-ID"]
        if member != "-":
            owned[member]  # a member may have no partition
        for topic, number in _partitions(row):
            counts[topic] = max(counts.get(topic, 0), number + 1)
            if member != "-":
                owned[member].add((topic, number))
    if len(groups) > 1:
        raise BadInput(f"the file has several groups, {_some(groups)}: describe one with --group")
    if not counts:
        raise BadInput("the file is neither JSON nor the output of kafka-consumer-groups --describe: no line names a "
                       "partition")  # fmt: skip
    members = (Member(member, (), tuple(sorted(partitions))) for member, partitions in sorted(owned.items()))
    return Group(dict(sorted(counts.items())), tuple(members))


def _rows(text: str) -> Iterator[dict[str, str]]:
    """Yield the rows of tables by the names of their columns; the last column has the rest of the line."""
    heads: list[str] = []
    for line in text.splitlines():
        if "CONSUMER-ID" in (words := line.split()):
            heads = words
        elif heads and len(words) >= len(heads):
            last = len(heads) - 1
            yield dict(zip(heads, [*words[:last], " ".join(words[last:])], strict=True))


def _partitions(row: Mapping[str, str]) -> Iterator[tuple[str, int]]:
    """Yield the partitions of a row. Raises BadInput for other columns."""
    if "TOPIC" in row and "PARTITION" in row:
        if _DIGITS.fullmatch(row["PARTITION"]):  # "-": the topic has none with an offset
            yield row["TOPIC"], _number(row["PARTITION"])
        return
    for column, form in _ASSIGNMENTS.items():
        if column in row:
            for found in form.finditer(row[column]):
                yield from ((found[1], _number(digits)) for digits in _DIGITS.findall(found[2]))
            return
    raise BadInput("the columns are not those of kafka-consumer-groups --describe: they need TOPIC, PARTITION and "
                   "CONSUMER-ID, or CONSUMER-ID and CURRENT-ASSIGNMENT or ASSIGNMENT (--members --verbose)")  # fmt: skip


def _number(digits: str) -> int:
    return int(digits[:9])  # of more digits, these are too many partitions too
