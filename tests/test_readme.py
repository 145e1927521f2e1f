"""The README is short and true: its Python runs, its gate prints what it shows, its clients are those of their page."""

from __future__ import annotations

import doctest
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from click.testing import CliRunner

from kafka_conformance.cli.main import app

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
DOORS = ("gate -- python3 kit/docs/examples/driver.py", "audit TOPIC --bootstrap-server HOST:PORT",
         "changes 2.8.2 3.9.2 --role producer")  # fmt: skip
"""The command of each door: for maintainers of clients and brokers, for operators, for those who upgrade."""


def doors_of(page: str) -> list[tuple[str, str]]:
    """The doors of a page, as their words and their command; links are their text."""
    text = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", page)
    return re.findall(r"^(\*\*I (?:.+\n)+)\n {4}\$ kafka-conformance (.*)$", text, re.MULTILINE)


def test_readme_is_at_most_eight_kilobytes() -> None:
    assert len(README.encode()) <= 8192


def test_first_screen_of_the_readme_has_install_and_three_entry_commands() -> None:
    screen = README.splitlines()[:24]
    assert [line for line in screen if len(line) > 80] == []
    assert tuple(command for _, command in doors_of("\n".join(screen))) == DOORS
    assert "    $ pip install ." in screen


def test_start_page_of_the_site_has_the_entry_commands_of_the_readme() -> None:
    assert doors_of((ROOT / "kit" / "docs" / "README.md").read_text(encoding="utf-8")) == doors_of(README)


def test_changes_command_shown_in_the_readme_prints_changes_without_java(capsys: pytest.CaptureFixture[str]) -> None:
    with app.make_context("kafka-conformance", shlex.split(DOORS[2])) as context:
        assert app.invoke(context) == 0
    printed = capsys.readouterr().out
    assert "KAFKA-10888" in printed
    assert "3.3.0" in printed


def test_readme_languages_equal_example_folders_and_python_driver_has_at_most_40_lines() -> None:
    examples = ROOT / "kit" / "docs" / "examples"
    folders = {"C#": "csharp", "Go": "go", "Java": "java", "JavaScript": "javascript", "Rust": "rust"}
    (named,) = re.findall(r"Start from one in\n  (.*) \(`kit/docs/examples`\)", README)
    assert re.split(r", | or ", named) == sorted([*folders, "Python"])
    assert all((examples / folder).is_dir() for folder in folders.values())
    assert len((examples / "driver.py").read_text(encoding="utf-8").splitlines()) <= 40


def test_python_examples_in_the_readme_pass_doctest() -> None:
    examples = doctest.DocTestParser().get_doctest(README, {}, "README.md", "README.md", 0)
    assert len(examples.examples) >= 2
    results = doctest.DocTestRunner().run(examples)
    assert results.failed == 0


def test_python_versions_in_the_readme_equal_the_package_classifiers() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    classified = re.findall(r":: (3\.\d+)$", "\n".join(project["classifiers"]), re.MULTILINE)
    assert sorted(set(re.findall(r"\b3\.1\d\b", README))) == sorted(classified)


def test_kafka_reference_imports_without_unix_only_modules() -> None:
    program = (
        "import sys\n"
        "for name in ('fcntl', 'grp', 'pty', 'pwd', 'resource', 'syslog', 'termios', 'tty'): sys.modules[name] = None\n"
        "import signal; del signal.SIGALRM, signal.setitimer\n"
        "import importlib, pkgutil, kafka_reference\n"
        "for one in pkgutil.walk_packages(kafka_reference.__path__, 'kafka_reference.'):\n"
        "    if one.name != 'kafka_reference.bulk': importlib.import_module(one.name); print(one.name)\n"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
    assert ran.returncode == 0, ran.stderr
    assert len(ran.stdout.splitlines()) > 50


def test_commands_page_lists_exactly_the_existing_commands() -> None:
    page = (ROOT / "kit" / "docs" / "commands.md").read_text(encoding="utf-8")
    commands = re.search(r"\| command \| needs \| what it does \|\n(.*?)\n\n", page, re.DOTALL)
    assert commands is not None
    shown = set(app.list_commands(None))  # also ones of two words, such as `gate broker`
    named = {
        two if (two := " ".join(word.split()[:2])) in shown else word.split()[0]
        for row in commands.group(1).splitlines()[1:]
        for word in re.findall(r"`([^`]+)`", row.split("|")[1])
    }
    assert named == shown


def test_every_command_prints_usage_with_help() -> None:
    for name in app.list_commands(None):
        shown = CliRunner().invoke(app, [name, "--help"])
        assert shown.exit_code == 0
        assert "Usage" in shown.output


def test_ci_script_runs_the_test_command_of_the_readme() -> None:
    blocks = re.findall(r"```sh\n(.*?)\n```", README, re.DOTALL)
    assert len(blocks) == 2
    assert blocks[1] in (ROOT / ".ci" / "run").read_text(encoding="utf-8")


def test_failing_gate_of_the_readme_prints_the_lines_shown_there(tmp_path: Path) -> None:
    shown_commands = r"^\$ sed (\S+) (\S+) > (\S+)\n\$ kafka-conformance (gate .*) -- python3 \3$"
    ((edit, driver, copy, command),) = re.findall(shown_commands, README, re.MULTILINE)
    _, right, wrong, _ = edit.split("/")
    text = (ROOT / driver).read_text(encoding="utf-8")
    assert right in text
    (tmp_path / copy).write_text(text.replace(right, wrong), encoding="utf-8")
    # In a process of the command alone: Hypothesis takes constants from all loaded code, which is a minute's work here.
    words = [
        sys.executable,
        "-m",
        "kafka_conformance",
        *shlex.split(command),
        "--no-github",
        "--",
        sys.executable,
        copy,
    ]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 1, done.stderr
    (shown,) = re.findall(r"```text\n(.*?)```", README, re.DOTALL)
    # The number of fresh questions depends on the versions of Python and Hypothesis.
    lines = iter(_without_numbers(done.stdout))
    for line in _without_numbers(shown):
        assert any(each.startswith(line.partition("…")[0]) for each in lines), f"{line} is not printed:\n{done.stdout}"


def _without_numbers(text: str) -> list[str]:
    return [" ".join(re.sub(r"\b[\d,.]*\d\b", "N", line).split()) for line in text.splitlines()]


def test_client_table_of_the_readme_equals_the_clients_page() -> None:
    page = (ROOT / "kit" / "docs" / "clients.md").read_text(encoding="utf-8")
    newest: dict[str, list[str]] = {}
    for client, version, default, *cells in _first_table(page, "client"):
        name = re.sub(r"^\[(.*)\]\(.*\)$", r"\1", client)
        newest.setdefault(name, [f"{name} {version.split()[0]}", default.partition(":")[0], cells[0]])
    assert _first_table(README, "client") == list(newest.values())
    assert len(newest) > 10


def _first_table(text: str, column: str) -> list[list[str]]:
    """The rows of the first table whose first column has this name."""
    rows = re.search(rf"^\| {column} \|[^\n]*\n\|[-|]+\n(.*?)\n\n", text, re.DOTALL | re.MULTILINE)
    assert rows is not None
    return [[cell.strip() for cell in line[1:-1].split("|")] for line in rows[1].splitlines()]


def test_newest_section_of_the_changelog_fits_in_40_lines() -> None:
    newest = re.split(r"^## ", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), flags=re.MULTILINE)[1]
    assert re.match(r"\d+\.\d+\.\d+ ", newest)
    assert len(newest.splitlines()) <= 40
