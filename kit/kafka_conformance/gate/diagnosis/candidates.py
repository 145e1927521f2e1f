"""List the candidate explanations of wrong answers: known implementations and mistakes that deviate from the rule.

=====================  ================================================================================================
kind                   candidates
=====================  ================================================================================================
another release        the reference in the nearest of the pinned releases in which the rule's classes behave the same:
                       ``as-2.3.1``
a known mistake        the mutants of the rule that people wrote
the wrong form         the right answer in another form: a number as text, another error name, no message
a slip                 off by one in either direction, a field of the question echoed, a constant answer, a sum in 64 bits
keys                   another hash, or the right one over other bytes; a wrong hash combined with a wrong mapping from
                       hash to partition; all of these in rules where a key is only part of the question
                       (``keyed_candidates``)
=====================  ================================================================================================

They are listed in this order, simplest first; of two that explain the same answers, the first one is reported. The *constant
answer* and *another error name* are derived from the wrong answers themselves and so fit them too well:
``diagnosis.diagnosis`` requires every candidate to predict the right answers too, and to beat chance by a margin. Their
descriptions quote the implementation under test, so reports must escape them like its answers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache, lru_cache, partial
from typing import Any

from kafka_conformance.answerers.reference import outcome_of
from kafka_conformance.core.pipeline import Difference
from kafka_conformance.core.protocol import Answer, Answered, Question
from kafka_conformance.core.rule import Rule
from kafka_conformance.gate.diagnosis.candidate import Candidate, line_of, mutant_candidate
from kafka_conformance.gate.diagnosis.keyed_candidates import keyed_candidates
from kafka_conformance.oracle.session import chosen_releases
from kafka_conformance.rules import RULES
from kafka_conformance.rules.eras import behaviour_in
from kafka_conformance.rules.mutants import written_mutants
from kafka_conformance.rules.release_mutants import references_of
from kafka_jars.pins import load
from kafka_reference.releases import Release

__all__ = ["CONSTANT", "READ_OFF", "candidates", "pinned"]

CONSTANT = "always-the-same"
READ_OFF = frozenset({CONSTANT, "another-error"})
"""Candidates derived from the wrong answers themselves: they would explain any single wrong answer."""

_LONGEST = 80
_STEPS = {"sequence-increment": 1, "sequence-decrement": -1}
_CONSTANT = ("https://github.com/SOHU-Co/kafka-node/issues/1132",)


def candidates(rule: Rule, release: Release, wrong: Sequence[Difference]) -> Iterator[Candidate]:
    """Return all candidates for this rule in this release, the simplest first."""
    yield from _releases(rule, release)
    yield from (replace(mutant_candidate(mutant, release), is_mutant=True) for mutant in written_mutants(rule))
    yield from _misspelt(wrong)
    yield from _slips(rule)
    yield from _sums(rule)
    yield from keyed_candidates(rule.slug, release, wrong)
    yield from _always(wrong)


def _short(text: str) -> str:
    """Shorten an answer of the implementation under test for a description."""
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


@cache
def pinned() -> tuple[Release, ...]:
    """Return the pinned releases, in order."""
    return tuple(chosen_releases("all", load()))


def _releases(rule: Rule, release: Release) -> Iterator[Candidate]:
    """Yield the nearest releases first: recent changes are confused most often; of those that behave the same, one."""
    others = [other for other in pinned() if other != release and other in rule.releases]
    before = [other for other in reversed(others) if other < release]
    known = [behaviour_in(rule, release)]
    for other in (*before, *(other for other in others if other > release)):
        if (records := behaviour_in(rule, other)) not in known:
            known.append(records)
            answer, references = partial(_by_release, rule.slug, other), references_of(rule, other)
            yield Candidate(f"as-{other}", f"answers as Kafka {other}", answer, references, release=other)


@lru_cache(maxsize=8192)
def _answered(slug: str, release: Release, question: Question) -> Answer | None:
    """Return a release's answer, cached: a gate of many releases repeats the same questions for every pair."""
    outcome = outcome_of(RULES[slug].ask, question, release)
    return outcome.answer if isinstance(outcome, Answered) else None


def _by_release(slug: str, release: Release, question: Question, _: Answer) -> Answer | None:
    return _answered(slug, release, question)


def _misspelt(wrong: Sequence[Difference]) -> Iterator[Candidate]:
    yield Candidate("numbers-as-text", "numbers are given as text", lambda _, right: _each(right, str))
    yield Candidate("numbers-as-doubles", "numbers are given with a fraction", lambda _, right: _each(right, float))
    yield Candidate("no-message", "an error's message is left out", _without_message)
    renamed = _renamed(wrong)
    if renamed:
        pairs = ", ".join(f"{_short(str(actual['raises']))} in place of {name}" for name, actual in renamed.items())
        yield Candidate(
            "another-error", f"raises {pairs}", lambda _, right: renamed.get(right.get("raises", ""), right)
        )


def _renamed(wrong: Sequence[Difference]) -> dict[str, Answer]:
    """Return the most frequent wrong answer for each error that the implementation under test names differently."""
    counts: dict[str, Counter[bytes]] = {}
    answers = {}
    for one in wrong:
        if "raises" in one.expected and "raises" in one.actual and one.expected["raises"] != one.actual["raises"]:
            line = line_of(one.actual)
            answers[line] = one.actual
            counts.setdefault(one.expected["raises"], Counter())[line] += 1
    return {name: answers[counted.most_common(1)[0][0]] for name, counted in counts.items()}


def _without_message(_: Question, right: Answer) -> Answer:
    return {name: value for name, value in right.items() if name != "message"}


def _each(value: Any, change: Callable[[int], Any]) -> Any:
    """Return a copy with every number in it changed."""
    if isinstance(value, dict):
        return {name: _each(part, change) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_each(part, change) for part in value]
    return change(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _slips(rule: Rule) -> Iterator[Candidate]:
    yield Candidate("one-too-many", "every number is one too high", lambda _, right: _each(right, lambda n: n + 1))
    yield Candidate("one-too-few", "every number is one too low", lambda _, right: _each(right, lambda n: n - 1))
    for name in rule.question.__struct_fields__:

        def echo(question: Question, right: Answer, name: str = name) -> Answer | None:
            given = getattr(question, name)
            if "raises" in right:
                return right
            return dict.fromkeys(right, given) if len(right) == 1 and isinstance(given, int | str) else None

        yield Candidate(f"echo-of-{name.replace('_', '-')}", f"gives back the question's {name}", echo)


def _sums(rule: Rule) -> Iterator[Candidate]:
    """Yield the sum of a sequence and a step in more than 32 bits, for the rules that step through sequences."""
    if (sign := _STEPS.get(rule.slug)) is not None:

        def answer(question: Any, _: Answer) -> Answer:
            return {"sequence": question.sequence + sign * question.by}

        description = "a plain sum in 64 bits, which does not wrap"
        yield Candidate("sum-in-64-bits", description, answer)


def _always(wrong: Sequence[Difference]) -> Iterator[Candidate]:
    counted = Counter(line_of(one.actual) for one in wrong)
    if counted:
        often = counted.most_common(1)[0][0]
        constant = next(one.actual for one in wrong if line_of(one.actual) == often)
        yield Candidate(
            CONSTANT,
            f"answers {_short(often.decode())}, whatever the question",
            lambda _, __: constant,
            _CONSTANT,
        )
