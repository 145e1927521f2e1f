"""Which questions of a gate to ask: patterns of rules, kinds of question and ids, as a shell writes them.

========================= =============================================================
``murmur2``               every question of a rule
``murmur2/*empty*``       the questions of a rule that are of a kind
``*/wraps``               the questions of a kind, of any rule
``5d41402abc4b2a76``      one question, by the id that a report or a frozen case names
========================= =============================================================

A question is asked if a pattern of ``run`` matches, or there are none, and no pattern of ``skip`` does.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Protocol, TypeVar

from kafka_conformance.core.errors import BadInput
from kafka_conformance.core.protocol import Question, question_id
from kafka_conformance.core.rule import Rule
from kafka_conformance.core.suggestion import did_you_mean
from kafka_conformance.rules import RULES
from kafka_reference.releases import Release

__all__ = ["EVERYTHING", "Selection", "check_patterns", "select"]

_ID = re.compile(r"[0-9a-f]{8,16}")


@dataclass(frozen=True, slots=True)
class Selection:
    """Patterns of questions to ask, and of questions to leave out."""

    run: tuple[str, ...] = ()
    skip: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.run or self.skip)

    def __str__(self) -> str:
        parts = [f"{option} {pattern}" for option in ("run", "skip") for pattern in getattr(self, option)]
        return ", ".join(parts)

    def may_select(self, rule: Rule) -> bool:
        """Whether any question of a rule can be asked."""
        if any("/" not in pattern and fnmatchcase(rule.slug, pattern) for pattern in self.skip):
            return False
        return not self.run or any(_is_id(one) or fnmatchcase(rule.slug, one.partition("/")[0]) for one in self.run)

    def selects(self, rule: Rule, release: Release, question: Question) -> bool:
        """Whether to ask a question."""
        if not self:
            return True
        # Labels may run the reference, and a gate of one id passes all questions of all rules.
        kinds = () if all(map(_is_id, (*self.run, *self.skip))) else rule.labels(question)
        names = [rule.slug, *(f"{rule.slug}/{kind}" for kind in kinds)]
        identity = question_id(rule.slug, str(release), question)
        if any(_matches(pattern, names, identity) for pattern in self.skip):
            return False
        return not self.run or any(_matches(pattern, names, identity) for pattern in self.run)


EVERYTHING = Selection()


def check_patterns(patterns: Iterable[str]) -> tuple[str, ...]:
    """Return patterns if each is an id, or names a rule. Raises BadInput."""
    return tuple(_checked(patterns))


class _Named(Protocol):
    @property
    def id(self) -> str: ...


_T = TypeVar("_T", bound=_Named)


def select(noun: str, found: Sequence[_T], patterns: Sequence[str], skip: Sequence[str]) -> list[_T]:
    """Return what matches one of ``patterns``, or all if there are none, and none of ``skip``. Raises BadInput.

    ``noun`` says what they are; the part of an id before ``/`` is its group.
    """
    names = [each.id for each in found]
    for pattern in (*patterns, *skip):
        if not any(fnmatchcase(name, pattern) for name in names):
            groups = ", ".join(f"{group}/*" for group in dict.fromkeys(name.partition("/")[0] for name in names))
            raise BadInput(f"no {noun} matches {pattern!r}: {did_you_mean(pattern, names, f'the groups are {groups}')}")
    selected = [
        each for each in found
        if (not patterns or any(fnmatchcase(each.id, one) for one in patterns))
        and not any(fnmatchcase(each.id, one) for one in skip)
    ]  # fmt: skip
    if not selected:
        raise BadInput(f"no {noun} is left to run: --skip matches all that --run selects")
    return selected


def _checked(patterns: Iterable[str]) -> Iterator[str]:
    for pattern in patterns:
        slug = pattern.partition("/")[0]
        if not _is_id(pattern) and not any(fnmatchcase(known, slug) for known in RULES):
            raise BadInput(
                f"no rule matches {pattern!r}, which is not RULE, RULE/KIND or an id: {did_you_mean(slug, RULES)}"
            )
        yield pattern


def _matches(pattern: str, names: Iterable[str], identity: str) -> bool:
    if _is_id(pattern):
        return identity.startswith(pattern)
    return any(fnmatchcase(name, pattern) for name in names)


def _is_id(pattern: str) -> bool:
    return _ID.fullmatch(pattern) is not None
