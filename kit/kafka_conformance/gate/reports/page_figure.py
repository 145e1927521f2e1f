"""Distribution of records, as a picture: for each partition a bar of what was seen, and a line where the rule predicts it.

SVG built as a tree, so it is well-formed whatever a title says. Its colours are classes of the page around it, which
follow the reader's light or dark; bars and lines are distinct without them.
"""

from __future__ import annotations

from xml.etree.ElementTree import Element, SubElement, tostring

from kafka_conformance.core.events import Distribution
from kafka_conformance.core.sanitize import clipped, harmless

__all__ = ["figure"]

_HEIGHT, _LEFT, _TOP, _BOTTOM = 150.0, 58.0, 16.0, 34.0
_MOST = 400


def figure(seen: Distribution) -> str:
    """The picture, as an ``svg`` element."""
    columns = list(zip(seen.partitions, seen.expected, seen.actual, strict=False))[:_MOST]
    step = max(9.0, min(64.0, 560.0 / max(1, len(columns))))
    width, height = _LEFT + step * len(columns) + 8, _TOP + _HEIGHT + _BOTTOM
    top = max([1.0, *(max(expected, actual) for _, expected, actual in columns)])
    title = f"{clipped(seen.title, 200)}: records by partition, p = {seen.p_value:.3g}"
    svg = Element("svg", _attributes(viewBox=f"0 0 {width:.0f} {height:.0f}", width=f"{width:.0f}", role="img"))
    svg.set("aria-label", harmless(title))
    for share in (0.0, 0.5, 1.0):
        y = _TOP + _HEIGHT * (1 - share)
        SubElement(svg, "line", _attributes(x1=_LEFT, x2=width - 8, y1=y, y2=y, **{"class": "grid"}))
        _text(svg, _LEFT - 6, y + 4, _short(top * share), "end")
    every = -(-len(columns) * 3 // 60) if step < 20 else 1
    for number, (partition, expected, actual) in enumerate(columns):
        x = _LEFT + step * number
        group = SubElement(svg, "g")
        SubElement(group, "title").text = f"partition {partition}: {expected:,.1f} expected, {actual:,} seen"
        tall = _HEIGHT * max(0, actual) / top
        box = _attributes(x=x + step * 0.12, y=_TOP + _HEIGHT - tall, width=step * 0.76, height=tall)
        SubElement(group, "rect", {**box, "class": "seen"})
        y = _TOP + _HEIGHT * (1 - max(0.0, expected) / top)
        SubElement(group, "line", _attributes(x1=x + 1, x2=x + step - 1, y1=y, y2=y, **{"class": "predicted"}))
        if number % max(1, every) == 0:
            _text(svg, x + step / 2, _TOP + _HEIGHT + 15, str(partition), "middle")
    _text(svg, _LEFT, height - 4, "partition", "start")
    return tostring(svg, encoding="unicode")


def _text(parent: Element, x: float, y: float, text: str, anchor: str) -> None:
    made = SubElement(parent, "text", _attributes(x=x, y=y))
    made.set("text-anchor", anchor)
    made.text = text


def _attributes(**given: float | str) -> dict[str, str]:
    return {name: value if isinstance(value, str) else f"{value:.1f}" for name, value in given.items()}


def _short(count: float) -> str:
    return f"{count:,.0f}" if count < 100_000 else f"{count / 1000:,.0f} k"
