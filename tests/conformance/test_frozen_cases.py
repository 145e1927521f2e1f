"""Frozen cases and the real Java: made, held to, and an answer that was broken on purpose is found."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from kafka_conformance.cases import read, write

pytestmark = pytest.mark.jvm

RULES = "sequence-increment,delivery"


def test_what_is_frozen_holds_and_what_was_broken_does_not(kit: Callable, tmp_path: Path) -> None:
    made = kit("freeze", "--rules", RULES, "--examples", "40", "--seed", "3", "--folder", "cases")
    assert made.code == 0, made
    held = kit("freeze", "--check", "cases", "--rules", RULES)
    assert held.code == 0, held
    assert "all as frozen" in held.out
    path = tmp_path / "cases" / "sequence-increment.ndjson"
    found = read(path)
    first, *rest = found.cases
    wrong = msgspec.structs.replace(first, answer={"sequence": first.answer["sequence"] ^ 1})
    write(path, found.provenance, [wrong, *rest])
    broken = kit("freeze", "--check", "cases", "--rules", RULES)
    assert broken.code == 1, broken
    assert f"sequence-increment {first.id} in 4.4.0: frozen" in broken.out
    write(path, found.provenance, [msgspec.structs.replace(first, id="0" * 16), *rest])
    damaged = kit("freeze", "--check", "cases", "--rules", RULES)
    assert damaged.code == 2, damaged
    assert "0000000000000000 is not the name of its content" in damaged.err
