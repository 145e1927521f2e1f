"""``diff R1 R2``: what Java itself answers differently from one release to another, as shrunk examples."""

from __future__ import annotations

from collections.abc import Sequence

from kafka_conformance.answerers.java import JavaAnswerer
from kafka_conformance.engine import Difference, Pair, Tally, compare, kind_of, shrunk
from kafka_conformance.progress import steps
from kafka_conformance.reports.terminal import console, finding, plural
from kafka_conformance.rules import Rule, named
from kafka_conformance.session import open_oracle, parse_release
from kafka_conformance.sources import sources
from kafka_jars.pins import load

__all__ = ["changes", "run"]

# The kinds of change shown for one rule; the number of the others is said.
_SHOWN = 12


def run(*, first: str, second: str, rules: Sequence[str], examples: int, seed: int) -> int:
    """Ask both, print what changed; 0 if nothing did, 1 if something did, 2 if that cannot be said."""
    out = console()
    left, right = parse_release(first), parse_release(second)
    chosen = named(rules)
    changed = errors = 0
    with steps("starting Spark's JVM", len(chosen)) as progress, open_oracle(load()) as oracle:
        java = JavaAnswerer(oracle)
        for rule in chosen:
            progress.doing(f"{rule.slug}: {left} and {right}")
            pair = Pair(java, java, left, right)
            tally = compare(rule, pair, sources(rule, examples, seed), lambda _: None)
            kinds = changes(rule, pair, tally, examples, seed)
            for difference, count in kinds[:_SHOWN]:
                out.print(finding(rule, difference, pair.names, count, ""), soft_wrap=True)
            if len(kinds) > _SHOWN:
                out.print(f"{rule.slug}: {len(kinds) - _SHOWN} more kinds of change")
            changed += len(kinds)
            errors += len(tally.errors)
            out.print(_summary(rule, tally, len(kinds), (str(left), str(right))), markup=False)
            progress.advance()
    out.print(f"seed {seed}", style="dim")
    return 1 if changed else 2 if errors else 0


def changes(rule: Rule, pair: Pair, tally: Tally, examples: int, seed: int) -> list[tuple[Difference, int]]:
    """Each kind of change, its smallest example, and how many questions showed it."""
    kinds: dict[str, list[Difference]] = {}
    for difference in tally.differences:
        kinds.setdefault(kind_of(rule, difference), []).append(difference)
    return [(_smallest(rule, pair, kind, found, examples, seed), len(found)) for kind, found in kinds.items()]


def _smallest(rule: Rule, pair: Pair, kind: str, found: Sequence[Difference], examples: int, seed: int) -> Difference:
    """Shrunk within its kind: another kind's example would say the same thing twice and hide this one."""

    def same_kind(difference: Difference) -> bool:
        return kind_of(rule, difference) == kind

    return shrunk(rule, pair, found, examples, seed, same_kind)


def _summary(rule: Rule, tally: Tally, kinds: int, releases: tuple[str, str]) -> str:
    said = f"{rule.slug}: {plural(tally.total, 'question')} to {releases[0]} and {releases[1]}"
    if tally.unsupported == tally.total:
        return f"{said}: one of them has no such rule"
    if tally.errors:
        return f"{said}: {len(tally.errors)} could not be judged: {tally.errors[0][1]}"
    return f"{said}: {plural(kinds, 'kind')} of change" if kinds else f"{said}: no change"
