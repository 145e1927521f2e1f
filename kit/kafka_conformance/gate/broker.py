"""The gate of brokers: runs frozen cases, and reports in the events of a gate.

A group of cases, ``transactions``, is a rule ``broker/transactions`` in these events, a case is a question, and the answers
to its requests are an answer with steps. The case with the fewest requests stands for all of a kind of difference
(``broker_kinds``). A case that is not answered, or ends with a closed connection, differs; one that differs only in what no
client acts on agrees. A case is unsupported where the broker lacks an API or a version, or Kafka did in that release; it is
not run if the broker was lost before.

The exit code: 1 if a case differs that is not known, or an entry of the known failures is wrong; else 2 if nothing was
judged or the broker was lost; else 0.
"""

from __future__ import annotations

import contextlib
import random
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import msgspec

from kafka_conformance.core.errors import KitError
from kafka_conformance.core.events import (
    Began,
    Coverage,
    Differed,
    Ended,
    Event,
    Known,
    RuleBegan,
    RuleEnded,
    Severity,
    Target,
    Verdict,
)
from kafka_conformance.core.progress import Steps
from kafka_conformance.core.version import kit_version
from kafka_conformance.gate.broker_kinds import DifferenceKind, by_kind, difference_of, harmless_reason
from kafka_conformance.gate.known_failures import KnownFailures, Miss, invalid_entries
from kafka_conformance.gate.runner import GateResult
from kafka_conformance.wire.broker_gate import runner
from kafka_conformance.wire.broker_gate.case import BrokerCase
from kafka_conformance.wire.broker_gate.reduction import Smaller, make_smaller
from kafka_conformance.wire.broker_gate.runner import CaseOutcome

__all__ = ["BrokerPlan", "gate_broker", "rule_of"]

_SMALLER_KINDS, _SMALLER_S = 8, 15.0
"""Of how many kinds smaller cases are looked for, and for how long all together."""


@dataclass(frozen=True, slots=True)
class BrokerPlan:
    """What to ask: the cases, the release that the broker is compared with, and the seed of their order."""

    cases: Sequence[BrokerCase]
    release: str
    seed: int
    address: str
    selection: str = ""


def gate_broker(target: runner.BrokerTarget, plan: BrokerPlan, known: KnownFailures, emit: Callable[[Event], None],
                progress: Steps) -> tuple[GateResult, list[CaseOutcome]]:  # fmt: skip
    """Run all cases, each in separate topics, emit each event, and return the result and what became of each case.

    Raises BrokerLost, KitError and BadInput if the topics cannot be made or deleted.
    """
    result, begun = GateResult(), time.monotonic()

    def record(event: Event) -> None:
        result.events.append(event)
        emit(event)

    groups: dict[str, list[BrokerCase]] = {}
    for case in plan.cases:
        groups.setdefault(rule_of(case), []).append(case)
    broker = Target(f"broker {plan.address}", "", "", f"gate broker {plan.address} --as {plan.release}")
    record(Began(kit_version(), broker, (plan.release,), tuple(groups), plan.seed, 0, (), plan.selection))
    outcomes: dict[str, CaseOutcome] = {}
    seconds: Counter[str] = Counter()
    with target.prepared([case for case in plan.cases if target.applies(case, plan.release)]):
        for case in _shuffled(plan.cases, plan.seed):
            progress.doing(case.id)
            before = time.monotonic()
            outcomes[case.id] = _without_harm(target.run(case, plan.release))
            seconds[rule_of(case)] += time.monotonic() - before  # type: ignore[assignment]
            progress.advance()
        kinds = {
            rule: by_kind(outcomes[case.id] for case in cases if outcomes[case.id].is_failure)
            for rule, cases in groups.items()
        }
        progress.doing("smaller cases of what differs")
        smaller = _smaller(target, plan.release, kinds, known)
    ended = [
        _judge_group(_Group(rule, plan.release, [outcomes[case.id] for case in cases], kinds[rule], smaller), seconds[rule],
                     known, record, result)
        for rule, cases in groups.items()
    ]  # fmt: skip
    lost = any(each.verdict is runner.CaseVerdict.NOT_RUN for each in outcomes.values())
    known.partial |= lost or bool(plan.selection)
    wrong = known.wrong()
    for stale in wrong:
        record(stale)
    record(_ended(ended, len(wrong), time.monotonic() - begun))
    return result, list(outcomes.values())


