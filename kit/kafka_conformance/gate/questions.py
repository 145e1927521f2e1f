"""The questions that a gate asks about a rule, and the expected answers: earlier failures, frozen cases, fresh questions.

They are in domain, unless the others are asked for: a user of some client can bring them about. Fresh questions are the
rule's everyday ones, then generated ones; a generated question out of domain is replaced by the nearest one in it.

The expected answer to a frozen case is Java's own. To all others it is the reference's, which ``verify`` has compared
with Java.

An older era of a rule is asked less than its newest: the frozen cases whose answer differs from that of a neighbouring
era, and a quarter of the fresh questions.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch

from hypothesis.internal.conjecture import providers
from hypothesis.internal.constants_ast import Constants

from kafka_conformance.answerers.recorded_outcomes import RecordedAnswerer
from kafka_conformance.answerers.reference import ReferenceAnswerer
from kafka_conformance.cases.failures import read_failure
from kafka_conformance.cases.sets import case_sets
from kafka_conformance.cases.store import Case, frozen
from kafka_conformance.core.answerer import Answerer
from kafka_conformance.core.errors import BadInput
from kafka_conformance.core.events import Grade
from kafka_conformance.core.files import entries, is_folder
from kafka_conformance.core.protocol import Answered, Question
from kafka_conformance.core.rule import Rule
from kafka_conformance.core.sources import Source, collect
from kafka_conformance.gate.admissible import countable
from kafka_conformance.gate.selection import EVERYTHING, Selection
from kafka_conformance.gate.stickiness import RULES_WITH_PROMISES
from kafka_conformance.rules.eras import Era, neighbours
from kafka_reference.releases import Release

__all__ = ["EXPECTED", "gate_sources", "loaded_modules_ignored"]

EXPECTED = ReferenceAnswerer("kafka")
"""The expected answers to questions that are not frozen."""

OLDER_SHARE = 4
"""An older era is asked this fraction of the fresh questions."""


@contextmanager
def loaded_modules_ignored() -> Iterator[None]:
    """Make a seed generate the same questions beside any program: Hypothesis also draws constants of the user's modules."""
    with patch.object(providers, "_get_local_constants", Constants):
        providers.CONSTANTS_CACHE.cache.clear()
        try:
            yield
        finally:
            providers.CONSTANTS_CACHE.cache.clear()


def gate_sources(rule: Rule, release: Release, grade: Grade, examples: int, seed: int, folder: Path,
                 target: str, *, out_of_domain: bool = False,
                 selection: Selection = EVERYTHING,
                 eras: Sequence[Era] = ()) -> list[tuple[Source, Answerer]]:  # fmt: skip
    """Return the sources for a rule in a release, in the order they are asked, each with its expected answerer.

    ``folder`` holds failures that an earlier gate saved; those of ``target`` are asked again. All questions are in domain,
    or with ``out_of_domain`` all are not; ``selection`` leaves others out. With ``eras``, those of the
    rule, fewer are asked in all but the newest. A withdrawn case is not asked. Raises BadInput for a damaged file of cases.
    """
    if grade == "statistical":
        return []
    (cases, withdrawn), plain = _withdrawn(rule, _cases(rule, release)), rule.plain()
    older = next((era for era in eras[:-1] if era.newest == release), None)
    if older is not None:
        cases = _telling_apart(cases, older, eras)
        plain, examples = (), -(-examples // OLDER_SHARE)
    java = {case.typed_question(rule): Answered(case.answer) for case in cases}
    fresh = _fresh(rule, rule.examples_of(examples, most=1), seed, plain, out_of_domain=out_of_domain)

    def source(name: str, questions: Iterable[Question]) -> Source:
        chosen = (each for each in questions if each not in withdrawn and selection.selects(rule, release, each))
        asked = (each for each in chosen if bool(rule.domain(each)) == out_of_domain)
        return Source(name, tuple(each for each in asked if grade == "exact" or _is_judged(rule, each)))

    return [
        (source("earlier", _earlier(rule, release, folder, target)), EXPECTED),
        (source("frozen", java), RecordedAnswerer(EXPECTED.name, java)),
        (source("fresh", (each for each in fresh if each not in java)), EXPECTED),
    ]


def _is_judged(rule: Rule, question: Question) -> bool:
    """Return whether the grade ``admissible`` can judge the answer."""
    return rule.slug in RULES_WITH_PROMISES or countable(rule, question)


def _cases(rule: Rule, release: Release) -> list[Case]:
    found = frozen(rule)
    return [] if found is None else found.at(str(release))


def _withdrawn(rule: Rule, cases: Sequence[Case]) -> tuple[list[Case], set[Question]]:
    """Return the cases without those that are withdrawn, and the questions of these, which nothing may ask."""
    names = case_sets().withdrawn_of(rule.slug)
    return [case for case in cases if case.id not in names], {
        case.typed_question(rule) for case in cases if case.id in names
    }


def _telling_apart(cases: Sequence[Case], era: Era, every: Sequence[Era]) -> list[Case]:
    """Return the cases whose answer differs from that of a neighbouring era."""
    near = [str(each.newest) for each in neighbours(era, every)]
    return [case for case in cases if any(release not in case.releases for release in near)]


def _fresh(rule: Rule, examples: int, seed: int, plain: Iterable[Question], *,
           out_of_domain: bool) -> Iterable[Question]:  # fmt: skip
    """Return the everyday questions ``plain``, and generated ones.

    More are generated where most are out of domain, and none in it is near.
    """
    if out_of_domain:
        return dict.fromkeys(collect(rule, examples, seed))  # Hypothesis may repeat small ones
    inside: list[Question] = []
    for count in (examples, 4 * examples):
        if 2 * len(inside) < examples:
            made = collect(rule, count, seed)
            fresh = dict.fromkeys(rule.nearest(each) if rule.domain(each) else each for each in made)
            inside = [each for each in fresh if not rule.domain(each)][:examples]
    return dict.fromkeys((*plain, *inside))


def _earlier(rule: Rule, release: Release, folder: Path, target: str) -> list[Question]:
    """Return the questions that this target failed before; files of another kind, rule or target are skipped."""
    found = {}
    for path in entries(folder) if is_folder(folder) else ():
        if path.suffix != ".json":
            continue
        try:
            failure = read_failure(str(path))
            if (failure.rule, failure.actual.release, failure.actual.by) == (rule.slug, str(release), target):
                found[failure.id] = failure.typed_question()
        except BadInput:
            continue
    return list(found.values())
