"""The stage that runs every command has them all, in the install that the page names."""

from __future__ import annotations

from dataclasses import replace

import commands
import pytest
from commands import INSTANCES, JVM, LIGHT, PAGE, all_commands, commands_of_page, faults

NEEDS = commands_of_page(PAGE.read_text(encoding="utf-8"))


def test_the_page_and_the_instances_have_every_command() -> None:
    assert faults(NEEDS, all_commands(), INSTANCES) == []


@pytest.mark.parametrize("name", ["audit", "broker run", "jars list", "sweep"])
def test_a_command_without_an_instance_is_named(name: str) -> None:
    others = [each for each in INSTANCES if commands.command_of(each) != name]
    assert faults(NEEDS, all_commands(), others) == [f"{name} has no instance in commands.py"]


def test_a_command_that_the_page_lacks_is_named() -> None:
    assert faults(NEEDS, all_commands() | {"new"}, INSTANCES) == [
        "new is not in the table of commands.md", "new has no instance in commands.py"
    ]  # fmt: skip


def test_a_command_that_is_only_on_the_page_is_named() -> None:
    assert faults({**NEEDS, "old": ""}, all_commands(), INSTANCES) == ["old is no command, but commands.md has it"]


@pytest.mark.parametrize(("name", "needs"), [("gate", JVM), ("sweep", LIGHT)])
def test_a_command_that_is_tried_in_a_larger_or_smaller_install_is_named(name: str, needs: str) -> None:
    moved = [replace(each, needs=needs) if commands.command_of(each) == name else each for each in INSTANCES]
    (fault,) = faults(NEEDS, all_commands(), moved)
    assert fault.startswith(f"{name} needs ")


@pytest.mark.parametrize(
    ("failure", "code"), [("", 0), ("rules ended with 1, expected 0", "rules ended with 1, expected 0")]
)
def test_the_stage_ends_with_its_failures_and_with_0_without_any(
    monkeypatch: pytest.MonkeyPatch, failure: str, code: int | str
) -> None:
    monkeypatch.setattr(commands, "tried", lambda *_: failure)
    with pytest.raises(SystemExit) as ended:
        commands.main(["rules"])
    assert ended.value.code == code
