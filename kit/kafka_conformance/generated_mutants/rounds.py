"""Ask generated mutants in rounds, each mutant in a separate process, until a question kills it.

The first round asks the frozen cases of the rule that a mutant belongs to, the next ones those of other rules, and then come
rounds of fresh questions. A round begins when the one before is done, with the mutants that live.
"""

from __future__ import annotations

import gc
from collections import deque
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from itertools import product
from types import MappingProxyType

import msgspec

from kafka_conformance.core.errors import KitError
from kafka_conformance.core.progress import Steps
from kafka_conformance.core.rule import Rule
from kafka_conformance.generated_mutants.executed_functions import functions_of
from kafka_conformance.generated_mutants.forked_tasks import LIMIT_S, in_forks
from kafka_conformance.generated_mutants.mutant_trial import Result, ask_until_killed, bound_memory
from kafka_conformance.generated_mutants.mutated_modules import dependents_of, plant, rule_anew
from kafka_conformance.generated_mutants.mutations import Mutation
from kafka_conformance.generated_mutants.population import Mutant
from kafka_conformance.generated_mutants.questions import Asked, RuleQuestions, Stage
from kafka_conformance.rules import RULES
from kafka_conformance.rules.eras import eras
from kafka_conformance.verify.fingerprint import fingerprinted_sources, installed_sources
from kafka_reference.releases import Release

__all__ = ["Earlier", "Hunt"]

_HINTS = 8
_MOST_RULES = 6


@dataclass(frozen=True, slots=True)
class Earlier:
    """What is known of a mutant that no frozen case killed in an earlier run."""

    result: Result
    """Its result."""
    cases: Mapping[str, frozenset[str]]
    """The cases that it was asked, by their rule."""


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
    error: str = ""
    """Why they cannot be asked."""


