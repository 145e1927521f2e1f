"""Play a consumer group: members join and leave, until no partition moves any more.

Exit code 0: played; 1: an assignor throws, or partitions still move after 20 rebalances; 2: it could not be played.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click
import msgspec
from rich.console import Console

from kafka_conformance.cli import options
from kafka_conformance.core.errors import BadInput
from kafka_conformance.core.files import read_text
from kafka_conformance.core.progress import steps
from kafka_conformance.core.sanitize import harmless
from kafka_conformance.core.streams import say_json
from kafka_conformance.oracle.session import named_release, unproven_releases
from kafka_conformance.reports.tables import table
from kafka_conformance.reports.terminal import console, plural
from kafka_conformance.rules import RULES
from kafka_conformance.rules.eras import eras, spans_of
from kafka_conformance.rules.group_files import parse_event, parse_group
from kafka_conformance.rules.group_play import ASSIGNORS, Group, Play, play
from kafka_reference.proven import proven_releases
from kafka_reference.releases import NEWEST, Release, parse_release

__all__ = ["command", "play_group"]

_LARGEST = 64 * 2**20
_MOST_COUNTS = 12


@click.argument("file", metavar="FILE", type=options.FILE)
@click.option("--event", "events", multiple=True, metavar="EVENT", help="What happens then, in order: join:ID, leave:ID or "
              "partitions:TOPIC=N; repeatable.")  # fmt: skip
@click.option("--assignor", "chosen", multiple=True, type=click.Choice(ASSIGNORS), metavar="ASSIGNOR",
              help="The rule of an assignor; repeatable (default: all that the release has).")  # fmt: skip
@click.option("--kafka", default="newest", show_default=True, metavar="RELEASE", help="A release, or 'all': releases "
              "with equal rebalances share one table.")  # fmt: skip
@options.as_json
def play_group(*, file: Path, events: tuple[str, ...], chosen: tuple[str, ...], kafka: str, as_json: bool) -> int:
    """Play a group: who has how many partitions after each rebalance, and how many move.

    FILE is the output of kafka-consumer-groups --describe, or a group as JSON.
    """
    group = parse_group(read_text(file, _LARGEST), [parse_event(each) for each in events])
    releases = proven_releases() if kafka == "all" else [NEWEST if kafka == "newest" else named_release(kafka)]
    asked = [
        (assignor, release)
        for assignor in chosen or ASSIGNORS
        for release in releases
        if release in RULES[assignor].releases
    ]
    if not asked:
        raise BadInput(f"{', '.join(chosen)} is not in {kafka}: see `kafka-conformance rules`")
    unproven_releases(asked, allow=None)
    tasks: list[tuple[str, Sequence[Release]]] = [(assignor, [release]) for assignor, release in asked]
    if kafka == "all":
        tasks = [(assignor, era.releases) for assignor in chosen or ASSIGNORS for era in eras(RULES[assignor])]
    plays = []
    with steps("playing", len(tasks)) as progress:
        for assignor, alike in tasks:
            progress.doing(f"{assignor} in {alike[-1]}")
            played = play(group, assignor, alike[-1])
            plays += [msgspec.structs.replace(played, release=str(release)) for release in alike]
            progress.advance()
    if as_json:
        say_json(plays)
    else:
        _show(console(), group, plays)
    return 0 if all(each.rests for each in plays) else 1


def _show(out: Console, group: Group, plays: Sequence[Play]) -> None:
    members = [*group.members, *(each for event in group.events for each in event.join)]
    out.print(f"{plural(len(group.topics), 'topic')}, {plural(sum(group.topics.values()), 'partition')}, "
              f"{plural(len(members), 'member')}", markup=False)  # fmt: skip
    alike: dict[tuple[str, str], list[Play]] = {}
    for each in plays:
        shown = [(step.event, step.rounds, step.moved, step.error) for step in each.steps]
        alike.setdefault((each.assignor, repr(shown)), []).append(each)
    for (assignor, _), same in alike.items():
        having = [release for release in proven_releases() if release in RULES[assignor].releases]
        names = _releases([parse_release(each.release) for each in same], having)
        out.print()
        out.print(f"{assignor}, {names}", style="bold", markup=False)
        _show_play(out, same[0])


def _releases(releases: Sequence[Release], having: Sequence[Release]) -> str:
    return str(releases[0]) if len(releases) == 1 else spans_of(releases, having)


def _show_play(out: Console, shown: Play) -> None:
    rows = []
    for step in shown.steps:
        if not step.rounds and not step.error:
            rows.append([harmless(step.event), "", "no member", *[""] * 5])
        for number, one in enumerate(step.rounds, 1):
            counts = [f"{harmless(member)} {count}" for member, count in one.counts.items()]
            hidden = f", … {len(counts) - _MOST_COUNTS:,} more" if len(counts) > _MOST_COUNTS else ""
            few, most = min(one.counts.values()), max(one.counts.values())
            rows.append([
                harmless(step.event) if number == 1 else "", str(number), ", ".join(counts[:_MOST_COUNTS]) + hidden,
                str(few) if few == most else f"{few} to {most}", f"{one.moved:,}", f"{one.taken:,}", f"{one.given:,}",
                f"{one.unassigned:,}",
            ])  # fmt: skip
    heads = ["event", "rebalance", "partitions of each member", "each", "moved", "taken", "given", "unassigned"]
    if rows:
        out.print(table("", heads, rows))
    for step in shown.steps:
        if step.error:
            out.print(f"{harmless(step.event)}: Java throws {harmless(step.error)}", style="bold red", markup=False)
        elif not step.rests:
            out.print(f"{harmless(step.event)}: partitions still move after {len(step.rounds)} rebalances", style="bold red",
                      markup=False)  # fmt: skip
    moved, rounds = sum(step.moved for step in shown.steps), sum(len(step.rounds) for step in shown.steps)
    out.print(f"{plural(moved, 'partition')} moved to another owner in {plural(rounds, 'rebalance')}", markup=False)


command = click.Group(
    "group",
    help=__doc__,
    commands=[click.command("play")(play_group)],
)
