"""``diff``, with the reference of each release in Java's place."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from kafka_conformance.answerers.reference import ReferenceAnswerer
from kafka_conformance.cli.commands import diff
from kafka_conformance.core.errors import BadInput
from kafka_conformance.core.protocol import Answer
from kafka_conformance.core.rule import Space
from kafka_conformance.rules import RULES
from kafka_reference.partitioning.behaviour import ProducerPartitionBehaviour

PRODUCER = ["producer-partition"]


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Any:
    """Runs the command; the exit code and what was printed."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(diff, "JavaAnswerer", lambda _: ReferenceAnswerer("java"))
    monkeypatch.setattr(diff, "open_oracle", nullcontext)
    rule = RULES["producer-partition"]
    some = Space("every thirteenth", lambda: islice(rule.spaces[0].questions(), 0, None, 13))
    monkeypatch.setitem(RULES, rule.slug, replace(rule, spaces=(some,)))

    def asked(releases: str, rules: list[str], table: Path | None = None, check: Path | None = None) -> tuple[int, str]:
        code = diff.run(releases=releases.split(), rules=rules, examples=60, seed=7, table=table, check=check)
        return code, capsys.readouterr().out

    return asked


def test_diff_of_releases_with_equal_behaviour_prints_no_change_per_rule_and_exits_0(asked: Any) -> None:
    code, said = asked("3.9.2 4.4.0", ["murmur2", *PRODUCER])
    assert code == 0
    assert said.count(": no change") == 2
    assert "seed 7" in said


def test_diff_shows_kafka_3_2_rejects_negative_partition_of_custom_partitioner(asked: Any) -> None:
    code, said = asked("3.1.2 3.2.3", PRODUCER)
    assert code == 1
    assert '"partitioner":{"returns":-1}' in said, "the smallest negative number"
    assert '  java 3.1.2  {"partition":-1}' in said
    assert '  java 3.2.3  {"message":"The partitioner generated an invalid partition number: -1.' in said
    assert "1 kind of change" in said


def test_diff_shows_kafka_3_3_moves_partition_choice_to_the_accumulator(asked: Any) -> None:
    code, said = asked("3.2.3 3.3.2", PRODUCER)
    assert code == 1
    assert '  java 3.3.2  {"partition":-1}' in said
    assert "kinds of change" in said
    assert "replay" not in said, "nothing is saved that could be replayed"


def test_diff_of_a_rule_absent_in_one_release_reports_the_absence_and_exits_0(asked: Any) -> None:
    code, said = asked("0.9.0.1 4.4.0", ["murmur2"])
    assert code == 0
    assert "the rule does not exist" in said


def test_diff_of_several_releases_compares_each_with_the_next(asked: Any) -> None:
    code, said = asked("3.9.2 0.10.0.1 3.1.2 3.2.3", ["murmur2", *PRODUCER])
    assert code == 1
    rows = [line for line in said.splitlines() if line.startswith("| `producer-partition`")]
    assert rows
    assert any(row.startswith("| `producer-partition` | 3.1.2 | 3.2.3 |") for row in rows)
    assert "| `murmur2`" not in said


def test_diff_with_failing_java_exits_2_as_not_judged(asked: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any) -> Answer:
        raise RuntimeError("broke")

    monkeypatch.setattr(diff, "JavaAnswerer", lambda _: ReferenceAnswerer("java", broken))
    code, said = asked("3.1.2 3.2.3", ["murmur2"])
    assert code == 2
    assert "could not be judged" in said
    assert "broke" in said


@pytest.mark.parametrize("releases", ["4.4.0", "newest"])
def test_diff_of_one_release_is_refused(asked: Any, releases: str) -> None:
    with pytest.raises(BadInput, match="diff needs two releases or more, or all"):
        asked(releases, PRODUCER)


