"""Print the mapping of consumer groups at a terminal: a row for each group and partition, and what is read again."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console
from rich.text import Text

from kafka_conformance.audit.repair.group_mapping import GroupMapping
from kafka_conformance.audit.repair.group_offsets import GroupOffsets
from kafka_conformance.core.sanitize import harmless
from kafka_conformance.reports.tables import table
from kafka_conformance.reports.terminal import plural

__all__ = ["show"]

_MOST = 200


def show(out: Console, mapping: GroupMapping) -> None:
    """Print the report; the last line says whether anything was committed."""
    rows = [[harmless(group.group), *("-" if each is None else f"{each:,}" for each in
             (one.partition, one.old, one.new, one.unread, one.again))]
            for group in mapping.groups for one in group.offsets]  # fmt: skip
    heads = (
        "group",
        "partition",
        f"offset in {mapping.source}",
        f"offset in {mapping.target}",
        "unread",
        "read again at most",
    )
    if rows:
        out.print(table("", [harmless(head) for head in heads], rows[:_MOST]))
    if len(rows) > _MOST:
        out.print(f"and {plural(len(rows) - _MOST, 'row')} more: use --json for all", style="dim")
    for text, style in _lines(mapping):
        out.print(Text(harmless(text), style=style))


def _lines(mapping: GroupMapping) -> Iterator[tuple[str, str]]:
    for group in mapping.groups:
        yield f"{group.group}: {'; '.join(_facts(mapping, group))}", ""
    if mapping.behind:
        more = f"{plural(mapping.behind, 'offset')} of {mapping.source}"
        yield f"not copied yet: {more}; copy the rest before consumers start on {mapping.target}", "bold yellow"
    done = sum(not group.skipped for group in mapping.groups)
    if not mapping.groups:
        yield f"no group has committed offsets of {mapping.source}", "bold yellow"
    elif mapping.committed:
        yield f"offsets of {mapping.target} committed for {plural(done, 'group')}: no record is skipped", "bold green"
    else:
        yield "a dry run: nothing was committed. Give --execute to commit.", "bold yellow"


def _facts(mapping: GroupMapping, group: GroupOffsets) -> Iterator[str]:
    ahead = f", {group.ahead:,} of them not copied yet" if group.ahead else ""
    yield f"reads at most {plural(group.again, 'record')} again{ahead}"
    if group.from_beginning is not None:
        yield f"begins at 0, because {mapping.source} has lost unread records of partition {group.from_beginning}"
    if group.members:
        yield f"has {plural(group.members, 'member')} ({group.state}): stop its consumers"
    if group.skipped:
        yield group.skipped
