"""``schema``: prints what ships, or writes it."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafka_conformance.answerers.driver.schema import shipped
from kafka_conformance.cli.commands.schema import run
from kafka_conformance.cli.main import app
from kafka_conformance.core.errors import KitError


def test_schema_command_prints_the_shipped_protocol_schema(capsys: pytest.CaptureFixture[str]) -> None:
    with app.make_context("kafka-conformance", ["schema"]) as context:
        assert app.invoke(context) == 0
    assert capsys.readouterr().out == shipped()


def test_schema_write_option_writes_the_shipped_protocol_schema_to_a_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(write=tmp_path / "protocol.json") == 0
    assert (tmp_path / "protocol.json").read_text(encoding="utf-8") == shipped()
    assert capsys.readouterr().out == ""


def test_schema_write_option_with_a_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(KitError, match="cannot be written: Is a directory"):
        run(write=tmp_path)
