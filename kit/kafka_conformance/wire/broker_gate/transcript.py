"""Cases as a transcript in two columns: what Kafka answers, and what the broker under test does.

Markdown, the form in which such differences are reported::

    | | request | Kafka 4.4.0 | broker 127.0.0.1:9092 |
    |---|---|---|---|
    | 2 | Produce 9 … | baseOffset 0 | baseOffset 0 |
    | **3** | Produce 9 … | errorCode 45 | **errorCode 0** |
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from kafka_conformance.core.sanitize import clipped, harmless
from kafka_conformance.wire.broker_gate.runner import CaseOutcome

__all__ = ["transcript"]

_CELL = 1500


def transcript(outcomes: Sequence[CaseOutcome], release: str, target: str) -> str:
    """Return a section for each outcome, those with the fewest requests first; or a line that there is none."""
    lines = [f"# Kafka {release} and {target}", ""]
    if not outcomes:
        lines += ["No case that was run differs.", ""]
    for outcome in sorted(outcomes, key=lambda each: (len(each.case.steps), each.case.id)):
        lines += _section(outcome, release, target)
    return "\n".join(lines) + "\n"


def _section(outcome: CaseOutcome, release: str, target: str) -> Iterator[str]:
    case, difference = outcome.case, outcome.difference
    yield f"## `{case.id}`: {outcome.verdict.value}"
    yield ""
    why = ": ".join(filter(None, (case.title, outcome.why)))
    yield _text(why)
    if difference is not None:
        step = case.steps[difference.step]
        yield ""
        yield (
            f"Request {difference.step + 1}, {step.api} version {step.version}, `{_text(difference.path) or 'all'}`:"
            f" Kafka {_code(difference.expected)}, {target} {_code(difference.actual)}."
        )
    yield ""
    yield f"| | request | Kafka {release} | {target} |"
    yield "|---|---|---|---|"
    expected = case.answers_of(release) or []
    for number, step in enumerate(case.steps):
        right = expected[number] if number < len(expected) else None
        actual = outcome.answers[number] if number < len(outcome.answers) else None
        mark = "" if right == actual else "**"
        cells = (
            f"{mark}{number + 1}{mark}", f"{step.api} {step.version} {_code(step.request)}",
            "" if right is None else _code(right),
            "(none)" if actual is None else "the same" if right == actual else _code(actual),
        )  # fmt: skip
        yield f"| {' | '.join(cells)} |"
    yield ""


def _code(value: Any) -> str:
    text = msgspec.json.encode(value).decode().replace("`", "'").replace("|", "\\|")
    return f"`{_text(text)}`"


def _text(text: str) -> str:
    return harmless(clipped(text, _CELL))
