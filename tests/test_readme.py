"""What the README says is so: its Python runs, its table is the certificate's, its commands exist."""

from __future__ import annotations

import doctest
import re
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


def test_its_commands_exist_and_no_other() -> None:
    commands = re.search(r"\| command \| what it does \|\n(.*?)\n\n", README, re.DOTALL)
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
