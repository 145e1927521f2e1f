"""The Java half with an edit: what is compiled has it, and what ships stays as it is."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import pytest

from kafka_conformance.core.errors import KitError
from kafka_conformance.kit_mistakes.bench import Bench
from kafka_conformance.kit_mistakes.java_half import changed_java
from kafka_conformance.oracle import oracle as oracles
from kafka_jars import ORACLE_SOURCES

FILE = "rule/QuestionDraws.java"


def test_java_edit_is_in_the_sources_during_the_block_and_shipped_files_stay_unchanged(bench: Bench) -> None:
    shipped = (ORACLE_SOURCES / "release" / FILE).read_text(encoding="utf-8")
    known: Any = oracles.java_sources  # type: ignore[attr-defined]
    with changed_java(bench, (FILE, "draws.get(taken)", "draws.get(0)")):
        sources = oracles.java_sources(["kafkaoracle.builtin_partitioner.BuiltInPartitionerRule"])  # type: ignore[attr-defined]
        (edited,) = [path for path in sources if path.name == "QuestionDraws.java"]
        assert "draws.get(0)" in edited.read_text(encoding="utf-8")
        assert bench.oracle.closed == ["3.9.2"]  # type: ignore[attr-defined]
    assert bench.oracle.closed == ["3.9.2", "3.9.2"]  # type: ignore[attr-defined]
    assert oracles.java_sources is known  # type: ignore[attr-defined]
    assert not edited.exists()
    assert (ORACLE_SOURCES / "release" / FILE).read_text(encoding="utf-8") == shipped


@pytest.mark.parametrize(("text", "times"), [("no such text", "0"), ("draws.get", "1"), ("taken", "[2-9]|1\\d")])
def test_java_edit_whose_text_does_not_occur_exactly_once_raises_kit_error(bench: Bench, text: str, times: str) -> None:
    expected = nullcontext() if times == "1" else pytest.raises(KitError, match=rf"{text!r} ({times}) times")
    with expected, changed_java(bench, (FILE, text, text)):
        pass
    assert not (bench.folder / "release").exists()
