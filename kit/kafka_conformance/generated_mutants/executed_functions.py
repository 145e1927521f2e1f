"""Which functions of the reference a question executes, so that a mutant is asked only what executes its function; and
whether the reference itself gives the expected answer: else that question would kill every mutant.

What functions return from a cache is computed again for each question.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from functools import _lru_cache_wrapper
from types import CodeType, FrameType
from typing import Any

import msgspec

from kafka_conformance.answerers.reference import outcome_of
from kafka_conformance.core.errors import KitError
from kafka_conformance.core.protocol import Outcome
from kafka_conformance.core.rule import Rule
from kafka_conformance.generated_mutants.questions import Asked, outcome_bytes
from kafka_reference.releases import parse_release

__all__ = ["functions_of"]

_PACKAGE = "kafka_reference"


def functions_of(rule: Rule, questions: Sequence[Asked]) -> list[frozenset[str]]:
    """Return the functions and methods that each question of a rule executes, as ``module:name``.

    Raises KitError if the reference gives another answer than the expected one.
    """
    caches = list(_caches())
    sets: dict[frozenset[str], frozenset[str]] = {}
    found = []
    for one in questions:
        for cache in caches:
            cache.cache_clear()
        question = msgspec.json.decode(one.question, type=rule.question)
        outcome, executed = _executed(lambda: outcome_of(rule.ask, question, parse_release(one.release)))  # noqa: B023
        if outcome_bytes(outcome) != one.expected:
            raise KitError(f"the reference itself gives another answer: {rule.slug}, {one.name}; see freeze --check")
        names = frozenset(executed)
        found.append(sets.setdefault(names, names))
    return found


def _caches() -> Iterator[_lru_cache_wrapper[Any]]:
    """Yield the functions of the reference that keep what they return.

    They stand in its modules. The garbage collector's list of objects has none of them after a ``gc.freeze``.
    """
    for name, module in tuple(sys.modules.items()):
        if name.startswith(_PACKAGE):
            yield from (one for one in vars(module).values() if type(one) is _lru_cache_wrapper)


_NAMES: dict[CodeType, str | None] = {}


def _executed(run: Callable[[], Outcome]) -> tuple[Outcome, set[str]]:
    codes = set[CodeType]()

    def note(frame: FrameType, event: str, _: Any) -> None:
        if event == "call":
            codes.add(frame.f_code)
            if frame.f_code not in _NAMES:
                module = frame.f_globals.get("__name__", "")
                name = frame.f_code.co_qualname.partition(".<locals>")[0]
                _NAMES[frame.f_code] = f"{module}:{name}" if module.startswith(_PACKAGE) else None

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        outcome = run()
    finally:
        sys.setprofile(before)
    return outcome, {name for code in codes if (name := _NAMES.get(code)) is not None}
