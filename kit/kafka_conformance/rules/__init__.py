"""Every rule the kit can ask about, by slug, discovered by package: ``rules/<package>/rule.py`` defines ``RULE``."""

from __future__ import annotations

import pkgutil
from collections.abc import Sequence
from importlib import import_module

from kafka_conformance.core.errors import BadInput
from kafka_conformance.core.rule import Rule
from kafka_conformance.core.suggestion import did_you_mean
from kafka_reference.releases import Release

__all__ = ["RULES", "java_classes", "named", "rule_named"]


def _discover() -> dict[str, Rule]:
    found = [
        import_module(f"{__name__}.{package.name}.rule").RULE
        for package in pkgutil.iter_modules(__path__)
        if package.ispkg and package.name != "common"
    ]
    return {rule.slug: rule for rule in sorted(found, key=lambda rule: (rule.area, rule.slug))}


RULES: dict[str, Rule] = _discover()


def named(slugs: Sequence[str]) -> list[Rule]:
    """Return the rules of these slugs, in the order of :data:`RULES`; all of them for none. Raises BadInput."""
    for slug in slugs:
        rule_named(slug)
    return [rule for slug, rule in RULES.items() if not slugs or slug in slugs]


def rule_named(slug: str) -> Rule:
    """Return the rule of this slug. Raises BadInput."""
    if slug not in RULES:
        raise BadInput(f"unknown rule {slug!r}: {did_you_mean(slug, RULES)}")
    return RULES[slug]


def java_classes(release: Release) -> dict[str, str]:
    """Return the oracle's Java class of each rule that ``release`` has."""
    found = {slug: rule.java_class(release) for slug, rule in RULES.items()}
    return {slug: name for slug, name in found.items() if name is not None}
