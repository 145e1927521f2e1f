"""The stage that runs every command has them all, in the install that the page names."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import commands
import pytest
from commands import AUDIT, INSTANCES, JVM, LIGHT, PAGE, WIRE, all_commands, commands_of_page, faults

NEEDS = commands_of_page(PAGE.read_text(encoding="utf-8"))


def test_commands_page_and_examples_cover_every_command() -> None:
    assert faults(NEEDS, all_commands(), INSTANCES) == []


@pytest.mark.parametrize("name", ["audit", "broker run", "jars list", "sweep"])
def test_command_without_an_example_invocation_is_reported(name: str) -> None:
    others = [each for each in INSTANCES if commands.command_of(each) != name]
    assert faults(NEEDS, all_commands(), others) == [f"{name} has no instance in commands.py"]


def test_command_missing_from_the_commands_page_is_reported() -> None:
    assert faults(NEEDS, all_commands() | {"new"}, INSTANCES) == [
        "new is not in the table of commands.md", "new has no instance in commands.py"
    ]  # fmt: skip


def test_removed_command_still_on_the_commands_page_is_reported() -> None:
    assert faults({**NEEDS, "old": "light"}, all_commands(), INSTANCES) == [
        "old is not a command, but commands.md has it"
    ]


@pytest.mark.parametrize(
    ("name", "needs"),
    [
        ("gate", "`[jvm]`"), ("sweep", "light"), ("rules", ""), ("answer", "light"), ("skew", "`[jvm]`"),
        ("verify", "`[jvm]`; light for `--shipped`"),
    ],
)  # fmt: skip
def test_wrong_install_extra_on_the_commands_page_is_reported(name: str, needs: str) -> None:
    (fault,) = faults({**NEEDS, name: needs}, all_commands(), INSTANCES)
    assert fault.startswith(f"{name} needs {needs or 'nothing'} by commands.md, but its instances run in ")


def test_wrong_broker_requirement_on_the_commands_page_is_reported() -> None:
    assert commands.brokers_of(all_commands()) == {"audit", "gate broker", "gate client", "join", "record", "repair"}
    without = NEEDS["audit"].replace("a broker", "")
    assert faults({**NEEDS, "audit": without}, all_commands(), INSTANCES) == [
        f"audit has an option for a broker, but needs {without} by commands.md"
    ]
    assert faults({**NEEDS, "rules": "light; a broker"}, all_commands(), INSTANCES) == [
        "rules has no option for a broker, but needs light; a broker by commands.md"
    ]


def test_examples_with_java_run_in_current_install_others_in_light_audit_or_wire_installs() -> None:
    installs = commands.Installs(Path("unused"))
    folders = {installs.scripts(each.needs) for each in INSTANCES if each.has_java}
    assert folders == {Path(sys.executable).parent}
    assert {each.needs for each in INSTANCES if not each.has_java} == {LIGHT, AUDIT, WIRE}


@pytest.mark.parametrize(("name", "needs"), [("gate", JVM), ("sweep", LIGHT)])
def test_example_run_in_another_install_than_documented_is_reported(name: str, needs: str) -> None:
    moved = [replace(each, needs=needs) if commands.command_of(each) == name else each for each in INSTANCES]
    (fault,) = faults(NEEDS, all_commands(), moved)
    assert fault.startswith(f"{name} needs ")


@pytest.mark.parametrize(
    ("failure", "code"), [("", 0), ("rules ended with 1, expected 0", "rules ended with 1, expected 0")]
)
def test_ci_script_running_every_command_exits_0_or_with_the_message_of_a_failure(
    monkeypatch: pytest.MonkeyPatch, failure: str, code: int | str
) -> None:
    monkeypatch.setattr(commands, "tried", lambda *_: failure)
    with pytest.raises(SystemExit) as ended:
        commands.main(["rules"])
    assert ended.value.code == code
