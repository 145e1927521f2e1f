"""Two gates of one implementation compared: what got worse since the earlier one, and what got better."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from rich.console import Console
from rich.text import Text

from kafka_conformance.core.console import styled
from kafka_conformance.core.errors import BadInput
from kafka_conformance.core.events import Event
from kafka_conformance.core.sanitize import clipped
from kafka_conformance.gate.reports.outline import Outline, findings, outline, verdict
from kafka_conformance.reports.terminal import plural

__all__ = ["GateChange", "changes", "show"]

_RANK = {"agrees": 0, "known": 1, "unsupported": 2, "not judged": 2, "differs": 3, "errored": 4, "crashed": 5}
"""Verdicts from good to bad; losing the coverage of a rule is worse than a known failure."""


@dataclass(frozen=True, slots=True)
class GateChange:
    """A difference between two gates; ``worse`` is whether the later one is worse."""

    rule: str
    text: str
    worse: bool


def changes(before: Outline, after: Outline) -> list[GateChange]:
    """Return what changed, what got worse first. Raises BadInput if a gate did not end."""
    for name, one in (("earlier", before), ("later", after)):
        if one.ended is None:
            raise BadInput(f"the {name} gate did not end: nothing can be compared with it")
    found = [*_verdicts(before, after), *_kinds(before, after)]
    return sorted(found, key=lambda change: not change.worse)


def _verdicts(before: Outline, after: Outline) -> Iterator[GateChange]:
    old = {(row.rule, row.release): row.verdict for row in before.rows}
    new = {(row.rule, row.release): row.verdict for row in after.rows}
    for rule, release in dict.fromkeys([*new, *old]):
        was, now = old.get((rule, release)), new.get((rule, release))
        if was == now:
            continue
        if was is None or now is None:
            yield GateChange(rule, f"{release}: {was or 'not asked'} → {now or 'not asked'}", worse=now is None)
        else:
            yield GateChange(rule, f"{release}: {was} → {now}", worse=_RANK.get(now, 9) > _RANK.get(was, 9))


def _kinds(before: Outline, after: Outline) -> Iterator[GateChange]:
    old, new = _unknown(before), _unknown(after)
    for (rule, kind), count in new.items():
        if (rule, kind) not in old:
            yield GateChange(rule, f"new: {kind}, {plural(count, 'question')}", worse=True)
    for (rule, kind), count in old.items():
        if (rule, kind) not in new and rule in after.rules:
            yield GateChange(rule, f"gone: {kind}, {plural(count, 'question')}", worse=False)


def _unknown(seen: Outline) -> dict[tuple[str, str], int]:
    """Return the kinds of difference that no known failure covers, with their counts."""
    found: dict[tuple[str, str], int] = {}
    for one in findings(seen.rows):
        if one.first.known is None:
            key = one.first.rule, one.first.kind
            found[key] = found.get(key, 0) + one.times
    return found


def show(out: Console, earlier: Iterable[Event], later: Iterable[Event]) -> int:
    """Print what changed; return 1 if anything got worse, else 0."""
    before, after = outline(earlier), outline(later)
    found = changes(before, after)
    for change in found:
        sign, style = ("worse", "bold red") if change.worse else ("better", "green")
        out.print(styled(clipped(f"{sign:<6}  {change.rule}: {change.text}", 2000), style), soft_wrap=True)
    out.print(styled(f"before  {verdict(before)}", "dim"), soft_wrap=True)
    out.print(styled(f"after   {verdict(after)}", "dim"), soft_wrap=True)
    worse = sum(change.worse for change in found)
    line = f"{plural(worse, 'thing')} got worse" if worse else "nothing got worse"
    out.print(Text(f"{line}, {len(found) - worse} got better", style="bold red" if worse else "bold green"))
    return 1 if worse else 0
