"""A trace as one HTML page: a timeline with a lane for each connection, the findings, and the messages as lines.

Messages stand in the order in which the proxy had them, evenly spaced, since many come within a millisecond; times are
above. A request is a circle above the line of its connection, its response a square below, joined by a stroke. The text of a
message is its tooltip, and a line in a list below the picture.

The page is bounded: at most ``MOST_MESSAGES`` messages on ``MOST_CONNECTIONS`` connections. If the first finding or fault is
beyond that, the picture begins shortly before it. What is left out is counted.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Final
from xml.etree.ElementTree import Element, SubElement, tostring

from markupsafe import Markup

from kafka_conformance.core.sanitize import clipped, harmless
from kafka_conformance.reports.page import render
from kafka_conformance.reports.terminal import plural
from kafka_conformance.wire.codec.messages import error_codes
from kafka_conformance.wire.recording.event_text import words_of
from kafka_conformance.wire.recording.exchanges import Closed, Event, Names, Request
from kafka_conformance.wire.recording.judge import KINDS, TraceFinding
from kafka_conformance.wire.recording.trace import Head

__all__ = ["MOST_CONNECTIONS", "MOST_MESSAGES", "TraceTimeline"]

MOST_MESSAGES: Final = 1_000
MOST_CONNECTIONS: Final = 50
_MOST_FINDINGS, _MOST_OF_MARK = 200, 3
_LONGEST_TEXT, _LONGEST_NAME = 600, 30

_COLUMN, _LANE, _TOP, _LEFT, _EDGE = 13, 52, 34, 210, 16
_OFFSET, _SIZE = 11, 4.5
_TICK: Final = 6
"""Columns from one time above the lanes to the next."""

_GROUPS: Final = {
    "produce": frozenset({"AddOffsetsToTxn", "AddPartitionsToTxn", "EndTxn", "InitProducerId", "Produce",
                          "TxnOffsetCommit"}),
    "fetch": frozenset({"Fetch", "ListOffsets", "OffsetForLeaderEpoch", "ShareFetch", "ShareAcknowledge"}),
    "group": frozenset({"ConsumerGroupHeartbeat", "Heartbeat", "JoinGroup", "LeaveGroup", "OffsetCommit", "OffsetFetch",
                        "ShareGroupHeartbeat", "SyncGroup"}),
}  # fmt: skip
"""The colours of APIs: class, and the APIs that have it; ``other`` for the rest."""


@dataclass(frozen=True, slots=True)
class _Mark:
    """A message or the end of a connection, as it is drawn."""

    at_ms: float
    connection: int
    broker: str
    client: str
    shape: str
    """``request``, ``response`` or ``closed``."""
    colour: str
    correlation: int
    text: str
    fault: str = ""
    is_error: bool = False
    findings: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """The tooltip."""
        script = [f"by the script: {self.fault}"] if self.fault else []
        return "\n".join([self.text, *script, *self.findings])


@dataclass
class TraceTimeline:
    """Takes the messages of a trace as they come, and keeps those that are drawn."""

    most: int = MOST_MESSAGES
    before: int = 0
    """Messages before those that are drawn."""
    after: int = 0
    """Messages behind those that are drawn."""
    _marks: list[_Mark] = field(default_factory=list)
    _last: deque[_Mark] = field(default_factory=deque)
    """The last messages, as long as there was no finding and no fault."""
    _is_anchored: bool = False
    """Whether there was one: then no earlier message is left out any more."""

    def add(self, event: Event, names: Names, findings: Sequence[TraceFinding]) -> None:
        """Take an event, and what was found in it."""
        mark = _mark_of(event, names, findings)
        is_notable = bool(mark.findings or mark.fault)
        if len(self._marks) < self.most:
            self._marks.append(mark)
        elif is_notable and not self._is_anchored:
            self.before, self.after = len(self._marks) + self.after - len(self._last), 0
            self._marks = [*self._last, mark]
        else:
            self.after += 1
        self._is_anchored |= is_notable
        if not self._is_anchored:
            self._last.append(mark)
            if len(self._last) > self.most // 2:
                self._last.popleft()

    def page(self, head: Head, verdict: str, exit_code: int, findings: Sequence[TraceFinding]) -> str:
        """Return the page."""
        lanes = list(dict.fromkeys(mark.connection for mark in self._marks))
        drawn = [mark for mark in self._marks if mark.connection in set(lanes[:MOST_CONNECTIONS])]
        kinds = {kind: list(islice(_of_kind(findings, kind), _MOST_FINDINGS)) for kind in KINDS}
        return render(
            "wire/recording/trace_page.html.j2",
            ("reports/page.css", "wire/recording/trace_page.css"),
            {"plural": plural},
            {
                "head": head,
                "verdict": verdict,
                "exit_code": exit_code,
                "picture": Markup(_figure(drawn, lanes[:MOST_CONNECTIONS])) if drawn else "",  # noqa: S704  an element tree
                "lines": [mark.title for mark in drawn],
                "left_out": list(self._left_out(len(lanes), len(drawn))),
                "kinds": [(kind, KINDS[kind], some) for kind, some in kinds.items() if some],
                "more": max(0, len(findings) - sum(map(len, kinds.values()))),
            },
        )

    def _left_out(self, connections: int, drawn: int) -> list[str]:
        found = []
        if self.before:
            found.append(f"{self.before:,} before those that are drawn")
        if self.after:
            found.append(f"{self.after:,} behind them")
        if connections > MOST_CONNECTIONS:
            hidden = len(self._marks) - drawn
            found.append(f"{hidden:,} on {plural(connections - MOST_CONNECTIONS, 'more connection')}")
        return found


def _of_kind(findings: Sequence[TraceFinding], kind: str) -> Iterator[tuple[str, int, str, str]]:
    """Yield the time, connection, client and text of each finding of a kind."""
    for each in findings:
        if each.kind == kind:
            client, what = clipped(each.client, _LONGEST_NAME), clipped(each.what, _LONGEST_TEXT)
            yield _seconds(each.at_ms), each.connection, client, what


def _mark_of(event: Event, names: Names, findings: Sequence[TraceFinding]) -> _Mark:
    text = clipped(words_of(event, names).strip(), _LONGEST_TEXT)
    found = tuple(f"{each.kind}: {clipped(each.what, _LONGEST_TEXT)}" for each in findings[:_MOST_OF_MARK])
    if len(findings) > _MOST_OF_MARK:
        found = (*found, f"and {plural(len(findings) - _MOST_OF_MARK, 'more finding')}")
    if isinstance(event, Closed):
        change = event.change
        return _Mark(change.at_ms, change.connection, change.broker, "", "closed", "other", -1, text, findings=found)
    frame = event.frame
    is_request = isinstance(event, Request)
    colour = next((name for name, apis in _GROUPS.items() if frame.api in apis), "other")
    return _Mark(
        frame.at_ms, frame.connection, frame.broker, clipped(frame.client, _LONGEST_NAME),
        "request" if is_request else "response", colour, frame.correlation, text, clipped(frame.fate, _LONGEST_NAME),
        not is_request and any(error_codes(event.fields or {})), found,
    )  # fmt: skip


def _seconds(ms: float) -> str:
    return f"{ms / 1_000:.3f} s"


def _figure(marks: Sequence[_Mark], connections: Sequence[int]) -> str:
    """Return the picture, as an ``svg`` element."""
    width, height = _LEFT + _COLUMN * len(marks) + _EDGE, _TOP + _LANE * len(connections) + 8
    root = Element(
        "svg", {"viewBox": f"0 0 {width} {height}", "width": str(width), "height": str(height), "role": "img"}
    )
    root.set("aria-label", f"{plural(len(marks), 'message')} on {plural(len(connections), 'connection')}")
    for number in range(0, len(marks), _TICK):
        x = _LEFT + _COLUMN * number
        _line(root, x, 20, x, height - 4, "tick")
        _words(root, x, 14, _seconds(marks[number].at_ms), "time")
    lines = {connection: _TOP + _LANE * at + _LANE // 2 for at, connection in enumerate(connections)}
    for connection, y in lines.items():
        own = [(at, mark) for at, mark in enumerate(marks) if mark.connection == connection]
        _lane_head(root, connection, [mark for _, mark in own], y)
        first, last = own[0][0], own[-1][0]
        _line(root, _LEFT + _COLUMN * first - 8, y, _LEFT + _COLUMN * last + 8, y, "lane")
        _strokes(root, own, y)
        for at, mark in own:
            _draw(root, mark, _LEFT + _COLUMN * at, y)
    return tostring(root, encoding="unicode")


def _lane_head(root: Element, connection: int, marks: Sequence[_Mark], y: int) -> None:
    client = next((mark.client for mark in marks if mark.client), "")
    group = SubElement(root, "g")
    SubElement(group, "title").text = harmless(f"connection {connection} to {clipped(marks[0].broker, 200)}, {client}")
    _words(group, 4, y - 3, f"connection {connection}", "name")
    _words(group, 4, y + 11, client or clipped(marks[0].broker, _LONGEST_NAME), "quiet")


def _strokes(root: Element, own: Sequence[tuple[int, _Mark]], y: int) -> None:
    """Join each response with its request."""
    asked: dict[int, int] = {}
    for at, mark in own:
        if mark.shape == "request":
            asked[mark.correlation] = at
        elif mark.shape == "response" and mark.correlation in asked:
            x = _LEFT + _COLUMN * asked.pop(mark.correlation)
            _line(root, x, y - _OFFSET, _LEFT + _COLUMN * at, y + _OFFSET, "stroke")


def _draw(root: Element, mark: _Mark, x: int, y: int) -> None:
    words = [mark.colour, *(["fault"] if mark.fault else []), *(["refused"] if mark.is_error else []),
             *(["finding"] if mark.findings else [])]  # fmt: skip
    group = SubElement(root, "g", {"class": " ".join([mark.shape, *words])})
    SubElement(group, "title").text = harmless(mark.title, keep="\n")
    middle = {"request": y - _OFFSET, "response": y + _OFFSET, "closed": y}[mark.shape]
    if mark.findings or mark.fault:
        SubElement(group, "circle", {"cx": str(x), "cy": str(middle), "r": "8.5", "class": "ring"})
    if mark.shape == "request":
        SubElement(group, "circle", {"cx": str(x), "cy": str(middle), "r": str(_SIZE), "class": "shape"})
    elif mark.shape == "response":
        place = {"x": str(x - _SIZE), "y": str(middle - _SIZE), "width": str(2 * _SIZE), "height": str(2 * _SIZE)}
        SubElement(group, "rect", {**place, "class": "shape"})
    else:
        _line(group, x - 5, y - 5, x + 5, y + 5, "cross")
        _line(group, x - 5, y + 5, x + 5, y - 5, "cross")


def _line(parent: Element, x1: float, y1: float, x2: float, y2: float, style: str) -> None:
    place = zip(("x1", "y1", "x2", "y2"), map(str, (x1, y1, x2, y2)), strict=True)
    SubElement(parent, "line", {**dict(place), "class": style})


def _words(parent: Element, x: float, y: float, content: str, style: str) -> None:
    SubElement(parent, "text", {"x": str(x), "y": str(y), "class": style}).text = harmless(content)
