"""Every command that a page, a help text or a message shows parses; those that need no Java, broker or network run."""

from __future__ import annotations

import re
import shlex
import subprocess
from pathlib import Path

import click
import pytest

from kafka_conformance.cli.main import app

ROOT = Path(__file__).parents[1]
QUICK = {"behaviour", "certificate", "delivery", "explain", "log", "sample", "schema", "trace"}
"""Commands that run here; the others have tests of their own, with Java, brokers or drivers."""

# In a page, at the beginning of a line or of a code span; in Python, in the quotes of a message.
IN_PAGES = re.compile(r"(?:^\s*(?:\$ )?|`|/bin/|&& )kafka-conformance ([^`\n]+)", re.MULTILINE)
IN_SOURCES = re.compile(r"`kafka-conformance ([^`\n{]+)`")
CONTINUED = re.compile(r"\\\n")


def shown_commands() -> dict[str, str]:
    """The commands, each with a file that shows it."""
    listed = subprocess.run(
        ["git", "ls-files", "*.md", "kit/**.py", "reference/**.py", "jars/**.py", "tox.ini"], cwd=ROOT,
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    found = {}
    for name in listed.stdout.splitlines():
        text = CONTINUED.sub("", (ROOT / name).read_text(encoding="utf-8"))
        pattern = IN_SOURCES if name.endswith(".py") else IN_PAGES
        found.update({re.split(r"  #| \| ", command)[0].strip(): name for command in pattern.findall(text)})
    return {command: name for command, name in found.items() if not re.search(r"…|posargs|^@", command)}


COMMANDS = shown_commands()


def parse(words: list[str]) -> None:
    """Parse a command to its last word, as the command line does; nothing is run."""
    command: click.Command | None = app
    context = click.Context(app, info_name="kafka-conformance")
    while isinstance(command, click.Group):
        name, command, words = command.resolve_command(context, words)
    assert command is not None
    command.make_context(name, words, parent=context)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_shown_in_documentation_is_parsed_without_error(command: str) -> None:
    words = shlex.split(command)
    names = app.list_commands(click.Context(app))
    if words == [words[0]] or command in names:  # a mention of the command by its name
        assert command in names, COMMANDS[command]
        return
    try:
        parse(words)
    except click.UsageError as error:
        pytest.fail(f"{COMMANDS[command]} shows `kafka-conformance {command}`: {error.format_message()}")


def runs_here(command: str) -> bool:
    words = shlex.split(command)
    writes = {"--table", "--write", "--check"} & set(words)
    return len(words) > 1 and words[0] in QUICK and not writes and not re.search(r"\b[A-Z]{4,}\b", command)


@pytest.mark.parametrize("command", [command for command in COMMANDS if runs_here(command)])
def test_shown_command_that_needs_no_java_broker_or_driver_runs_and_prints_output(
    command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ROOT)
    with app.make_context("kafka-conformance", shlex.split(command)) as context:
        assert app.invoke(context) == (1 if command.startswith("trace ") else 0)
    assert capsys.readouterr().out


def test_search_finds_more_than_60_commands_in_documentation() -> None:
    assert len(COMMANDS) > 60
    assert sum(map(runs_here, COMMANDS)) > 10
    assert any(name.endswith(".py") for name in COMMANDS.values())
