"""Generated questions of a run, in files that its workers share: each rule's questions are generated once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import msgspec

from kafka_conformance.core.files import write_whole
from kafka_conformance.core.rule import Rule
from kafka_conformance.core.sources import Source
from kafka_conformance.verify.verification import VerificationPlan

__all__ = ["QuestionStore"]


class _Stored(msgspec.Struct, frozen=True):
    name: str
    questions: msgspec.Raw
    labels: dict[str, int]


class QuestionStore:
    """The sources of a plan's rules, kept in memory and in ``folder``."""

    def __init__(self, plan: VerificationPlan, folder: Path) -> None:
        self._plan, self._folder = plan, folder
        self._sources: dict[str, Sequence[Source]] = {}

    def sources(self, rule: Rule) -> Sequence[Source]:
        """Return the sources of a rule: from memory, from the file that a worker wrote, or generated and written."""
        if rule.slug not in self._sources:
            path = self._folder / f"{rule.slug}.json"
            self._sources[rule.slug] = _read(path, rule) if path.exists() else self._generate(rule, path)
        return self._sources[rule.slug]

    def _generate(self, rule: Rule, path: Path) -> Sequence[Source]:
        made = self._plan.generate(rule)
        if len(self._plan.releases) > 1:
            stored = [_Stored(s.name, msgspec.Raw(msgspec.json.encode(s.questions)), s.labels) for s in made]
            write_whole(path, msgspec.json.encode(stored))
        return made


def _read(path: Path, rule: Rule) -> Sequence[Source]:
    questions = msgspec.json.Decoder(tuple[rule.question, ...])  # type: ignore[name-defined]
    stored = msgspec.json.decode(path.read_bytes(), type=list[_Stored])
    return [Source(each.name, questions.decode(each.questions), Counter(each.labels)) for each in stored]
