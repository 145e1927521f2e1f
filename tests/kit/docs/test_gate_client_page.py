"""The page of ``gate client``: its findings, scripts, variables, adapter and options are those of the command."""

from __future__ import annotations

import re
from pathlib import Path

import click
import pytest

pytest.importorskip("kafka")

from kafka_conformance.cli.main import app
from kafka_conformance.wire.client_gate.promises import KINDS, ResultLine
from kafka_conformance.wire.client_gate.script import Settings, shipped

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "kit/docs/gate-client.md").read_text(encoding="utf-8")


def rows(head: str) -> dict[str, str]:
    """Return the first two columns of the table with this head."""
    table = PAGE.partition(f"| {head} |")[2].partition("\n\n")[0]
    return dict(re.findall(r"^\| `([^`]+)` \| (.*?) \|", table, re.MULTILINE))


def test_gate_client_page_lists_every_kind_of_finding_with_the_meaning_that_the_command_prints() -> None:
    assert rows("finding | what it means") == dict(KINDS)


def test_gate_client_page_lists_every_script_with_title_and_description_in_file_order() -> None:
    found = rows("script | what it shows")
    assert list(found) == [script.id for script in shipped()]
    for script in shipped():
        assert found[script.id].lower().startswith(script.title.lower())
        assert script.about in found[script.id]


def test_gate_client_page_shows_the_current_source_of_the_kafka_python_adapter() -> None:
    adapter = (ROOT / "ci/adapters/kafka_python_adapter.py").read_text(encoding="utf-8")
    assert f"```python\n{adapter}```" in PAGE


def test_gate_client_page_names_every_environment_variable_of_an_adapter() -> None:
    for name in (
        *Settings().environment(),
        "BOOTSTRAP",
        "TOPIC",
        "GROUP",
        "CLIENT_ID",
        "WORKLOAD",
        "RESULTS",
        "TIMEOUT_MS",
    ):
        assert f"`{name}`" in PAGE


def test_gate_client_page_shows_every_field_of_an_adapter_result_line() -> None:
    shown = PAGE.partition("It writes to `RESULTS`")[2].partition("\n\nKeys")[0]
    assert all(f'"{name}":' in shown for name in ResultLine.__struct_fields__)


def test_commands_page_row_of_gate_client_names_every_option_except_report_options() -> None:
    command = app.get_command(click.Context(app), "gate client")
    assert command is not None
    line = next(
        each for each in (ROOT / "kit/docs/commands.md").read_text(encoding="utf-8").splitlines()
        if each.startswith("| `gate client")
    )  # fmt: skip
    reports = {"--junit", "--markdown", "--html", "--badge", "--github", "--events", "--write-known-failures"}
    for option in command.params:
        if isinstance(option, click.Option) and not reports & set(option.opts):
            assert any(name in line for name in option.opts), option.opts


@pytest.mark.parametrize("path", sorted((ROOT / "ci/adapters").glob("*.py")), ids=lambda each: str(each.name))
def test_client_adapter_has_at_most_45_nonblank_lines(path: Path) -> None:
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    assert len(lines) <= 45
