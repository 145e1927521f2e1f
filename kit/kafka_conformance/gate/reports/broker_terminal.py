"""A gate of brokers at a terminal: a count of cases by group, then kinds of differences, each with its smallest case.

A kind that several groups of cases have is shown once. The worst kinds come first, with the requests of an example and what
differs in its answers; further ones are a line each. All cases and answers are in the other reports.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.text import Text

from kafka_conformance.core.console import styled
from kafka_conformance.core.events import Differed
from kafka_conformance.core.sanitize import clipped
from kafka_conformance.gate.broker_kinds import own_differences
from kafka_conformance.gate.reports.outline import Outline, RuleRow, as_json
from kafka_conformance.gate.severity import RANKS
from kafka_conformance.reports.tables import PlainTable
from kafka_conformance.reports.terminal import plural
from kafka_conformance.wire.broker_gate.runner import Difference, differences

__all__ = ["GROUP", "is_broker_gate", "show_broker_gate"]

GROUP = "broker/"
"""What the name of a group of cases begins with where events name it as a rule."""

_HEADS = ("cases of", "verdict", "cases", "agree", "differ", "harmless", "known", "not applicable", "not run")
_ALWAYS = {0, 1, 2, 3, 4}
_EXAMPLES, _KINDS, _REASONS, _KNOWN = 8, 40, 6, 40
_REQUEST, _VALUE, _FIELDS, _CASES = 240, 160, 4, 3


@dataclass(frozen=True, slots=True)
class _Alike:
    """Differences of one kind in all groups; ``first`` has the fewest requests."""

    first: Differed
    groups: Sequence[str]
    times: int


def is_broker_gate(seen: Outline) -> bool:
    """Whether these are the events of a gate of brokers."""
    return bool(seen.rows) and all(row.rule.startswith(GROUP) for row in seen.rows)


def show_broker_gate(out: Console, seen: Outline) -> None:
    """Print the counts and the differences."""
    out.print(_table(seen.rows))
    found = _alike([one for row in seen.rows for one in row.differed if one.known is None])
    for number, one in enumerate(found):
        lines = _example(one) if number < _EXAMPLES else [_head(one)] if number < _KINDS else []
        _print(out, lines)
    if len(found) > _KINDS:
        _print(out, [_line(f"{plural(len(found) - _KINDS, 'kind')} more in the other reports", "bold red")])
    known = _alike([one for row in seen.rows for one in row.differed if one.known is not None])
    for one in known[:_KNOWN]:
        reason = one.first.known.reason if one.first.known else ""
        _print(out, [_line(f"known: {one.first.kind}, {plural(one.times, 'case')}: {reason}", "yellow")])
    if len(known) > _KNOWN:
        _print(out, [_line(f"known: {plural(len(known) - _KNOWN, 'kind')} more", "yellow")])
    _print(out, _reasons("harmless", [row.ended.harmless for row in seen.rows if row.ended]))
    _print(out, _reasons("not applicable", [row.ended.reasons for row in seen.rows if row.ended]))


def _table(rows: Sequence[RuleRow]) -> PlainTable:
    """Return a line for each group and one for all; columns that are 0 everywhere are left out."""
    counted = [(row.rule.removeprefix(GROUP), row.verdict, _counts(row)) for row in rows]
    total = [sum(column) for column in zip(*(counts for _, _, counts in counted), strict=True)]
    lines = [[name, verdict, *map("{:,}".format, counts)] for name, verdict, counts in [*counted, ("all", "", total)]]
    shown = [place for place in range(len(_HEADS)) if place in _ALWAYS or total[place - 2]]
    styles = {"agrees": "green", "known": "yellow", "unsupported": "dim", "": ""}
    cells = [
        [styled(line[place], styles.get(line[1], "bold red") if place == 1 else "") for place in shown]
        for line in lines
    ]
    return PlainTable("", [_HEADS[place] for place in shown], cells, right=range(2, len(shown)))


def _counts(row: RuleRow) -> list[int]:
    """Return the counts of a group, in the order of the heads: an answer that is harmless is not counted as agreeing."""
    ended = row.ended
    if ended is None:
        return [row.frozen, 0, 0, 0, 0, 0, 0]
    harmless = sum(ended.harmless.values())
    counts = [ended.agreed - harmless, ended.differed, harmless, ended.known, ended.unsupported, ended.not_run]
    return [sum(counts), *counts]


def _alike(found: Sequence[Differed]) -> list[_Alike]:
    """Return the differences by kind, the worst severity first, then the most frequent."""
    groups: dict[tuple[str, str], list[Differed]] = {}
    for one in found:
        groups.setdefault((one.kind, one.known.reason if one.known else ""), []).append(one)
    made = [
        _Alike(
            min(alike, key=lambda one: (len(_steps(one.question)), one.id)),
            list(dict.fromkeys(one.rule.removeprefix(GROUP) for one in alike)),
            sum(one.times for one in alike),
        )
        for alike in groups.values()
    ]
    return sorted(made, key=lambda one: (RANKS[one.first.severity], -one.times))


def _head(one: _Alike) -> Text:
    where = ", ".join(one.groups[:_CASES]) + (", …" if len(one.groups) > _CASES else "")
    return _line(f"{one.first.severity}: {one.first.kind}, {plural(one.times, 'case')} of {where}", "bold red")


def _example(one: _Alike) -> Iterator[Text]:
    """Yield a kind with the requests of its smallest case; of the answers, only what differs."""
    first = one.first
    yield _head(one)
    if first.effect:
        yield _side("for users", first.effect)
    yield _side("example", f"{first.id}: {first.question.get('title', '')}")
    expected, actual = _steps(first.expected), _steps(first.actual)
    for number, step in enumerate(_steps(first.question)):
        if number >= len(actual):
            break
        api, version = (step.get("api"), step.get("version")) if isinstance(step, dict) else ("", "")
        request = step.get("request") if isinstance(step, dict) else step
        yield _side(str(number + 1), clipped(f"{api} {version} {as_json(request)}", _REQUEST))
        yield from _fields(expected[number] if number < len(expected) else None, actual[number])
    for more in actual[len(_steps(first.question)) :]:
        yield _side("", clipped(str(more), _VALUE), "red")
    if first.versions:
        yield _side("versions", first.versions)
    command = f"--run {first.id} --transcript FILE"
    yield _side("all of it", command, "dim")


def _fields(expected: object, actual: object) -> Iterator[Text]:
    found = own_differences([Difference(0, *each) for each in differences(expected, actual)])
    for one in found[:_FIELDS]:
        what = f"{one.path or 'answer'}: Kafka {_value(one.expected)}, broker {_value(one.actual)}"
        yield _side("", what, "red")
    if len(found) > _FIELDS:
        yield _side("", f"and {plural(len(found) - _FIELDS, 'field')} more", "red")


def _value(value: object) -> str:
    return clipped(as_json(value), _VALUE)


def _reasons(what: str, counts: Sequence[dict[str, int]]) -> Iterator[Text]:
    """Yield the reasons of all groups together, the most frequent first."""
    total: Counter[str] = Counter()
    for each in counts:
        total.update(each)
    for reason, count in total.most_common(_REASONS):
        yield _line(f"{what}, {plural(count, 'case')}: {reason}", "dim")
    rest = total.most_common()[_REASONS:]
    if rest:
        yield _line(
            f"{what}, {plural(sum(count for _, count in rest), 'case')}: {plural(len(rest), 'reason')} more", "dim"
        )


def _steps(side: dict[str, object]) -> list[object]:
    found = side.get("steps")
    return found if isinstance(found, list) else []


def _side(name: str, text: str, style: str = "") -> Text:
    return Text.assemble((f"  {name:<10}", "dim"), _line(text, style))


def _line(text: str, style: str = "") -> Text:
    return styled(clipped(text, 2000), style)


def _print(out: Console, lines: Iterator[Text] | Sequence[Text]) -> None:
    for line in lines:
        out.print(line, soft_wrap=True)
