"""``selftest --kit`` with the real Java: the mistakes of the Java half are found, too."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from kafka_conformance.kit_mistakes.run import MISTAKES


def test_selftest_kit_with_java_finds_every_planted_defect(kit: Callable[..., Any], tmp_path: Path) -> None:
    ran = kit("selftest", "--kit")
    assert ran.code == 0, ran.out + ran.err
    assert f"{len(MISTAKES)} of {len(MISTAKES)} mistakes in the kit found" in ran.out
    found = {line.split()[0] for line in ran.out.splitlines() if line and not line.startswith(" ")}
    assert found >= {mistake.slug for mistake in MISTAKES}
    assert not any(word in ran.out for word in ("nothing", "not found by", "red without"))
    assert list(tmp_path.iterdir()) == [], "what the checks write is removed"
