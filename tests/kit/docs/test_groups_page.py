"""The page of ``group play`` has the output of its example, and its JSON is a group."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from kafka_conformance.cli.main import app
from kafka_conformance.rules.group_files import parse_group
from kafka_conformance.rules.group_play import ASSIGNORS, play
from kafka_reference.releases import NEWEST

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "kit/docs/groups.md").read_text(encoding="utf-8")


def test_groups_page_output_of_the_example_is_current(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    command, _, expected = PAGE.partition("$ kafka-conformance ")[2].partition("\n```")[0].partition("\n")
    monkeypatch.chdir(ROOT)
    with app.make_context("kafka-conformance", shlex.split(command)) as context:
        assert app.invoke(context) == 0
    assert [line.rstrip() for line in capsys.readouterr().out.splitlines()] == expected.splitlines()


def test_example_group_on_groups_page_plays_three_steps_with_every_assignor() -> None:
    group = parse_group(PAGE.partition("```json\n")[2].partition("\n```")[0])
    for assignor in ASSIGNORS:
        assert len(play(group, assignor, NEWEST).steps) == 3
