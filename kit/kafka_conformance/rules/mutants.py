"""Mutants: the reference with one known mistake each, which the questions of its rule have to find.

Each is a mistake that some port has made, or could make. ``selftest`` puts the same questions to Java and to each mutant,
in a release where the mistake shows. A mutant that survives means that the questions of its rule are too weak, and fails
the run.

Mutants are discovered by package: each ``rules/<package>/*mutants.py`` defines ``MUTANTS``; they are imported when
mutants are asked for. Those that confuse two releases are made from the eras of the rule: see ``release_mutants``.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Sequence
from functools import cached_property
from importlib import import_module
from typing import Any

from kafka_conformance import rules
from kafka_conformance.core.errors import BadInput
from kafka_conformance.core.mutant import Mutant
from kafka_conformance.core.rule import Rule
from kafka_conformance.core.suggestion import did_you_mean
from kafka_conformance.rules.release_mutants import release_mutants

__all__ = ["MUTANTS", "mutant_named", "written_mutants"]


class _Mutants(Sequence[Mutant]):
    """The mutants of every rule, in the order of the rules."""

    @cached_property
    def _all(self) -> tuple[Mutant, ...]:
        return tuple(
            mutant for rule in rules.RULES.values() for mutant in (*written_mutants(rule), *release_mutants(rule))
        )

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


def written_mutants(rule: Rule) -> list[Mutant]:
    """Return the mutants of a rule that people wrote: all but those made from its eras."""
    package = import_module(f"{rules.__name__}.{rule.slug.replace('-', '_')}")
    modules = (module.name for module in pkgutil.iter_modules(package.__path__) if module.name.endswith("mutants"))
    return [mutant for name in modules for mutant in import_module(f"{package.__name__}.{name}").MUTANTS]
