"""The page of a broker: how each group of cases ended, and the smallest case of each difference beside Kafka's answers."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from typing import Any

from client_page import asked_rules, differs_in, slug_of
from client_results import Deviation, GateResult

from kafka_conformance.core.sanitize import clipped
from kafka_conformance.gate.reports.markdown import block, code, words
from kafka_conformance.gate.reports.outline import as_json
from kafka_conformance.reports.terminal import plural

__all__ = ["FOLDER", "broker_pages"]

FOLDER = "brokers"
_LONGEST = 1200
_REMARK = "<!-- Written by `python ci/matrix.py` from `ci/broker-gates.ndjson`. -->"
_ABOUT = """\
Cases of [the gate of brokers](../gate-broker.md), with the answers that Kafka {release}'s own broker gave. The smallest case
of each difference stands for all of its kind; only the requests whose answers differ are shown."""


def broker_pages(results: Sequence[GateResult]) -> dict[str, str]:
    """Return the page of each broker by its path below ``kit/docs``."""
    return {f"{FOLDER}/{slug_of(f'{one.name} {one.version}')}.md": _page(one) for one in results}


def _page(gate: GateResult) -> str:
    release = gate.settings[0] if gate.settings else "?"
    heads = ["group", "cases that apply", "agree", "differ", "do not apply"]
    rows = [
        [count.rule.removeprefix("broker/"), count.asked, count.agreed, count.asked - count.agreed, count.unsupported]
        for count in sorted(gate.rules, key=lambda count: count.rule)
    ]
    lines = [f"| {' | '.join(heads)} |", "|---|" + "---:|" * (len(heads) - 1)]
    lines += [f"| {' | '.join(f'{each:,}' if isinstance(each, int) else each for each in row)} |" for row in rows]
    parts = [
        f"# {words(gate.name)} {words(gate.version)}",
        _ABOUT.format(release=release),
        *([f"The gate did not finish: {code(gate.unfinished[1])}"] if gate.unfinished else []),
        "\n".join(lines),
        *(part for rule in sorted(asked_rules([gate])) for part in _group(gate, rule, release)),
    ]
    return f"{_REMARK}\n" + "\n\n".join(parts) + "\n"


def _group(gate: GateResult, rule: str, release: str) -> Iterator[str]:
    found = [one for one in gate.deviations if one.rule == rule]
    if not found:
        return
    yield f"## {differs_in(rule.removeprefix('broker/'))}"
    for one in found:
        yield f"### {code(one.kind, 200)}"
        yield _difference(one, release)


def _difference(one: Deviation, release: str) -> str:
    case = str(one.question.get("case", ""))
    times = plural(one.times, "case")
    impact = f"{one.impact.capitalize()}. " if one.impact else ""
    again = shlex.join(["kafka-conformance", "gate", "broker", "HOST:PORT", "--as", release, "--run", case])
    lines = [
        f"{impact}{times}, of which the smallest is {code(case)}: {words(str(one.question.get('title', '')))}.",
        "",
    ]
    lines += [f"- What this means for users: {words(one.effect)}"] if one.effect else []
    lines += [f"- Known until {words(one.expires)}: {words(one.reason)}"] if one.expires else []
    lines += [f"- Ask again: {code(again)}"]
    return "\n".join([*lines, "", block(_sides(one))])


def _sides(one: Deviation) -> Iterator[str]:
    """Yield the requests whose answers differ, each with both answers."""
    steps, expected, actual = (side.get("steps") or [] for side in (one.question, one.expected, one.actual))
    for number, step in enumerate(steps):
        answers = [side[number] if number < len(side) else None for side in (expected, actual)]
        if answers[0] != answers[1]:
            yield f"request {number + 1}  {step.get('api')} version {step.get('version')} {_line(step.get('request'))}"
            yield f"  Kafka    {_line(answers[0])}"
            yield f"  broker   {_line(answers[1])}"


def _line(value: Any) -> str:
    return "(no answer)" if value is None else clipped(as_json(value), _LONGEST)
