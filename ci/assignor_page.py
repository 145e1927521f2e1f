"""Compute what the assignors promise and how many partitions they move, and write it as a page with two figures.

::

    python ci/assignor_page.py           # writes kit/docs/assignors.md and two figures in kit/docs/pictures
    python ci/assignor_page.py --check   # exit code 1 if one of them is not as it would be written

The reference answers; that Java's classes answer the same is what ``verify`` proves. Nothing is random. Half a minute.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice
from pathlib import Path

from assignor_figure import Line, figure

from kafka_conformance.rules import RULES
from kafka_conformance.rules.common.assignors.question import AssignorQuestion
from kafka_conformance.rules.common.assignors.spaces import every_group
from kafka_conformance.rules.eras import eras, spans_of
from kafka_conformance.rules.group_play import Owned, assigned, moved
from kafka_reference.errors import JavaException
from kafka_reference.proven import proven_releases
from kafka_reference.releases import Release

__all__ = ["PAGE", "PICTURES", "main", "page"]

DOCS = Path(__file__).parents[1] / "kit" / "docs"
PAGE = DOCS / "assignors.md"
PICTURES = DOCS / "pictures"
THINNING = 997
"""Of all 585,000 small groups, the page computes every 997th."""
TOPICS = {"orders": 12, "payments": 12, "refunds": 6}
MOST_MEMBERS = 10
ASSIGNORS = {
    "range-assignor": "RangeAssignor",
    "round-robin-assignor": "RoundRobinAssignor",
    "sticky-assignor": "StickyAssignor",
    "cooperative-sticky-assignor": "CooperativeStickyAssignor",
    "server-range-assignor": "range, of the coordinator",
    "server-uniform-assignor": "uniform, of the coordinator",
}
Subscriptions = dict[str, tuple[str, ...]]

TEXT = """\
# Assignors

Which member of a consumer group gets which partitions, and how many of them move when a member leaves or joins. Everything
here is computed by the [reference](library/README.md), whose answers are those of Java's classes in every release
([the rules](rules/README.md)). `python ci/assignor_page.py` writes this page.

The first four are classes of the consumer, named in `partition.assignment.strategy`; the leader of the group runs them. The
last two run in the group coordinator of a broker since the consumer protocol of KIP-848.

## What an assignor promises

From {groups} groups of one to four members that subscribe to any of three topics with up to four partitions each, which own
nothing yet. *Assigned once*: every partition of a subscribed topic has exactly one owner. *Same topics* is the largest
difference between the numbers of partitions of two members, if all members subscribe to the same topics; *any* is that
for any subscriptions, which no assignor can always keep small.

| assignor | releases | assigned once | same topics | any |
|---|---|---|---|---|
{promises}
RangeAssignor is even in each topic, so the difference grows with the number of topics. A group *throws* where Java raises an
exception: the uniform assignor of 3.7.x does, if a member has no topic that exists and others have some.

## How many partitions move

{short}
All members of a group subscribe to three topics of 12, 12 and 6 partitions. The partitions have been assigned; then one
member leaves, each in turn, or one joins, with an id before, between or behind the others. The numbers are averages of the
partitions that have another owner once the group is at rest again. *Fewest* is what no balanced assignment can go below:
the partitions of the member that left, or the share of the new one. With less, the new member gets less than its share.

![Partitions that move when a member leaves](pictures/assignors-leave.svg)

![Partitions that move when a member joins](pictures/assignors-join.svg)

The figures are of the newest release of each assignor. Releases of an assignor that move the same are one row here:

| assignor | releases | 1 of 2 leaves | 1 of 3 | 1 of 5 | 1 of 10 | joins 1 | joins 2 | joins 4 | joins 9 |
|---|---|---|---|---|---|---|---|---|---|
{moves}
CooperativeStickyAssignor moves them in two rebalances: the first takes a partition away, the next one gives it to its new
owner. All others take one.
"""


@dataclass(frozen=True, slots=True)
class Promise:
    """What the answers to many groups have in common: whether all are assigned once, and the largest differences.

    ``thrown`` counts groups for which Java throws; they have no assignment to compare.
    """

    once: bool
    thrown: int
    alike: int
    any: int


@dataclass(frozen=True, slots=True)
class Movement:
    """The average number of partitions that move, by the number of members before."""

    leave: tuple[float, ...]
    join: tuple[float, ...]


def settled(slug: str, release: Release, members: Iterable[str], owned: Owned) -> Owned:
    """Return the assignment of a group that reads all topics, after as many rebalances as change something."""
    subscribed: Subscriptions = dict.fromkeys(sorted(members), tuple(TOPICS))
    now = {member: mine for member, mine in owned.items() if member in subscribed}
    while (then := assigned(slug, release, TOPICS, subscribed, now)) != now:
        now = then
    return now


@cache
def movement(slug: str, release: Release) -> Movement:
    """Return how many partitions move in groups of 2 to 10 members that one leaves, and of 1 to 9 that one joins."""
    leave, join = [], []
    for count in range(1, MOST_MEMBERS + 1):
        members = [f"member-{chr(ord('b') + place)}" for place in range(count)]
        before = settled(slug, release, members, {})
        if count > 1:
            rests = [[each for each in members if each != left] for left in members]
            leave.append(sum(moved(before, settled(slug, release, rest, before)) for rest in rests) / len(rests))
        if count < MOST_MEMBERS:
            new = ("member-a", f"{members[(count - 1) // 2]}-2", "member-z")
            join.append(sum(moved(before, settled(slug, release, [*members, each], before)) for each in new) / len(new))
    return Movement(tuple(leave), tuple(join))


@cache
def groups() -> tuple[AssignorQuestion, ...]:
    """Return the groups of which the page computes what an assignor promises."""
    return tuple(islice(every_group(), 0, None, THINNING))


@cache
def promise(slug: str, release: Release) -> Promise:
    """Return what the answers to all groups have in common."""
    once, thrown, alike, different = True, 0, 0, 0
    for group in groups():
        topics = {name: count for name, count in group.topics.items() if count}
        subscribed = {member.id: tuple(name for name in member.topics if name in topics) for member in group.members}
        try:
            owned = assigned(slug, release, topics, subscribed, {})
        except JavaException:
            thrown += 1
            continue
        read = {name for names in subscribed.values() for name in names}
        every = Counter((name, number) for name in read for number in range(topics[name]))
        once &= Counter(partition for mine in owned.values() for partition in mine) == every
        sizes = [len(owned.get(member, ())) for member in subscribed]
        difference = max(sizes) - min(sizes)
        different = max(different, difference)
        if len({frozenset(names) for names in subscribed.values()}) == 1:
            alike = max(alike, difference)
    return Promise(once, thrown, alike, different)


def _rows(cells_of: Callable[[str, Release], tuple[str, ...]]) -> str:
    """Return table rows: for each assignor its eras, those with the same cells in one row."""
    lines = []
    for slug, name in ASSIGNORS.items():
        having = [release for release in proven_releases() if release in RULES[slug].releases]
        same: dict[tuple[str, ...], list[Release]] = {}
        for era in eras(RULES[slug]):
            same.setdefault(cells_of(slug, era.newest), []).extend(era.releases)
        for cells, releases in same.items():
            lines.append(f"| {' | '.join((f'[{name}](rules/{slug}.md)', spans_of(releases, having), *cells))} |\n")
    return "".join(lines)


def _promise_cells(slug: str, release: Release) -> tuple[str, ...]:
    found = promise(slug, release)
    thrown = f", {found.thrown} groups throw" if found.thrown else ""
    return ("yes" if found.once else "**no**") + thrown, str(found.alike), str(found.any)


def _movement_cells(slug: str, release: Release) -> tuple[str, ...]:
    found = movement(slug, release)
    return (
        *(f"{found.leave[count - 2]:.1f}" for count in (2, 3, 5, 10)),
        *(f"{found.join[count - 1]:.1f}" for count in (1, 2, 4, 9)),
    )


def _fewest() -> tuple[str, ...]:
    every = sum(TOPICS.values())
    return (
        *(f"{every / count:.1f}" for count in (2, 3, 5, 10)),
        *(f"{every // (count + 1):.1f}" for count in (1, 2, 4, 9)),
    )


def page() -> str:
    """Return the page."""
    fewest = f"| *fewest* | | {' | '.join(_fewest())} |\n"
    return TEXT.format(
        short=_in_short(),
        groups=f"{len(groups()):,}",
        promises=_rows(_promise_cells),
        moves=_rows(_movement_cells) + fewest,
    )


def _in_short() -> str:
    """Return how many partitions move if a member joins one, or four others, with the newest release of each assignor."""
    every, same = sum(TOPICS.values()), dict[tuple[str, ...], list[str]]()
    for slug, name in ASSIGNORS.items():
        found = movement(slug, eras(RULES[slug])[-1].newest)
        same.setdefault((f"{found.join[0]:.0f}", f"{found.join[3]:.0f}"), []).append(name)
    lines = [f"Of {every} partitions move, if a second or a fifth member joins:\n\n"]
    lines += [f"- {first} or {fifth}: {'; '.join(names)}\n" for (first, fifth), names in same.items()]
    return "".join(lines)


def pictures() -> dict[str, str]:
    """Return the figures by the names of their files."""
    newest = {slug: movement(slug, eras(RULES[slug])[-1].newest) for slug in ASSIGNORS}
    every = sum(TOPICS.values())
    leave = [Line(ASSIGNORS[slug], found.leave) for slug, found in newest.items()]
    join = [Line(ASSIGNORS[slug], found.join) for slug, found in newest.items()]
    least_leave = Line("fewest", tuple(every / count for count in range(2, MOST_MEMBERS + 1)))
    least_join = Line("fewest", tuple(float(every // (count + 1)) for count in range(1, MOST_MEMBERS)))
    left, joined = (
        "Partitions of 30 that move when one of n members leaves",
        "Partitions of 30 that move when a member joins n",
    )
    return {
        "assignors-leave.svg": figure(left, "members before", 2, leave, least_leave),
        "assignors-join.svg": figure(joined, "members before", 1, join, least_join),
    }


def _files() -> Iterator[tuple[Path, str]]:
    yield PAGE, page()
    for name, drawn in pictures().items():
        yield PICTURES / name, drawn


def main(arguments: Sequence[str]) -> int:
    """Write the page and its figures, or with ``--check`` compare them; the exit code."""
    code = 0
    for path, text in _files():
        if "--check" not in arguments:
            path.write_text(text, encoding="utf-8")
        elif not path.exists() or path.read_text(encoding="utf-8") != text:
            print(f"{path} is not current: run python ci/assignor_page.py")
            code = 1
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
