"""Make the case of a difference smaller, and find the versions of the request that have it.

Both ask the broker again, on new topics. What Kafka answers to a smaller case is not recorded, so only what its answers
cannot depend on is left out: requests after the difference, and before it those that only read, or that name nothing that
another request names. With another version of the request that differs, the field is compared with the recorded value; the
request and all before it stay the same, and where a version cannot hold them the search ends.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
from msgspec.structs import replace

from kafka_conformance.core.errors import BadInput
from kafka_conformance.wire.broker_gate.case import BrokerCase, Recorded, Step
from kafka_conformance.wire.broker_gate.runner import ABSENT, BrokerTarget, CaseOutcome, CaseVerdict, Difference

__all__ = ["Smaller", "make_smaller"]

_READING = frozenset({
    "ApiVersions", "DescribeConfigs", "DescribeGroups", "DescribeProducers", "DescribeTopicPartitions",
    "DescribeTransactions", "Fetch", "FindCoordinator", "ListOffsets", "OffsetFetch", "OffsetForLeaderEpoch",
})  # fmt: skip
"""Requests that change nothing at a broker. Metadata may create topics."""
_ENDS = {CaseVerdict.NO_ANSWER: "is not answered", CaseVerdict.CLOSED: "ends with a closed connection"}
_LIMIT_S = 2.0
"""How long a request is waited for: the gate itself has waited longer for the same one."""


@dataclass(frozen=True, slots=True)
class Smaller:
    """The outcome of the smallest case that has the difference, and which versions of the request have it, in words."""

    outcome: CaseOutcome
    versions: str


@dataclass(frozen=True, slots=True)
class _Sought:
    """What has to stay: a verdict at a step, with the first difference there, if it is one of values."""

    verdict: CaseVerdict
    step: int
    difference: Difference | None

    def is_in(self, found: CaseOutcome, step: int) -> bool:
        """Whether an outcome has it, at this step."""
        if self.difference is None:
            return found.verdict is self.verdict and len(found.raw) == step
        path, values = self.difference.path, (self.difference.expected, self.difference.actual)
        return any(
            (each.step, each.path, (each.expected, each.actual)) == (step, path, values) for each in found.differences
        )


def make_smaller(target: BrokerTarget, outcome: CaseOutcome, difference: Difference | None, release: str,
                 until: float) -> Smaller:  # fmt: skip
    """Return the smallest case found until this time (``time.monotonic()``) that still has the difference.

    ``difference`` is one of the outcome, or None if the case ended without an answer to compare. Raises KitError.
    """
    step = len(outcome.raw) if difference is None else difference.step
    sought = _Sought(outcome.verdict, step, difference)
    found = _without_steps(target, outcome, sought, release, until)
    at = step if found is outcome else len(found.case.steps) - 1
    return Smaller(found, _versions(target, found.case, at, sought, release, until))


def _without_steps(
    target: BrokerTarget, outcome: CaseOutcome, sought: _Sought, release: str, until: float
) -> CaseOutcome:
    """Drop everything after the step, then all requests that the difference cannot depend on, if it stays."""
    smallest = _cut(outcome.case, range(sought.step + 1), release)
    found = outcome
    for tried, kept in enumerate(_candidates(smallest.steps)):
        if time.monotonic() >= until:
            break
        case = _cut(smallest, kept, release)
        named = replace(case, id=f"{outcome.case.id}-smaller{tried}")
        target.make([named])
        again = target.run(named, release, limit_s=_LIMIT_S)
        if sought.is_in(again, len(kept) - 1):
            found = CaseOutcome(case, again.verdict, again.why, again.answers, again.raw, again.differences)
            break
    return found


def _candidates(steps: Sequence[Step]) -> Iterator[list[int]]:
    """Yield the numbers of the steps to keep, the fewest first; the last one always."""
    last = len(steps) - 1
    needed = [number for number in range(last) if not _is_free(steps, number)]
    if len(needed) < last:
        yield [*needed, last]
    yield list(range(last + 1))


def _is_free(steps: Sequence[Step], number: int) -> bool:
    """Whether no answer of Kafka to another step depends on this one."""
    step = steps[number]
    others = [each for at, each in enumerate(steps) if at != number]
    used = set().union(*(_names(each.request) for each in others)) if others else set()
    if not used.isdisjoint(f"${name}" for name in step.bind) or step.until is not None:
        return False
    return step.api in _READING or used.isdisjoint(_names(step.request))


def _names(value: Any) -> set[str]:
    """Return the names (`$…`) that a request uses. Times (`$t+`) do not count: they tie no requests together."""
    if isinstance(value, str):
        return {value} if value.startswith("$") and not value.startswith("$t+") else set()
    below = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return set().union(*map(_names, below))


def _cut(case: BrokerCase, kept: Sequence[int], release: str) -> BrokerCase:
    """Return a case of these steps, with the answers that were recorded for them."""
    answers = case.answers_of(release) or []
    some = Recorded((release,), [answers[at] for at in kept if at < len(answers)])
    return replace(case, steps=[case.steps[at] for at in kept], expected=[some])


def _versions(target: BrokerTarget, case: BrokerCase, at: int, sought: _Sought, release: str, until: float) -> str:
    """Return in words which versions of the request have the difference."""
    step = case.steps[at]
    known = target.versions_of(step.api)
    same, other = [step.version], {}
    for direction in (-1, 1):
        version = step.version + direction
        while version in known and time.monotonic() < until:
            seen = _at_version(target, case, at, version, sought, release)
            if seen is None:
                break
            if seen:
                other[direction] = (version, seen)
                break
            same.append(version)
            version += direction
    span = f"version {step.version}" if len(same) == 1 else f"versions {min(same)} to {max(same)}"
    parts = [f"{step.api} in {span}"]
    parts += [f"version {version} {seen}" for version, seen in (other[each] for each in sorted(other))]
    return "; ".join(parts)


def _at_version(
    target: BrokerTarget, case: BrokerCase, at: int, version: int, sought: _Sought, release: str
) -> str | None:
    """Return what the broker does with another version of a request: empty for the same; None if it cannot be sent."""
    steps = [*case.steps[:at], replace(case.steps[at], version=version)]
    named = replace(case, id=f"{case.id}-version{version}", steps=steps)
    target.make([named])
    try:
        found = target.run(named, release, limit_s=_LIMIT_S)
    except BadInput:
        return None  # the request has a field that this version lacks
    if sought.is_in(found, at):
        return ""
    if found.verdict in _ENDS:
        return _ENDS[found.verdict]
    if len(found.answers) <= at:
        return "is answered with bytes that are not of this version"
    if sought.difference is None:
        return "is answered"
    value = _lookup(found.answers[at], sought.difference.path)
    if value == sought.difference.expected:
        return "is answered as by Kafka"
    return None if value == ABSENT else f"is answered with {msgspec.json.encode(value).decode()[:80]}"


def _lookup(answer: Any, path: str) -> Any:
    """Return the value at the path of a difference; ABSENT if there is none."""
    for part in path.replace("[", ".").replace("]", "").split("."):
        if isinstance(answer, list) and part.isdigit() and int(part) < len(answer):
            answer = answer[int(part)]
        elif isinstance(answer, dict) and part in answer:
            answer = answer[part]
        else:
            return ABSENT
    return answer
