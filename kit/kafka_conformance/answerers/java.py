"""The real Java classes of a release, as an answerer: a batch of questions is one call into Spark's JVM."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from kafka_conformance.core.errors import OracleFault
from kafka_conformance.core.protocol import Answered, Failed, Outcome, Question, Unsupported
from kafka_conformance.core.rule import Rule
from kafka_conformance.oracle.oracle import Oracle
from kafka_conformance.rules import RULES
from kafka_reference.releases import Release

__all__ = ["JavaAnswerer", "outcome_in"]

# Errors by which a JVM says that classes do not fit together. Kafka answers with none of them when its jars are complete.
_LINKAGE_ERRORS = {
    "AbstractMethodError", "ClassCircularityError", "ClassFormatError", "ExceptionInInitializerError", "IllegalAccessError",
    "IncompatibleClassChangeError", "InstantiationError", "LinkageError", "NoClassDefFoundError", "NoSuchFieldError",
    "NoSuchMethodError", "UnsatisfiedLinkError", "UnsupportedClassVersionError", "VerifyError",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class JavaAnswerer:
    """Answers by the classes of whatever release is asked about."""

    oracle: Oracle
    name: str = "java"

    def answer(self, rule: Rule, release: Release, questions: Sequence[Question]) -> list[Outcome]:
        """The outcomes, one for each question. Raises JvmLost, WrongRelease, OracleFault, JarError."""
        if not rule.has_java(release):
            return [Unsupported(f"release {release} has no {rule.slug}")] * len(questions)
        endless = [rule.endless(question, release) for question in questions]
        asked = iter(self._ask(rule, release, [one for one, why in zip(questions, endless, strict=True) if not why]))
        return [Failed(why) if why else next(asked) for why in endless]

    def _ask(self, rule: Rule, release: Release, questions: Sequence[Question]) -> list[Outcome]:
        if not questions:
            return []
        if rule.by_parts is not None:
            return rule.by_parts(lambda slug, parts: self._ask_part(RULES[slug], release, parts), release, questions)
        asked = [{"id": str(number), "rule": rule.slug, "question": q} for number, q in enumerate(questions)]
        lines = b"\n".join(map(msgspec.json.encode, asked))
        opened = self.oracle.open_broker(str(release)) if rule.broker else self.oracle.open(str(release))
        if rule.codecs:
            self.oracle.add_codecs(str(release))
        answered = opened.answer(lines)
        if [line["id"] for line in answered] != [line["id"] for line in asked]:
            raise OracleFault(f"the oracle gave {len(answered)} answers to {len(asked)} questions, or in another order")
        return [outcome_in(line) for line in answered]

    def _ask_part(self, rule: Rule, release: Release, parts: Sequence[dict[str, Any]]) -> list[Outcome]:
        return self.answer(rule, release, [msgspec.convert(part, type=rule.question) for part in parts])


def outcome_in(line: dict[str, object]) -> Outcome:
    """Parse a line of the oracle's output. A linkage error is not an answer: a jar is missing, or of another release."""
    match line:
        case {"answer": dict(answer)}:
            error = _linkage_error(answer)
            return Answered(answer) if error is None else Failed(error)
        case {"unsupported": why}:
            return Unsupported(str(why))
        case _:
            return Failed(str(line.get("failed", "no answer")))


def _linkage_error(answer: dict[str, Any]) -> str | None:
    """Return the linkage error that the answer or one of its steps raises, with its message; None for all others."""
    steps = answer.get("steps")
    for part in (answer, *(steps if isinstance(steps, list) else ())):
        if isinstance(part, dict) and part.get("raises") in _LINKAGE_ERRORS:
            return f"{part['raises']}: {part.get('message', 'in a step')}; the release's jars do not fit together"
    return None
