"""The gate of brokers: runs frozen cases, and reports in the events of a gate.

A group of cases, ``transactions``, is a rule ``broker/transactions`` in these events, a case is a question, and the answers
to its requests are an answer with steps. Differences of a group are of one kind if they are in the same field of an answer
to the same API, and error codes are the same two; the case with the fewest requests stands for all of the kind. A case that
is not answered, or ends with a closed connection, differs. A case is unsupported where the broker lacks an API or a
version, or Kafka did in that release.

The exit code: 1 if a case differs that is not known, or an entry of the known failures is wrong; else 2 if nothing was
judged or the broker was lost; else 0.
"""

from __future__ import annotations

import random
import re
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import msgspec

from kafka_conformance.core.events import (
    Began,
    Coverage,
    Differed,
    Ended,
    Event,
    Known,
    RuleBegan,
    RuleEnded,
    Target,
    Verdict,
)
from kafka_conformance.core.progress import Steps
from kafka_conformance.core.version import kit_version
from kafka_conformance.gate.known_failures import KnownFailures, Miss
from kafka_conformance.gate.runner import GateResult
from kafka_conformance.wire.broker_gate import runner
from kafka_conformance.wire.broker_gate.case import Case
from kafka_conformance.wire.broker_gate.runner import ABSENT, Difference, Outcome

__all__ = ["BrokerPlan", "gate_broker", "kinds_of", "rule_of"]

_NUMBER = re.compile(r"\[\d+\]")
_EVERYWHERE_LEAST = 5


@dataclass(frozen=True, slots=True)
class BrokerPlan:
    """What to ask: the cases, the release that the broker is compared with, and the seed of their order."""

    cases: Sequence[Case]
    release: str
    seed: int
    address: str
    selection: str = ""


def gate_broker(target: runner.Target, plan: BrokerPlan, known: KnownFailures, emit: Callable[[Event], None],
                progress: Steps) -> tuple[GateResult, list[Outcome]]:  # fmt: skip
    """Run all cases in topics of their own, emit each event, and return the result and what became of each case.

    Raises BrokerLost, KitError and BadInput if the topics cannot be made or deleted.
    """
    result, begun = GateResult(), time.monotonic()

    def record(event: Event) -> None:
        result.events.append(event)
        emit(event)

    groups: dict[str, list[Case]] = {}
    for case in plan.cases:
        groups.setdefault(rule_of(case), []).append(case)
    broker = Target(f"broker {plan.address}", "", "", f"gate broker {plan.address} --as {plan.release}")
    record(Began(kit_version(), broker, (plan.release,), tuple(groups), plan.seed, 0, (), plan.selection))
    outcomes: dict[str, Outcome] = {}
    seconds: Counter[str] = Counter()
    with target.prepared(plan.cases):
        for case in _shuffled(plan.cases, plan.seed):
            progress.doing(case.id)
            before = time.monotonic()
            outcomes[case.id] = target.run(case, plan.release)
            seconds[rule_of(case)] += time.monotonic() - before  # type: ignore[assignment]
            progress.advance()
    ended = [
        _judge_group(rule, plan.release, [outcomes[case.id] for case in cases], seconds[rule], known, record, result)
        for rule, cases in groups.items()
    ]
    lost = any(each.verdict is runner.Verdict.NOT_RUN for each in outcomes.values())
    known.partial |= lost or bool(plan.selection)
    wrong = known.wrong()
    for stale in wrong:
        record(stale)
    record(_ended(ended, list(outcomes.values()), len(wrong), time.monotonic() - begun))
    return result, list(outcomes.values())


def _shuffled(cases: Sequence[Case], seed: int) -> list[Case]:
    """Return the cases in an order that the seed gives: none may depend on another."""
    return random.Random(seed).sample(cases, len(cases))  # noqa: S311  no secret


def rule_of(case: Case) -> str:
    """Return the group of a case, as events name it: ``broker/transactions``."""
    return f"broker/{case.id.partition('/')[0]}"


def kinds_of(outcome: Outcome) -> list[str]:
    """Return the kinds of a case's differences: the API and the field; or the API that was not answered."""
    found = [_kind(outcome.case, each) for each in outcome.differences]
    if outcome.verdict is runner.Verdict.DIFFERS and found:
        return found
    what = "an answer that is not one" if outcome.verdict is runner.Verdict.DIFFERS else outcome.verdict.value
    return [f"{outcome.case.steps[len(outcome.raw)].api}: {what}"]


def _kind(case: Case, difference: Difference) -> str:
    api = case.steps[difference.step].api
    if difference.path == "connection":
        return f"{api}: the connection is not closed"
    return f"{api}: {_NUMBER.sub('', difference.path)} {_how(difference)}"


def _how(difference: Difference) -> str:
    """Return how two values differ: both for an error code, a flag or null; of others only that they do."""
    if ABSENT in [difference.expected, difference.actual]:
        return "is missing" if difference.actual == ABSENT else "should be missing"
    values = difference.actual, difference.expected
    if difference.path.lower().endswith("errorcode") or any(each is None or isinstance(each, bool) for each in values):
        shown = ["a list" if isinstance(each, list) else msgspec.json.encode(each).decode() for each in values]
        return f"is {shown[0]}, not {shown[1]}"
    return "differs"


