"""Scripts that differ as transcripts in two columns: what the client sent and got, and what Java's client did.

Markdown or HTML by the ending of the file; in the terminal the first line that differs, of each side. All are bounded: at
most ``_SCRIPTS`` scripts with ``_LANES`` lanes of ``_ROWS`` rows, those around the first difference. The rest is counted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from kafka_conformance.core.errors import BadInput
from kafka_conformance.core.sanitize import harmless
from kafka_conformance.gate.reports.markdown import cell, code, words
from kafka_conformance.reports.page import render
from kafka_conformance.reports.terminal import plural
from kafka_conformance.wire.client_gate.runner import ScriptOutcome
from kafka_conformance.wire.client_gate.transcript import Exchange, JavaTranscripts, transcript_of
from kafka_conformance.wire.client_gate.transcript_comparison import ComparedLane, LaneVerdict, compare_transcripts
from kafka_conformance.wire.codec.messages import shipped_codec
from kafka_conformance.wire.recording.trace import read_trace

__all__ = ["ScriptTranscript", "check_ending", "script_transcript", "short_lines", "write_transcripts"]

_SCRIPTS: Final = 200
_LANES: Final = 16
_ROWS, _BEFORE = 60, 20
_FINDINGS: Final = 5
_SHORT: Final = 20
_WORDS: Final = 300
_NOTHING: Final = "(nothing more)"
_MARKDOWN, _HTML = frozenset({".md", ".markdown"}), frozenset({".html", ".htm"})
_VERDICTS: Final[dict[LaneVerdict, str]] = {
    "differs": "differs", "harmless": "differs, harmless", "same": "the same"
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class ScriptTranscript:
    """A script that differs; ``why`` is the reason why there are no lanes, or empty."""

    script: str
    title: str
    findings: Sequence[str]
    client: str = ""
    lanes: Sequence[ComparedLane] = ()
    left_out: int = 0
    why: str = ""

    @property
    def first(self) -> tuple[str, str, str] | None:
        """The lane that differs first, and the lines of both clients there; None if no lane differs."""
        lane = next((each for each in self.lanes if each.verdict == "differs"), None)
        if lane is None:
            return None
        row = lane.rows[lane.first]
        return lane.name, _line(row.client), _line(row.java)

    @property
    def summary(self) -> str:
        """What the comparison says in one sentence."""
        if self.why:
            return self.why
        if self.first is None:
            return "Both clients sent the same in this order, but for versions, sizes and requests beside their work."
        return f"The first difference is in: {self.first[0]}."


@dataclass(frozen=True, slots=True)
class _ShownLane:
    """A lane as a table: its rows, of which one may be the first difference, and how many are left out."""

    name: str
    verdict: str
    rows: Sequence[tuple[bool, str, str]]
    before: int
    after: int


def check_ending(path: Path) -> None:
    """Raise BadInput for a file whose ending names no form of a transcript."""
    if path.suffix.lower() not in _MARKDOWN | _HTML:
        raise BadInput(f"--transcript {path}: expected a file that ends in .md or .html")


def script_transcript(outcome: ScriptOutcome, folder: Path, java: JavaTranscripts) -> ScriptTranscript:
    """Compare the trace of a script that differs with Java's. Raises BadInput if the trace cannot be read."""
    script = outcome.script
    findings = [f"{one.kind}: {one.what}" for one in outcome.findings if not one.harmless]
    expected = java.of_script(script)
    if expected is None:
        why = f"Java's client {java.release} has no transcript of this script: only the kit's own scripts have one."
        return ScriptTranscript(script.id, script.title, findings, why=why)
    found = transcript_of(read_trace(folder / "trace")[1], shipped_codec())
    lanes = compare_transcripts(found, expected)
    return ScriptTranscript(script.id, script.title, findings, found.client, lanes, found.left_out)


