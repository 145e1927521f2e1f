"""Keys, partition counts, and the partitions that Java gives them: the frozen cases of the newest release."""

from __future__ import annotations

from kafka_conformance.cases.store import frozen
from kafka_conformance.rules import RULES

__all__ = ["TEXT", "cases"]

TEXT = 'keys holds string: give encoding="utf-8"'
"""Part of the error for keys that are text."""
RULE = RULES["partition-for-key"]


def cases() -> list[tuple[bytes, int, int]]:
    """Key, count and partition, as Java has them in the newest release."""
    found = frozen(RULE)
    assert found is not None
    newest = list(found.provenance.jars)[-1]
    asked = [(case.typed_question(RULE), case.answer) for case in found.at(newest)]
    return [(bytes.fromhex(question.key), question.partitions, int(str(answer["partition"])))  # type: ignore[attr-defined]
            for question, answer in asked if "partition" in answer]  # fmt: skip
