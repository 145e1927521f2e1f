"""The timeline of ``explain`` as a picture: steps from left to right, a lane for each partition.

Steps are spaced evenly, since many share an instant; the time is above them, and a band of columns is one instant. A column
shows the state after its step. In a lane, batches outside the queue (in flight, expired, lost) are above the line, and the
queue is below it, front first; a box extends for as long as nothing changes. Text without room is in a tooltip.

The picture is SVG without scripts and external files, built as a tree, so it is well-formed whatever the question contains.
The same question gives the same bytes. Colours follow the reader's light or dark mode.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from kafka_conformance.core.errors import BadInput
from kafka_conformance.core.files import write_report
from kafka_conformance.core.sanitize import harmless
from kafka_conformance.core.timeline import Box, Lane
from kafka_conformance.reports.timeline import Timeline, TimelineRow

__all__ = ["draw", "figure", "ready"]

_COLUMN, _SLOT, _BOX, _PAD, _EDGE = 46, 19, 16, 5, 16
_CHARACTER = 6.1  # of 10.5 px, on the average
_LONGEST_MARK = 28

# Kind of box: fill and line in the light, fill and line in the dark, and what it means.
_KINDS = {
    "open": ("#cfe3f7", "#2f6fab", "#1d3f5e", "#6ea8dc", "queued, open"),
    "full": ("#7fb2e5", "#1b4f80", "#2d6aa3", "#9cc8f2", "queued, full"),
    "retry": ("#f9d28c", "#a8690b", "#7a5210", "#f2b950", "queued again"),
    "sent": ("#c3e8cf", "#2c7d48", "#1d4d2e", "#6cc58b", "in flight"),
    "ended": ("#e4e4e4", "#777777", "#3a3a3a", "#a0a0a0", "done, expired or aborted"),
    "lost": ("#f6c1bd", "#b3261e", "#6b1f1a", "#f08a82", "lost by a drain that raised"),
    "held": ("#e0d3f3", "#6a45a3", "#432c68", "#b496e6", "held"),
}


@dataclass(frozen=True, slots=True)
class _Track:
    """The place of a lane: its top, and its number of slots above (``out``) and below (``queue``) the line."""

    name: str
    top: int
    out: int
    queue: int

    @property
    def line(self) -> int:
        return self.top + _PAD + self.out * _SLOT

    @property
    def bottom(self) -> int:
        return self.line + self.queue * _SLOT + _PAD


def ready(path: Path) -> None:
    """Check before any question is asked that the name is one of a figure. Raises BadInput."""
    if path.suffix.lower() != ".svg":
        raise BadInput(f"{path} is not an SVG file: give a name that ends in .svg")


def draw(timeline: Timeline, path: Path) -> None:
    """Write the figure. Raises BadInput for a question without steps."""
    if not timeline.rows:
        raise BadInput(f"a question of {timeline.rule} has no timeline to draw: its answer has no steps")
    write_report(path, figure(timeline))


def figure(timeline: Timeline) -> bytes:
    """Return the figure of a timeline with steps, as SVG."""
    rows = timeline.rows
    clocked = any(row.explained.time_ms is not None for row in rows)
    head = 52 + 18 * clocked + 16
    foot = head + 14 + int(max(min(len(_label(row)), _LONGEST_MARK) for row in rows) * 6.4)
    tracks = list(_tracks(rows, foot + 10))
    left = _EDGE + 14 + int(max([len("in flight"), *(min(len(harmless(t.name)), 24) for t in tracks)]) * 6.6)
    right = left + _COLUMN * len(rows)
    bottom = tracks[-1].bottom if tracks else foot + 10
    kinds = list(dict.fromkeys(box.kind for name in _KINDS for box in _boxes(rows) if box.kind == name))
    heading = _cut(f"{timeline.rule}: {timeline.title}", 160)
    width = max(right, 520, int(len(heading) * 9.2), *(_legend_ends(kinds))) + _EDGE
    root = Element("svg", {
        "xmlns": "http://www.w3.org/2000/svg", "viewBox": f"0 0 {width} {bottom + 48}",
        "width": str(width), "height": str(bottom + 48), "role": "img",
    })  # fmt: skip
    SubElement(root, "title").text = harmless(f"{timeline.rule} {timeline.id}, {timeline.answerer} {timeline.release}")
    SubElement(root, "style").text = _style()
    _rect(root, 0, 0, width, bottom + 48, "page")
    _words(root, _EDGE, 24, heading, "heading")
    _words(root, _EDGE, 42, f"question {timeline.id}, by {timeline.answerer} {timeline.release}", "quiet")
    _bands(root, rows, (left, head, bottom), clocked)
    for number, row in enumerate(rows):
        _mark(root, row, number, left + _COLUMN * number, (head, foot))
    for track in tracks:
        _lane(root, rows, track, left, right)
    _legend(root, kinds, bottom + 22)
    indent(root, " ")
    written: bytes = tostring(root, encoding="utf-8", xml_declaration=True)
    return written + b"\n"


def _boxes(rows: Sequence[TimelineRow]) -> Iterator[Box]:
    for row in rows:
        for lane in row.explained.lanes:
            yield from lane.queue
            yield from lane.out


def _tracks(rows: Sequence[TimelineRow], top: int) -> Iterator[_Track]:
    """Yield a track for each lane that is ever filled, sorted so that t-2 comes before t-10."""
    lanes: dict[str, list[Lane]] = {}
    for row in rows:
        for lane in row.explained.lanes:
            lanes.setdefault(lane.name, []).append(lane)
    for name in sorted(lanes, key=_natural):
        queue, out = (max(len(getattr(lane, side)) for lane in lanes[name]) for side in ("queue", "out"))
        if queue or out:
            track = _Track(name, top, out, max(queue, 1))
            yield track
            top = track.bottom + 2


def _natural(name: str) -> list[tuple[int, str]]:
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in re.split(r"([0-9]+)", name)]


def _bands(root: Element, rows: Sequence[TimelineRow], place: tuple[int, int, int], clocked: bool) -> None:
    """Draw a band for each instant with its time, or for each step if there is no clock."""
    left, head, bottom = place
    at = 0
    for shade, (time_ms, columns) in enumerate(groupby(rows, key=lambda row: row.explained.time_ms)):
        count = len(list(columns))
        x, width = left + at * _COLUMN, count * _COLUMN
        if clocked:
            band = SubElement(root, "g")
            SubElement(band, "title").text = f"{time_ms} ms"
            _rect(band, x, head - 32, width, bottom - head + 32, f"band{shade % 2}")
            _words(
                band, x + 4, head - 19, _cut(f"{time_ms} ms" if width > _COLUMN else f"{time_ms}", width // 6), "time"
            )
        at += count
    if clocked:
        _words(root, _EDGE, head - 19, "clock, ms", "quiet")
    _words(root, _EDGE, head - 3, "step", "quiet")


def _mark(root: Element, row: TimelineRow, number: int, x: int, place: tuple[int, int]) -> None:
    """Draw a step's name upright in its column, with a tooltip of everything about it."""
    one, (head, foot) = row.explained, place
    group = SubElement(root, "g")
    lines = [f"step {number}: {one.step}", one.answer, *(f"· {reason}" for reason in one.reasons)]
    if row.instead is not None:
        lines.insert(2, f"the reference: {row.instead}")
    lines += [f"{name}: {content}" for name, content in one.state]
    SubElement(group, "title").text = harmless("\n".join(lines), keep="\n")
    _rect(group, x + 1, head - 14, _COLUMN - 2, foot - head + 14, "touch")
    _words(group, x + _COLUMN / 2, head - 3, str(number), "number")
    style = "mark" if row.instead is None else "mark wrong"
    x, y = x + _COLUMN // 2 + 4, foot
    _words(group, x, y, _cut(_label(row), _LONGEST_MARK), style, transform=f"rotate(-90 {x} {y})")


