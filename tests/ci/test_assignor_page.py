"""The page of assignors is what the reference computes, and says what is true of the figures."""

from __future__ import annotations

from xml.etree.ElementTree import fromstring

import pytest
from assignor_figure import Line, figure
from assignor_page import ASSIGNORS, MOST_MEMBERS, PAGE, PICTURES, TOPICS, main, moved, movement, promise, settled

from kafka_conformance.rules import RULES
from kafka_reference.releases import NEWEST

STICKY = ("sticky-assignor", "cooperative-sticky-assignor", "server-uniform-assignor")


def test_assignor_page_links_every_assignor_rule_and_every_svg_figure() -> None:
    text = PAGE.read_text(encoding="utf-8")
    for slug, name in ASSIGNORS.items():
        assert f"[{name}](rules/{slug}.md)" in text
        assert slug in RULES
    for path in PICTURES.glob("assignors-*.svg"):
        assert f"](pictures/{path.name})" in text
        assert fromstring(path.read_text(encoding="utf-8")).tag.endswith("svg")  # noqa: S314  our own


@pytest.mark.parametrize("slug", ASSIGNORS)
def test_moved_partition_count_is_0_without_change_and_includes_partitions_of_a_leaving_member(slug: str) -> None:
    before = settled(slug, NEWEST, ["a", "b", "c"], {})
    assert sum(map(len, before.values())) == sum(TOPICS.values())
    assert moved(before, before) == 0
    assert moved(before, settled(slug, NEWEST, ["a", "b"], before)) >= len(before["c"])


@pytest.mark.parametrize("slug", STICKY)
def test_sticky_assignors_move_the_fewest_partitions_when_a_member_joins_or_leaves(slug: str) -> None:
    every, found = sum(TOPICS.values()), movement(slug, NEWEST)
    assert found.leave == pytest.approx([every / count for count in range(2, MOST_MEMBERS + 1)])
    assert found.join == pytest.approx([every // (count + 1) for count in range(1, MOST_MEMBERS)])


@pytest.mark.parametrize("slug", ["range-assignor", "round-robin-assignor"])
def test_range_loads_of_equal_subscribers_differ_within_topic_count_and_roundrobin_loads_within_1(slug: str) -> None:
    found = promise(slug, NEWEST)
    assert found.once
    assert not found.thrown
    assert found.alike <= (1 if slug == "round-robin-assignor" else len(TOPICS))


def test_assignor_figure_is_reproducible_and_draws_every_line() -> None:
    lines = [Line("one", (1, 2.5)), Line("<two>", (0, 13))]
    drawn = [figure("It", "members", 2, lines, Line("least", (1, 1))) for _ in range(2)]
    assert drawn[0] == drawn[1]
    root = fromstring(drawn[0])  # noqa: S314  our own
    said = [each.text for each in root.iter("{http://www.w3.org/2000/svg}text")]
    assert {"It", "members", "one", "<two>", "least", "2", "3", "15"} <= set(said)
    assert len(list(root.iter("{http://www.w3.org/2000/svg}polyline"))) == 3


@pytest.mark.exhaustive
def test_committed_assignor_page_equals_the_page_computed_by_the_reference(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--check"]) == 0, capsys.readouterr().out
