"""The timeline as a picture: what it holds, that it is sound XML whatever the question says, and always the same."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from xml.etree.ElementTree import Element, fromstring

import pytest

from kafka_conformance.core.errors import BadInput
from kafka_conformance.core.timeline import Box, Explained, Lane
from kafka_conformance.reports.timeline import Timeline, TimelineRow
from kafka_conformance.reports.timeline_figure import draw, figure, ready

SVG = "{http://www.w3.org/2000/svg}"
OPEN, FULL = Box("#0 ×1", "open", "queued: #0"), Box("#0 ×1", "full", "queued: #0, full")
SENT, RETRY, DONE = (
    Box("#0 ×1", "sent", "in flight: #0"),
    Box("#0 ×1", "retry", "queued again"),
    Box("#0", "ended", "done"),
)


def step(time_ms: int | None, mark: str, *queue: Box, out: tuple[Box, ...] = (), name: str = "t-0") -> TimelineRow:
    return TimelineRow(
        Explained(time_ms, f"asked {mark}", f"answered {mark}", mark, ("why",), (), (Lane(name, queue, out),))
    )


def timeline_of(*rows: TimelineRow) -> Timeline:
    return Timeline("a-rule", "a title", "0123", "4.4.0", "reference", (), (), rows)


LIFE = timeline_of(
    step(0, "append", OPEN),
    step(0, "again", OPEN),
    step(5, "full", FULL),
    step(5, "drain", out=(SENT,)),
    step(5, "retry", RETRY),
    step(9, "drain", out=(SENT,)),
    step(9, "complete", out=(DONE,)),
)


def parsed(of: Timeline) -> Element:
    return fromstring(figure(of))  # noqa: S314  our own


def boxes(root: Element) -> Iterator[tuple[str, float, float, float]]:
    for rect in root.iter(f"{SVG}rect"):
        name, _, kind = rect.attrib["class"].partition(" ")
        if name == "box" and rect.attrib["width"] != "14":  # 14 is the legend's
            yield kind, *(float(rect.attrib[side]) for side in ("x", "width", "y"))


def test_figure_box_spans_steps_until_batch_state_changes() -> None:
    found = sorted(boxes(parsed(LIFE)), key=lambda box: box[1])
    assert [kind for kind, *_ in found] == ["open", "full", "sent", "retry", "sent", "ended"]
    column = found[1][2] + 2
    assert [round((width + 2) / column) for _, _, width, _ in found] == [2, 1, 1, 1, 1, 1]
    left = found[0][1]
    assert [round((x - left) / column) for _, x, _, _ in found] == [0, 2, 3, 4, 5, 6]


def test_figure_draws_in_flight_batches_above_the_queue() -> None:
    heights = {kind: y for kind, _, _, y in boxes(parsed(LIFE))}
    assert heights["sent"] == heights["ended"] < heights["open"] == heights["retry"]


def test_figure_draws_front_of_queue_on_top() -> None:
    front, back = Box("#0", "full", "front"), Box("#1", "open", "back")
    found = {kind: y for kind, _, _, y in boxes(parsed(timeline_of(step(0, "x", front, back))))}
    assert found["full"] < found["open"]


def test_figure_groups_steps_of_equal_time_in_one_band() -> None:
    root = parsed(LIFE)
    bands = [rect for rect in root.iter(f"{SVG}rect") if rect.attrib["class"].startswith("band")]
    assert [band.attrib["class"] for band in bands] == ["band0", "band1", "band0"]
    times = [text.text for text in root.iter(f"{SVG}text") if text.attrib["class"] == "time"]
    assert times == ["0 ms", "5 ms", "9 ms"]


def test_figure_steps_and_boxes_have_tooltips() -> None:
    titles = [title.text or "" for title in parsed(LIFE).iter(f"{SVG}title")]
    assert "step 0: asked append\nanswered append\n· why" in titles
    assert "step 0: queued: #0\nstep 1: queued: #0" in titles


def test_figure_lanes_are_sorted_by_topic_and_partition_number() -> None:
    rows = [step(0, "x", OPEN, name=name) for name in ("t-10", "t-9", "u-1")]
    names = [text.text for text in parsed(timeline_of(*rows)).iter(f"{SVG}text") if text.attrib["class"] == "name"]
    assert names == ["t-9", "t-10", "u-1"]


def test_figure_without_clock_shows_step_numbers_instead_of_times() -> None:
    root = parsed(timeline_of(step(None, "x", Box("2", "held", "at 2")), step(None, "y")))
    assert not [rect for rect in root.iter(f"{SVG}rect") if rect.attrib["class"].startswith("band")]
    assert [text.text for text in root.iter(f"{SVG}text") if text.attrib["class"] == "number"] == ["0", "1"]


def test_figure_marks_step_that_differs_from_the_reference() -> None:
    root = parsed(timeline_of(TimelineRow(LIFE.rows[0].explained, "another answer")))
    (mark,) = [text for text in root.iter(f"{SVG}text") if text.attrib["class"] == "mark wrong"]
    assert mark.text == "◀ append"
    assert any("the reference: another answer" in (title.text or "") for title in root.iter(f"{SVG}title"))


@pytest.mark.parametrize(
    "evil", ["</text><script>alert(1)</script>", "\x1b[31m\x00", "]]>&lt;&", '" onload="x', "\ufffe\ud800", "\u202e"]
)
def test_figure_escapes_markup_and_control_characters_of_a_question(evil: str) -> None:
    box = Box(evil, "open", evil)
    row = TimelineRow(Explained(0, evil, evil, evil, (evil,), ((evil, evil),), (Lane(evil, (box,), (box,)),)), evil)
    root = parsed(Timeline("a-rule", evil, "0123", "4.4.0", "java", (), (), (row,)))
    assert {element.tag.removeprefix(SVG) for element in root.iter()} <= {
        "svg",
        "title",
        "style",
        "rect",
        "text",
        "g",
        "line",
    }
    assert not any(name.startswith("on") for element in root.iter() for name in element.attrib)
    assert "http" not in figure(LIFE).decode().replace("http://www.w3.org/2000/svg", "")


def test_figure_of_equal_timeline_has_identical_bytes() -> None:
    assert figure(LIFE) == figure(LIFE)


def test_figure_has_light_and_dark_colour_for_each_batch_state() -> None:
    style = next(parsed(LIFE).iter(f"{SVG}style")).text or ""
    light, dark = style.split("@media (prefers-color-scheme: dark)")
    for kind in ("open", "full", "retry", "sent", "ended", "lost", "held"):
        assert f".{kind} {{ fill: #" in light
        assert f".{kind} {{ fill: #" in dark


def test_timeline_figure_is_written_to_the_file(tmp_path: Path) -> None:
    path = tmp_path / "it.svg"
    ready(path)
    draw(LIFE, path)
    assert path.read_bytes() == figure(LIFE)


def test_figure_file_without_svg_suffix_raises_bad_input(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"give a name that ends in \.svg"):
        ready(tmp_path / "it.png")


def test_drawing_a_timeline_without_rows_raises_bad_input(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no timeline to draw"):
        draw(timeline_of(), tmp_path / "it.svg")
