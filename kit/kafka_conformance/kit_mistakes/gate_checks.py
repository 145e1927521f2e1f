"""The checks of the gate: targets whose every answer is known are gated, and the verdict and all counts are compared."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from functools import cache
from typing import Final

from kafka_conformance.answerers.reference import outcome_of
from kafka_conformance.core.events import Differed, Grade, RuleEnded, Target
from kafka_conformance.core.progress import Steps
from kafka_conformance.core.protocol import Answered, Failed, Lost, Outcome, Question, Unsupported
from kafka_conformance.core.rule import Rule
from kafka_conformance.gate import runner
from kafka_conformance.gate.diagnosis.diagnosis import MOST
from kafka_conformance.gate.known_failures import KnownFailures
from kafka_conformance.gate.runner import GatePlan, GateResult
from kafka_conformance.kit_mistakes.bench import Bench
from kafka_conformance.kit_mistakes.checks import Check
from kafka_conformance.rules import RULES
from kafka_conformance.rules.mutants import mutant_named
from kafka_reference.releases import NEWEST, Release

__all__ = ["GATE_CHECKS", "SEED"]

_WRONG, _RIGHT = "sequence-increment", "sequence-decrement"
_MUTANT: Final = "increment-never-wraps"
_DRAWS, _CHOOSES_LEADERLESS = "builtin-partitioner", "builtin-leaderless"
_EXAMPLES = 20
SEED: Final = 1
"""The seed of the fresh questions."""
Say = Callable[[Rule, Question], Outcome]


class _Target:
    """A target that answers by ``say``, and keeps what it was asked."""

    name = "check"
    description = Target("check", "", "python", "selftest --kit")

    def __init__(self, say: Say, slugs: Sequence[str], grades: Mapping[str, Grade]) -> None:
        self._say, self.rules, self.grades = say, frozenset(slugs), grades
        self.received: list[tuple[str, Question]] = []

    def answer(self, rule: Rule, release: Release, questions: Sequence[Question]) -> list[Outcome]:  # noqa: ARG002
        """Return the outcomes of ``say``."""
        self.received += [(rule.slug, question) for question in questions]
        return [self._say(rule, question) for question in questions]

    def finish(self) -> Lost | None:
        """Do nothing."""
        return None


def _right(rule: Rule, question: Question) -> Outcome:
    return outcome_of(rule.ask, question, NEWEST)


_named = cache(mutant_named)  # looks through all mutants


def _wrong(rule: Rule, question: Question) -> Outcome:
    return outcome_of(_named(_MUTANT).ask if rule.slug == _WRONG else rule.ask, question, NEWEST)


def _gated(bench: Bench, say: Say, *slugs: str, grade: Grade = "exact") -> tuple[GateResult, _Target]:
    """Gate a target that answers these rules by ``say``, and asks for this grade."""
    target = _Target(say, slugs, dict.fromkeys(slugs, grade))
    plan = GatePlan([(RULES[slug], NEWEST) for slug in slugs], _EXAMPLES, SEED, bench.folder / "none")
    known = KnownFailures(today=date(2000, 1, 1))
    result = runner.gate(target, plan, known, lambda _: None, Steps("", len(slugs)))
    for path in plan.folder.glob("*.json"):  # a saved failure would be asked again by the next gate
        path.unlink()
    return result, target


def _conforms(bench: Bench) -> str:
    result, target = _gated(bench, _right, _WRONG, _RIGHT)
    ended, asked = result.ended, len(target.received)
    if ended.exit_code:
        return f"exit code {ended.exit_code} for a target without a mistake: {ended.why}"
    if len(set(target.received)) < asked or (ended.asked, ended.agreed) != (asked, asked):
        return f"{ended.agreed} of {ended.asked} answers match, and the target gave {len(set(target.received))}"
    return ""


def _differs(bench: Bench) -> str:
    for slugs in ((_WRONG, _RIGHT), (_RIGHT, _WRONG)):
        code = _gated(bench, _wrong, *slugs)[0].ended.exit_code
        if code != 1:
            return f"exit code {code}, although the target's answers to {_WRONG} are wrong"
    return ""


def _own_draws(bench: Bench) -> str:
    ask = mutant_named(_CHOOSES_LEADERLESS).ask
    result, _ = _gated(bench, lambda _, one: outcome_of(ask, one, NEWEST), _DRAWS, grade="admissible")
    code = result.ended.exit_code
    return "" if code == 1 else f"exit code {code} for partitions that no draw chooses"


def _counts(bench: Bench) -> str:
    """Of each nine questions, one fails and one is unsupported; the others are answered as a mutant does."""
    _, target = _gated(bench, _right, _WRONG)
    rule, questions = RULES[_WRONG], [question for _, question in target.received]
    outcomes: dict[Question, Outcome] = {}
    for place, question in enumerate(dict.fromkeys(questions)):
        special: dict[int, Outcome] = {3: Failed("broke"), 7: Unsupported("not here")}
        outcomes[question] = special.get(place % 9) or _wrong(rule, question)

    def say(_: Rule, question: Question) -> Outcome:
        return outcomes.get(question) or _wrong(rule, question)

    result, _ = _gated(bench, say, _WRONG)
    found = _by_outcome(rule, outcomes)
    expected = {
        "asked": found["failed"] + found["wrong"] + found["right"], "agreed": found["right"], "differed": found["wrong"],
        "failed": found["failed"], "unsupported": found["unsupported"],
    }  # fmt: skip
    (ended,) = [event for event in result.events if isinstance(event, RuleEnded)]
    problem = _unequal(expected, {name: getattr(ended, name) for name in expected})
    times = sum(event.times for event in result.events if isinstance(event, Differed))
    problem = problem or _unequal({"findings": found["wrong"]}, {"findings": times})
    diagnoses = [one for one in ended.diagnoses if one.mutant == _MUTANT]
    if problem or not diagnoses:
        return problem or f"{_MUTANT} is not named"
    right = min(found["right"], MOST)
    wanted = {"wrong": found["wrong"], "equal": found["wrong"], "right": right, "also": right}
    return _unequal(wanted, {name: getattr(diagnoses[0], name) for name in wanted}, "diagnosis, ")


def _by_outcome(rule: Rule, outcomes: Mapping[Question, Outcome]) -> Counter[str]:
    """Count outcomes by what they are; nothing of the gate is used."""
    counts: Counter[str] = Counter()
    for question, outcome in outcomes.items():
        if isinstance(outcome, Answered):
            counts["right" if outcome == _right(rule, question) else "wrong"] += 1
        else:
            counts["failed" if isinstance(outcome, Failed) else "unsupported"] += 1
    return counts


def _unequal(expected: Mapping[str, int], actual: Mapping[str, int], what: str = "") -> str:
    """Return a text about the first count that differs from the expected one; empty if none does."""
    for name, count in expected.items():
        if actual[name] != count:
            return f"{what}{name}: {actual[name]} counted, {count} expected"
    return ""


def _two_answers(bench: Bench) -> str:
    answered: set[Question] = set()

    def say(rule: Rule, question: Question) -> Outcome:
        if len(answered) < 2:
            answered.add(question)
        return _right(rule, question) if question in answered else Unsupported("not here")

    ended = _gated(bench, say, _WRONG)[0].ended
    return "" if ended.exit_code == 2 else f"exit code {ended.exit_code} for a target that answers two questions"


GATE_CHECKS: Sequence[Check] = (
    Check("gate, right", "a target without a mistake: exit code 0, each question counted once", _conforms),
    Check("gate, wrong", "a target is wrong in one of two rules: exit code 1", _differs),
    Check("gate, own draws", "a target with its own draws makes a choice that no draw gives: exit code 1", _own_draws),
    Check("gate, counts", "counts of a rule and of its diagnosis are those of the target's answers", _counts),
    Check("gate, two answers", "a target answers two questions: exit code 2", _two_answers),
)