def _label(row: TimelineRow) -> str:
    return harmless(("" if row.instead is None else "◀ ") + row.explained.mark)


def _lane(root: Element, rows: Sequence[TimelineRow], track: _Track, left: int, right: int) -> None:
    for y, style in ((track.top - 1, "edge"), (track.line - 1, "divide")):
        if style == "edge" or track.out:
            SubElement(root, "line", {"x1": str(_EDGE), "x2": str(right), "y1": str(y), "y2": str(y), "class": style})
    _words(root, _EDGE, track.line + 13, _cut(track.name, 24), "name")
    if track.out:
        _words(root, _EDGE, track.line - 7, "out", "quiet")
    found = [next((lane for lane in row.explained.lanes if lane.name == track.name), None) for row in rows]
    for side, top, slots in (("out", track.top + _PAD, track.out), ("queue", track.line + 2, track.queue)):
        for slot in range(slots):
            boxes = [_box_at(lane, side, slot) for lane in found]
            _runs(root, boxes, left, top + slot * _SLOT)


def _box_at(lane: Lane | None, side: str, slot: int) -> Box | None:
    standing: Sequence[Box] = () if lane is None else getattr(lane, side)
    return standing[slot] if slot < len(standing) else None


def _runs(root: Element, boxes: Sequence[Box | None], left: int, y: int) -> None:
    """Draw one slot of a lane from left to right; equal neighbours are one box."""
    at = 0
    for _, run in groupby(boxes, key=lambda box: box and (box.name, box.kind)):
        here = list(run)
        first = here[0]
        if first is not None:
            x, width = left + at * _COLUMN + 1, len(here) * _COLUMN - 2
            group = SubElement(root, "g")
            lines = [f"step {at + n}: {box.description}" for n, box in enumerate(here) if box]
            SubElement(group, "title").text = harmless("\n".join(lines), keep="\n")
            _rect(group, x, y, width, _BOX, f"box {first.kind}", rx="3")
            _words(group, x + 4, y + 12, _cut(first.name, int((width - 4) / _CHARACTER)), "label")
        at += len(here)


