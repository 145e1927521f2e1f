"""Where something was found, as text: releases, or with eras the releases that each release asked stands for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

from kafka_conformance.core.spans import runs
from kafka_conformance.reports.terminal import plural
from kafka_conformance.rules.eras import spans_of
from kafka_reference.releases import parse_release

__all__ = ["Asked", "Places", "era_count", "since_until"]


class Asked(Protocol):
    """A rule that was asked in a release; ``era`` are the releases that this one stands for, if eras are asked."""

    rule: str
    release: str
    era: tuple[str, ...]


class Places:
    """Names releases of a rule by what was asked: as spans that leave out no release asked, or as eras."""

    def __init__(self, rows: Iterable[Asked]) -> None:
        self._eras: dict[str, dict[str, tuple[str, ...]]] = {}
        for row in rows:
            self._eras.setdefault(row.rule, {})[row.release] = row.era

    def __call__(self, rule: str, releases: Iterable[str]) -> str:
        """Return these releases as text: ``2.8.2 and 4.4.0``, or ``2 eras, 2.4.1 to 3.9.2``."""
        asked, named = self._eras[rule], list(dict.fromkeys(releases))
        if not all(asked[release] for release in named):
            return since_until(named, list(asked))
        spans = _spans(
            [each for release in named for each in asked[release]], [e for era in asked.values() for e in era]
        )
        return f"era {spans}" if len(named) == 1 else f"{len(named)} eras, {spans}"


def era_count(rows: Sequence[Asked]) -> str:
    """Return all releases that these rows stand for, and the number of eras; empty if no eras are asked."""
    releases = [release for row in rows for release in row.era]
    return f"{_spans(releases, releases)} in {plural(sum(bool(row.era) for row in rows), 'era')}" if releases else ""


def since_until(releases: Sequence[str], among: Sequence[str] = ()) -> str:
    """``4.4.0``, ``3.3.1 and 4.4.0``, or ``0.10.0.1 to 3.1.2, 4.4.0 (14 releases)``.

    Of ``among``, which are in order, a span leaves none out; without it, the releases are taken for all there are.
    """
    chosen = set(releases)
    if len(chosen) < 3:
        return " and ".join(dict.fromkeys(releases)) or "of no release"
    spans = runs(chosen, dict.fromkeys([*among, *releases]))
    parts = [", ".join(span) if len(span) < 3 else f"{span[0]} to {span[-1]}" for span in spans]
    return f"{', '.join(parts)} ({len(chosen)} releases)"


def _spans(chosen: Iterable[str], among: Iterable[str]) -> str:
    return spans_of(set(map(parse_release, chosen)), sorted(set(map(parse_release, among))))
