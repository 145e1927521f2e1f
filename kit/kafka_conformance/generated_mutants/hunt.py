"""Asking generated mutants in rounds, each mutant in a process of its own, until a question kills it.

The first round asks the frozen cases of the rule that a mutant belongs to, the next ones those of other rules, and then come
rounds of fresh questions. A round begins when the one before is done, with the mutants that live.
"""

from __future__ import annotations

import gc
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from itertools import product

import msgspec

from kafka_conformance.core.errors import KitError
from kafka_conformance.core.progress import Steps
from kafka_conformance.core.rule import Rule
from kafka_conformance.generated_mutants.asking import Result, ask_until_killed, bound_memory
from kafka_conformance.generated_mutants.forks import LIMIT_S, in_forks
from kafka_conformance.generated_mutants.mutations import Mutation
from kafka_conformance.generated_mutants.planting import dependents_of, plant, rule_anew
from kafka_conformance.generated_mutants.population import Mutant
from kafka_conformance.generated_mutants.questions import Asked, RuleQuestions, Stage
from kafka_conformance.generated_mutants.reached import functions_of
from kafka_conformance.rules import RULES
from kafka_conformance.verify.fingerprint import fingerprinted_sources, installed_sources
from kafka_reference.releases import Release

__all__ = ["Hunt"]

_HINTS = 8
_MOST_RULES = 5


@dataclass(frozen=True, slots=True, eq=False)
class _Task:
    mutant: Mutant
    slug: str
    stage: Stage
    questions: Sequence[Asked] | None
    """None for a mutant that moves the end of a span: its questions are made in its process."""


class _Prepared(msgspec.Struct, frozen=True):
    """The questions of a rule in a stage, and which of them execute a function, ``module:name``."""

    asked: tuple[Asked, ...]
    executing: dict[str, list[int]]


