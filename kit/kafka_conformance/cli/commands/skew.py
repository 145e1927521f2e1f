"""Measure how evenly Java spreads records without a key, and whether its rule predicts that."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from fractions import Fraction
from itertools import groupby
from pathlib import Path
from typing import Any

import click

from kafka_conformance.answerers.java import JavaAnswerer
from kafka_conformance.cli import options
from kafka_conformance.core.answerer import Answerer
from kafka_conformance.core.progress import steps
from kafka_conformance.core.streams import say_json
from kafka_conformance.oracle.session import chosen_releases, open_oracle
from kafka_conformance.reports.tables import table
from kafka_conformance.reports.terminal import console
from kafka_conformance.verify import skew_figure
from kafka_conformance.verify.skew import SCENARIOS, UNLIKELY, Seen, check_extra, look
from kafka_jars.pins import load
from kafka_reference.releases import Release

__all__ = ["run"]


@click.option("--kafka", default=["2.8.2", "3.3.2"], multiple=True, show_default=True, metavar="RELEASES",
              help="Exact releases joined by commas, 'newest', 'spread' or 'all'; repeatable.")  # fmt: skip
@click.option("--records", default=100_000, type=click.IntRange(10_000, 50_000_000), show_default=True, metavar="N",
              help="Records sent in each run.")  # fmt: skip
@click.option("--seed", default=1, type=click.IntRange(0, 2**53), show_default=True, metavar="N",
              help="Seed of all random draws.")  # fmt: skip
@click.option("--plot", default=None, type=options.REPORT, metavar="FILE",
              help="Also draw the shares into this file, e.g. skew.png.")  # fmt: skip
@options.as_json
def run(
    *, kafka: Sequence[str], records: int, seed: int, plot: Path | None, as_json: bool, answerer: Answerer | None = None
) -> int:
    """Ask, print, draw; 0 if everything is as predicted, else 1. ``answerer`` is asked in place of the real Java."""
    releases = list(dict.fromkeys(chosen_releases(",".join(kafka), load())))
    check_extra()
    if plot is not None:
        skew_figure.ready(plot)
    seen = _look(releases, records, seed, answerer)
    if plot is not None:
        skew_figure.draw(seen, records, plot)
    if as_json:
        say_json(_document(seen, records, seed))
    else:
        _print(seen, releases, records, seed, plot)
    return 1 if any(one.fit.p < UNLIKELY for one in seen) else 0


def _look(releases: Sequence[Release], records: int, seed: int, answerer: Answerer | None) -> list[Seen]:
    seen = []
    with ExitStack() as stack:
        progress = stack.enter_context(steps("starting Spark's JVM", len(releases)))
        oracle = None if answerer is not None else stack.enter_context(open_oracle())
        for at in releases:
            progress.doing(f"{records:,} records, four scenarios, in {at}")
            seen += look(answerer if answerer is not None else JavaAnswerer(oracle), at, records, seed)  # type: ignore[arg-type]
            if oracle is not None:
                oracle.close_release(str(at))
            progress.advance()
    return seen


def _print(seen: Sequence[Seen], releases: Sequence[Release], records: int, seed: int, plot: Path | None) -> None:
    out = console()
    heads = [
        "release",
        "partitioner",
        "% of records, by partition",
        "largest/mean",
        "expected %",
        "chi²",
        "p",
    ]
    for scenario in SCENARIOS:
        rows = [_row(one) for one in seen if one.scenario == scenario]
        if rows:
            out.print(table(f"{scenario.title}: {scenario.description}", heads, rows))
        without = [
            str(at) for at in releases if not any(one.release == at and one.scenario == scenario for one in seen)
        ]
        if without:
            out.print(f"not there in {', '.join(without)}", style="dim", markup=False)
        out.print()
    wrong = sum(one.fit.p < UNLIKELY for one in seen)
    words = f"{wrong} not as predicted" if wrong else "all as predicted"
    out.print(f"{records:,} records in each of {len(seen)} runs: {words}. seed {seed}", markup=False)
    if plot is not None:
        out.print(f"figure: {plot}", style="dim", markup=False)


def _row(one: Seen) -> list[str]:
    fit = one.fit
    return [
        str(one.release),
        one.partitioner,
        " ".join(f"{100 * share:5.2f}" for share in one.shares),
        f"{one.largest_over_mean:.2f}",
        _runs(one.expected),
        "exact" if fit.chi_square is None else f"{fit.chi_square:.1f} ({fit.freedom})",
        f"{fit.p:.2g}" + (" !" if fit.p < UNLIKELY else ""),
    ]


def _runs(shares: Sequence[Fraction]) -> str:
    """``5 × 11.11, 44.44``."""
    runs = [(text, len(list(run))) for text, run in groupby(f"{100 * float(share):.2f}" for share in shares)]
    return ", ".join(share if count == 1 else f"{count} × {share}" for share, count in runs)


def _document(seen: Sequence[Seen], records: int, seed: int) -> dict[str, Any]:
    return {
        "records": records,
        "seed": seed,
        "as_predicted": all(one.fit.p >= UNLIKELY for one in seen),
        "runs": [
            {
                "release": str(one.release),
                "scenario": one.scenario.title,
                "partitioner": one.partitioner,
                "counts": one.counts,
                "largest_over_mean": round(one.largest_over_mean, 4),
                "expected": [[share.numerator, share.denominator] for share in one.expected],
                "chi_square": one.fit.chi_square,
                "degrees_of_freedom": one.fit.freedom,
                "p": one.fit.p,
            }
            for one in seen
        ],
    }
