"""The plots: sound SVG whatever names say, and bars as long as what they stand for."""

from __future__ import annotations

from collections import defaultdict
from xml.etree.ElementTree import Element, fromstring

import audits
import pytest
import streams

from kafka_conformance.audit.reports import figures
from kafka_conformance.audit.result import Audit

ALL = {**audits.ALL, **{f"hostile {name}": audits.hostile(text) for name, text in streams.HOSTILE.items()}}


def drawn(text: str) -> Element:
    return fromstring(text)  # noqa: S314  our own


def plots(audit: Audit) -> list[Element]:
    series = figures.series(audit)
    made = [
        figures.over_time(audit, series),
        figures.by_partition(audit, series),
        figures.records_by_partition(audit),
        figures.timeline(audit, series)[0],
    ]
    return [drawn(text) for text in made if text]


def at(element: Element, name: str) -> float:
    return float(element.attrib[name].removesuffix("%"))


def stacks(plot: Element, named: dict[str, str]) -> dict[str, dict[str, float]]:
    """By the title's first line, how tall each one's part is."""
    made: dict[str, dict[str, float]] = defaultdict(dict)
    for group in plot.iter("g"):
        title = group.findtext("title")
        if title is not None:
            for rect in group.findall("rect"):
                made[title.split("\n")[0]][named[rect.attrib["fill"]]] = at(rect, "height")
    return made


@pytest.mark.parametrize("name", ALL)
def test_figures_of_any_audit_are_valid_svg_with_bars_in_bounds(name: str) -> None:
    for plot in plots(ALL[name]):
        assert plot.attrib["role"] == "img"
        assert plot.attrib["aria-label"]
        assert {element.tag for element in plot.iter()} <= {"div", "svg", "g", "line", "rect", "text", "title"}
        for rect in plot.iter("rect"):
            assert at(rect, "height") >= 0
            assert at(rect, "width") >= 0
            assert 0 <= at(rect, "x") <= 100
            assert at(rect, "x") + at(rect, "width") < 100.5
        assert not any("style" in element.attrib for element in plot.iter())


def test_partition_share_bars_are_proportional_to_the_shares() -> None:
    audit = audits.grown()
    series = figures.series(audit)
    found = stacks(drawn(figures.by_partition(audit, series)), {one.fill: one.name for one in series})
    here = found["partition 0: 122,472 records"]
    assert here == pytest.approx({"murmur2@12": 150 * 26_448 / 122_472, "murmur2@3": 150 * 96_024 / 122_472}, abs=0.02)
    assert found["partition 3: 26,448 records"] == {"murmur2@12": 150}
    assert len(found) == 12


def test_time_share_bars_stand_at_the_hours_of_records() -> None:
    audit = audits.grown()
    series = figures.series(audit)
    plot = drawn(figures.over_time(audit, series))
    found = stacks(plot, {one.fill: one.name for one in series})
    assert next(iter(found)) == "2025-03-01T00:00:00Z to 2025-03-01T01:00:00Z: 12,003 records"
    assert [set(one) for one in found.values()] == [{"murmur2@3"}] * 24 + [{"murmur2@12"}] * 24
    first = [group.find("rect") for group in plot.iter("g") if group.findtext("title")][24]
    assert first is not None
    assert at(first, "x") == 50


def test_small_share_is_drawn_with_a_minimum_height() -> None:
    audit = audits.audit(1, 1, lambda _, __: {"murmur2@1": 10**7, "sarama-hash@1": 1})
    series = figures.series(audit)
    (found,) = stacks(drawn(figures.by_partition(audit, series)), {one.fill: one.name for one in series}).values()
    assert found == {"murmur2@1": 148, "sarama-hash@1": 2}


def test_partition_bars_are_proportional_to_records_with_mean_line() -> None:
    audit = audits.grown()
    plot = drawn(figures.records_by_partition(audit))
    bars = [rect for rect in plot.iter("rect") if rect.get("class") == "bar"]
    assert [at(bar, "height") for bar in bars] == pytest.approx([150] * 3 + [150 * 26_448 / 122_472] * 9, abs=0.01)
    (mean,) = [line for line in plot.iter("line") if line.get("class") == "mean"]
    assert 158 - at(mean, "y1") == pytest.approx(150 * audit.records / 12 / 122_472, abs=0.1)
    assert "fullest is 0, the emptiest 3" in plot.attrib["aria-label"]