def _shuffled(cases: Sequence[BrokerCase], seed: int) -> list[BrokerCase]:
    """Return the cases in an order that the seed gives: none may depend on another."""
    return random.Random(seed).sample(cases, len(cases))  # noqa: S311  no secret


def rule_of(case: BrokerCase) -> str:
    """Return the group of a case, as events name it: ``broker/transactions``."""
    return f"broker/{case.id.partition('/')[0]}"


def _without_harm(outcome: CaseOutcome) -> CaseOutcome:
    """Return an outcome that differs only in what no client acts on as a harmless one."""
    reason = harmless_reason(outcome) if outcome.is_failure else ""
    return replace(outcome, verdict=runner.CaseVerdict.HARMLESS, why=reason) if reason else outcome


@dataclass(frozen=True, slots=True)
class _Group:
    """What became of a group of cases, by kind of difference, and the smaller cases by id."""

    rule: str
    release: str
    outcomes: Sequence[CaseOutcome]
    kinds: Mapping[DifferenceKind, Sequence[CaseOutcome]]
    smaller: Mapping[str, Smaller]


def _smaller(target: runner.BrokerTarget, release: str, kinds: Mapping[str, Mapping[DifferenceKind, Sequence[CaseOutcome]]],
             known: KnownFailures) -> dict[str, Smaller]:  # fmt: skip
    """Return smaller cases of the worst kinds that are not known, by the id of the case that stands for each."""
    found: dict[str, list[tuple[DifferenceKind, CaseOutcome]]] = {}
    times: Counter[str] = Counter()
    for rule, groups in kinds.items():
        for kind, alike in groups.items():
            new = [each for each in alike if not known.covering(_miss(rule, release, kind, each))]
            times[kind.name] += len(new)
            if new:
                found.setdefault(kind.name, []).append((kind, _smallest(new)))
    until = time.monotonic() + _SMALLER_S
    made: dict[str, Smaller] = {}
    for name in sorted(found, key=lambda each: (found[each][0][0].rank, -times[each]))[:_SMALLER_KINDS]:
        kind, outcome = min(found[name], key=lambda each: _size(each[1]))
        with contextlib.suppress(KitError):  # the broker may be lost: the case as it was is reported
            made[outcome.case.id] = make_smaller(target, outcome, difference_of(outcome, kind), release, until)
    return made


def _size(outcome: CaseOutcome) -> tuple[int, str]:
    return len(outcome.case.steps), outcome.case.id


def _smallest(outcomes: Iterable[CaseOutcome]) -> CaseOutcome:
    return min(outcomes, key=_size)


def _miss(rule: str, release: str, kind: DifferenceKind, outcome: CaseOutcome) -> Miss:
    return Miss(rule, release, outcome.case.id, kind.name, {"steps": outcome.answers}, lambda _: False)


