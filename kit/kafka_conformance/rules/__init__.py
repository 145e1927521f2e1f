"""Every rule the kit can ask about, by slug, discovered by package: ``rules/<package>/rule.py`` defines ``RULE``.

A rule's modules are imported when the rule is asked for: a command that needs one of them starts in half the time.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Iterable, Iterator, MutableMapping, Sequence
from importlib import import_module

from kafka_conformance.core.errors import BadInput
from kafka_conformance.core.rule import Rule
from kafka_conformance.core.suggestion import did_you_mean
from kafka_reference.releases import Release

__all__ = ["RULES", "java_classes", "named", "rule_named"]


class _Rules(MutableMapping[str, Rule]):
    """Rules by slug, in the order of areas, then slugs; listing them imports them all."""

    def __init__(self) -> None:
        packages = (module.name for module in pkgutil.iter_modules(__path__) if module.ispkg)
        self._packages = {name.replace("_", "-"): name for name in packages if name != "common"}
        self._found: dict[str, Rule] = {}

    def __contains__(self, slug: object) -> bool:
        return slug in self._packages or slug in self._found

    def __len__(self) -> int:
        return len(self._packages.keys() | self._found)

    def __iter__(self) -> Iterator[str]:
        return iter([rule.slug for rule in _ordered(self[slug] for slug in self._packages.keys() | self._found)])

    def __getitem__(self, slug: str) -> Rule:
        if slug not in self._found and slug in self._packages:
            self._found[slug] = import_module(f"{__name__}.{self._packages[slug]}.rule").RULE
        return self._found[slug]

    def __setitem__(self, slug: str, rule: Rule) -> None:
        self._found[slug] = rule

    def __delitem__(self, slug: str) -> None:
        del self._found[slug]


def _ordered(rules: Iterable[Rule]) -> list[Rule]:
    return sorted(rules, key=lambda rule: (rule.area, rule.slug))


RULES: MutableMapping[str, Rule] = _Rules()


def named(slugs: Sequence[str]) -> list[Rule]:
    """Return the rules of these slugs, in the order of :data:`RULES`; all of them for none. Raises BadInput."""
    meant = [rule_named(slug) for slug in dict.fromkeys(slugs)]
    return _ordered(meant) if meant else list(RULES.values())


def rule_named(slug: str) -> Rule:
    """Return the rule of this slug. Raises BadInput."""
    if slug not in RULES:
        raise BadInput(f"unknown rule {slug!r}: {did_you_mean(slug, RULES)}")
    return RULES[slug]


def java_classes(release: Release) -> dict[str, str]:
    """Return the oracle's Java class of each rule that ``release`` has."""
    found = {slug: rule.java_class(release) for slug, rule in RULES.items()}
    return {slug: name for slug, name in found.items() if name is not None}
