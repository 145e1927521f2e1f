"""A gate as a badge: the JSON for shields.io's endpoint."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from kafka_conformance.core.events import Ended, Event
from kafka_conformance.core.sanitize import harmless
from kafka_conformance.gate.completeness import conforming_rules
from kafka_conformance.gate.reports.outline import outline

__all__ = ["write"]


def write(events: Iterable[Event]) -> str:
    """The document: ``Kafka 4.4.0, set 1 | 2 of 2 rules asked conform (the kit has 33)``, or ``| 412 differ``, …"""
    seen = outline(events)
    releases = seen.releases
    span = "" if not releases else releases[0] if len(releases) == 1 else f"{releases[0]} to {releases[-1]}"
    span += ", eras" if any(row.era for row in seen.rows) else ""
    message, color = _message(seen.ended)
    if seen.began and seen.began.selection:
        message, color = f"{message}, selection", "lightgrey" if color == "brightgreen" else color
    if seen.unproven:
        message, color = f"{message}, release unproven", "lightgrey" if color == "brightgreen" else color
    label = f"Kafka {span}".strip()
    if seen.began and seen.began.case_set:
        label += f", {seen.began.case_set.partition(', ')[2]}"
    document = {"schemaVersion": 1, "label": harmless(label), "message": message, "color": color}
    # A badge of a gate that could not judge must not be shown in a colour that its reader asked for.
    if seen.exit_code == 2:
        document["isError"] = True
    return msgspec.json.format(msgspec.json.encode(document), indent=2).decode() + "\n"


def _message(ended: Ended | None) -> tuple[str, str]:
    if ended is None or ended.exit_code not in (0, 1):
        return "not judged", "lightgrey"
    if ended.exit_code == 1:
        return (f"{ended.differed:,} differ" if ended.differed else "known failures are invalid"), "red"
    share = (
        conforming_rules(ended.conform, ended.rules_asked, ended.rules, ended.in_part) if ended.rules else "conforms"
    )
    return (f"{share}, {ended.known:,} known to differ", "yellow") if ended.known else (share, "brightgreen")