def test_timeline_runs_are_drawn_at_the_scale_of_offsets() -> None:
    audit = audits.grown()
    series = figures.series(audit)
    text, unseen = figures.timeline(audit, series)
    runs = {
        group.findtext("title"): group.findall("rect")
        for group in drawn(text).iter("g")
        if group.find("title") is not None
    }
    assert len(runs) == 15
    (before,) = runs[
        "partition 0, offsets 1,000 to 97,023: murmur2 of 3 partitions; 96,024 records,"
        " 2025-03-01T00:00:00Z to 2025-03-01T23:59:59.999Z"
    ]
    assert (at(before, "x"), at(before, "width")) == pytest.approx((0, 100 * 96_024 / 122_472), abs=0.01)
    assert before.attrib["fill"] == next(one.fill for one in series if one.name == "murmur2@3")
    assert unseen == ""


def test_timeline_run_of_alternating_producers_is_split_in_height() -> None:
    audit = audits.mixed()
    text, _ = figures.timeline(audit, figures.series(audit))
    groups = [
        group for group in drawn(text).iter("g") if "murmur2 and librdkafka-consistent;" in group.findtext("title", "")
    ]
    assert groups
    assert all([at(rect, "height") for rect in group.findall("rect")] == [6, 6] for group in groups)


def test_timeline_counts_partitions_and_runs_that_are_not_drawn() -> None:
    audit = audits.thousand()
    _, unseen = figures.timeline(audit, figures.series(audit))
    assert unseen == "976 partitions and 1,233,540 runs"
    many = audits.audit(3_500, 1, lambda hour, _: {"murmur2@1" if hour % 2 else "sarama-hash@1": 5})
    text, unseen = figures.timeline(many, figures.series(many))
    assert unseen == "500 runs"
    assert sum(1 for _ in drawn(text).iter("title")) == 3_000


def test_many_partitions_are_merged_into_bars_without_losing_records() -> None:
    audit = audits.thousand()
    series = figures.series(audit)
    plot = drawn(figures.by_partition(audit, series))
    titles = [title.text or "" for title in plot.iter("title")]
    assert titles[0].startswith("partitions 0 to 2: ")
    assert titles[-1].startswith("partition 999: ")
    total = sum(int(title.split(": ")[1].split(" ")[0].replace(",", "")) for title in titles)
    assert total == audit.records


def test_bar_of_merged_partitions_has_the_height_of_the_fullest_partition() -> None:
    audit = audits.audit(1, 1000, lambda _, partition: {"murmur2@1000": 900 if partition == 500 else 100})
    bars = [rect for rect in drawn(figures.records_by_partition(audit)).iter("rect") if rect.get("class") == "bar"]
    assert [round(at(bar, "height") * 6) for bar in bars].count(900) == 1
    assert (
        max(bars, key=lambda bar: at(bar, "height")).findtext("title") == "partitions 498 to 500: at most 900 records"
    )


@pytest.mark.parametrize("name", ["mixed", "many", "hostile script"])
def test_series_of_a_figure_have_distinct_colours_and_labels(name: str) -> None:
    series = figures.series(ALL[name])
    assert len({(one.colour, one.hatch) for one in series}) == len(series)
    assert len({one.fill for one in series}) == len(series)
    assert len({one.label for one in series}) == len(series)
    assert series[0].hatch == ""
    patterns = drawn(figures.hatchings(series)).findall("pattern")
    assert [f"url(#{pattern.attrib['id']})" for pattern in patterns] == [one.fill for one in series]


def test_alternative_text_of_figures_states_the_shares() -> None:
    audit = audits.mixed()
    for plot in plots(audit)[:2]:
        assert "murmur2 (expected) 81.0 %, librdkafka-consistent 15.4 %, sarama-hash 2.0 %" in plot.attrib["aria-label"]


def test_audit_without_timestamps_or_runs_has_no_time_plot_or_timeline() -> None:
    audit = audits.timeless()
    assert figures.over_time(audit, figures.series(audit)) == ""
    assert figures.timeline(audits.keyless(), figures.series(audits.keyless())) == ("", "")
