"""A line chart as SVG without scripts and external files: the same numbers give the same bytes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from xml.etree.ElementTree import Element, SubElement, indent, tostring

__all__ = ["Line", "figure"]

_WIDTH, _HEIGHT, _LEFT, _TOP, _RIGHT, _BOTTOM = 860, 400, 56, 46, 580, 346
# Okabe and Ito's, distinct for every reader; lines with the same numbers differ by their marks.
_COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00")
_DASHES = ("", "", "", "7 4", "", "2 3")
_STYLE = """
text { font: 12px sans-serif; fill: #222 } .title { font-size: 15px; font-weight: bold } .grid { stroke: #ddd }
.axis { stroke: #555 } .line { fill: none; stroke-width: 2.2 } .least { fill: none; stroke: #222; stroke-width: 1.6 }
@media (prefers-color-scheme: dark) {
  text { fill: #ddd } .grid { stroke: #444 } .axis { stroke: #aaa } .least { stroke: #eee }
}
"""


@dataclass(frozen=True, slots=True)
class Line:
    """A line: its name, and its values at consecutive numbers."""

    name: str
    values: tuple[float, ...]


def figure(title: str, axis: str, first: int, lines: Sequence[Line], least: Line) -> str:
    """Return the chart of ``lines`` from the number ``first`` on, and of ``least`` in black."""
    root = Element("svg", xmlns="http://www.w3.org/2000/svg", viewBox=f"0 0 {_WIDTH} {_HEIGHT}", role="img")
    SubElement(root, "title").text = title
    SubElement(root, "style").text = _STYLE
    _text(root, title, _LEFT, 24, cls="title")
    top = max(max(line.values) for line in (*lines, least))
    step = 5 if top > 12 else 2
    ceiling = -(-int(top + 0.999) // step) * step
    _axes(root, axis, first, len(least.values), ceiling, step)
    for place, line in enumerate(lines):
        _line(root, line, place, len(lines), ceiling)
    _path(root, least, ceiling, {"class": "least", "stroke-dasharray": "4 3"})
    y = _TOP + 20 + 26 * len(lines)
    SubElement(
        root, "line", {"class": "least", "stroke-dasharray": "4 3"} | _ends(_RIGHT + 24, y - 4, _RIGHT + 54, y - 4)
    )
    _text(root, least.name, _RIGHT + 64, y)
    indent(root)
    return tostring(root, encoding="unicode") + "\n"


def _x(place: int, count: int) -> float:
    return _LEFT + (_RIGHT - _LEFT) * place / max(1, count - 1)


def _y(value: float, ceiling: int) -> float:
    return _BOTTOM - (_BOTTOM - _TOP) * value / ceiling


def _ends(x1: float, y1: float, x2: float, y2: float) -> dict[str, str]:
    return {name: f"{value:.1f}" for name, value in (("x1", x1), ("y1", y1), ("x2", x2), ("y2", y2))}


def _text(root: Element, said: str, x: float, y: float, *, anchor: str = "start", cls: str = "") -> None:
    named = {"class": cls} if cls else {}
    SubElement(root, "text", {"x": f"{x:.1f}", "y": f"{y:.1f}", "text-anchor": anchor} | named).text = said


def _axes(root: Element, axis: str, first: int, count: int, ceiling: int, step: int) -> None:
    for value in range(0, ceiling + 1, step):
        y = _y(value, ceiling)
        SubElement(root, "line", {"class": "axis" if value == 0 else "grid"} | _ends(_LEFT, y, _RIGHT, y))
        _text(root, str(value), _LEFT - 8, y + 4, anchor="end")
    for place in range(count):
        _text(root, str(first + place), _x(place, count), _BOTTOM + 18, anchor="middle")
    _text(root, axis, (_LEFT + _RIGHT) / 2, _BOTTOM + 40, anchor="middle")


def _line(root: Element, line: Line, place: int, lines: int, ceiling: int) -> None:
    colour, dashes = _COLOURS[place % len(_COLOURS)], _DASHES[place % len(_DASHES)]
    style = {"class": "line", "stroke": colour, "opacity": "0.9"} | ({"stroke-dasharray": dashes} if dashes else {})
    _path(root, line, ceiling, style)
    size = 2.4 + 0.7 * (lines - place)  # the marks of earlier lines stay visible below those of later ones
    for at, value in enumerate(line.values):
        spot = {
            "cx": f"{_x(at, len(line.values)):.1f}",
            "cy": f"{_y(value, ceiling):.1f}",
            "r": f"{size:.1f}",
            "fill": colour,
        }
        mark = SubElement(root, "circle", spot)
        SubElement(mark, "title").text = f"{line.name}: {value:.1f}"
    y = _TOP + 20 + 26 * place
    SubElement(root, "line", style | _ends(_RIGHT + 24, y - 4, _RIGHT + 54, y - 4))
    SubElement(root, "circle", {"cx": f"{_RIGHT + 39:.1f}", "cy": f"{y - 4:.1f}", "r": f"{size:.1f}", "fill": colour})
    _text(root, line.name, _RIGHT + 64, y)


def _path(root: Element, line: Line, ceiling: int, style: dict[str, str]) -> None:
    count = len(line.values)
    points = " ".join(f"{_x(place, count):.1f},{_y(value, ceiling):.1f}" for place, value in enumerate(line.values))
    SubElement(root, "polyline", {"points": points, "fill": "none"} | style)