class Hunt:
    """Asks mutants in rounds. Questions are made once, from ``seed``, when a round needs them."""

    def __init__(self, seed: int, progress: Steps, *, at_once: int, stages: Sequence[Stage] = ("frozen", "fresh"),
                 examples: int = 0) -> None:  # fmt: skip
        """``examples`` is how many questions the stage ``search`` takes from each rule's strategy."""
        self._seed, self._progress, self._at_once = seed, progress, at_once
        self._stages, self._examples = stages, examples
        self._questions: dict[str, RuleQuestions] = {}
        self._prepared: dict[tuple[str, Stage], _Prepared] = {}
        self._dependents: dict[str, frozenset[str]] = {}
        self._killers: dict[tuple[str, str, Stage], deque[Asked]] = {}
        self._earlier: Mapping[str, Earlier] = {}
        self._asks_new_alone = False

    def results(
        self, mutants: Sequence[Mutant], earlier: Mapping[str, Earlier] = MappingProxyType({})
    ) -> Iterator[Result]:
        """Yield the result of each mutant: of a killed one at once, of the others at the end.

        Mutants with an earlier result, by their key, are asked only the cases that they were not asked then.
        """
        self._earlier = earlier
        self._asks_new_alone = all(mutant.mutation.key in earlier for mutant in mutants)
        asked = dict.fromkeys((mutant.mutation.key for mutant in mutants), 0)
        alive = list(mutants)
        order = {id(mutant): number for number, mutant in enumerate(mutants)}
        for stage, number in product(self._stages, range(_MOST_RULES)):
            askers = ((mutant, self._asker(mutant, stage, number)) for mutant in alive)
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
                    yield Result(
                        key, result.verdict, asked[key] + result.asked, result.killer, result.rule, how=result.how
                    )
            alive = sorted(living.values(), key=lambda mutant: order[id(mutant)])
        for key in (mutant.mutation.key for mutant in alive):
            known = earlier.get(key)
            yield Result(key, "survived", asked[key]) if known is None else known.result

    def _asker(self, mutant: Mutant, stage: Stage, number: int) -> str | None:
        """Return the rule that asks a mutant in a round; None if there is none.

        These are its own rule, its siblings, and two more if none of them executes the changed function, or if
        the change is in none.
        """
        near = (mutant.rules[0], *mutant.siblings)
        known = self._earlier.get(mutant.mutation.key)
        if known is not None:
            return near[number] if stage == "frozen" and number < len(near) else None
        if number < len(near):
            return near[number]
        return self._other_asker(mutant, near, number - len(near)) if stage != "search" else None

    def _other_asker(self, mutant: Mutant, near: Sequence[str], number: int) -> str | None:
        """Return the first of the other rules that reach a mutant, or the middle one: the first has most behaviours.

        A rule whose questions exist and execute the changed function comes before those.
        """
        function = f"{mutant.mutation.module}:{mutant.mutation.place}"
        # A rule by parts asks nothing about a class that the rules of its parts do not.
        others = [slug for slug in mutant.rules if slug not in near and RULES[slug].by_parts is None]
        if number > 1 or not others:
            return None
        if mutant.mutation.in_function and any(function in self._prepared[slug, "frozen"].executing for slug in near):
            return None
        middle = others[len(others) // 2]
        others.sort(key=lambda slug: -len(eras(RULES[slug])))
        ready = [slug for slug in others if (slug, "frozen") in self._prepared]
        executing = [slug for slug in ready if function in self._prepared[slug, "frozen"].executing]
        if number == 0:
            return executing[0] if executing else others[0]
        return executing[len(executing) // 2] if executing else middle

    def _round(self, chosen: Sequence[tuple[Mutant, str]], stage: Stage) -> Iterator[tuple[Mutant, Result | None]]:
        self._prepare(chosen, stage)
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
            asked = [*hints, *(one for one in executing if id(one) not in hinted)]
            yield _Task(mutant, slug, stage, self._new(mutant, asked))

    def _new(self, mutant: Mutant, asked: Iterable[Asked]) -> list[Asked]:
        """Return the questions that a mutant was not asked in an earlier run."""
        known = self._earlier.get(mutant.mutation.key)
        if known is None:
            return list(asked)
        return [one for one in asked if one.case not in known.cases.get(one.rule, ())]

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

    def _prepare(self, chosen: Iterable[tuple[Mutant, str]], stage: Stage) -> None:
        """Make the questions of rules, and find what each of them executes, each rule in a separate process."""
        old: dict[str, frozenset[str]] = {}
        for mutant, slug in chosen:
            cases = (
                self._earlier[mutant.mutation.key].cases.get(slug, frozenset()) if self._asks_new_alone else frozenset()
            )
            old[slug] = old.get(slug, cases) & cases
        waiting = [slug for slug in old if (slug, stage) not in self._prepared]
        waiting.sort(
            key=lambda slug: -len(fingerprinted_sources(RULES[slug], installed_sources()))
        )  # the slowest first
        for slug in waiting:
            self._questions.setdefault(slug, RuleQuestions(RULES[slug], self._seed, self._examples))
        measured = in_forks(
            waiting, lambda slug: self._measured(slug, stage, old[slug]), _Prepared, at_once=self._at_once
        )
        for number, (slug, prepared) in enumerate(measured, 1):
            self._progress.doing(f"{stage} questions of {number} of {len(waiting)} rules")
            if prepared is None:
                raise KitError(f"the questions of {slug} were not made: the process that made them ended")
            if prepared.error:
                raise KitError(prepared.error)
            self._prepared[slug, stage] = prepared
            self._questions[slug].remember(stage, prepared.asked)

    def _measured(self, slug: str, stage: Stage, old: Collection[str]) -> _Prepared:
        asked = tuple(one for one in self._questions[slug].asked(stage) if one.case not in old)
        executing: dict[str, list[int]] = {}
        try:
            found = functions_of(RULES[slug], asked)
        except KitError as error:
            return _Prepared((), {}, str(error))
        for number, functions in enumerate(found):
            for function in functions:
                executing.setdefault(function, []).append(number)
        return _Prepared(asked, executing)

    def _ask(self, task: _Task) -> Result:
        """Plant the mutant in this process, and ask it."""
        mutation = task.mutant.mutation
        questions, rule = task.questions, RULES[task.slug]
        before = ""
        if mutation.moved is not None:
            questions = self._new(task.mutant, self._questions[task.slug].asked_at(mutation.moved, task.stage))
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
