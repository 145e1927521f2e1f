"""A gate as Markdown, for a page, a pull request, or a job's summary.

Text of a target stands in code, where nothing is markup, links nowhere and mentions no one: a code span with more
backticks around it than are in it, or a fenced block likewise. Words of our own stand as text with whatever Markdown
reads as markup written as a character reference. There are only such words in tables, since a cell of GitHub's tables
ends at a pipe even in code.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from kafka_conformance.core.events import Diagnosis, Event
from kafka_conformance.core.sanitize import clipped, harmless
from kafka_conformance.gate.reports.outline import (
    CODES,
    UNEXPLAINED,
    Broken,
    Explained,
    Outline,
    ReportedFinding,
    RuleRow,
    address,
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
from kafka_conformance.gate.reports.remarks import Remark, remarks
from kafka_conformance.reports.terminal import plural

__all__ = ["block", "cell", "code", "diagnosis", "link", "rendered", "words", "write"]

_HEADS = ("rule", "releases", "verdict", "grade", "asked", "agreed", "differed", "known", "unsupported", "failed")
_LINKED = re.compile(r"@|://|[\w-]\.[^\W\d]|\b(?:www|mailto|xmpp)\b|#\d", re.IGNORECASE)
_MARKUP = re.compile(r"[^\w\s.,:;'\"%/()-]|_|[.:](?=[^\s0-9])")


def write(events: Iterable[Event]) -> str:
    """The page."""
    return rendered(outline(events))


def rendered(seen: Outline, *, most: int = 1000, limit: int = 4000) -> str:
    """The page with at most ``most`` findings, each text cut at ``limit`` characters."""
    found = findings(seen.rows)
    new = [one for one in found if one.first.known is None]
    known = [one for one in found if one.first.known is not None]
    parts = [*_head(seen), *_table(seen)]
    parts += _section("What differs", (_finding(one, limit) for one in new[:most]), len(new) - most)
    parts += _section("Diagnoses by rule", map(_explained, explanations(seen.rows)))
    parts += _section("What was not answered or not counted", map(_remark, remarks(seen.rows)))
    broken = protocol_errors(seen.rows)
    parts += _section(
        "Rules that could not be judged", (_protocol_error(one, limit) for one in broken[:most]), len(broken) - most
    )
    parts += _section("Distribution of records", (one for row in seen.rows for one in _spread(row)))
    parts += _section("Known failures", (_known(one) for one in known[:most]), len(known) - most)
    outside = findings(seen.rows, outside=True)
    parts += _section(
        "Out of domain: not counted", (_outside(one, limit) for one in outside[:most]), len(outside) - most
    )
    parts += _section("Eras", ["\n".join(_eras(seen))] if any(row.era for row in seen.rows) else ())
    stale = (f"- {code(one.entry, limit)}: {words(one.why)}\n  Hint: {words(one.hint)}" for one in seen.stale[:most])
    parts += _section("Invalid known failures", stale, len(seen.stale) - most)
    return "\n\n".join(parts) + "\n"


def _head(seen: Outline) -> Iterator[str]:
    yield f"# {CODES.get(seen.exit_code, CODES[2]).capitalize()}: {code(seen.target)}"
    yield code(verdict(seen), 2000)
    if seen.ended:
        yield f"{words(counted(seen.ended))}; {seen.ended.seconds:.1f} s."
    if seen.began:
        target = seen.began.target
        yield (
            f"Started as {code(target.command)}, written in {code(target.language)}; kit {code(seen.began.kit)}, "
            f"{f'cases {code(seen.began.case_set)}, ' if seen.began.case_set else ''}"
            f"seed {seen.began.seed}, {plural(seen.began.examples, 'fresh example')} for each rule."
        )


def _table(seen: Outline) -> Iterator[str]:
    if not seen.rows:
        return
    places = Places(seen.rows)
    lines = ["| " + " | ".join(_HEADS) + " |", "|---|---|---|---|---:|---:|---:|---:|---:|---:|"]
    for group in folded(seen.rows):
        cells = (group[0].rule, _where(group, places), group[0].verdict, group[0].grade)
        lines.append("| " + " | ".join([*map(cell, cells), *(f"{count:,}" for count in summed(group))]) + " |")
    yield "\n".join(lines)


def _where(group: Sequence[RuleRow], places: Places) -> str:
    return places(group[0].rule, [row.release for row in group])


def _eras(seen: Outline) -> Iterator[str]:
    """A line for each rule: its eras, and the release in which one of several releases was asked."""
    places = Places(seen.rows)
    for rule in seen.rules:
        rows = [row for row in seen.rows if row.rule == rule and row.era]
        names = [places(rule, [row.release]).removeprefix("era ") for row in rows]
        names = [
            name if name == row.release else f"{name} (asked in {row.release})"
            for name, row in zip(names, rows, strict=True)
        ]
        if names:
            yield f"- {words(rule)}: {words('; '.join(names))}"


def _section(title: str, parts: Iterable[str], more: int = 0) -> Iterator[str]:
    found = list(parts)
    if found:
        yield f"## {title}"
        yield from found
    if more > 0:
        yield f"And {more:,} more."


def _finding(one: ReportedFinding, limit: int) -> str:
    first = one.first
    lines = [f"### {words(first.rule)}: {code(first.kind, 200)}", ""]
    if first.effect:
        lines += [f"**{one.impact}.** What this means for users: {words(first.effect)}", ""]
    lines.append(f"{plural(one.times, 'question')} in {words(one.where)}, of which one is")
    lines += ["", block(_sides(one, limit)), ""]
    if first.diagnosis:
        lines.append(f"- {diagnosis(first.diagnosis)}")
    elif one.unexplained:
        lines.append(f"- {UNEXPLAINED}")
    lines.append(f"- Java source: {code(first.java)}" + (f", documented at {link(first.link)}" if first.link else ""))
    if first.versions:
        lines.append(f"- Versions with the difference: {code(first.versions)}")
    if first.cases:
        lines.append(f"- Cases: {code(', '.join(first.cases), limit)}")
    if again := replay_command(first):
        lines.append(f"- Replay: {code(again)}")
    return "\n".join(lines)


def _sides(one: ReportedFinding, limit: int) -> Sequence[str]:
    first = one.first
    lines = [f"question  {clipped(as_json(first.question), limit)}"]
    parts = compared(first)
    if not any(part.asked for part in parts):
        return [
            *lines,
            f"expected  {clipped(as_json(first.expected), limit)}",
            f"actual    {clipped(as_json(first.actual), limit)}",
        ]
    for part in parts:
        if not part.same:
            name = f"step {part.name}" if part.asked else f"field {part.name}"
            lines.append(f"{clipped(name, 200)}  {clipped(part.asked, limit)}")
            lines.append(f"  expected  {clipped(part.expected or '(none)', limit)}")
            lines.append(f"  actual    {clipped(part.actual or '(none)', limit)}")
        if len(lines) > 120:
            return [*lines, "and more"]
    return lines


def diagnosis(one: Diagnosis) -> str:
    """A diagnosis as text: the mistake's name as code, its references as links."""
    references = ", ".join(map(link, one.references))
    before, mutant, after = diagnosed(one, references=False).partition(f"`{one.mutant}`")
    line = words(before) + (code(one.mutant) if mutant else "") + words(after)
    return line + (f" (see {references})" if references else "")


