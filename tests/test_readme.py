"""What the README says is so: its Python runs, its table is the certificate's, its commands exist."""

from __future__ import annotations

import doctest
import re
import shlex
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from kafka_conformance.cli.main import app
from kafka_conformance.verify import certificate as certificates
from kafka_reference import certificate

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_its_python_runs() -> None:
    pytest.importorskip("pyarrow")
    examples = doctest.DocTestParser().get_doctest(README, {}, "README.md", "README.md", 0)
    assert len(examples.examples) >= 8
    results = doctest.DocTestRunner().run(examples)
    assert results.failed == 0


def test_its_table_is_the_certificate_that_ships() -> None:
    shown = re.search(r"<!-- certificate:[^\n]*-->\n(.*?)<!-- /certificate -->", README, re.DOTALL)
    assert shown is not None
    assert shown.group(1) == certificates.markdown(certificate())


def test_the_page_of_commands_has_every_command_and_no_other() -> None:
    page = (ROOT / "kit" / "docs" / "commands.md").read_text(encoding="utf-8")
    commands = re.search(r"\| command \| needs \| what it does \|\n(.*?)\n\n", page, re.DOTALL)
    assert commands is not None
    named = {
        word.split()[0]
        for row in commands.group(1).splitlines()[1:]
        for word in re.findall(r"`([^`]+)`", row.split("|")[1])
    }
    assert named == set(app.list_commands(None))


def test_every_command_explains_itself() -> None:
    for name in app.list_commands(None):
        shown = CliRunner().invoke(app, [name, "--help"])
        assert shown.exit_code == 0
        assert "Usage" in shown.output


def test_ci_runs_the_readmes_own_test_command() -> None:
    blocks = re.findall(r"```sh\n(.*?)\n```", README, re.DOTALL)
    assert len(blocks) == 2
    assert blocks[1] in (ROOT / ".ci" / "run").read_text(encoding="utf-8")


@pytest.mark.parametrize(("number", "mask"), [(0, "0x7FFFFFFF"), (1, "0xFFFFFFFF")])
def test_its_gates_print_what_it_shows(number: int, mask: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    command = next(line for line in README.splitlines() if line.startswith("$ kafka-conformance gate"))
    (tmp_path / "driver.py").write_text((ROOT / shlex.split(command)[-1]).read_text().replace("0x7FFFFFFF", mask))
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GITHUB_ACTIONS", raising=False)
    words = [*shlex.split(command)[2:-2], sys.executable, "driver.py"]
    printed = CliRunner().invoke(app, words, standalone_mode=False).stdout
    shown = re.findall(r"```text\n(.*?)```", README, re.DOTALL)[number]
    # The number of fresh questions depends on the constants that Hypothesis finds in loaded code.
    lines = iter(_without_numbers(printed))
    for line in _without_numbers(shown):
        assert any(each.startswith(line) for each in lines), f"{line} is not printed:\n{printed}"


def _without_numbers(text: str) -> list[str]:
    return [" ".join(re.sub(r"\b[\d,.]*\d\b", "N", line).split()) for line in text.splitlines()]


def test_its_clients_are_those_of_their_page() -> None:
    shown = re.search(r"\| client \| as Java by default\? \|[^\n]*\n\|[-|]+\n(.*?)\n\n", README, re.DOTALL)
    assert shown is not None
    page = (ROOT / "kit" / "docs" / "clients.md").read_text(encoding="utf-8")
    every = [[cell.strip() for cell in line[1:-1].split("|")] for line in page.splitlines() if line.startswith("| ")]
    newest: dict[str, list[str]] = {}
    for link, version, *cells in every[1:]:
        name = link[1:].partition("](clients/")[0]
        newest.setdefault(name, [f"{name} {version.split()[0]}", *cells[:2]])
    rows = [[cell.strip() for cell in line[1:-1].split("|")] for line in shown.group(1).splitlines()]
    assert rows == list(newest.values())
    assert len(rows) > 10
