"""Report which rules a new release of Kafka changed: an unpinned one, compared with its predecessor.

Java's classes of both releases answer the same questions; the reference is not asked. Each rule is reported as 'same',
'changed' (with a shrunk example), 'moved' (a class or a member that the kit needs was not found) or 'could not judge'. A
pinned release is treated as if it were unknown.

Exit codes: 0 nothing changed, 1 something changed or moved, 2 something could not be judged.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import click

from kafka_conformance.answerers.recorded_outcomes import CachedAnswerer
from kafka_conformance.answerers.two_releases import TwoReleases
from kafka_conformance.cli import options
from kafka_conformance.cli.completion import complete_releases
from kafka_conformance.core.answerer import Answerer
from kafka_conformance.core.errors import BadInput
from kafka_conformance.core.progress import Steps, steps
from kafka_conformance.core.rule import Rule
from kafka_conformance.oracle.fetching import published_versions
from kafka_conformance.oracle.session import named_release, open_oracle
from kafka_conformance.reports.terminal import console, finding, plural
from kafka_conformance.rules import named
from kafka_conformance.verify.drift import Drift, DriftOutcome, exit_code, find_drift, shrunk
from kafka_conformance.verify.drift_questions import drift_questions
from kafka_jars.pins import Pins, load
from kafka_jars.store import Stored
from kafka_reference.releases import Release, parse_release

__all__ = ["run"]


@click.argument("release", metavar="RELEASE", required=False, shell_complete=complete_releases)
@click.option("--after", metavar="RELEASE", shell_complete=complete_releases,
              help="The predecessor, a pinned release (default: the newest pinned one before RELEASE).")  # fmt: skip
@click.option("--published", is_flag=True,
              help="Ask every release that Kafka has published and that is not pinned, in place of RELEASE.")  # fmt: skip
@options.rules
@options.examples(500)
@options.seed
def run(
    *, release: str | None, after: str | None, published: bool, rules: Sequence[str], examples: int, seed: int
) -> int:
    """Ask, print a line for each rule and an example of each change; return the exit code."""
    pins, chosen = load(), named(rules)
    pairs = _pairs(pins, release, after, published=published)
    findings: list[DriftOutcome] = []
    for new, predecessor in pairs:
        drifts = list(_drifts(pins, new, predecessor, chosen, examples, seed))
        counts = Counter(each.finding for each in drifts)
        summary = ", ".join(f"{counts[each]} {each.value}" for each in DriftOutcome if counts[each])
        console().print(
            f"{new} after {predecessor}: {plural(len(drifts), 'rule')}: {summary}; seed {seed}", markup=False
        )
        findings += (each.finding for each in drifts)
    return exit_code(findings) if pairs else 0


def _pairs(pins: Pins, release: str | None, after: str | None, *, published: bool) -> list[tuple[Release, Release]]:
    """Return the releases to ask, each with its predecessor. Raises BadInput."""
    if published == (release is not None):
        raise BadInput("drift needs a RELEASE, like 4.4.0, or --published in its place")
    if published and after is not None:
        raise BadInput("--after goes with a RELEASE: with --published, each has the newest pinned one before it")
    if release is not None:
        new = named_release(release)
        return [(new, _predecessor(pins, new, after))]
    every = published_versions()
    unknown = [each for each in every if not pins.is_pinned(str(each))]
    if not unknown:
        console().print(
            f"no unknown release: all {len(every)} that are published are pinned, the newest is {every[-1]}"
        )
    return [(each, _predecessor(pins, each, after)) for each in unknown]


def _predecessor(pins: Pins, release: Release, named_one: str | None) -> Release:
    earlier = sorted(known for known in map(parse_release, pins.releases) if known < release)
    if not earlier:
        raise BadInput(f"no pinned release is before {release}: the oldest is {min(map(parse_release, pins.releases))}")
    if named_one is None:
        return earlier[-1]
    predecessor = named_release(named_one)
    if predecessor not in earlier:
        why = "not pinned" if str(predecessor) not in pins.releases else f"not before {release}"
        raise BadInput(f"--after {predecessor} is {why}: expected a pinned release before it, like {earlier[-1]}")
    return predecessor


def _drifts(
    pins: Pins, release: Release, predecessor: Release, rules: Sequence[Rule], examples: int, seed: int
) -> Iterator[Drift]:
    """Yield the result of each rule as soon as it is known, so that it is printed at once."""
    with (
        steps("starting Spark's JVM", len(rules)) as progress,
        _opened(pins.as_unknown(str(release), str(predecessor)), release, predecessor) as opened,
    ):
        _print_jars(opened.jars)
        for rule in rules:
            yield _drift(rule, opened.java, (predecessor, release), examples, seed, progress)
            opened.java.close()
            progress.advance()


def _drift(
    rule: Rule, two: Answerer, releases: tuple[Release, Release], examples: int, seed: int, progress: Steps
) -> Drift:
    progress.doing(f"making questions for {rule.slug}")
    sources = drift_questions(rule, releases[0], examples, seed) if rule.has_java(releases[0]) else []
    progress.doing(f"{rule.slug} in {releases[0]} and {releases[1]}")
    java = CachedAnswerer(two)  # the shrinker asks the generated questions again
    drift = find_drift(rule, java, *releases, sources)
    for line in _lines(drift):
        _print(line)
    if drift.changes:
        progress.doing(f"shrinking an example of {rule.slug}")
    for change in shrunk(drift, java, examples, seed):
        names = (f"java {releases[0]}", f"java {releases[1]}")
        console().print(finding(rule, change.example, names, change.count, ""), soft_wrap=True)
    return drift


@dataclass(frozen=True, slots=True)
class _Opened:
    """Java of both releases, and the clients' jars of both."""

    java: TwoReleases
    jars: tuple[Stored, Stored]


@contextmanager
def _opened(pins: Pins, release: Release, predecessor: Release) -> Iterator[_Opened]:
    """Open the oracle of both releases, in a JVM that ends with the block. Raises JarNotPublished for no such release."""
    with open_oracle(pins) as oracle:
        # Fetched before anything is judged: without the clients there is no such release.
        jars = oracle.resolve([pins.clients(str(each))[0] for each in (predecessor, release)])
        yield _Opened(TwoReleases(oracle, predecessor, release), (jars[0], jars[1]))


def _print_jars(jars: Sequence[Stored]) -> None:
    for stored in jars:
        pinned = "as pinned" if stored.pinned else "not pinned"
        _print(f"{stored.jar.coordinates} sha256 {stored.sha256[:16]} ({pinned})")


def _print(line: str) -> None:
    console().print(line, soft_wrap=True)


def _lines(drift: Drift) -> Iterator[str]:
    """Yield the finding in one line, and further lines for what else was found of the rule."""
    rule, before, new = drift.rule.slug, drift.predecessor, drift.release
    match drift.finding:
        case DriftOutcome.NEW:
            yield f"{rule}: new, {before} has no such rule: nothing to compare {new} with"
        case DriftOutcome.ABSENT:
            yield f"{rule}: neither {before} nor {new} has this rule"
        case DriftOutcome.SAME:
            yield f"{rule}: same as {before}, {plural(drift.asked, 'question')}"
    yield from (f"{rule}: moved, in {new} {what}" for what in drift.moved)
    if drift.changes:
        kinds = plural(len(drift.changes), "kind")
        yield f"{rule}: changed, {drift.differ:,} of {plural(drift.asked, 'question')} differ from {before}, in {kinds}"
    yield from (f"{rule}: could not judge, {why}" for why in drift.unjudged)
