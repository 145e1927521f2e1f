"""``behaviour``: what a rule does in a release, what differs between two, and the page of all of it."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from rich.console import Console

from kafka_conformance.cli.main import app
from kafka_conformance.core.errors import BadInput
from kafka_conformance.reports import behaviour as report
from kafka_conformance.rules import RULES
from kafka_reference.behaviour import Behaviour, behaviour, holds, varies
from kafka_reference.releases import parse_release, since

R1, R2 = parse_release("2.8.2"), parse_release("4.4.0")


@behaviour("org.apache.kafka.clients.producer.internals.Sender")
class SenderBehaviour(Behaviour):
    """What an invented sender does."""

    waits: bool = holds(since("2.1.0", until="3.0.x"), "It waits, however long it takes, for a producer id.", "KAFKA-1")
    remembered: int = varies(
        "Batches.", (since("0.11.0.0", until="2.8.2"), 1), (since("3.0.0"), 5), ticket="KAFKA-2 | 3"
    )
    closed: bool = holds(since("0.11.0.0", until="1.0.x"), "It is closed.")


@behaviour("Younger", releases=since("3.0.0"))
class YoungerBehaviour(Behaviour):
    """A class that 2.8.2 does not have."""

    more: bool = holds(since("4.0.0"), "More.")


@pytest.fixture(autouse=True)
def _rules(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    changed = replace(RULES["producer-sequences"], behaviours=(SenderBehaviour, YoungerBehaviour))
    monkeypatch.setitem(RULES, "producer-sequences", changed)
    monkeypatch.setitem(RULES, "delivery", replace(RULES["delivery"], behaviours=(SenderBehaviour,)))
    monkeypatch.setitem(RULES, "murmur2", replace(RULES["murmur2"], behaviours=()))


def run(*words: str) -> Any:
    result = CliRunner().invoke(app, ["behaviour", *words], standalone_mode=False)
    if result.exception is not None:
        raise result.exception
    return result


@pytest.mark.parametrize(
    "words",
    [
        ("producer-sequences", "--kafka", "2.8.2", "4.4.0"),
        ("producer-sequences", "--kafka", "2.8.2,4.4.0"),
        ("--kafka", "2.8.2", "4.4.0", "producer-sequences"),
        ("--kafka", "2.8.2", "producer-sequences", "newest"),
    ],
)
def test_behaviour_command_of_two_releases_lists_only_fields_that_differ(words: tuple[str, ...]) -> None:
    shown = run(*words).output
    assert [re.split(r" {2,}", line.strip())[:2] for line in shown.splitlines() if "→" in line] == [
        ["waits", "yes → no"], ["remembered", "1 → 5"],
    ]  # fmt: skip
    assert "closed" not in shown
    assert "2.1.0 to 3.0.x" in shown


def test_behaviour_of_one_release_lists_every_field_of_the_classes_in_that_release() -> None:
    shown = run("producer-sequences").output
    assert [line.split()[:2] for line in shown.splitlines() if line.startswith(("waits", "rem", "closed", "more"))] == [
        ["waits", "no"], ["remembered", "5"], ["closed", "no"], ["more", "yes"],
    ]  # fmt: skip
    assert "more" not in run("producer-sequences", "--kafka", "2.8.2").output


def test_behaviour_command_json_of_two_releases_has_changed_fields_with_values_and_tickets() -> None:
    document = json.loads(run("producer-sequences", "--kafka", "2.8.2", "4.4.0", "--json").output)
    assert (document["rule"], document["releases"]) == ("producer-sequences", ["2.8.2", "4.4.0"])
    assert [(one["field"], one["values"], one["ticket"]) for one in document["fields"]] == [
        ("waits", ["yes", "no"], "KAFKA-1"), ("remembered", ["1", "5"], "KAFKA-2 | 3"),
    ]  # fmt: skip


@pytest.mark.parametrize("words", [("all", "--kafka", "2.8.2", "4.4.0"), ("--kafka", "2.8.2,4.4.0", "all")])
def test_behaviour_command_all_with_two_releases_lists_changed_fields_of_every_rule(words: tuple[str, ...]) -> None:
    shown = run(*words).output
    lines = [line.split()[0] for line in shown.splitlines() if line.strip()]
    section = lines[lines.index("producer-sequences") :]
    assert section[:2] == ["producer-sequences", SenderBehaviour.java_class]
    assert {"waits", "remembered"} <= set(section)
    assert "closed" not in lines, "that field has the same value in both"
    assert "murmur2: no change in any release" in shown


def test_behaviour_command_all_json_lists_every_rule_with_changed_fields() -> None:
    document = json.loads(run("all", "--kafka", "2.8.2", "4.4.0", "--json").output)
    assert document["releases"] == ["2.8.2", "4.4.0"]
    assert [one["rule"] for one in document["rules"]] == list(RULES)
    fields = {one["rule"]: [field["field"] for field in one["fields"]] for one in document["rules"]}
    assert fields["delivery"] == fields["producer-sequences"] == ["waits", "remembered"]


def test_behaviour_command_omits_fields_marked_unobservable(monkeypatch: pytest.MonkeyPatch) -> None:
    hidden = replace(RULES["producer-sequences"], unobservable=frozenset({"SenderBehaviour.waits"}))
    assert [line.field for line in report.behaviour_lines(hidden, [R1, R2])] == ["remembered"]


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (("murmur2",), "murmur2: no change in any release\n"),
        (("delivery", "--kafka", "3.1.2", "4.4.0"), "delivery: no change\n"),
        (("default-partitioner", "--kafka", "4.4.0"), "default-partitioner: the rule does not exist in 4.4.0\n"),
    ],
)
def test_behaviour_command_prints_one_line_if_nothing_changed_or_the_rule_is_absent(
    words: tuple[str, ...], line: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(RULES, "default-partitioner", replace(RULES["default-partitioner"], behaviours=()))
    assert run(*words).output == line


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (("murmur3",), "unknown rule 'murmur3'"),
        (("murmur2", "--kafka", "2.8.2,3.0.2", "4.4.0"), "behaviour takes one release or two, not 3"),
        (("murmur2", "--table", "x.md"), "--table and --check need all"),
        (("all", "--check", "nowhere.md"), "nowhere.md cannot be read"),
        (("all", "--json"), "behaviour all --json needs releases"),
        (("all", "--kafka", "nonsense"), "'nonsense' is not a Kafka release"),
        (("all", "4.4.0", "--table", "x.md"), "--table and --check need all, and no release"),
    ],
)
def test_behaviour_command_with_unknown_rule_or_bad_options_is_refused_with_the_reason(
    words: tuple[str, ...], line: str
) -> None:
    with pytest.raises(BadInput, match=re.escape(line)):
        run(*words)


@pytest.mark.parametrize("width", range(20, 200, 7))
def test_behaviour_table_never_splits_words_at_any_terminal_width(width: int) -> None:
    out = Console(width=width, record=True, file=open("/dev/null", "w", encoding="utf-8"))  # noqa: SIM115, PTH123
    lines = report.behaviour_lines(RULES["producer-sequences"], [R1, R2])
    report.print_lines(lines, out)
    shown = out.export_text()
    out.file.close()
    texts = (text for line in lines for text in (line.effect, line.ticket, line.releases, line.field))
    assert {word for text in texts for word in _words(text)} <= set(_words(shown))


def _words(text: str) -> list[str]:
    return [word.strip("():;") for word in text.split()]


def test_behaviour_page_lists_fields_with_releases_and_ticket() -> None:
    page = report.behaviour_page([RULES[slug] for slug in ("murmur2", "producer-sequences", "delivery")])
    assert page == (
        "## murmur2\n\nNo change in any release.\n\n"
        "## producer-sequences\n\n"
        "`Sender`:\n\n| field | effect | releases | ticket |\n|---|---|---|---|\n"
        "| `waits` | It waits, however long it takes, for a producer id. | 2.1.0 to 3.0.x | KAFKA-1 |\n"
        "| `remembered` | Batches. | 0.11.0.0 to 2.8.2: 1; since 3.0.0: 5 | KAFKA-2 \\| 3 |\n"
        "| `closed` | It is closed. | 0.11.0.0 to 1.0.x |  |\n\n"
        "`Younger` (since 3.0.0):\n\n| field | effect | releases | ticket |\n|---|---|---|---|\n"
        "| `more` | More. | since 4.0.0 |  |\n\n"
        "## delivery\n\n`Sender`: see [producer-sequences](#producer-sequences).\n"
    )


def test_behaviour_table_is_written_between_page_markers_and_check_finds_edits(tmp_path: Path) -> None:
    path = tmp_path / "page.md"
    path.write_text("# Title\n<!-- table: made by behaviour -->\nBEFORE\n<!-- /table -->\nend\n", encoding="utf-8")
    assert run("all", "--table", str(path)).return_value == 0
    text = path.read_text(encoding="utf-8")
    assert text.startswith("# Title\n")
    assert text.endswith("<!-- /table -->\nend\n")
    assert "BEFORE" not in text
    assert run("all", "--check", str(path)).return_value == 0
    path.write_text(text.replace("KAFKA-1", "KAFKA-9"), encoding="utf-8")
    assert run("all", "--check", str(path)).return_value == 1
    (tmp_path / "other.md").write_text("no marks", encoding="utf-8")
    with pytest.raises(BadInput, match="has no line <!-- table: made by behaviour -->"):
        run("all", "--table", str(tmp_path / "other.md"))
