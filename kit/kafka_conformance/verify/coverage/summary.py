"""What a row of the record means: the rule's own methods, those that are not the rule's, and what of both has run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from kafka_conformance.verify.coverage.mirrored_code import Elsewhere, MirroredCode, mirrored_code
from kafka_conformance.verify.coverage.record import CoverageRow, Method, Ratio, Record, newest_rows

__all__ = ["MethodSummary", "decreases", "false_reasons", "newest_summaries", "summary_of"]


@dataclass(frozen=True, slots=True)
class MethodSummary:
    """A row, sorted: the rule's ``own`` methods by class, and the methods of each reason why they are not the rule's."""

    row: CoverageRow
    harness: str
    own: dict[str, list[Method]]
    elsewhere: list[tuple[Elsewhere, list[Method]]]

    @property
    def branches(self) -> Ratio:
        """Branches of the rule's own methods."""
        return sum((method.branches for method in self._own()), Ratio(0, 0))

    @property
    def lines(self) -> Ratio:
        """Lines of the rule's own methods."""
        return sum((method.lines for method in self._own()), Ratio(0, 0))

    @property
    def all_branches(self) -> Ratio:
        """Branches of all methods, also of those that are not the rule's."""
        return sum((method.branches for _, methods in self.elsewhere for method in methods), self.branches)

    @property
    def never_run(self) -> list[Method]:
        """The rule's own methods that did not run at all."""
        return [method for method in self._own() if not method.lines.run]

    @property
    def partly_run(self) -> list[Method]:
        """The rule's own methods that did not run completely."""
        return [method for method in self._own() if method.lines.run and (method.missed or method.partly)]

    def _own(self) -> Iterator[Method]:
        return (method for methods in self.own.values() for method in methods)


def summary_of(row: CoverageRow) -> MethodSummary:
    """Return the summary of a row, by the rule's ``coverage.toml``."""
    code = mirrored_code(row.rule) or MirroredCode(())
    reasons = [(each, [m for ms in row.methods.values() for m in ms if _names(each, m)]) for each in code.elsewhere]
    own = {
        name: [method for method in methods if not any(_names(each, method) for each in code.elsewhere)]
        for name, methods in row.methods.items()
    }
    return MethodSummary(row, code.harness, own, [(each, methods) for each, methods in reasons if methods])


def newest_summaries(record: Record) -> dict[str, MethodSummary]:
    """Return the summary of each rule in the newest release in which it was measured, by slug."""
    return {row.rule: summary_of(row) for row in newest_rows(record)}


def false_reasons(row: CoverageRow, record: Record) -> list[str]:
    """Return what is not true, in this row, of the rule's reasons why methods are not its own; a line for each.

    A reason names methods that the classes have. They have not run, unless the reason is that the harness runs them, or
    another rule, which does so in ``record``.
    """
    code = mirrored_code(row.rule)
    methods = [method for methods in row.methods.values() for method in methods]
    found = []
    for each in code.elsewhere if code else ():
        named = [method for method in methods if _names(each, method)]
        found += [f"{pattern} names no method" for pattern in each.methods if not _named(pattern, methods)]
        if each.run:
            found += [f"{method.name} has not run: it is not the harness's" for method in named if not method.lines.run]
        elif not each.rule:
            found += [f"{method.name} has run: it is the rule's own" for method in named if method.lines.run]
        else:
            run = _run_by(each.rule, record)
            found += [f"{method.name} is not run by {each.rule}" for method in named if method.name not in run]
    return [f"{row.rule}: {each}" for each in found]


def decreases(before: CoverageRow | None, after: CoverageRow) -> list[str]:
    """Return the methods in which fewer lines or branches ran than ``before``, a line for each."""
    if before is None:
        return []
    now = {method.name: method for methods in after.methods.values() for method in methods}
    found = []
    for method in (method for methods in before.methods.values() for method in methods):
        new = now.get(method.name)
        if new is not None and (new.lines.run < method.lines.run or new.branches.run < method.branches.run):
            found.append(
                f"{after.rule} in {after.release}: {method.name} runs fewer lines or branches than recorded: lines"
                f" {method.lines.run} to {new.lines.run}, branches {method.branches.run} to {new.branches.run}"
            )
    return found


def _run_by(rule: str, record: Record) -> set[str]:
    rows = [row for row in record.rows if row.rule == rule]
    return {
        method.name for row in rows[-1:] for methods in row.methods.values() for method in methods if method.lines.run
    }


def _names(each: Elsewhere, method: Method) -> bool:
    return any(_named(pattern, [method]) for pattern in each.methods)


def _named(pattern: str, methods: Sequence[Method]) -> bool:
    """Whether a pattern is the name of one of the methods: with its parameters, or without them as a shell pattern."""
    return any(pattern == method.name or fnmatchcase(method.short_name, pattern) for method in methods)
