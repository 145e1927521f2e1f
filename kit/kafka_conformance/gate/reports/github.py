"""A gate as GitHub's workflow commands, which become annotations, and as the summary of a job.

A command is a line that begins with ``::``; its data has ``%``, CR and LF escaped, a property of it also ``:`` and ``,``.
The runner unescapes just these. A line with ``##[`` anywhere in it is a command of an older form, and any program's output
is read so: whatever else is printed in a workflow has to stand between two lines of :func:`fence`.

GitHub shows ten annotations of a level for each step and drops the others unseen, so the tenth says how many there are.
A summary has to be smaller than 1 MiB, or none of it is shown.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator, Mapping

from kafka_conformance.core.events import Event
from kafka_conformance.core.sanitize import clipped, harmless
from kafka_conformance.gate.reports import markdown as gate_markdown
from kafka_conformance.gate.reports.outline import (
    Outline,
    ReportedFinding,
    as_json,
    compared,
    counted,
    findings,
    outline,
    protocol_errors,
    replay_command,
    unanswered,
    verdict,
)
from kafka_conformance.gate.reports.remarks import remarks
from kafka_conformance.reports.terminal import plural

__all__ = ["command", "fence", "in_actions", "summary", "write"]

_SHOWN = 10
_SUMMARY_BYTES = 1_000_000
_LIMIT = 1500


def in_actions(environ: Mapping[str, str]) -> bool:
    """Whether these are the environment variables of a GitHub workflow."""
    return environ.get("GITHUB_ACTIONS") == "true"


def fence() -> tuple[str, str]:
    """Return two lines between which GitHub executes no commands of the output. The second cannot be guessed."""
    token = secrets.token_hex(16)
    return f"::stop-commands::{token}\n", f"::{token}::\n"


def command(level: str, title: str, message: str) -> str:
    """One annotation, as one line without its end."""
    text = _escaped(harmless(clipped(message, 4 * _LIMIT), keep="\n"))
    return f"::{level} title={_escaped(harmless(clipped(title, 200)), ':,')}::{text}"


def _escaped(text: str, also: str = "") -> str:
    for character in "%\r\n" + also:
        text = text.replace(character, f"%{ord(character):02X}")
    return text


def write(events: Iterable[Event]) -> str:
    """The commands, a line for each; at most ten errors, the first of which is the verdict."""
    seen = outline(events)
    counts = f". {counted(seen.ended)}" if seen.ended else ""
    if seen.exit_code == 0:
        lines = [command("notice", "kafka-conformance", verdict(seen) + counts)]
    else:
        wrong = list(_errors(seen))
        shown = wrong[: _SHOWN - 1] if len(wrong) < _SHOWN else wrong[: _SHOWN - 2]
        lines = [command("error", "kafka-conformance", verdict(seen) + counts), *shown]
        if len(shown) < len(wrong):
            more = f"{len(wrong) - len(shown):,} more: see the summary of this job"
            lines.append(command("error", "kafka-conformance", more))
    return "".join(f"{line}\n" for line in lines)


def _errors(seen: Outline) -> Iterator[str]:
    for remark in remarks(seen.rows):
        if remark.text.startswith("not judged"):
            yield command("error", f"{remark.rule} in {remark.where}: not judged", remark.line)
    for one in findings(seen.rows):
        if one.first.known is None:
            yield command("error", f"{one.first.rule} in {one.where}: {clipped(one.first.kind, 100)}", _told(one))
    for broken in protocol_errors(seen.rows):
        title = f"{broken.first.rule} in {broken.where}: {clipped(broken.first.error, 100)}"
        asked = [f"{name}: {text}" for name, text in unanswered(broken.first)]
        yield command("error", title, _lines([broken.first.what, *asked, f"hint: {broken.first.hint}"]))
    for stale in seen.stale:
        yield command("error", "known failures", _lines([f"{stale.entry}: {stale.why}", f"hint: {stale.hint}"]))


def _told(one: ReportedFinding) -> str:
    first = one.first
    part = next((part for part in compared(first) if not part.same), None)
    lines = [", ".join(filter(None, (plural(one.times, "question"), one.impact)))]
    lines += [f"for users: {first.effect}"] if first.effect else []
    lines.append(f"question: {as_json(first.question)}")
    if part is not None and part.asked:
        lines.append(f"step {part.name}: {part.asked}")
        lines += [f"expected: {part.expected or '(none)'}", f"actual: {part.actual or '(none)'}"]
    else:
        lines += [f"expected: {as_json(first.expected)}", f"actual: {as_json(first.actual)}"]
    if one.explanation:
        lines.append(one.explanation)
    lines.append(f"Java: {first.java}" + (f", {first.link}" if first.link else ""))
    if again := replay_command(first):
        lines.append(f"replay: {again}")
    return _lines(lines)


def _lines(lines: Iterable[str]) -> str:
    """Each stays one line, so that none looks like another of ours."""
    return "\n".join(harmless(clipped(line, _LIMIT)) for line in lines)


def summary(events: Iterable[Event]) -> str:
    """Markdown for ``$GITHUB_STEP_SUMMARY``: the page with as many findings as there is room for."""
    seen = outline(events)
    for most, limit in ((50, 2000), (20, 500), (5, 200)):
        text = gate_markdown.rendered(seen, most=most, limit=limit)
        if len(text.encode()) < _SUMMARY_BYTES:
            return text
    return gate_markdown.rendered(Outline(seen.began, [], [], seen.ended))