def _explained(one: Explained) -> str:
    return f"- {words(one.rule)} in {words(one.where)}: {diagnosis(one.diagnosis)}"


def _protocol_error(one: Broken, limit: int) -> str:
    first = one.first
    times = f" ({one.times:,} times)" if one.times > 1 else ""
    line = f"{code(first.error)}{times}: {code(first.what, limit)}"
    lines = [f"- {words(first.rule)} in {words(one.where)}: {line}"]
    lines += [f"  {name.capitalize()}: {code(text, limit)}" for name, text in unanswered(first)]
    return "\n".join([*lines, f"  Hint: {words(first.hint)}"])


def _spread(row: RuleRow) -> Iterator[str]:
    if row.ended and row.ended.distribution:
        one = row.ended.distribution
        lines = [f"{words(row.rule)} in {words(row.release)}: {words(one.title)}, p = {one.p_value:.3g}", ""]
        lines += ["| partition | expected | actual |", "|---:|---:|---:|"]
        for place, expected, actual in zip(one.partitions, one.expected, one.actual, strict=False):
            lines.append(f"| {place} | {expected:,.1f} | {actual:,} |")
        yield "\n".join(lines)


def _known(one: ReportedFinding) -> str:
    known = one.first.known
    assert known is not None  # noqa: S101  for the type checker: only such findings are given
    issue = f" ({link(known.issue)})" if known.issue else ""
    until = f", until {code(known.expires)}" if known.expires else ""
    where = words(one.where)
    return f"- {words(one.first.rule)} in {where}: {code(one.first.kind, 200)}: {words(known.reason)}{issue}{until}"


def _remark(one: Remark) -> str:
    return f"- {words(one.rule)} in {words(one.where)}: {words(one.text)}" + (
        f": {code(one.reason)}" if one.reason else ""
    )


def _outside(one: ReportedFinding, limit: int) -> str:
    first = one.first
    counted_as = f"{code(first.kind, 200)}, {plural(one.times, 'question')}: {words(first.out_of_domain)}"
    return f"- {words(first.rule)} in {words(one.where)}: {counted_as}: {code(as_json(first.question), limit)}"


def words(text: str, limit: int = 4000) -> str:
    """Text of ours as text; as code if it holds what many readers of Markdown make a link of, or a mention."""
    return code(text, limit) if _LINKED.search(text) else cell(text, limit)


def cell(text: str, limit: int = 4000) -> str:
    """Text of ours, in a table too, with what is markup in Markdown as character references."""
    return _MARKUP.sub(lambda found: f"&#{ord(found[0])};", harmless(clipped(text, limit)))


def code(text: str, limit: int = 1000) -> str:
    """Anybody's text as a code span; not for a cell of a table."""
    shown = harmless(clipped(text, limit))
    if not shown.strip(" "):
        return "(nothing)"
    fence = "`" * (_longest_run(shown) + 1)
    pad = " " if shown.startswith(("`", " ")) or shown.endswith(("`", " ")) else ""
    return f"{fence}{pad}{shown}{pad}{fence}"


def block(lines: Iterable[str]) -> str:
    """Anybody's lines as a block of code; each stays one line."""
    shown = [harmless(line) for line in lines]
    fence = "`" * max(3, _longest_run("\n".join(shown)) + 1)
    return "\n".join([f"{fence}text", *shown, fence])


def link(text: str) -> str:
    """A plain web address as a link, anything else as code."""
    plain = address(text)
    return code(text) if plain is None else f"<{plain}>"


def _longest_run(text: str) -> int:
    return max(map(len, re.findall("`+", text)), default=0)
