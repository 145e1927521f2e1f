"""The timeline of a question about an index: the entries after each step, and the size of the file."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from kafka_conformance.core.timeline import Explain, Explained
from kafka_conformance.rules.common.index_adapter import IndexHistory
from kafka_conformance.rules.common.step_text import answer_in_words, plain_step_in_words, raised
from kafka_reference.releases import Release

__all__ = ["index_explain"]


def index_explain(begin: Callable[[Any, Release], IndexHistory[Any]]) -> Explain:
    """Return the explain function of a rule whose histories ``begin`` makes."""

    def explain(question: Any, release: Release, answers: Sequence[Any]) -> Iterator[Explained]:
        history = begin(question, release)
        for step, answer in zip(question.steps, answers, strict=True):
            history.take(step)
            outcome = raised(answer) if isinstance(answer, dict) else ""
            yield Explained(
                time_ms=None,
                step=plain_step_in_words(step),
                answer=answer_in_words(answer),
                mark=f"{step.__struct_config__.tag}{f' → {outcome}' if outcome else ''}",
                state=() if history.error is not None else tuple(_state(history)),
            )

    return explain


def _state(history: IndexHistory[Any]) -> Iterator[tuple[str, str]]:
    index = history.index
    mapped = "" if index.is_mapped else ", unmapped"
    yield "index", f"{index.entries} of {index.max_entries} entries{mapped}"
    yield "file", "none" if index.data is None else f"{index.name}, {len(index.data)} bytes"
