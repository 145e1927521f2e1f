"""The reference pages of all rules, with examples from the frozen cases."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from kafka_conformance.cases.samples import kinds_of, samples
from kafka_conformance.cases.store import Case, frozen
from kafka_conformance.core.errors import KitError
from kafka_conformance.core.protocol import Answer, to_json
from kafka_conformance.core.rule import Rule
from kafka_conformance.reports.rule_page import RuleExample, index_page, rule_page
from kafka_conformance.rules import RULES
from kafka_conformance.rules.mutants import MUTANTS
from kafka_jars.pins import load
from kafka_reference.releases import parse_release

__all__ = ["rule_pages", "write_page"]

_EXAMPLES = 4


def rule_pages() -> dict[str, str]:
    """Return every page by its file name. Raises KitError for a rule without frozen cases."""
    return {"README.md": index_page(RULES.values()), **{f"{slug}.md": write_page(rule) for slug, rule in RULES.items()}}


def write_page(rule: Rule) -> str:
    """Return the page of a rule. Raises KitError if it has no frozen cases."""
    found = frozen(rule)
    if found is None:
        raise KitError(f"{rule.slug} has no frozen cases: make them with kafka-conformance freeze --rules {rule.slug}")
    mutants = [mutant for mutant in MUTANTS if mutant.rule == rule.slug]
    # A question that releases answer differently has a case for each answer.
    questions = [case.typed_question(rule) for case in {bytes(case.question): case for case in found.cases}.values()]
    reasons = [rule.domain(question) for question in questions]
    inside = [question for question, reason in zip(questions, reasons, strict=True) if not reason]
    kinds = frozenset(kind for question in inside for kind in kinds_of(rule, question))
    return rule_page(
        rule, list(_examples(rule, found.cases)), _thrown(found.cases), kinds, _without_numbers(reasons), mutants
    )


def _examples(rule: Rule, cases: tuple[Case, ...]) -> Iterator[RuleExample]:
    """Yield short questions of many kinds in the newest release that has the rule."""
    newest = max(parse_release(name) for name in load().releases if parse_release(name) in rule.releases)
    by_question = {to_json(case.typed_question(rule)): case for case in cases if str(newest) in case.releases}
    for sample in samples(rule, newest, _EXAMPLES, generated=0):
        case = by_question[to_json(sample.question)]
        yield RuleExample(sample.question, case.answer, _in_words(case.releases), sample.kinds)


def _in_words(releases: tuple[str, ...]) -> str:
    return releases[0] if len(releases) == 1 else f"{len(releases)} releases, {releases[0]} to {releases[-1]}"


def _without_numbers(reasons: list[str]) -> list[str]:
    """Return the different reasons; of reasons that differ in a number, one."""
    return list({re.sub(r"[0-9]+", "0", reason): reason for reason in sorted({*reasons} - {""})}.values())


def _thrown(cases: tuple[Case, ...]) -> list[Answer]:
    """Return the different exceptions in the answers, by name; of messages that differ in a value, one."""
    found = [one for case in cases for one in _exceptions(case.answer)]
    found.sort(key=lambda one: (one["raises"], not _message(one).isascii(), _message(one)), reverse=True)
    by_template = {(one["raises"], _without_values(_message(one))): one for one in found}
    return sorted(by_template.values(), key=lambda one: (one["raises"], _message(one)))


def _message(thrown: Answer) -> str:
    return thrown.get("message") or ""


def _without_values(message: str) -> str:
    return re.sub(r"(?s)Invalid value .* for |-?[0-9]+", "0", message)


def _exceptions(value: Any) -> Iterator[Answer]:
    if isinstance(value, dict):
        if isinstance(value.get("raises"), str):
            yield {name: value[name] for name in ("raises", "message") if name in value}
        for one in value.values():
            yield from _exceptions(one)
    elif isinstance(value, list):
        for one in value:
            yield from _exceptions(one)
