"""List the candidate explanations of wrong answers: known implementations and mistakes that deviate from the rule.

=====================  ================================================================================================
kind                   candidates
=====================  ================================================================================================
another release        the reference in every other pinned release that has the rule: ``as-2.3.1``
a known mistake        the mutants of the rule
the wrong form         the right answer in another form: a number as text, another error name, no message
a slip                 off by one in either direction, a field of the question echoed, a constant answer
two mistakes in one    a wrong hash combined with a wrong mapping from hash to partition; either of them, in rules where
                       a key is only part of the question
=====================  ================================================================================================

They are listed in this order, simplest first; of two that explain the same answers, the first one is reported. The *constant
answer* and *another error name* are derived from the wrong answers themselves and so fit them too well:
``kafka_conformance.gate.diagnosis`` requires every candidate to beat chance by a margin. Their descriptions quote the
implementation under test, so reports must escape them like its answers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache, partial
from typing import Any
from unittest.mock import patch

from kafka_conformance.answerers.reference import outcome_of
from kafka_conformance.core.mutant import Ask, Mutant
from kafka_conformance.core.pipeline import Difference
from kafka_conformance.core.protocol import Answer, Answered, Question, to_json
from kafka_conformance.core.rule import Rule
from kafka_conformance.oracle.session import chosen_releases
from kafka_conformance.rules import RULES
from kafka_conformance.rules.murmur2.mutants import HASHES
from kafka_conformance.rules.murmur2.ported_hash_mutants import PORTED_HASHES
from kafka_conformance.rules.mutants import MUTANTS
from kafka_conformance.rules.partition_for_key.hashed_partition_mutants import masked
from kafka_conformance.rules.partition_for_key.mutants import FOLDS, folded
from kafka_conformance.rules.partition_for_key.question import PartitionForKeyQuestion
from kafka_jars.pins import load
from kafka_reference.partitioning import default, producer
from kafka_reference.releases import Release

__all__ = ["READ_OFF", "Candidate", "candidates", "line_of", "pinned"]

READ_OFF = frozenset({"always-the-same", "another-error"})
"""Candidates derived from the wrong answers themselves: they would explain any single wrong answer."""

_KEYED = "partition-for-key"
_LONGEST = 80
_CONSTANT = ("https://github.com/SOHU-Co/kafka-node/issues/1132",)
_HASHED_WITHIN = {"producer-partition": producer, "default-partitioner": default}
"""Rules with a key as part of the question, and the reference module that computes the key's partition."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A known way to answer.

    ``answer`` takes a question and its right answer, and returns the candidate's answer, or None if it has none.
    ``release`` is set for the reference in another release, ``is_mutant`` for a mutant of the rule. A candidate that is
    ``exhaustive`` claims to describe every answer, so it is rejected unless it also gives all the right ones.
    """

    slug: str
    story: str
    answer: Callable[[Question, Answer], Answer | None]
    references: tuple[str, ...] = ()
    release: Release | None = None
    exhaustive: bool = False
    is_mutant: bool = False


def candidates(rule: Rule, release: Release, wrong: Sequence[Difference]) -> Iterator[Candidate]:
    """Return all candidates for this rule in this release, the simplest first."""
    yield from _releases(rule, release)
    yield from (
        replace(_mutant_candidate(mutant, release), is_mutant=True) for mutant in MUTANTS if mutant.rule == rule.slug
    )
    yield from _misspelt(wrong)
    yield from _slips(rule)
    yield from (_mutant_candidate(mutant, release) for mutant in _composed(rule.slug))
    yield from _always(wrong)


def line_of(answer: Answer) -> bytes:
    """Return an answer as JSON, equal answers as equal lines; an answer that JSON cannot express as its Python form."""
    try:
        return to_json(answer)
    except (TypeError, ValueError, OverflowError, RecursionError):
        return ascii(answer).encode()


def _short(text: str) -> str:
    """Shorten an answer of the implementation under test for a description."""
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


@cache
def pinned() -> tuple[Release, ...]:
    """Return the pinned releases, in order."""
    return tuple(chosen_releases("all", load()))


def _answer_by(ask: Ask, release: Release) -> Callable[[Question, Answer], Answer | None]:
    def answer(question: Question, _: Answer) -> Answer | None:
        outcome = outcome_of(ask, question, release)
        return outcome.answer if isinstance(outcome, Answered) else None

    return answer


def _mutant_candidate(mutant: Mutant, release: Release) -> Candidate:
    return Candidate(mutant.slug, mutant.story, _answer_by(mutant.ask, release), mutant.references)


def _releases(rule: Rule, release: Release) -> Iterator[Candidate]:
    """Yield the nearest releases first: recent changes are confused most often."""
    others = [other for other in pinned() if other != release and other in rule.releases]
    before = [other for other in reversed(others) if other < release]
    for other in (*before, *(other for other in others if other > release)):
        yield Candidate(
            f"as-{other}", f"answers as Kafka {other}", partial(_by_release, rule.slug, other), release=other
        )


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
            return dict.fromkeys(right, given) if len(right) == 1 and isinstance(given, int | str) else None

        yield Candidate(f"echo-of-{name.replace('_', '-')}", f"gives back the question's {name}", echo)


def _always(wrong: Sequence[Difference]) -> Iterator[Candidate]:
    counted = Counter(line_of(one.actual) for one in wrong)
    if counted:
        often = counted.most_common(1)[0][0]
        constant = next(one.actual for one in wrong if line_of(one.actual) == often)
        yield Candidate(
            "always-the-same",
            f"answers {_short(often.decode())}, whatever the question",
            lambda _, __: constant,
            _CONSTANT,
            exhaustive=True,
        )


@cache
def _composed(slug: str) -> tuple[Mutant, ...]:
    if slug == _KEYED:
        return (*_hashed_rightly_folded(), *_hashed_wrongly_folded())
    if slug in _HASHED_WITHIN:
        keyed = (*(mutant for mutant in MUTANTS if mutant.rule == _KEYED), *_hashed_rightly_folded())
        return tuple(_within(slug, mutant) for mutant in keyed)
    return ()


def _hashed_rightly_folded() -> Iterator[Mutant]:
    return (_hashed(mistake, masked, mistake.slug, mistake.story, mistake.references) for mistake in _hash_mistakes())


def _hashed_wrongly_folded() -> Iterator[Mutant]:
    references = {mutant.slug: mutant.references for mutant in MUTANTS}
    for mistake in _hash_mistakes():
        for fold, (story, folds) in FOLDS.items():
            both = tuple(dict.fromkeys((*mistake.references, *references[fold])))
            yield _hashed(mistake, folds, f"{mistake.slug}+{fold}", f"{mistake.story}; and {story}", both)


def _hash_mistakes() -> Iterator[Mutant]:
    return (mutant for mutant in MUTANTS if mutant.rule == "murmur2" and mutant.slug != "unsigned-hash")


def _hashed(
    mistake: Mutant, fold: Callable[[int, int], int], slug: str, story: str, references: tuple[str, ...]
) -> Mutant:
    hashes = {**HASHES, **PORTED_HASHES}[mistake.slug][1]
    return Mutant(slug, _KEYED, story, folded(fold, lru_cache(maxsize=4096)(hashes)), references=references)


def _within(slug: str, mutant: Mutant) -> Mutant:
    """Return the mistake about a key's partition as a mutant of a rule that computes one."""

    def ask(question: Any, release: Release) -> Answer:
        with patch.object(_HASHED_WITHIN[slug], "partition_for_key", partition_for_key):
            return RULES[slug].ask(question, release)

    def partition_for_key(key: bytes | None, partitions: int) -> Any:
        answer = mutant.ask(PartitionForKeyQuestion(None if key is None else key.hex(), partitions), mutant.at)
        return answer["partition"]

    return Mutant(f"key:{mutant.slug}", slug, f"of a key: {mutant.story}", ask, mutant.at, mutant.references)