def _grouped(outcomes: Iterable[Outcome]) -> dict[str, list[Outcome]]:
    """Return the failed cases of a group by kind: that of the first difference, but one that is everywhere hides no other.

    A kind is everywhere if half of these cases have it, such as a field that a broker never fills.
    """
    found = [(each, kinds_of(each)) for each in outcomes if each.is_failure]
    counts = Counter(kind for _, kinds in found for kind in set(kinds))
    everywhere = {kind for kind, count in counts.items() if count >= max(_EVERYWHERE_LEAST, len(found) / 2)}
    groups: dict[str, list[Outcome]] = {}
    for each, kinds in found:
        groups.setdefault(next((kind for kind in kinds if kind not in everywhere), kinds[0]), []).append(each)
    return groups


def _judge_group(rule: str, release: str, outcomes: Sequence[Outcome], seconds: float,
                 known: KnownFailures, record: Callable[[Event], None], result: GateResult) -> RuleEnded:  # fmt: skip
    record(RuleBegan(rule, release, "exact", len(outcomes)))
    known.asked(rule, release, [each.case.id for each in outcomes])
    kinds: dict[tuple[str, Known | None], list[Outcome]] = {}
    for kind, alike in _grouped(outcomes).items():
        for outcome in alike:
            miss = Miss(rule, release, outcome.case.id, kind, {"steps": outcome.answers}, lambda _: False)
            kinds.setdefault((kind, known.covers(miss)), []).append(outcome)
    covered = 0
    for (kind, cover), alike in sorted(kinds.items(), key=lambda item: -len(item[1])):
        event = _differed(rule, release, kind, cover, alike)
        if cover is None:
            result.unknown.append((event, ""))
        else:
            covered += len(alike)
        record(event)
    counts = Counter(each.verdict for each in outcomes)
    failed = sum(each.is_failure for each in outcomes)
    asked = failed + counts[runner.Verdict.AGREES]
    left_out = len(outcomes) - asked
    verdict: Verdict = "differs" if failed > covered else "known" if failed else "agrees" if asked else "unsupported"
    if counts[runner.Verdict.NOT_RUN] and verdict != "differs":
        verdict = "not judged"
    ended = RuleEnded(
        rule, release, "exact", verdict, asked, counts[runner.Verdict.AGREES], failed - covered, covered, 0, left_out,
        asked, 0, 0, round(seconds, 3), reasons=dict(Counter(each.why for each in outcomes if _is_left_out(each))),
        missing=(Coverage("cases", asked, len(outcomes)),) if verdict == "not judged" else (),
    )  # fmt: skip
    record(ended)
    return ended


def _is_left_out(outcome: Outcome) -> bool:
    return outcome.verdict in {runner.Verdict.NOT_APPLICABLE, runner.Verdict.NOT_RUN}


def _differed(rule: str, release: str, kind: str, cover: Known | None, alike: Sequence[Outcome]) -> Differed:
    """Return the event of differences of one kind; the case with the fewest requests stands for them."""
    smallest = min(alike, key=lambda each: (len(each.case.steps), each.case.id))
    case = smallest.case
    question = {"case": case.id, "title": case.title, "steps": [msgspec.to_builtins(step) for step in case.steps]}
    actual = [*smallest.answers, smallest.why] if smallest.why else smallest.answers
    return Differed(
        rule, release, case.id, "frozen", kind, len(alike), question, {"steps": case.answers_of(release) or []},
        {"steps": actual}, f"Kafka {release}'s own broker", "", known=cover,
    )  # fmt: skip


def _ended(ended: Sequence[RuleEnded], outcomes: Sequence[Outcome], stale: int, seconds: float) -> Ended:
    """Return the verdict."""
    asked, agreed = sum(each.asked for each in ended), sum(each.agreed for each in ended)
    differed, known = sum(each.differed for each in ended), sum(each.known for each in ended)
    unsupported = sum(each.unsupported for each in ended)
    not_run = sum(each.verdict is runner.Verdict.NOT_RUN for each in outcomes)
    if differed or stale:
        parts = [f"{differed:,} of {asked:,} cases differ from Kafka"] if differed else []
        parts += [f"{stale} of the known failures no longer true"] if stale else []
        code, why = 1, ", and ".join(parts)
    elif not asked:
        code, why = 2, "nothing was judged: no case applies to this broker"
    elif not_run:
        code, why = 2, f"the broker was lost: {not_run:,} cases were not run"
    else:
        code, why = 0, f"{agreed:,} of {asked:,} cases agree with Kafka"
        why += f", {known:,} known failures" if known else ""
    if asked and unsupported - not_run:
        why += f"; {unsupported - not_run:,} more do not apply"
    if not_run and code == 1:
        why += f"; {not_run:,} were not run, the broker was lost"
    judged = [each for each in ended if each.asked]
    conform = sum(each.verdict == "agrees" for each in judged)
    return Ended(
        code, why, asked, agreed, differed, known, 0, unsupported, round(seconds, 3), conform, len(ended), 0, len(judged)
    )  # fmt: skip