class Hunt:
    """Knows what to ask a mutant. Questions are made once, from ``seed``, when a round needs them."""

    def __init__(self, seed: int, progress: Steps, *, at_once: int) -> None:
        self._seed, self._progress, self._at_once = seed, progress, at_once
        self._questions: dict[str, RuleQuestions] = {}
        self._prepared: dict[tuple[str, Stage], _Prepared] = {}
        self._dependents: dict[str, frozenset[str]] = {}
        self._killers: dict[tuple[str, str, Stage], deque[Asked]] = {}

    def results(self, mutants: Sequence[Mutant]) -> Iterator[Result]:
        """Yield the result of each mutant: of a killed one at once, of the others at the end."""
        asked = dict.fromkeys((mutant.mutation.key for mutant in mutants), 0)
        alive = list(mutants)
        order = {id(mutant): number for number, mutant in enumerate(mutants)}
        stages: tuple[Stage, ...] = ("frozen", "fresh")
        for stage, number in product(stages, range(_MOST_RULES)):
            askers = ((mutant, self._asker(mutant, number)) for mutant in alive)
            chosen = [(mutant, slug) for mutant, slug in askers if slug is not None]
            living = {id(mutant): mutant for mutant in alive}
            for mutant, result in self._round(chosen, stage):
                key = mutant.mutation.key
                if result is not None and result.verdict == "survived":
                    asked[key] += result.asked
                    continue
                del living[id(mutant)]
                if result is None:
                    yield Result(key, "survived", how=f"its process ended, or took more than {LIMIT_S:.0f} s")
                else:
                    yield Result(key, result.verdict, asked[key] + result.asked, result.killer, how=result.how)
            alive = sorted(living.values(), key=lambda mutant: order[id(mutant)])
        yield from (Result(mutant.mutation.key, "survived", asked[mutant.mutation.key]) for mutant in alive)

    def _asker(self, mutant: Mutant, number: int) -> str | None:
        """Return the rule that asks a mutant in a round; None if there is none.

        These are its own rule, those about the same class, and one more if none of them executes the changed function, or if
        the change is in none: one that executes it, of the rules whose questions exist, else one in the middle of those that
        reach it.
        """
        near = (mutant.rules[0], *mutant.siblings)
        if number < len(near):
            return near[number]
        function = f"{mutant.mutation.module}:{mutant.mutation.place}"
        # A rule by parts asks nothing about a class that the rules of its parts do not.
        others = [slug for slug in mutant.rules if slug not in near and RULES[slug].by_parts is None]
        if number > len(near) or not others:
            return None
        if mutant.mutation.in_function and any(function in self._prepared[slug, "frozen"].executing for slug in near):
            return None
        known = (slug for slug in others if (slug, "frozen") in self._prepared)
        executing = (slug for slug in known if function in self._prepared[slug, "frozen"].executing)
        return next(executing, others[len(others) // 2])

    def _round(self, chosen: Sequence[tuple[Mutant, str]], stage: Stage) -> Iterator[tuple[Mutant, Result | None]]:
        self._prepare(dict.fromkeys(slug for _, slug in chosen), stage)
        gc.freeze()  # the processes share what exists now
        for task, result in in_forks(self._tasks(chosen, stage), self._ask, Result, at_once=self._at_once):
            if result is not None and result.number >= 0 and task.questions is not None:
                known = self._known_killers(task.slug, task.mutant, stage)
                killer = task.questions[result.number]
                if all(killer is not one for one in known):
                    known.appendleft(killer)
            yield task.mutant, result

    def _known_killers(self, slug: str, mutant: Mutant, stage: Stage) -> deque[Asked]:
        """Return questions that killed mutants of the same module, the latest first."""
        return self._killers.setdefault((slug, mutant.mutation.module, stage), deque(maxlen=_HINTS))

    def _tasks(self, chosen: Iterable[tuple[Mutant, str]], stage: Stage) -> Iterator[_Task]:
        for mutant, slug in chosen:
            module = mutant.mutation.module
            self._progress.doing(f"{slug}: {stage}, {module.removeprefix('kafka_reference.')}")
            if module not in self._dependents:
                self._dependents[module] = dependents_of(module, installed_sources().python)
            if mutant.mutation.moved is not None:
                yield _Task(mutant, slug, stage, None)
                continue
            hints = tuple(self._known_killers(slug, mutant, stage))
            hinted = set(map(id, hints))
            executing = self._executing(mutant, self._prepared[slug, stage])
            yield _Task(mutant, slug, stage, [*hints, *(one for one in executing if id(one) not in hinted)])

    def _executing(self, mutant: Mutant, prepared: _Prepared) -> Sequence[Asked]:
        """Return what to ask a mutant: of the questions of a rule those that execute its function.

        A function that no question executes may be executed on import: then everything is asked.
        """
        mutation = mutant.mutation
        function = f"{mutation.module}:{mutation.place}"
        numbers = prepared.executing.get(function)
        if not mutation.in_function or (numbers is None and not self._is_executed(function)):
            return prepared.asked
        return [prepared.asked[number] for number in numbers or ()]

    def _is_executed(self, function: str) -> bool:
        return any(function in one.executing for one in self._prepared.values())

    def _prepare(self, slugs: Iterable[str], stage: Stage) -> None:
        """Make the questions of rules, and find what each of them executes, a rule in a process of its own."""
        waiting = [slug for slug in slugs if (slug, stage) not in self._prepared]
        waiting.sort(
            key=lambda slug: -len(fingerprinted_sources(RULES[slug], installed_sources()))
        )  # the slowest first
        for slug in waiting:
            self._questions.setdefault(slug, RuleQuestions(RULES[slug], self._seed))
        measured = in_forks(waiting, lambda slug: self._measured(slug, stage), _Prepared, at_once=self._at_once)
        for number, (slug, prepared) in enumerate(measured, 1):
            self._progress.doing(f"{stage} questions of {number} of {len(waiting)} rules")
            if prepared is None:
                raise KitError(f"the questions of {slug} were not made: the process that made them ended")
            self._prepared[slug, stage] = prepared
            self._questions[slug].remember(stage, prepared.asked)

    def _measured(self, slug: str, stage: Stage) -> _Prepared:
        asked = self._questions[slug].asked(stage)
        executing: dict[str, list[int]] = {}
        for number, functions in enumerate(functions_of(RULES[slug], asked)):
            for function in functions:
                executing.setdefault(function, []).append(number)
        return _Prepared(asked, executing)

    def _ask(self, task: _Task) -> Result:
        """Plant the mutant in this process, and ask it."""
        mutation = task.mutant.mutation
        questions, rule = task.questions, RULES[task.slug]
        before = ""
        if mutation.moved is not None:
            questions = list(self._questions[task.slug].asked_at(mutation.moved, task.stage))
            before = _record_in(rule, mutation, mutation.moved)
        bound_memory()
        try:
            plant(mutation.module, task.mutant.module.compile(mutation), self._dependents[mutation.module])
            if (
                mutation.moved is not None
                and before
                and before == _record_in(rule_anew(rule), mutation, mutation.moved)
            ):
                return Result(mutation.key, "invalid", how="another span of the field has the release: nothing changes")
        except Exception:  # noqa: BLE001  whatever a mistake raises on import
            return Result(mutation.key, "invalid")
        return ask_until_killed(mutation.key, questions or ())


def _record_in(rule: Rule, mutation: Mutation, release: Release) -> str:
    """Return what the behaviour record that a mutation changes has in a release, as text; nothing if it is none."""
    for record in rule.behaviours:
        if (record.__module__, record.__name__) == (mutation.module, mutation.definition):
            at = import_module("kafka_reference.releases").parse_release(str(release))
            return repr(import_module("kafka_conformance.rules.eras").record_in(record, at))
    return ""
