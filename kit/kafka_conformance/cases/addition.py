"""Add chosen questions to the frozen cases: Java answers only these, and the present cases are unchanged.

A file of questions has one JSON object on each line: ``{"rule": "murmur2", "question": {"key": "00"}}``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

import msgspec

from kafka_conformance.cases.generation import RuleCases
from kafka_conformance.cases.store import Frozen
from kafka_conformance.core.decoding import UNREADABLE, decode_question
from kafka_conformance.core.errors import BadInput, KitError
from kafka_conformance.core.files import exists, read_bytes, write_whole
from kafka_conformance.core.protocol import Question
from kafka_conformance.core.rule import Rule
from kafka_conformance.rules import RULES

__all__ = ["ChosenQuestion", "append_questions", "merge_cases", "read_questions"]


class ChosenQuestion(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A question that is to become a frozen case."""

    rule: str
    """The rule's slug."""
    question: msgspec.Raw
    """The question, as JSON."""


def read_questions(path: Path, rules: Mapping[str, Rule] = RULES) -> dict[str, list[Question]]:
    """Return the questions of a file by rule, each once. Raises BadInput, with the line."""
    found: dict[str, dict[Question, None]] = {}
    for number, line in enumerate(read_bytes(path).splitlines(), 1):
        if not line.strip():
            continue
        try:
            one = msgspec.json.decode(line, type=ChosenQuestion)
            if one.rule not in rules:
                raise BadInput(f"{path}, line {number}: unknown rule {one.rule!r}: see kafka-conformance rules")
            question = decode_question(one.question, rules[one.rule].question)
        except UNREADABLE as error:
            raise BadInput(f"{path}, line {number} is not a rule and its question: {error}") from error
        found.setdefault(one.rule, {})[question] = None
    if not found:
        raise BadInput(f'{path} has no question: expected lines like {{"rule": "murmur2", "question": {{…}}}}')
    return {slug: list(questions) for slug, questions in found.items()}


def append_questions(path: Path, questions: Iterable[ChosenQuestion]) -> int:
    """Add questions to a file that may be there already; return how many it has then. Raises KitError."""
    lines = read_bytes(path).splitlines() if exists(path) else []
    every = list(dict.fromkeys([*lines, *map(msgspec.json.encode, questions)]))
    write_whole(path, b"".join(line + b"\n" for line in every))
    return len(every)


def merge_cases(earlier: Frozen | None, made: RuleCases) -> RuleCases:
    """Return the cases that are there, followed by those of ``made`` that are new.

    What ``made`` reports of mutants and kinds is dropped: the added cases alone need not kill all, or be of every kind.
    Raises KitError if the cases that are there come from other jars.
    """
    kept = () if earlier is None else earlier.cases
    names = {case.id for case in kept}
    cases = (*kept, *(case for case in made.frozen.cases if case.id not in names))
    provenance = made.frozen.provenance if earlier is None else earlier.provenance
    if provenance.jars != made.frozen.provenance.jars:
        raise KitError(
            f"the cases of {made.rule.slug} are of other jars than the pinned ones: run freeze --extend first"
        )
    merged = Frozen(msgspec.structs.replace(provenance, cases=len(cases)), cases)
    return replace(made, frozen=merged, survivors=(), missing_labels=())
