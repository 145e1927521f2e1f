"""The picture of a distribution: sound SVG whatever its title says, with a bar and a line for each partition."""

from __future__ import annotations

from itertools import pairwise
from xml.etree.ElementTree import Element, fromstring

import pytest
import streams

from kafka_conformance.core.events import Distribution
from kafka_conformance.gate.reports.page_figure import figure


def drawn(seen: Distribution) -> Element:
    return fromstring(figure(seen))  # noqa: S314  our own


def elements(svg: Element, tag: str, kind: str) -> list[Element]:
    return [element for element in svg.iter(tag) if element.get("class") == kind]


def test_distribution_figure_draws_bars_of_actual_and_lines_of_expected_counts() -> None:
    svg = drawn(streams.SPREAD)
    bars = elements(svg, "rect", "seen")
    lines = elements(svg, "line", "predicted")
    heights = [float(bar.attrib["height"]) for bar in bars]
    foot = float(bars[0].attrib["y"]) + heights[0]
    expected = [foot - float(line.attrib["y1"]) for line in lines]
    assert [height / heights[0] for height in heights] == pytest.approx([1, 330 / 510, 160 / 510], abs=0.01)
    assert [height / heights[0] for height in expected] == pytest.approx([400 / 510, 400 / 510, 200 / 510], abs=0.01)
    assert next(title.text for title in svg.iter("title")) == "partition 0: 400.0 expected, 510 seen"
    assert svg.attrib["aria-label"] == "three partitions, one of them slow: records by partition, p = 2.5e-09"


@pytest.mark.parametrize("name", streams.HOSTILE)
def test_hostile_figure_title_adds_no_svg_elements(name: str) -> None:
    svg = drawn(Distribution(streams.HOSTILE[name], (0,), (1.0,), (1,), 1.0))
    assert {element.tag for element in svg.iter()} == {"svg", "g", "line", "rect", "text", "title"}
    assert len(svg.attrib["aria-label"]) < 1500


@pytest.mark.parametrize(
    ("partitions", "expected", "actual", "bars"),
    [
        ((), (), (), 0),
        ((0, 1), (0.0, 0.0), (0, 0), 2),
        ((0, 1), (1.0,), (1, 2), 1),
        ((0,), (-1.0,), (-5,), 1),
        (tuple(range(1000)), (10.0**12,) * 1000, (10**12,) * 1000, 400),
    ],
)
def test_empty_negative_or_huge_distribution_is_drawn_with_at_most_400_bars(
    partitions: tuple[int, ...], expected: tuple[float, ...], actual: tuple[int, ...], bars: int
) -> None:
    svg = drawn(Distribution("t", partitions, expected, actual, 0.5))
    seen = elements(svg, "rect", "seen")
    assert len(seen) == bars
    assert all(float(bar.attrib["height"]) >= 0 for bar in seen)


def test_figure_labels_of_100_partitions_do_not_overlap() -> None:
    svg = drawn(Distribution("t", tuple(range(100)), (1.0,) * 100, (1,) * 100, 0.5))
    places = [float(text.attrib["x"]) for text in svg.iter("text") if (text.text or "").isdigit()]
    labels = sorted(place for place in places if place > 60)
    assert min(right - left for left, right in pairwise(labels)) > 18
