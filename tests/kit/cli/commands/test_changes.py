"""``changes`` and ``findings``: their order, the advice for each change, and bad input."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner

from kafka_conformance.cli.main import app
from kafka_conformance.core.errors import BadInput
from kafka_conformance.findings.upgrades import NOTES
from kafka_conformance.gate.severity import RANKS
from kafka_conformance.reports.behaviour import behaviour_lines
from kafka_conformance.rules import RULES
from kafka_reference.releases import NEWEST, parse_release

PAGES = Path(__file__).parents[4] / "kit" / "docs"
FIELDS = {
    f"{record.__name__}.{one.name}" for rule in RULES.values() for record in rule.behaviours for one in record.changes()
}


def printed(*words: str) -> dict[str, Any]:
    result = CliRunner().invoke(app, [*words, "--json"], catch_exceptions=False)
    document: dict[str, Any] = json.loads(result.stdout)
    return document


def test_upgrade_notes_refer_only_to_behaviour_fields_or_removed_rules() -> None:
    names = NOTES.keys() - FIELDS
    assert all(NEWEST not in RULES[name].releases for name in names)
    assert names >= {"default-partitioner", "uniform-sticky-partitioner"}


def test_judged_producer_changes_have_advice_and_sort_by_visibility_then_severity_with_ended_last() -> None:
    found = printed("changes", "2.8.2", "3.9.2", "--role", "producer")["changes"]
    assert all("producer" in one["roles"] for one in found)
    ranks = [
        (one["what"] == "ends", not one["noticed"], RANKS.get(one["severity"], len(RANKS)), one["reach"])
        for one in found
    ]
    assert ranks == sorted(ranks)
    assert all(one["action"] for one in found if one["severity"])
    titles = [one["title"] for one in found if one["severity"] == "high"]
    assert titles[0].startswith("The default of acks. 1 → all")
    unnoticed = [one["action"] for one in found if not one["noticed"] and one["what"] == "begins"]
    assert any(action.startswith("Not noticeably") for action in unnoticed)
    assert all(action.startswith("No") for action in unnoticed)


def test_changes_from_3_9_2_to_4_0_0_list_removed_partitioners_and_zookeeper_leader_election() -> None:
    found = printed("changes", "3.9.2", "4.0.0")["changes"]
    assert _gone(found) == {"default-partitioner", "uniform-sticky-partitioner", "zookeeper-leader-election"}
    assert not _gone(printed("changes", "3.8.0", "3.9.2")["changes"])


def _gone(found: list[dict[str, Any]]) -> set[str]:
    classes = {(NOTES[slug].title if slug in NOTES else "") or rule.title: slug for slug, rule in RULES.items()}
    return {classes[one["title"]] for one in found if one["what"] == "is gone" and one["title"] in classes}


def test_changes_list_optional_idempotence_as_removed_default_idempotence_as_new_acks_default_as_changed() -> None:
    found = printed("changes", "2.8.2", "3.9.2")["changes"]
    what = {one["title"].partition(" (0")[0].partition(" (since 3.0.0)")[0]: one["what"] for one in found}
    assert what["A producer is idempotent only if `enable.idempotence` or `transactional.id` is set."] == "is gone"
    assert what["The default of `enable.idempotence` is true; 3.0.0 and 3.1.0 ignore it."] == "is new"
    assert what["The default of acks. 1 → all"] == "changes"


def test_changes_command_lists_every_changed_behaviour_field_once() -> None:
    before, after = map(parse_release, ("2.8.2", "3.9.2"))
    lines = {str(line): line for rule in RULES.values() for line in behaviour_lines(rule, [before, after])}
    changed = [line for line in lines.values() if None not in line.values]
    found = [
        one
        for one in printed("changes", "2.8.2", "3.9.2")["changes"]
        if one["what"] in {"changes", "is new", "is gone"}
    ]
    assert len(found) == len(changed) > 50


def test_changes_command_without_difference_for_a_role_prints_one_line() -> None:
    result = CliRunner().invoke(app, ["changes", "4.2.0", "4.2.1", "--role", "consumer"], catch_exceptions=False)
    assert result.stdout == "4.2.0 to 4.2.1: no difference is known for the role consumer\n"


def test_findings_command_omits_findings_of_other_roles_and_releases() -> None:
    found = {one["finding"]: one for one in printed("findings", "--kafka", "3.6.2", "--role", "producer")["findings"]}
    assert all("producer" in one["roles"] for one in found.values())
    newer = {one["finding"] for one in printed("findings", "--kafka", "4.4.0", "--role", "producer")["findings"]}
    assert found.keys() - newer


@pytest.mark.parametrize(
    ("words", "error"),
    [
        ("changes 2.8.2 2.8.2", "2.8.2 twice"),
        ("changes 3.9.2 2.8.2", "name the older one first"),
        ("changes 2.8 3.9.2", "2.8"),
        ("changes 2.8.2 9.9.9", "unknown release '9.9.9': expected one of 0.10.0.0 … "),
        ("findings --kafka 3.9.9", "unknown release '3.9.9': did you mean 3.9.2, 3.9.1 or 3.9.0?"),
        ("findings --kafka 2.8.9", "unknown release '2.8.9'"),
    ],
)
def test_changes_or_findings_command_with_unknown_equal_or_reversed_releases_is_refused(words: str, error: str) -> None:
    with pytest.raises(BadInput, match=error):
        CliRunner().invoke(app, words.split(), catch_exceptions=False)


def _sections(*words: str) -> dict[str, list[str]]:
    """Return the lines of the report by heading; the first is the summary."""
    result = CliRunner().invoke(app, ["changes", *words], catch_exceptions=False)
    parts = [part.splitlines() for part in result.stdout.split("\n\n")]
    return {head: lines for head, *lines in parts}


def test_changes_command_output_starts_with_counts_and_has_a_section_for_each_severity() -> None:
    sections = _sections("2.8.2", "3.9.2")
    summary, *headings, scope = sections
    assert re.match(r"2\.8\.2 to 3\.9\.2: \d+ to look at \(\d+ high, .*\d+ at an end$", summary)
    assert headings[:3] == ["high", "medium", "low"]
    assert "Not compared: other settings, the move from ZooKeeper to KRaft, the protocol, ACLs" in scope
    titles = [line for line in sections["high"] if not line.startswith("    ")]
    assert all(
        re.match(r"  (risk|new|removed|changed), (producer|consumer|broker|client or broker): ", one) for one in titles
    )
    assert [line.partition(":")[0] for line in headings[-2:]] == [
        "also different, harm not judged", "findings that end",
    ]  # fmt: skip
    assert all(line.endswith("; with --role ROLE they are listed") for line in headings[-2:])


def test_changes_with_the_same_advice_are_listed_above_a_single_line_of_advice() -> None:
    high = _sections("2.8.2", "3.9.2", "--role", "producer")["high"]
    at = next(
        number
        for number, line in enumerate(high)
        if "default of `enable.idempotence` is true; 3.0.0 and 3.1.0 ignore it" in line
    )
    assert high[at].startswith("  new: ")  # without the side, which is the role that was asked for
    assert high[at + 1].startswith("  removed: A producer is idempotent only if")
    assert high[at + 2].startswith("    what to do: Set `enable.idempotence`")


def test_changes_to_kafka_4_0_list_the_removal_of_zookeeper_as_first_high_severity_change() -> None:
    assert _sections("3.6.2", "4.0.0")["high"][0] == "  removed, broker: Brokers that run with ZooKeeper"


def test_changes_command_without_role_lists_changes_of_unjudged_severity_if_ten_or_fewer() -> None:
    sections = _sections("3.6.1", "3.6.2")
    assert sections["also different, harm not judged"]
    assert all(line.startswith("  ") for line in sections["also different, harm not judged"])


def test_changes_on_a_terminal_are_wrapped_between_words_with_indentation(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kafka_conformance.cli.commands.changes.terminal_width", lambda: 60)
    whole = _sections("2.8.2", "3.9.2")["high"]
    assert max(map(len, whole)) <= 60
    assert any(line.startswith("      ") for line in whole)


@pytest.mark.parametrize("words", ["findings 3.9.2", "verify 3.9.2"])
def test_positional_release_of_findings_or_verify_is_refused_with_kafka_option_hint(words: str) -> None:
    with pytest.raises(click.UsageError, match=r"\(3\.9\.2\): did you mean --kafka 3\.9\.2\?"):
        CliRunner().invoke(app, words.split(), catch_exceptions=False, standalone_mode=False)


@pytest.mark.parametrize("page", ["changes.md", "findings.md", "idempotence.md"])
def test_changes_findings_and_idempotence_pages_show_current_output_of_the_first_command(page: str) -> None:
    text = (PAGES / page).read_text(encoding="utf-8")
    command, shown = re.findall(r"```\n\$ kafka-conformance ([^\n]+)\n```\n\n```text\n(.*?)```", text, re.DOTALL)[0]
    words, _, head = command.partition(" | head -")
    result = CliRunner().invoke(app, words.split(), catch_exceptions=False)
    lines = result.stdout.splitlines(keepends=True)
    assert shown == "".join(lines[: int(head)] if head else lines)
    assert text.index("kafka-conformance") == text.index(f"kafka-conformance {command}")
