"""A bench without Java: frozen cases hold what Java answers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from kafka_conformance.answerers.java import JavaAnswerer
from kafka_conformance.core.protocol import Answered, Outcome, Question
from kafka_conformance.core.rule import Rule
from kafka_conformance.kit_mistakes.bench import Bench, cases_of
from kafka_reference.releases import Release


class RecordedOracle:
    """Opens any release, and notes which were closed."""

    jar_sha256, pinned = "ab" * 32, True

    def __init__(self) -> None:
        self.closed: list[str] = []

    def open(self, _: str) -> RecordedOracle:
        return self

    def close_release(self, version: str) -> None:
        self.closed.append(version)


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Bench:
    def answer(_: JavaAnswerer, rule: Rule, __: Release, questions: Sequence[Question]) -> list[Outcome]:
        return [Answered(cases_of(rule.slug)[question].answer) for question in questions]

    monkeypatch.setattr(JavaAnswerer, "answer", answer)
    return Bench(RecordedOracle(), tmp_path)  # type: ignore[arg-type]
