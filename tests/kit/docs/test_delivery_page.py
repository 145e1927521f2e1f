"""The page on delivery: each command on it prints what the page shows."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from kafka_conformance.cli.main import app
from kafka_reference.delivery.produce_errors import PRODUCE_ERRORS

PAGE = (Path(__file__).parents[3] / "kit" / "docs" / "delivery.md").read_text(encoding="utf-8")
SHOWN = re.findall(r"```\n\$ kafka-conformance (delivery[^\n]*)\n(.*?)```", PAGE, re.DOTALL)


@pytest.mark.parametrize(("command", "printed"), SHOWN, ids=[command for command, _ in SHOWN])
def test_delivery_page_command_prints_output_shown(
    command: str, printed: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with app.make_context("kafka-conformance", shlex.split(command)) as context:
        assert app.invoke(context) == 0
    assert [line.rstrip() for line in capsys.readouterr().out.strip("\n").splitlines()] == printed.splitlines()


def test_delivery_page_table_lists_all_fault_options() -> None:
    faults = {one.opts[0] for one in app.get_command(None, "delivery").params if getattr(one, "multiple", False)}
    assert len(faults) >= 12
    assert set(re.findall(r"\| `(--[a-z-]+) N", PAGE)) == faults
    assert len(SHOWN) >= 10


def test_delivery_page_lists_every_produce_error_as_before_or_after_append_or_never() -> None:
    rows = re.findall(r"^\| (`[A-Z_]+`.*) \| (before|after|never)[^|]*\|$", PAGE, re.MULTILINE)
    named = [(name, when) for errors, when in rows for name in re.findall("[A-Z_]{5,}", errors)]
    moments = {name: given.moment.value.partition(" ")[0] for name, given in PRODUCE_ERRORS.items()}
    assert sorted(named) == sorted(moments.items())