def _judge_group(group: _Group, seconds: float, known: KnownFailures, record: Callable[[Event], None],
                 result: GateResult) -> RuleEnded:  # fmt: skip
    rule, release, outcomes = group.rule, group.release, group.outcomes
    record(RuleBegan(rule, release, "exact", len(outcomes)))
    known.asked(rule, release, [each.case.id for each in outcomes])
    kinds: dict[tuple[DifferenceKind, Known | None], list[CaseOutcome]] = {}
    for kind, alike in group.kinds.items():
        for outcome in alike:
            kinds.setdefault((kind, known.covers(_miss(rule, release, kind, outcome))), []).append(outcome)
    covered = 0
    for (kind, cover), alike in sorted(kinds.items(), key=lambda item: (item[0][0].rank, -len(item[1]))):
        event = _differed(group, kind, cover, alike)
        if cover is None:
            result.unknown.append((event, ""))
        else:
            covered += len(alike)
        record(event)
    counts = Counter(each.verdict for each in outcomes)
    failed = sum(each.is_failure for each in outcomes)
    agreed = counts[runner.CaseVerdict.AGREES] + counts[runner.CaseVerdict.HARMLESS]
    not_run, asked = counts[runner.CaseVerdict.NOT_RUN], failed + agreed
    verdict: Verdict = "differs" if failed > covered else "known" if failed else "agrees" if asked else "unsupported"
    if not_run and verdict != "differs":
        verdict = "not judged"
    ended = RuleEnded(
        rule, release, "exact", verdict, asked, agreed, failed - covered, covered, 0,
        counts[runner.CaseVerdict.NOT_APPLICABLE], asked, 0, 0, round(seconds, 3),
        reasons=_reasons(outcomes, runner.CaseVerdict.NOT_APPLICABLE),
        harmless=_reasons(outcomes, runner.CaseVerdict.HARMLESS), not_run=not_run,
        missing=(Coverage("cases", asked, asked + not_run),) if verdict == "not judged" else (),
    )  # fmt: skip
    record(ended)
    return ended


def _reasons(outcomes: Iterable[CaseOutcome], verdict: runner.CaseVerdict) -> dict[str, int]:
    return dict(Counter(each.why for each in outcomes if each.verdict is verdict))


def _differed(group: _Group, kind: DifferenceKind, cover: Known | None, alike: Sequence[CaseOutcome]) -> Differed:
    """Return the event of differences of one kind; the case with the fewest requests stands for them."""
    release, smallest = group.release, _smallest(alike)
    smaller = group.smaller.get(smallest.case.id)
    smallest, versions = (smaller.outcome, smaller.versions) if smaller else (smallest, "")
    case = smallest.case
    question = {"case": case.id, "title": case.title, "steps": [msgspec.to_builtins(step) for step in case.steps]}
    actual = [*smallest.answers, smallest.why] if smallest.why else smallest.answers
    severity: Severity = kind.severity  # type: ignore[assignment]
    return Differed(
        group.rule, release, case.id, "frozen", kind.name, len(alike), question, {"steps": case.answers_of(release) or []},
        {"steps": actual}, f"Kafka {release}'s own broker", "", known=cover, severity=severity, effect=kind.effect,
        cases=tuple(sorted(each.case.id for each in alike)), versions=versions,
    )  # fmt: skip


def _ended(ended: Sequence[RuleEnded], stale: int, seconds: float) -> Ended:
    """Return the verdict."""
    asked, agreed = sum(each.asked for each in ended), sum(each.agreed for each in ended)
    differed, known = sum(each.differed for each in ended), sum(each.known for each in ended)
    unsupported, not_run = sum(each.unsupported for each in ended), sum(each.not_run for each in ended)
    if differed or stale:
        parts = [f"{differed:,} of {asked:,} cases differ from Kafka"] if differed else []
        parts += [invalid_entries(stale)] if stale else []
        code, why = 1, ", and ".join(parts)
    elif not asked and not not_run:
        code, why = 2, "nothing was judged: no case applies to this broker"
    elif not_run:
        code, why = 2, f"the broker was lost: {not_run:,} cases were not run"
    else:
        code, why = 0, f"{agreed:,} of {asked:,} cases agree with Kafka"
        why += f", {known:,} known failures" if known else ""
    if asked and unsupported:
        why += f"; {unsupported:,} more do not apply"
    if not_run and code == 1:
        why += f"; {not_run:,} were not run, the broker was lost"
    judged = [each for each in ended if each.asked]
    conform = sum(each.verdict == "agrees" for each in judged)
    return Ended(
        code, why, asked, agreed, differed, known, 0, unsupported, round(seconds, 3), conform, len(ended), 0, len(judged),
        not_run,
    )  # fmt: skip