def _legend_ends(kinds: Sequence[str]) -> list[int]:
    x, ends = _EDGE, [0]
    for kind in kinds:
        x += 34 + int(len(_KINDS[kind][4]) * 6.4)
        ends.append(x)
    return ends


def _legend(root: Element, kinds: Sequence[str], y: int) -> None:
    for kind, end in zip(kinds, _legend_ends(kinds), strict=False):
        x = max(end, _EDGE)
        _rect(root, x, y, 14, 12, f"box {kind}", rx="3")
        _words(root, x + 19, y + 10, _KINDS[kind][4], "quiet")


def _rect(parent: Element, x: float, y: float, width: float, height: float, style: str, **more: str) -> None:
    place = {"x": f"{x:g}", "y": f"{y:g}", "width": f"{width:g}", "height": f"{height:g}"}
    SubElement(parent, "rect", {**place, "class": style, **more})


def _words(parent: Element, x: float, y: float, content: str, style: str, **more: str) -> None:
    SubElement(parent, "text", {"x": f"{x:g}", "y": f"{y:g}", "class": style, **more}).text = harmless(content)


def _cut(content: str, longest: int) -> str:
    shown = harmless(content)
    return shown if len(shown) <= longest else shown[: max(longest - 1, 1)] + "…"


def _style() -> str:
    """Return the style sheet, with a palette for light and one for dark mode."""
    always = """
text { font-family: system-ui, "Segoe UI", Helvetica, Arial, sans-serif; font-size: 11px; fill: #1f2328 }
.heading { font-size: 15px; font-weight: 600 } .quiet, .number { fill: #656d76 } .number { text-anchor: middle }
.mark, .name { font-size: 11.5px } .name, .time { font-weight: 600 } .wrong { fill: #b3261e; font-weight: 600 }
.label { font-size: 10.5px } .box { stroke-width: 1 } .sent { stroke-dasharray: 4 2 } .touch { fill: transparent }
.page { fill: #ffffff } .band0 { fill: #f3f5f7 } .band1 { fill: #e6eaee } .edge { stroke: #8c959f }
.divide { stroke: #8c959f; stroke-dasharray: 2 3 }
"""
    dark = """text { fill: #e6edf3 } .quiet, .number { fill: #9198a1 } .wrong { fill: #ff8a80 }
.page { fill: #0d1117 } .band0 { fill: #161b22 } .band1 { fill: #21262d } .edge, .divide { stroke: #5b636d }
"""
    light_boxes = "\n".join(f".{kind} {{ fill: {it[0]}; stroke: {it[1]} }}" for kind, it in _KINDS.items())
    dark_boxes = "\n".join(f".{kind} {{ fill: {it[2]}; stroke: {it[3]} }}" for kind, it in _KINDS.items())
    return f"{always}{light_boxes}\n@media (prefers-color-scheme: dark) {{ {dark}{dark_boxes} }}\n"
