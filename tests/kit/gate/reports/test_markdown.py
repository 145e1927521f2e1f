"""The Markdown page, rendered: whatever a target said, the page has the same shape, and links only where we link."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import streams
from markdown_it import MarkdownIt
from markdown_it.token import Token

from kafka_conformance.core.events import Event
from kafka_conformance.core.sanitize import harmless
from kafka_conformance.gate.reports.markdown import block, cell, code, link, words, write

# As GitHub reads it: tables, and addresses that become links by themselves.
READER = MarkdownIt("gfm-like")
INERT = {"text", "text_special", "code_inline", "softbreak"}


def parsed(text: str) -> list[Token]:
    return READER.parse(text)


def inline(tokens: list[Token]) -> Iterator[Token]:
    for token in tokens:
        yield from token.children or ()


def shape(events: list[Event]) -> list[tuple[str, str]]:
    return [(token.type, token.tag) for token in parsed(write(events))]


def test_markdown_report_contains_every_verdict_and_finding() -> None:
    text = write(streams.everything())
    for line in (
        "# Differs: `franz-go 1.22.2`",
        "| murmur2 | 3.2.3 and 4.4.0 | differs | exact | 2,000 | 1,176 | 824 | 0 | 0 | 0 |",
        "| sticky-distribution | 3.2.3 and 4.4.0 | differs | statistical | 6 | 4 | 2 | 0 | 0 | 0 |",
        "### murmur2: `another hash`",
        'question  {"key": "666f6f"}',
        'expected  {"hash": 597841616}',
        'actual    {"hash": -1}',
        (
            "- 412 of 412 wrong answers equal `sign-abs`: the sign is dropped by abs; so do 588 of 588 right ones "
            f"(see <{streams.THREAD}>)"
        ),
        f"- Java source: `{streams.JAVA}`, documented at <{streams.LINK}>",
        "- Replay: `kafka-conformance replay .kafka-conformance/failures/90043993ceb72c63.json`",
        'step 1  {"op": "new_batch", "previous": 2, "topic": "t"}',
        "- delivery in 3.2.3 and 4.4.0: `noise` (2 times): `it printed: starting up`",
        "| 0 | 400.0 | 510 |",
        (
            "- record-sizes in 3.2.3 and 4.4.0: `another size`: they round down "
            "(<https://github.com/twmb/franz-go/issues/1>), until `2027-01-01`"
        ),
        "- `murmur2 0123456789abcdef`: stale",
    ):
        assert line in text.splitlines()
    links = {token.attrs["href"] for token in inline(parsed(text)) if token.type == "link_open"}
    assert links == {streams.THREAD, streams.LINK, "https://github.com/twmb/franz-go/issues/1"}


def test_markdown_report_has_three_tables_with_one_cell_per_column_in_every_row() -> None:
    tokens = parsed(write(streams.everything()))
    tables = "".join(
        {"table_open": "|", "tr_open": " ", "th_open": "h", "td_open": "d"}.get(token.type, "") for token in tokens
    )
    for head, *rows in (table.split() for table in tables.split("|")[1:]):
        assert rows
        assert {len(row) for row in rows} == {len(head)}, "a cell for each head"
    assert sum(token.type == "table_open" for token in tokens) == 3


@pytest.mark.parametrize("name", streams.HOSTILE)
def test_hostile_text_does_not_change_markdown_structure_or_links(name: str) -> None:
    text = streams.HOSTILE[name]
    events = streams.hostile(text)
    assert shape(events) == shape(streams.hostile("x"))
    tokens = parsed(write(events))
    kinds = {token.type for token in inline(tokens)}
    ours = {"link_open", "link_close"} if any(token.type == "link_open" for token in inline(tokens)) else set()
    assert kinds <= INERT | ours
    assert {token.attrs["href"] for token in inline(tokens) if token.type == "link_open"} <= {streams.LINK}
    assert all(character.isprintable() or character == "\n" for character in write(events))
    html = READER.render(write(events))
    assert "<script" not in html
    assert "<img" not in html
    assert "<b>" not in html


@pytest.mark.parametrize("name", [*streams.HOSTILE, "plain"])
def test_markdown_code_span_keeps_hostile_text_as_code(name: str) -> None:
    text = streams.HOSTILE.get(name, "plain")
    (paragraph,) = [token for token in parsed(f"before {code(text, 100_000)} after") if token.type == "inline"]
    assert [token.type for token in paragraph.children or ()] == ["text", "code_inline", "text"]
    assert (paragraph.children or ())[1].content.strip(" ") == harmless(text).strip(" ")


def test_code_span_of_empty_text_becomes_a_placeholder() -> None:
    assert code("") == code("  ") == "(nothing)"


@pytest.mark.parametrize("name", streams.HOSTILE)
def test_hostile_lines_stay_inside_one_markdown_code_block(name: str) -> None:
    text = streams.HOSTILE[name]
    (token,) = parsed(block([text, "```", text]))
    assert token.type == "fence"
    assert token.content.splitlines() == [harmless(text), "```", harmless(text)]


@pytest.mark.parametrize("name", streams.HOSTILE)
@pytest.mark.parametrize("written", [words, cell])
def test_hostile_text_in_markdown_prose_or_cell_stays_inert(name: str, written: object) -> None:
    assert callable(written)
    reader = MarkdownIt("gfm-like", {"linkify": written is words})
    (paragraph,) = [token for token in reader.parse(f"a {written(streams.HOSTILE[name])}") if token.type == "inline"]
    assert {token.type for token in paragraph.children or ()} <= INERT


@pytest.mark.parametrize(
    "text", ["me@owned.example", "see https://owned.example", "www.owned.example", "so does @somebody", "like #12"]
)
def test_text_that_github_would_autolink_becomes_inline_code(text: str) -> None:
    assert words(text) == f"`{text}`"


def test_markdown_prose_escapes_only_characters_with_markdown_meaning() -> None:
    text = "print to standard error only; the hello's name (in JSON) is missing: 4.4.0, 50% of 3/4."
    assert words(text) == text
    assert words("1 < 2 & *so*") == "1 &#60; 2 &#38; &#42;so&#42;"


def test_pipe_in_markdown_table_cell_does_not_split_the_cell() -> None:
    text = f"| a | b |\n|---|---|\n| {cell(streams.HOSTILE['pipe'])} | end |\n"
    cells = [token for token in parsed(text) if token.type == "td_open"]
    assert len(cells) == 2


def test_markdown_links_web_address_and_shows_javascript_address_as_code() -> None:
    assert link(streams.THREAD) == f"<{streams.THREAD}>"
    assert link("javascript:alert(1)") == "`javascript:alert(1)`"


@pytest.mark.parametrize(("events", "head"), [([], "the target"), (streams.cut(), "franz-go 1.22.2")])
def test_markdown_report_of_truncated_event_stream_is_headed_could_not_be_judged(
    events: list[Event], head: str
) -> None:
    assert write(events).startswith(f"# Could not be judged: `{head}`\n\n`could not be judged: {head}: ")
