"""Draw the plots of an audit's page as SVG, built element by element.

matplotlib, which draws the kit's other figures, is not used: its SVG holds colours and font sizes as ``style`` attributes.
The page's content security policy forbids these, a dark theme would not affect them, and text would shrink with the figure
on a narrow screen. Here horizontal positions are percentages of the page's width, so bars scale and text does not; colours
are classes of the page; each bar shows its counts on hover; and the page does not need the extra ``plot``.

Placements differ in hatching as well as in colour, and every plot has its figures as a text alternative.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar
from xml.etree.ElementTree import Element, SubElement, tostring

from kafka_conformance.audit.reports.axes import count_ticks, partition_ticks, short, time_ticks
from kafka_conformance.audit.reports.formatting import at, named, percent, utc
from kafka_conformance.audit.reports.summary import labels, placed_by, ranked, select_partitions
from kafka_conformance.audit.result import EITHER, UNEXPLAINED, AttributedRun, Audit, PartitionLine, TimeSlot
from kafka_conformance.core.sanitize import harmless
from kafka_conformance.reports.terminal import plural

__all__ = ["Series", "by_partition", "hatchings", "over_time", "records_by_partition", "series", "timeline"]

KEYLESS = "keyless"
_COLOURS = 7
_COLUMNS, _RUNS, _LEAST = 400, 3000, 2.0
_TALL, _VOLUME, _ROW, _FOOT, _TOP = 150, 44, 16, 22, 8

# The hatchings, drawn over a colour in a cell of 8 × 8; the expected placement has none.
_HATCHES = (
    "M-2 2 2 -2M0 8 8 0M6 10 10 6",
    "M-2 6 2 10M0 0 8 8M6 -2 10 2",
    "M0 4H8",
    "M4 0V8",
    "M4 0V8M0 4H8",
    "M2 4H6",
    "M0 6 4 2 8 6",
)
_CROSSED, _SPARSE = "M0 0 8 8M0 8 8 0", "M3 4H5"

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Series:
    """A series of all plots: the ``name`` under which records are counted, its label, and how it is drawn."""

    name: str
    label: str
    number: int
    colour: str
    hatch: str

    @property
    def fill(self) -> str:
        """The fill pattern."""
        return f"url(#h{self.number})"


@dataclass(frozen=True, slots=True)
class _Column:
    """A column: position and width in percent, and its records by series."""

    x: float
    width: float
    counts: Counter[str]
    title: str


def series(audit: Audit) -> list[Series]:
    """Return a series per placement with records, always one for the expected placement, and those of other records."""
    seen: Counter[str] = Counter()
    for line in audit.by_partition:
        seen.update(_counts(line))
    for run in audit.runs:
        seen.update({str(placed): 1 for placed in run.placed} or {UNEXPLAINED: 1})
    words = labels(audit)
    known = [str(one.placed) for one in ranked(audit) if one.expected or seen[str(one.placed)]]
    others = sorted(name for name in seen if seen[name] and name not in {*known, EITHER, UNEXPLAINED, KEYLESS})
    expected = str(audit.expected)
    made: list[Series] = []
    for place, name in enumerate(dict.fromkeys([expected, *known, *others])):
        hatch = "" if place == 0 else _HATCHES[(place - 1 + place // _COLOURS) % len(_HATCHES)]
        label = words.get(name) or named(name)
        made.append(Series(name, f"{label} (expected)" if place == 0 else label, place, f"c{place % _COLOURS}", hatch))
    rest = ((EITHER, named(EITHER), "either", _HATCHES[0]), (UNEXPLAINED, named(UNEXPLAINED), "unexplained", _CROSSED),
            (KEYLESS, "no key", "keyless", _SPARSE))  # fmt: skip
    for name, label, colour, hatch in rest:
        if seen[name]:
            made.append(Series(name, label, len(made), colour, hatch))
    return made


def hatchings(drawn: Sequence[Series]) -> str:
    """Return the fill patterns of the plots, once for a page."""
    svg = Element("svg", {"class": "patterns", "width": "0", "height": "0", "aria-hidden": "true"})
    for one in drawn:
        cell = {"id": f"h{one.number}", "width": "8", "height": "8", "patternUnits": "userSpaceOnUse"}
        pattern = SubElement(svg, "pattern", cell)
        SubElement(pattern, "rect", {"width": "8", "height": "8", "class": one.colour})
        if one.hatch:
            SubElement(pattern, "path", {"d": one.hatch, "class": "hatch"})
    return tostring(svg, encoding="unicode")


def over_time(audit: Audit, drawn: Sequence[Series]) -> str:
    """Draw stacked shares over time, with the number of records below; empty without timestamps."""
    slots = _grouped(sorted(audit.over_time, key=lambda one: one.begin_ms))
    if not slots:
        return ""
    begin = slots[0][0].begin_ms
    length = max(1, slots[-1][-1].begin_ms + slots[-1][-1].length_ms - begin)
    columns = []
    for group in slots:
        until = group[-1].begin_ms + group[-1].length_ms
        x, width = 100 * (group[0].begin_ms - begin) / length, 100 * (until - group[0].begin_ms) / length
        columns.append(_Column(x, width, _summed(group), f"{utc(group[0].begin_ms)} to {utc(until)}"))
    ends = f"from {utc(begin)} to {utc(begin + length)}"
    figure, side, main = _plot(_TALL + _VOLUME + 14, f"Shares of records over time, {ends}. {_overall(audit, drawn)}")
    _percentages(side, main)
    _stacked(main, columns, drawn)
    top = max(column.counts.total() for column in columns)
    foot = _TOP + _TALL + 14 + _VOLUME
    _words(side, "50", foot - _VOLUME + 9, short(top), "end")
    _words(side, "50", foot, "0", "end")
    _bars(main, columns, [column.counts.total() for column in columns], (foot, _VOLUME, top))
    _ticks(main, foot, time_ticks(begin, length))
    return _done(figure)


def by_partition(audit: Audit, drawn: Sequence[Series]) -> str:
    """Draw the stacked shares of each partition."""
    columns = _by_partition(audit)
    figure, side, main = _plot(
        _TALL, f"Shares of records in each of {plural(audit.partitions, 'partition')}. {_overall(audit, drawn)}"
    )
    _percentages(side, main)
    _stacked(main, columns, drawn)
    _ticks(main, _TOP + _TALL, _partition_ticks(audit))
    return _done(figure)


def records_by_partition(audit: Audit) -> str:
    """Draw the records of each partition (of a group: of its fullest partition), and a line at the mean."""
    columns = _by_partition(audit)
    tall = [max(line.records for line in group) for group in _grouped(_lines(audit))]
    top = max([1, *tall])
    mean = audit.records / max(1, audit.partitions)
    fullest, emptiest = audit.skew.fullest, audit.skew.emptiest
    figure, side, main = _plot(
        _TALL, f"Records by partition; the fullest is {fullest:,}, the emptiest {emptiest:,}. The line is the mean."
    )
    foot = _TOP + _TALL
    _words(side, "50", _TOP + 4, short(top), "end")
    _words(side, "50", foot, "0", "end")
    _bars(main, columns, tall, (foot, _TALL, top))
    y = f"{foot - _TALL * min(1.0, mean / top):.1f}"
    SubElement(main, "line", {"x1": "0", "x2": "100%", "y1": y, "y2": y, "class": "mean"})
    _ticks(main, foot, _partition_ticks(audit))
    return _done(figure)


def timeline(audit: Audit, drawn: Sequence[Series]) -> tuple[str, str]:
    """Draw runs over offsets, a row per partition, and return what is not drawn.

    Alternating placements share the height of a row.
    """
    lines, hidden, _ = select_partitions(sorted(audit.by_partition, key=lambda line: line.partition))
    rows = {line.partition: number for number, line in enumerate(lines)}
    here = [run for run in audit.runs if run.partition in rows]
    kept = sorted(here, key=lambda run: -run.records)[:_RUNS]
    if not kept:
        return "", ""
    begin = min(line.first_offset for line in lines)
    length = max(1, max(line.end_offset for line in lines) - begin)
    figure, side, main = _plot(len(lines) * _ROW, f"Placements by offset, of {plural(len(lines), 'partition')}")
    fills = {one.name: one.fill for one in drawn}
    groups = []
    for number, line in enumerate(lines):
        y = _TOP + number * _ROW
        _words(side, "50", y + 11, f"{line.partition:,}", "end")
        x, width = 100 * (line.first_offset - begin) / length, 100 * (line.end_offset - line.first_offset) / length
        _box(main, x, max(0.0, width), y + 2, _ROW - 4, {"class": "track"})
        groups.append(SubElement(main, "g"))
    for run in sorted(kept, key=lambda run: (run.partition, run.first_offset)):
        row = rows[run.partition]
        _run(groups[row], run, placed_by(audit, run), (begin, length, _TOP + row * _ROW + 2), fills)
    _ticks(main, _TOP + len(lines) * _ROW, count_ticks(begin, length))
    unseen = (hidden, "partition"), (len(here) - len(kept) + audit.runs_in_all - len(audit.runs), "run")
    return _done(figure), " and ".join(plural(count, noun) for count, noun in unseen if count > 0)


def _run(parent: Element, run: AttributedRun, by: str, scale: tuple[int, int, float], fills: dict[str, str]) -> None:
    begin, length, y = scale
    group = SubElement(parent, "g")
    times = f"{at(run.first_ms)}{' to' + at(run.last_ms)[1:] if at(run.last_ms) else ''}"
    offsets = f"offsets {run.first_offset:,} to {run.last_offset:,}"
    title = f"partition {run.partition:,}, {offsets}: {by}; {plural(run.records, 'record')}{times}"
    SubElement(group, "title").text = harmless(title)
    x = 100 * (run.first_offset - begin) / length
    width = max(0.12, 100 * (run.last_offset + 1 - run.first_offset) / length)
    names = [str(placed) for placed in run.placed[:4]] or [UNEXPLAINED]
    band = (_ROW - 4) / len(names)
    for number, name in enumerate(names):
        _box(group, x, width, y + number * band, band, {"fill": fills.get(name, "none")})


def _overall(audit: Audit, drawn: Sequence[Series]) -> str:
    counts: Counter[str] = Counter()
    for line in audit.by_partition:
        counts.update(_counts(line))
    return "Of all records: " + ", ".join(
        f"{one.label} {percent(counts[one.name], audit.records)}" for one in drawn if counts[one.name]
    )


def _counts(one: PartitionLine | TimeSlot) -> Counter[str]:
    return Counter({**one.attributed, KEYLESS: one.keyless})


def _summed(group: Iterable[PartitionLine | TimeSlot]) -> Counter[str]:
    return sum(map(_counts, group), Counter())


def _lines(audit: Audit) -> list[PartitionLine]:
    return sorted(audit.by_partition, key=lambda line: line.partition)


def _by_partition(audit: Audit) -> list[_Column]:
    groups = _grouped(_lines(audit))
    columns = []
    for number, group in enumerate(groups):
        first, last = group[0].partition, group[-1].partition
        title = f"partition {first:,}" if first == last else f"partitions {first:,} to {last:,}"
        columns.append(_Column(100 * number / len(groups), 100 / len(groups), _summed(group), title))
    return columns


def _partition_ticks(audit: Audit) -> list[tuple[float, str]]:
    return partition_ticks([group[0].partition for group in _grouped(_lines(audit))])


def _grouped(every: Sequence[_T]) -> list[Sequence[_T]]:
    """Group neighbours if there are more than can be drawn separately."""
    size = max(1, -(-len(every) // _COLUMNS))
    return [every[begin : begin + size] for begin in range(0, len(every), size)]


def _plot(tall: float, description: str) -> tuple[Element, Element, Element]:
    """Return the frame of a plot, its axis on the left with a fixed width, and the plot in the remaining width."""
    around = Element("div", {"class": "plot", "role": "img", "aria-label": harmless(description)})
    height = f"{_TOP + tall + _FOOT:.0f}"
    side = SubElement(around, "svg", {"class": "side", "width": "56", "height": height})
    return around, side, SubElement(around, "svg", {"class": "main", "width": "100%", "height": height})


def _done(figure: Element) -> str:
    return tostring(figure, encoding="unicode")


def _percentages(side: Element, main: Element) -> None:
    for share in (0, 50, 100):
        y = _TOP + _TALL * (1 - share / 100)
        _words(side, "50", y + 4, f"{share} %", "end")
        SubElement(main, "line", {"x1": "0", "x2": "100%", "y1": f"{y:.0f}", "y2": f"{y:.0f}", "class": "grid"})


def _stacked(main: Element, columns: Sequence[_Column], drawn: Sequence[Series]) -> None:
    gap = _gap(columns)
    for column in columns:
        total = column.counts.total()
        group = SubElement(main, "g")
        counts = [f"{one.label}: {column.counts[one.name]:,}" for one in drawn if column.counts[one.name]]
        SubElement(group, "title").text = harmless(
            "\n".join([f"{column.title}: {plural(total, 'record')}", *counts]), "\n"
        )
        foot = float(_TOP + _TALL)
        for one, tall in _heights(column.counts, drawn):
            foot -= tall
            _box(group, column.x, column.width * gap, foot, tall, {"fill": one.fill})


def _heights(counts: Counter[str], drawn: Sequence[Series]) -> list[tuple[Series, float]]:
    """Return the height of each series; small ones stay visible at the cost of the largest."""
    here = [one for one in drawn if counts[one.name]]
    if not here:
        return []
    tall = {one: max(_LEAST, _TALL * counts[one.name] / counts.total()) for one in here}
    tall[max(here, key=tall.__getitem__)] -= sum(tall.values()) - _TALL
    return list(tall.items())


def _bars(main: Element, columns: Sequence[_Column], counts: Sequence[int], scale: tuple[float, float, int]) -> None:
    foot, most, top = scale
    gap = _gap(columns)
    for column, count in zip(columns, counts, strict=True):
        tall = most * count / max(1, top)
        made = _box(main, column.x, column.width * gap, foot - tall, tall, {"class": "bar"})
        most_of_all = "" if column.counts.total() == count else "at most "
        SubElement(made, "title").text = f"{column.title}: {most_of_all}{plural(count, 'record')}"


def _gap(columns: Sequence[_Column]) -> float:
    """Return the relative bar width: few bars are apart; many overlap slightly, to avoid visible gaps."""
    return 0.9 if len(columns) <= 60 else 1.08


def _ticks(main: Element, foot: float, ticks: Iterable[tuple[float, str]]) -> None:
    """Draw ticks along the foot; every other one is hidden on a narrow screen."""
    for number, (x, text) in enumerate(ticks):
        group = SubElement(main, "g", {"class": "odd"} if number % 2 else {})
        where = f"{x:.2f}%"
        SubElement(
            group, "line", {"x1": where, "x2": where, "y1": f"{foot:.0f}", "y2": f"{foot + 4:.0f}", "class": "grid"}
        )
        _words(group, where, foot + 17, text, "start" if x < 4 else "end" if x > 92 else "middle")


def _box(parent: Element, x: float, width: float, y: float, tall: float, more: dict[str, str]) -> Element:
    place = {"x": f"{x:.3f}%", "width": f"{width:.3f}%", "y": f"{y:.2f}", "height": f"{tall:.2f}"}
    return SubElement(parent, "rect", {**place, **more})


def _words(parent: Element, x: str, y: float, text: str, anchor: str) -> None:
    SubElement(parent, "text", {"x": x, "y": f"{y:.0f}", "text-anchor": anchor}).text = harmless(text)
