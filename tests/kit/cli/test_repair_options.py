from __future__ import annotations

from typing import Any

import click
import pytest
from click.testing import CliRunner

from kafka_conformance.cli.repair_options import RepairOptions, repair_options
from kafka_conformance.core.errors import BadInput


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"execute": True}, "--execute without --repair-to"),
        ({"follow": True}, "--follow without --repair-to"),
        ({"follow_until_idle": 0.0}, "--follow-until-idle without --repair-to"),
        ({"keep_staged": True}, "--keep-staged without --repair-to"),
        ({"target_partitions": 3}, "--target-partitions without --repair-to"),
        ({"map_groups": True}, "--map-groups without --repair-to"),
        ({"groups": ("g",)}, "--group without --repair-to"),
        ({"repair_to": "t", "groups": ("g",)}, "--group without --map-groups"),
        ({"repair_to": "t", "follow": True}, "--follow writes the new topic: give --execute"),
        ({"repair_to": "t", "follow_until_idle": 5.0}, "--follow writes the new topic: give --execute"),
        ({"repair_to": "t", "map_groups": True, "follow": True, "execute": True}, "--follow and --map-groups exclude"),
        ({"repair_to": "t", "map_groups": True, "keep_staged": True}, "--keep-staged and --map-groups exclude"),
    ],
)
def test_conflicting_repair_options_are_refused_in_one_line(given: dict[str, Any], words: str) -> None:
    with pytest.raises(BadInput, match=f"^{words}") as raised:
        RepairOptions(**given).check()
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"repair_to": "t"},
        {"repair_to": "t", "execute": True, "follow": True, "keep_staged": True, "target_partitions": 3},
        {"repair_to": "t", "map_groups": True, "groups": ("g",), "execute": True},
    ],
)
def test_valid_combinations_of_repair_options_are_accepted(given: dict[str, Any]) -> None:
    RepairOptions(**given).check()


def test_repair_options_are_passed_to_the_command_as_one_object() -> None:
    @click.command()
    @click.option("--first", default=1)
    @repair_options
    @click.option("--last", default=2)
    def command(**given: Any) -> int:
        click.echo(repr(sorted(given)))
        click.echo(f"{given['repair'].repair_to} {given['repair'].groups} {given['repair'].follows}")
        return 0

    result = CliRunner().invoke(
        command, ["--repair-to", "t", "--group", "a", "--group", "b", "--follow-until-idle", "0"]
    )
    assert result.output.splitlines() == ["['first', 'last', 'repair']", "t ('a', 'b') True"]
    shown = CliRunner().invoke(command, ["--help"]).output
    assert shown.index("--first") < shown.index("--repair-to") < shown.index("--last"), "in the order of the source"