def short_lines(found: Sequence[ScriptTranscript], release: str) -> Iterator[str]:
    """Yield what the terminal shows: of each script the first line that differs, of each side."""
    for each in found[:_SHORT]:
        if each.first is None:
            yield harmless(f"{each.script}: {each.summary}")
            continue
        lane, client, java = each.first
        yield harmless(f"{each.script}, {lane}: the first difference")
        yield f"  client      {client}"
        yield f"  Java {release}  {java}"
    if len(found) > _SHORT:
        yield f"and {plural(len(found) - _SHORT, 'more script')}: the transcript has them"


def write_transcripts(path: Path, found: Sequence[ScriptTranscript], release: str, target: str) -> str:
    """Return the transcripts in the form that the ending of the file names."""
    shown = found[:_SCRIPTS]
    write = _html if path.suffix.lower() in _HTML else _markdown
    return write(shown, len(found) - len(shown), release, target)


def _line(exchange: Exchange | None) -> str:
    return exchange.text() if exchange is not None else _NOTHING


def _shown(lane: ComparedLane) -> _ShownLane:
    start = max(0, lane.first - _BEFORE)

    def words_of(exchange: Exchange | None, number: int) -> str:
        return _line(exchange) if exchange is not None or number == lane.first else ""

    rows = [
        (number == lane.first, words_of(row.client, number), words_of(row.java, number))
        for number, row in enumerate(lane.rows[start : start + _ROWS], start)
    ]
    return _ShownLane(lane.name, _VERDICTS[lane.verdict], rows, start, len(lane.rows) - start - len(rows))


def _tables(each: ScriptTranscript) -> list[_ShownLane]:
    return [_shown(lane) for lane in each.lanes[:_LANES] if lane.verdict != "same"]


def _remarks(each: ScriptTranscript) -> Iterator[str]:
    if same := [lane.name for lane in each.lanes if lane.verdict == "same"]:
        yield f"The same lines: {'; '.join(same[:_LANES])}."
    if len(each.lanes) > _LANES:
        yield f"Left out: {plural(len(each.lanes) - _LANES, 'more lane')}."
    if each.left_out:
        yield f"Left out: {plural(each.left_out, 'more line')} of the client."
    if len(each.findings) > _FINDINGS:
        yield f"Left out: {plural(len(each.findings) - _FINDINGS, 'more finding')}."


def _markdown(found: Sequence[ScriptTranscript], more: int, release: str, target: str) -> str:
    parts = [f"# {code(target)} and Java's client {words(release)}"]
    if not found:
        parts.append("No script that was run differs.")
    for each in found:
        parts += _section(each, release)
    if more:
        parts.append(f"Left out: {plural(more, 'more script')}.")
    return "\n\n".join(parts) + "\n"


def _section(each: ScriptTranscript, release: str) -> Iterator[str]:
    yield f"## {code(each.script)}"
    yield f"{words(each.title, _WORDS)}. {words(each.summary)}"
    yield "\n".join(f"- {code(finding)}" for finding in each.findings[:_FINDINGS])
    if each.client:
        yield f"`client.id` of the client: {code(each.client)}"
    for lane in _tables(each):
        yield f"### {words(lane.name)}: {lane.verdict}"
        yield "\n".join(_rows(lane, release))
    yield from map(words, _remarks(each))


def _rows(lane: _ShownLane, release: str) -> Iterable[str]:
    yield f"| | client | Java {cell(release)} |"
    yield "|---|---|---|"
    if lane.before:
        yield f"| | ({plural(lane.before, 'row')} before) | |"
    for is_first, client, java in lane.rows:
        mark = "**" if is_first else ""
        cells = (f"{mark}{cell(text)}{mark}" if text else "" for text in (client, java))
        yield f"| {'**differs**' if is_first else ''} | {' | '.join(cells)} |"
    if lane.after:
        yield f"| | ({plural(lane.after, 'more row')}) | |"


def _html(found: Sequence[ScriptTranscript], more: int, release: str, target: str) -> str:
    given = {
        "sections": [(each, _tables(each), list(_remarks(each))) for each in found], "release": release,
        "target": target, "more": more, "findings": _FINDINGS,
    }  # fmt: skip
    styles = ("reports/page.css", "gate/reports/gate_page.css")
    return render("gate/reports/client_transcript.html.j2", styles, {"plural": plural}, given)