def test_diff_page_is_written_between_markers_and_check_names_wrong_rows(asked: Any, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# Before\n\n<!-- table: made by diff -->\nold\n<!-- /table -->\n\nAfter.\n", encoding="utf-8")
    asked("3.1.2 3.2.3 3.3.2", PRODUCER, table=page)
    text = page.read_text(encoding="utf-8")
    assert text.startswith("# Before\n\n<!-- table: made by diff -->\n| release |")
    assert "| [3.2.3](page/3.2.3.md) | 3.1.2 | `producer-partition` |" in text
    assert text.endswith("<!-- /table -->\n\nAfter.\n")
    assert "\nold\n" not in text
    assert (tmp_path / "page" / "3.2.3.md").read_text(encoding="utf-8").startswith("# 3.2.3\n")
    assert asked("3.1.2 3.2.3 3.3.2", PRODUCER, check=page)[0] == 0
    edit(tmp_path / "page" / "rules.ndjson", '"before":"3.1.2"', '"before":"3.0.2"')
    code, said = asked("3.1.2 3.2.3 3.3.2", PRODUCER, check=page)
    assert code == 1
    assert "page.md lacks: producer-partition | 3.1.2 | 3.2.3 | changes" in said
    assert "page.md has a change that Java does not have: producer-partition | 3.0.2 | 3.2.3 | changes" in said


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


def test_diff_check_of_missing_page_names_the_command_to_write(asked: Any, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"nowhere has no changes that can be read: .* write them with diff all --table"):
        asked("3.1.2 3.2.3", PRODUCER, check=tmp_path / "nowhere.md")


def test_diff_table_limited_to_one_change_shows_one_row_and_counts_further_kinds(
    asked: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, whole = asked("3.1.2 3.2.3 3.3.2", PRODUCER)
    monkeypatch.setattr(diff, "_CHANGES_SHOWN", 1)
    _, short = asked("3.1.2 3.2.3 3.3.2", PRODUCER)
    rows = [line for line in whole.splitlines() if line.startswith("| `") and "| 3.2.3 | 3.3.2 |" in line]
    reported = [line for line in short.splitlines() if line.startswith("| `") and "| 3.2.3 | 3.3.2 |" in line]
    assert len(rows) > 2
    assert reported[0] in rows
    assert reported[1:] == [f"| `producer-partition` | 3.2.3 | 3.3.2 | and {len(rows) - 1} more kinds | |"]


MURMUR2 = '{"after":"3.2.3","before":"3.1.2","kinds":1,"rule":"murmur2","what":"changes"}\n'


def test_diff_check_compares_only_rules_that_were_selected(asked: Any, tmp_path: Path) -> None:
    page = tmp_path / "changes.md"
    asked("3.1.2 3.2.3 3.3.2", PRODUCER, table=page)
    edit(tmp_path / "changes" / "rules.ndjson", "{", f"{MURMUR2}{{")
    assert asked("3.1.2 3.2.3 3.3.2", PRODUCER, check=page)[0] == 0
    assert asked("3.1.2 3.2.3 3.3.2", ["murmur2", *PRODUCER], check=page)[0] == 1


def test_diff_table_for_one_rule_keeps_rows_of_other_rules(asked: Any, tmp_path: Path) -> None:
    page, rules = tmp_path / "changes.md", tmp_path / "changes" / "rules.ndjson"
    asked("3.1.2 3.2.3 3.3.2", PRODUCER, table=page)
    made = rules.read_text(encoding="utf-8")
    edit(rules, "{", f"{MURMUR2}{{")
    asked("3.1.2 3.2.3 3.3.2", PRODUCER, table=page)
    assert sorted(rules.read_text(encoding="utf-8").splitlines()) == sorted((made + MURMUR2).splitlines())
    assert "| [3.2.3](changes/3.2.3.md) | 3.1.2 | `murmur2`, `producer-partition` |" in page.read_text(encoding="utf-8")
    assert "## murmur2" in (tmp_path / "changes" / "3.2.3.md").read_text(encoding="utf-8")


def test_diff_names_the_behaviour_field_that_explains_a_change(asked: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    rule = replace(RULES["producer-partition"], behaviours=(ProducerPartitionBehaviour,))
    monkeypatch.setitem(RULES, rule.slug, rule)
    _, said = asked("3.1.2 3.2.3", PRODUCER)
    assert said.count("  explained by ") == 1
    assert "  explained by ProducerPartitionBehaviour.negative_choice_refused\n" in said
