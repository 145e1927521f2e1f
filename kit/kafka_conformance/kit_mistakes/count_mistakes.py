"""Mistakes of counts: of a rule, and of a diagnosis."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import msgspec

from kafka_conformance.core.pipeline import Judgement, Tally
from kafka_conformance.core.protocol import Agrees, Crashed, Errored, Unsupported
from kafka_conformance.gate import runner
from kafka_conformance.gate.completeness import Answers
from kafka_conformance.gate.diagnosis import diagnosis
from kafka_conformance.gate.diagnosis.diagnosis import Explanation
from kafka_conformance.kit_mistakes.mistake import Mistake, Plant, replacing

__all__ = ["COUNT_MISTAKES"]

_COUNTS = ("gate, counts",)


def _changed(owner: Any, name: str, change: Callable[..., Any]) -> Plant:
    """Replace a function by ``change``, which gets the function, then its arguments."""
    original = getattr(owner, name)

    def wrong(*arguments: Any, **named: Any) -> Any:
        return change(original, *arguments, **named)

    return replacing((owner, name, wrong))


def _one_more(add: Callable[..., None], counts: Tally, judgement: Judgement) -> None:
    add(counts, judgement)
    counts.agreed += counts.total == 1


def _lenient(*verdicts: type) -> Callable[..., None]:
    """Count verdicts of these kinds as agreement."""

    def add(original: Callable[..., None], counts: Answers, judgement: Judgement) -> None:
        original(counts, replace(judgement, verdict=Agrees()) if isinstance(judgement.verdict, verdicts) else judgement)

    return add


def _asked_twice(sources: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
    found = sources(*arguments, **named)
    return [*found, *(each for each in found if each[0].name == "frozen")]


def _one_less(explanation: Callable[..., Explanation], *arguments: Any) -> Explanation:
    found = explanation(*arguments)
    return replace(found, diagnosis=msgspec.structs.replace(found.diagnosis, equal=found.diagnosis.equal - 1))


COUNT_MISTAKES: Sequence[Mistake] = (
    Mistake("one-too-many", "one answer too many agrees", ("gate, right", *_COUNTS), _changed(Tally, "add", _one_more)),
    Mistake("counted-twice", "frozen questions are asked and counted twice", ("gate, right", *_COUNTS),
            _changed(runner, "gate_sources", _asked_twice)),
    Mistake("unsupported-agrees", "a question without an answer counts as right", (*_COUNTS, "gate, two answers"),
            _changed(Answers, "add", _lenient(Unsupported))),
    Mistake("failed-agrees", "a question that fails counts as right", _COUNTS,
            _changed(Answers, "add", _lenient(Errored, Crashed))),
    Mistake("diagnosis-one-less", "a diagnosis counts one answer too few", _COUNTS,
            _changed(diagnosis._Case, "explanation", _one_less)),  # noqa: SLF001  planted where it counts
    Mistake("diagnosis-counts-twice", "a diagnosis counts each answer twice", _COUNTS,
            _changed(diagnosis, "_sampled", lambda _, everything, *__: [*everything, *everything])),
)  # fmt: skip
