"""Mutants: the reference with one known mistake each, which the questions of its rule have to find.

Each is a mistake that some port has made, or could make. ``selftest`` puts the same questions to Java and to each mutant,
in a release where the mistake shows. A mutant that survives means that the questions of its rule are too weak, and fails
the run.

Mutants are discovered by package: each ``rules/<package>/*mutants.py`` defines ``MUTANTS``; they are imported when
mutants are asked for.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Iterator, Sequence
from functools import cached_property
from importlib import import_module
from typing import Any

from kafka_conformance import rules
from kafka_conformance.core.errors import BadInput
from kafka_conformance.core.mutant import Mutant
from kafka_conformance.core.suggestion import did_you_mean

__all__ = ["MUTANTS", "mutant_named"]


class _Mutants(Sequence[Mutant]):
    """The mutants of every rule, in the order of the rules."""

    @cached_property
    def _all(self) -> tuple[Mutant, ...]:
        return tuple(mutant for slug in rules.RULES for mutant in _discover(slug))

    def __len__(self) -> int:
        return len(self._all)

    def __getitem__(self, index: Any) -> Any:
        return self._all[index]


MUTANTS: Sequence[Mutant] = _Mutants()


def mutant_named(slug: str) -> Mutant:
    """Return the mutant of this slug. Raises BadInput."""
    found = next((mutant for mutant in MUTANTS if mutant.slug == slug), None)
    if found is None:
        hint = did_you_mean(slug, (mutant.slug for mutant in MUTANTS), "`kafka-conformance selftest` lists them")
        raise BadInput(f"unknown mutant {slug!r}: {hint}")
    return found


def _discover(slug: str) -> Iterator[Mutant]:
    package = import_module(f"{rules.__name__}.{slug.replace('-', '_')}")
    for module in pkgutil.iter_modules(package.__path__):
        if module.name.endswith("mutants"):
            yield from import_module(f"{package.__name__}.{module.name}").MUTANTS
