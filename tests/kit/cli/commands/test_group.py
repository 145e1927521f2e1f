"""``group play``: tables, JSON, exit codes."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from kafka_conformance.cli.main import app
from kafka_conformance.core.errors import BadInput
from kafka_conformance.rules import RULES, group_play
from kafka_conformance.rules.eras import newest_of_eras
from kafka_conformance.rules.group_files import parse_group
from kafka_conformance.rules.group_play import Group, Owned, Play, play
from kafka_reference.errors import IllegalStateException
from kafka_reference.proven import proven_releases
from kafka_reference.releases import Release, parse_release

GROUP = '{"topics": {"t": 4}, "members": [{"id": "c1"}], "events": [{"join": [{"id": "c2"}]}]}'


def run(*words: str) -> int:
    with app.make_context("kafka-conformance", ["group", "play", *words]) as context:
        code: int = app.invoke(context)
    return code


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "group.json"
    path.write_text(GROUP)
    return str(path)


def test_group_play_prints_a_row_for_each_rebalance(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(file, "--assignor", "cooperative-sticky-assignor", "--event", "leave:c1") == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["c2", "joins", "1", "c1", "2,", "c2", "0", "0", "to", "2", "0", "2", "0", "2"] in lines
    assert ["2", "c1", "2,", "c2", "2", "2", "0", "0", "2", "0"] in lines
    assert ["c1", "leaves", "1", "c2", "4", "4", "2", "0", "0", "0"] in lines
    assert ["4", "partitions", "moved", "to", "another", "owner", "in", "4", "rebalances"] in lines


def test_group_play_prints_equal_results_of_releases_once_and_omits_server_assignors_before_kip_848(
    file: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(file, "--assignor", "range-assignor", "--kafka", "all") == 0
    out = capsys.readouterr().out
    assert out.count("range-assignor, ") == 1
    assert run(file, "--kafka", "3.3.2", "--json") == 0
    plays = json.loads(capsys.readouterr().out)
    assert {one["release"] for one in plays} == {"3.3.2"}
    assert not any(one["assignor"].startswith("server-") for one in plays)


def test_group_play_simulates_newest_release_of_each_era_and_lists_all_releases_of_the_assignor(
    file: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    played: list[Release] = []

    def counted(asked: Group, assignor: str, release: Release) -> Play:
        played.append(release)
        return play(asked, assignor, release)

    monkeypatch.setattr("kafka_conformance.cli.commands.group.play", counted)
    assert run(file, "--assignor", "sticky-assignor", "--kafka", "all", "--json") == 0
    assert played == newest_of_eras(RULES["sticky-assignor"])
    plays = json.loads(capsys.readouterr().out)
    having = [release for release in proven_releases() if release in RULES["sticky-assignor"].releases]
    assert sorted(parse_release(one["release"]) for one in plays) == having
    assert all(msgspec.convert(one, Play) == play(parse_group(GROUP), "sticky-assignor", parse_release(one["release"]))
               for one in plays)  # fmt: skip


def test_group_play_in_which_java_throws_exits_with_1(
    file: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def throws(*_: Any) -> Owned:
        raise IllegalStateException("no owner")

    monkeypatch.setattr(group_play, "assigned", throws)
    assert run(file, "--assignor", "range-assignor") == 1
    assert "at first: Java throws IllegalStateException: no owner" in capsys.readouterr().out


def test_group_play_exits_1_if_partitions_still_move_after_20_rebalances(
    file: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    owners = itertools.cycle(["c1", "c2"])
    monkeypatch.setattr(group_play, "assigned", lambda *_: {next(owners): (("t", 0),)})
    assert run(file, "--assignor", "range-assignor") == 1
    assert "c2 joins: partitions still move after 20 rebalances" in capsys.readouterr().out


@pytest.mark.parametrize("words", [["--kafka", "9.9.9"], ["--kafka", "x"], ["--event", "x"],
                                   ["--kafka", "3.3.2", "--assignor", "server-uniform-assignor"]])  # fmt: skip
def test_group_play_with_unknown_release_or_event_or_assignor_newer_than_release_is_refused(
    file: str, words: list[str]
) -> None:
    with pytest.raises(BadInput):
        run(file, *words)
