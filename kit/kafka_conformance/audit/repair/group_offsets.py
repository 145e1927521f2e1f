"""Map the committed offsets of consumer groups from a repaired topic to the new one, so that no record is skipped.

A record is *unread* by a group if its offset in the old topic is the group's committed offset or a later one. For each
partition of the new topic, let T be the earliest timestamp of the unread records that were copied there. The new offset is
that of the first record there with timestamp T or later (Kafka's ``OffsetSpec.forTimestamp``). Every unread record has
timestamp T or later, so none is before the new offset, whatever the order of the timestamps is. Records after it that the
group has read are read again. Without unread records, the new offset is the one after the last copied record.

Where the old topic no longer has records that a group has not read, T is unknown, and the group reads the new topic from its
beginning. A partition without a committed offset is unread as a whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import msgspec

__all__ = [
    "Committed",
    "Copied",
    "GroupOffsets",
    "Offset",
    "Unread",
    "cuts_of",
    "lookups_of",
    "mapped_offsets",
    "unread_of",
]


class Committed(msgspec.Struct, frozen=True):
    """A consumer group: its committed offsets of the old and the new topic, by partition, and its number of members."""

    group: str
    old: dict[int, int]
    new: dict[int, int]
    members: int
    state: str


class Copied(msgspec.Struct, frozen=True):
    """What is copied: the old topic's offsets ``begins`` to ``ends`` and the number of records in the new, by partition.

    ``first`` and ``first_new`` are the first offsets that the old and the new topic still have now.
    """

    begins: dict[int, int]
    ends: dict[int, int]
    first: dict[int, int]
    written: dict[int, int]
    first_new: dict[int, int]


class Unread(msgspec.Struct, frozen=True):
    """Copied records of ``partition`` between two of its cuts, after the cut number ``cut``, that went to ``target``."""

    partition: int
    cut: int
    target: int
    earliest_ms: int
    records: int


class Offset(msgspec.Struct, frozen=True):
    """A partition of a group: ``old`` and ``new`` are None where that topic has no such partition, or no committed offset.

    ``unread`` counts the records to read from ``new`` on that the group has not read, ``again`` at most those it has.
    """

    partition: int
    old: int | None
    new: int | None
    unread: int
    again: int


class GroupOffsets(msgspec.Struct, frozen=True):
    """The mapping of a group. ``skipped`` says why its offsets are not committed, or is empty.

    ``ahead`` counts offsets that it has committed beyond what is copied; those records are read again once they are copied.
    ``from_beginning`` names a partition of the old topic that no longer has records which the group has not read.
    """

    group: str
    state: str
    members: int
    offsets: tuple[Offset, ...]
    ahead: int
    from_beginning: int | None = None
    skipped: str = ""

    @property
    def again(self) -> int:
        """The number of records that are read again, at most."""
        return sum(one.again for one in self.offsets) + self.ahead

    @property
    def new(self) -> dict[int, int]:
        """The offsets to commit, by partition of the new topic."""
        return {one.partition: one.new for one in self.offsets if one.new is not None}


def _read_to(group: Committed, copied: Copied) -> dict[int, int]:
    """Return for each partition the offset from which the group's copied records are unread."""
    return {number: min(max(group.old.get(number, 0), copied.begins.get(number, 0)), end)
            for number, end in copied.ends.items()}  # fmt: skip


def cuts_of(groups: Iterable[Committed], copied: Copied) -> dict[int, list[int]]:
    """Return for each partition the offsets from which some group has not read, ascending; none where all is read."""
    cuts: dict[int, set[int]] = {}
    for group in groups:
        for number, offset in _read_to(group, copied).items():
            if offset < copied.ends[number]:
                cuts.setdefault(number, set()).add(max(offset, copied.first.get(number, 0)))
    within = {number: sorted(one for one in found if one < copied.ends[number]) for number, found in cuts.items()}
    return {number: found for number, found in within.items() if found}


def unread_of(group: Committed, copied: Copied, cuts: Mapping[int, Sequence[int]], rows: Iterable[Unread]
              ) -> dict[int, tuple[int, int]]:  # fmt: skip
    """Return for each target with unread records of the group their earliest timestamp and their number."""
    begins = _read_to(group, copied)
    found: dict[int, tuple[int, int]] = {}
    for row in rows:
        if cuts[row.partition][row.cut] >= begins[row.partition]:
            earliest, records = found.get(row.target, (row.earliest_ms, 0))
            found[row.target] = min(earliest, row.earliest_ms), records + row.records
    return found


def deleted_unread(group: Committed, copied: Copied) -> int | None:
    """Return a partition of the old topic that has lost copied records which the group has not read, if there is one."""
    begins = _read_to(group, copied)
    lost = [
        number for number, end in sorted(copied.ends.items()) if begins[number] < min(copied.first.get(number, 0), end)
    ]
    return lost[0] if lost else None


def lookups_of(unread: Mapping[str, Mapping[int, tuple[int, int]]]) -> list[dict[int, int]]:
    """Return the timestamps to look up by target partition, in requests that have each partition at most once."""
    wanted = sorted({(target, earliest) for found in unread.values() for target, (earliest, _) in found.items()})
    requests: list[dict[int, int]] = []
    used: dict[int, int] = {}
    for target, earliest in wanted:
        number = used[target] = used.get(target, -1) + 1
        if number == len(requests):
            requests.append({})
        requests[number][target] = earliest
    return requests


def mapped_offsets(
    group: Committed, copied: Copied, unread: Mapping[int, tuple[int, int]], found: Mapping[tuple[int, int], int | None]
) -> GroupOffsets:
    """Return the mapping of a group, from its ``unread`` records and the offsets ``found`` by target and timestamp."""
    lost = deleted_unread(group, copied)
    offsets = []
    for number in sorted({*copied.written, *group.old}):
        end = copied.written.get(number)
        new, records = end, 0
        if end is not None and number in unread:
            earliest, records = unread[number]
            offset = found[number, earliest]
            new = end if offset is None else min(offset, end)
        if end is not None and lost is not None:
            new = 0
        if new is not None:  # a consumer would take an offset that does not exist to auto.offset.reset
            new = max(new, copied.first_new.get(number, 0))
        again = 0 if end is None or new is None else max(0, end - new - records)
        offsets.append(Offset(number, group.old.get(number), new, records, again))
    ahead = sum(max(0, offset - copied.ends.get(number, 0)) for number, offset in group.old.items())
    return GroupOffsets(group.group, group.state, group.members, tuple(offsets), ahead, lost)
