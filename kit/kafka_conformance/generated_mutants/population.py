"""All generated mutants of the reference, by the rule they belong to.

A rule reaches definitions of the reference. A mutant belongs to the rule that reaches the fewest definitions, of those that
reach its own: that rule is most about it. A mutant in a behaviour record belongs to a rule that declares the record.

A rule that builds on another's package and so declares the records of that package behind its own, has none there that
another rule reaches: those of ``record_batch`` belong to ``record-batch``, not to ``consumer-fetch``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from kafka_conformance.core.rule import Rule
from kafka_conformance.generated_mutants.mutations import Module, Mutation
from kafka_conformance.rules import RULES
from kafka_conformance.verify.fingerprint import fingerprinted_sources, installed_sources
from kafka_reference.behaviour import Behaviour
from kafka_reference.releases import Release

__all__ = ["OUTSIDE", "Mutant", "Population"]

OUTSIDE = {"kafka_reference.bulk": "answers whole columns, which verify compares with Java"}
"""Modules that no single question asks, with what proves them."""
_PACKAGE = "kafka_reference."
_ALIKE, _MOST_SIBLINGS = 1.5, 3


@dataclass(frozen=True, slots=True, eq=False)
class Mutant:
    """A mutation, and the rules whose questions may kill it."""

    mutation: Mutation
    module: Module
    rules: tuple[str, ...]
    """The slugs of the rules that reach it; the first is the one that it belongs to."""
    siblings: tuple[str, ...]
    """Others about the same code: those that declare a behaviour record of its package, and those that reach about as much
    of the reference as the first."""


class Population:
    """The mutants of the installed reference; ``releases`` are those that a span may end at, ``rules`` those that ask."""

    def __init__(self, releases: Sequence[Release], rules: Mapping[str, Rule] = RULES) -> None:
        self._releases, self._by_slug = releases, rules
        self._modules: dict[str, Module] = {}

    def of(self, slug: str) -> tuple[Mutant, ...]:
        """Return the mutants that belong to a rule, in the order of the code."""
        own = {name for name, slugs in self._rules.items() if slugs[0] == slug}
        return tuple(
            Mutant(mutation, module, self._rules[name], self._siblings(name))
            for module in map(self._module, sorted({name.partition(":")[0] for name in own}))
            for mutation in module.mutations
            if (name := f"{mutation.module}:{mutation.definition}") in own and self._matters(mutation)
        )

    def _matters(self, mutation: Mutation) -> bool:
        """Return whether its rule has the release that enters or leaves a span."""
        own = self._by_slug[self._rules[f"{mutation.module}:{mutation.definition}"][0]]
        return mutation.moved is None or mutation.moved in own.releases

    def _module(self, name: str) -> Module:
        if name not in self._modules:
            self._modules[name] = Module(name, installed_sources().python[name], self._releases)
        return self._modules[name]

    def _siblings(self, name: str) -> tuple[str, ...]:
        own, *others = self._rules[name]
        most = len(self._reached[own]) * _ALIKE
        near = [slug for slug in others if self._is_about(slug, name) or len(self._reached[slug]) <= most]
        return tuple(sorted(near, key=lambda slug: not self._is_about(slug, name)))[:_MOST_SIBLINGS]

    @cached_property
    def _reached(self) -> dict[str, list[str]]:
        """The definitions of the reference that each rule reaches."""
        return {
            slug: [name for name in fingerprinted_sources(rule, installed_sources()) if name.startswith(_PACKAGE)]
            for slug, rule in self._by_slug.items()
        }

    @cached_property
    def _rules(self) -> dict[str, tuple[str, ...]]:
        """The rules that reach each definition, the one that reaches the fewest first."""
        found: dict[str, tuple[str, ...]] = {}
        for slug in sorted(self._reached, key=lambda slug: len(self._reached[slug])):
            for name in self._reached[slug]:
                if name.partition(":")[0] not in OUTSIDE:
                    found[name] = (*found.get(name, ()), slug)
        return {name: self._declaring_first(name, slugs) for name, slugs in found.items()}

    def _declaring_first(self, name: str, slugs: tuple[str, ...]) -> tuple[str, ...]:
        """Return rules in their order: first those that declare the record of this name, last those that borrow it."""
        lent = any(self._is_about_alone(slug, name) for slug in slugs)
        return tuple(
            sorted(slugs, key=lambda slug: (lent and self._borrows(slug, name), not self._declares(slug, name)))
        )

    def _is_about_alone(self, slug: str, name: str) -> bool:
        """Return whether all behaviour records of a rule are of the package of this name."""
        return self._is_about(slug, name) and all(_package_has(one, name) for one in self._by_slug[slug].behaviours)

    def _borrows(self, slug: str, name: str) -> bool:
        """Return whether a rule declares a record of the package of this name behind one of another package."""
        return self._is_about(slug, name) and not _package_has(self._by_slug[slug].behaviours[0], name)

    def _declares(self, slug: str, name: str) -> bool:
        """Return whether a rule has the behaviour record of this name."""
        return any(f"{one.__module__}:{one.__name__}" == name for one in self._by_slug[slug].behaviours)

    def _is_about(self, slug: str, name: str) -> bool:
        """Return whether a rule has a behaviour record of the package of this name, or of one around it."""
        return any(_package_has(one, name) for one in self._by_slug[slug].behaviours)


def _package_has(record: type[Behaviour], name: str) -> bool:
    """Return whether a name is in the package of a behaviour record, or in one within it."""
    return name.startswith(f"{record.__module__.rpartition('.')[0]}.")
