"""The stage that runs every command has them all, in the install that the page names."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import commands
import pytest
from commands import AUDIT, INSTANCES, JVM, LIGHT, PAGE, WIRE, all_commands, commands_of_page, faults

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
    assert faults({**NEEDS, "old": "light"}, all_commands(), INSTANCES) == ["old is no command, but commands.md has it"]


@pytest.mark.parametrize(
    ("name", "needs"),
    [
        ("gate", "`[jvm]`"), ("sweep", "light"), ("rules", ""), ("answer", "light"), ("skew", "`[jvm]`"),
        ("verify", "`[jvm]`; light for `--shipped`"),
    ],
)  # fmt: skip
def test_install_on_the_page_other_than_that_of_the_instances_is_named(name: str, needs: str) -> None:
    (fault,) = faults({**NEEDS, name: needs}, all_commands(), INSTANCES)
    assert fault.startswith(f"{name} needs {needs or 'nothing'} by commands.md, but its instances run in ")


def test_broker_that_the_page_leaves_out_or_adds_is_named() -> None:
    assert commands.brokers_of(all_commands()) == {"audit", "gate broker", "record"}
    without = NEEDS["audit"].replace("a broker", "")
    assert faults({**NEEDS, "audit": without}, all_commands(), INSTANCES) == [
        f"audit has an option for a broker, but needs {without} by commands.md"
    ]
    assert faults({**NEEDS, "rules": "light; a broker"}, all_commands(), INSTANCES) == [
        "rules has no option for a broker, but needs light; a broker by commands.md"
    ]


def test_extras_beside_jvm_run_in_the_install_of_this_python() -> None:
    installs = commands.Installs(Path("unused"))
    folders = {installs.scripts(each.needs) for each in INSTANCES if each.has_java}
    assert folders == {Path(sys.executable).parent}
    assert {each.needs for each in INSTANCES if not each.has_java} == {LIGHT, AUDIT, WIRE}


@pytest.mark.parametrize(("name", "needs"), [("gate", JVM), ("sweep", LIGHT)])
def test_a_command_that_is_tried_in_a_larger_or_smaller_install_is_named(name: str, needs: str) -> None:
    moved = [replace(each, needs=needs) if commands.command_of(each) == name else each for each in INSTANCES]
    (fault,) = faults(NEEDS, all_commands(), moved)
    assert fault.startswith(f"{name} needs ")


@pytest.mark.parametrize(
    ("failure", "code"), [("", 0), ("rules ended with 1, expected 0", "rules ended with 1, expected 0")]
)
def test_commands_stage_exits_with_1_after_a_failure(
    monkeypatch: pytest.MonkeyPatch, failure: str, code: int | str
) -> None:
    monkeypatch.setattr(commands, "tried", lambda *_: failure)
    with pytest.raises(SystemExit) as ended:
        commands.main(["rules"])
    assert ended.value.code == code
