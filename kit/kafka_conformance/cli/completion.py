"""Shell completion: candidates for rules, releases and answerers. Nothing is imported until a shell asks."""

from __future__ import annotations

import pkgutil
from collections.abc import Iterable, Sequence
from pathlib import Path

import click
from click.shell_completion import CompletionItem

import kafka_conformance

__all__ = ["complete_answerers", "complete_releases", "complete_rules", "rule_slugs"]


def rule_slugs() -> Sequence[str]:
    """Return the slugs of all rules, sorted, without importing one."""
    folder = Path(kafka_conformance.__file__).parent / "rules"
    packages = (module.name for module in pkgutil.iter_modules([str(folder)]) if module.ispkg)
    return sorted(name.replace("_", "-") for name in packages if name != "common")


def complete_rules(_: click.Context, __: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete the last slug of a list."""
    return _listed(incomplete, rule_slugs())


def complete_releases(_: click.Context, __: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete the last release of a list."""
    from kafka_jars.pins import load

    return _listed(incomplete, ["newest", "spread", "all", *load().releases])


def complete_answerers(_: click.Context, __: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete the name of an answerer."""
    from kafka_conformance.rules.mutants import MUTANTS

    names = ["reference", "java", *(f"mutant:{mutant.slug}" for mutant in MUTANTS)]
    return [CompletionItem(name) for name in names if name.startswith(incomplete)]


def _listed(incomplete: str, names: Iterable[str]) -> list[CompletionItem]:
    before, comma, last = incomplete.rpartition(",")
    return [CompletionItem(f"{before}{comma}{name}") for name in names if name.startswith(last)]
