"""A gate at a terminal: a table, each finding, hints, and the verdict as the last line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from rich.console import Console
from rich.text import Text

from kafka_conformance.core.console import styled
from kafka_conformance.core.events import Differed, Event
from kafka_conformance.core.sanitize import clipped
from kafka_conformance.gate.reports.broker_terminal import is_broker_gate, show_broker_gate
from kafka_conformance.gate.reports.outline import (
    Broken,
    Outline,
    ReportedFinding,
    RuleRow,
    as_json,
    compared,
    counted,
    diagnosed,
    explanations,
    findings,
    folded,
    outline,
    protocol_errors,
    replay_command,
    summed,
    unanswered,
    verdict,
)
from kafka_conformance.gate.reports.release_ranges import Places
from kafka_conformance.gate.reports.remarks import remarks
from kafka_conformance.reports.tables import PlainTable
from kafka_conformance.reports.terminal import plural

__all__ = ["show"]

_HEADS = (
    "rule",
    "release",
    "verdict",
    "grade",
    "asked",
    "agreed",
    "differed",
    "known",
    "unsupported",
    "failed",
    "seconds",
)
_ALWAYS = {0, 1, 2, 4, 5}
"""Columns that are always shown; the others, if any row has something to say there."""
_NOTHING = [{"exact", "-"} if head == "grade" else {"0", "-"} for head in _HEADS]
_STYLES = {"agrees": "green", "known": "yellow", "unsupported": "dim"}
_LIMIT = 2000
_STEPS = 40
_MOST = 20  # findings of a rule, all releases together: more is unreadable at a terminal


def show(out: Console, events: Iterable[Event]) -> None:
    """Print it all. No text of a target can move the cursor, colour anything, or begin a line."""
    seen = outline(events)
    if is_broker_gate(seen):
        show_broker_gate(out, seen)
    else:
        _show_rules(out, seen)
    for stale in seen.stale:
        _say(out, _line(f"known failure {stale.entry}: {stale.why}", "bold red"), _line(f"  hint: {stale.hint}"))
    if seen.began:
        asked = [f"kit {seen.began.kit}", *([f"cases {seen.began.case_set}"] if seen.began.case_set else [])]
        asked += [f"seed {seen.began.seed}"]
        asked += [] if is_broker_gate(seen) else [plural(seen.began.examples, "example")]
        _say(out, _line(", ".join(asked), "dim"))
    counts = f". {counted(seen.ended)}, {seen.ended.seconds:.1f} s" if seen.ended else ""
    _say(out, _line(verdict(seen) + counts, "bold green" if seen.exit_code == 0 else "bold red"))


def _show_rules(out: Console, seen: Outline) -> None:
    if seen.rows:
        out.print(_table(seen))
    found = findings(seen.rows)
    _say(out, *_new([one for one in found if one.first.known is None]))
    for explained in explanations(seen.rows):
        _say(out, _line(f"{explained.rule} in {explained.where}: {diagnosed(explained.diagnosis)}", "yellow"))
    for remark in remarks(seen.rows):
        _say(out, _line(remark.line, "bold red" if remark.text.startswith("not judged") else "dim"))
    for row in seen.rows:
        _say(out, *_distribution(row))
    for broken in protocol_errors(seen.rows):
        _say(out, *_protocol_error(broken))
    _say(out, *_known([one for one in found if one.first.known is not None]))
    _say(out, *_outside(findings(seen.rows, outside=True)))


def _table(seen: Outline) -> PlainTable:
    """Return a line for each rule in each release; columns that say nothing are left out, so that no word is broken.

    With eras, those of a rule that have the same verdict are one line.
    """
    groups = list(folded(seen.rows)) if any(row.era for row in seen.rows) else [[row] for row in seen.rows]
    places = Places(seen.rows)
    lines = [_cells(group, places) for group in groups]
    shown = [
        place for place in range(len(_HEADS)) if place in _ALWAYS or {line[place] for line in lines} - _NOTHING[place]
    ]
    if len({row.release for row in seen.rows}) == 1 and not seen.rows[0].era:
        shown.remove(_HEADS.index("release"))
    rows = [
        [styled(line[place], _STYLES.get(row.verdict, "bold red") if place == 2 else "") for place in shown]
        for (row, *_), line in zip(groups, lines, strict=True)
    ]
    right = [column for column, place in enumerate(shown) if place > 3]
    return PlainTable("", [_HEADS[place] for place in shown], rows, right=right)


def _cells(group: Sequence[RuleRow], places: Places) -> list[str]:
    row = group[0]
    where = places(row.rule, [each.release for each in group]) if row.era else row.release
    ends = [each.ended for each in group if each.ended]
    if not ends:
        return [row.rule, where, row.verdict, row.grade, *["-"] * (len(_HEADS) - 4)]
    seconds = sum(end.seconds for end in ends)
    return [row.rule, where, row.verdict, row.grade, *(f"{one:,}" for one in summed(group)), f"{seconds:.1f}"]


def _new(found: Sequence[ReportedFinding]) -> Iterator[Text]:
    """At most ``_MOST`` findings of each rule, the most harmful first."""
    counts: Counter[str] = Counter()
    for one in found:
        counts[one.first.rule] += 1
        if counts[one.first.rule] <= _MOST:
            yield from _finding(one)
    for rule, count in counts.items():
        if count > _MOST:
            yield _line(f"{rule}: {plural(count - _MOST, 'finding')} more in the other reports", "bold red")


def _finding(one: ReportedFinding) -> Iterator[Text]:
    first = one.first
    counts = ", ".join(filter(None, (plural(one.times, "question"), one.impact)))
    yield _line(f"{first.rule} in {one.where}: {first.kind}, {counts}", "bold red")
    if first.effect:
        yield _side("for users", first.effect)
    yield _side("question", as_json(first.question))
    yield from _answers(first)
    if one.explanation:
        yield _side("diagnosis", one.explanation, "yellow")
    yield _side("Java", first.java)
    if first.link:
        yield _side("rule", first.link)
    if again := replay_command(first):
        yield _side("replay", again, "dim")


def _answers(one: Differed) -> Iterator[Text]:
    """Both answers; for a script the steps that differ, since the others agree."""
    parts = compared(one, limit=10_000)
    if not any(part.asked for part in parts):
        yield _side("expected", as_json(one.expected))
        yield _side("actual", as_json(one.actual), "red")
        return
    differing = [part for part in parts if not part.same]
    for part in differing[:_STEPS]:
        yield _side(f"step {part.name}", part.asked) if part.asked else _side("field", part.name)
        yield _side("  expected", part.expected or "(none)")
        yield _side("  actual", part.actual or "(none)", "red")
    if len(differing) > _STEPS:
        yield _side("", f"and {plural(len(differing) - _STEPS, 'step')} more that differ")


def _distribution(row: RuleRow) -> Iterator[Text]:
    if row.ended and row.ended.distribution:
        one = row.ended.distribution
        yield _line(f"{row.rule} in {row.release}: {one.title}, p = {one.p_value:.3g}")
        for place, expected, actual in zip(one.partitions, one.expected, one.actual, strict=False):
            yield _line(f"  partition {place}: {expected:,.1f} expected, {actual:,} seen", "dim")


def _protocol_error(one: Broken) -> Iterator[Text]:
    first = one.first
    times = f" ({one.times:,} times)" if one.times > 1 else ""
    yield _line(f"{first.rule} in {one.where}: {first.error}{times}: {first.what}", "bold red")
    for name, text in unanswered(first):
        yield _side(name, text, "dim" if name == "replay" else "")
    yield _line(f"  hint: {first.hint}")


def _known(found: Sequence[ReportedFinding]) -> Iterator[Text]:
    for one in found[: 5 * _MOST]:
        if (known := one.first.known) is not None:
            until = f", until {known.expires}" if known.expires else ""
            issue = f" ({known.issue})" if known.issue else ""
            what = f"{one.first.rule} in {one.where}: {one.first.kind}"
            yield _line(f"known: {what}: {known.reason}{issue}{until}", "yellow")
    if len(found) > 5 * _MOST:
        yield _line(f"known: {plural(len(found) - 5 * _MOST, 'finding')} more")


def _outside(found: Sequence[ReportedFinding]) -> Iterator[Text]:
    for one in found[: 5 * _MOST]:
        what = f"{one.first.rule} in {one.where}: {one.first.kind}, {plural(one.times, 'question')}"
        yield _line(f"out of domain: {what}: {one.first.out_of_domain}: {as_json(one.first.question)}", "dim")
    if len(found) > 5 * _MOST:
        yield _line(f"out of domain: {plural(len(found) - 5 * _MOST, 'finding')} more")


def _side(name: str, text: str, style: str = "") -> Text:
    return Text.assemble((f"  {name:<12}  ", "dim"), _line(text, style))


def _line(text: str, style: str = "") -> Text:
    """One line whatever is in it, and no longer than can be read."""
    return styled(clipped(text, _LIMIT), style)


def _say(out: Console, *lines: Text) -> None:
    for line in lines:
        out.print(line, soft_wrap=True)
