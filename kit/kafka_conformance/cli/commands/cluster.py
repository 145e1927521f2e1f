"""Play histories of a partition on a real cluster of three brokers, and compare them with the reference.

Brokers are paused, killed and started again while records are produced. Exit code 0: as predicted; 1: a history differs;
2: it could not be judged.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from kafka_conformance.cli import options
from kafka_conformance.core.errors import BadInput
from kafka_conformance.core.files import write_report
from kafka_conformance.core.progress import steps
from kafka_conformance.replication.histories import HistoryGroup, generate_histories
from kafka_conformance.replication.live.check import CheckedHistory, check_groups
from kafka_conformance.replication.live.cluster import check_extra, playable_release, timing_of
from kafka_conformance.replication.live.timeline import print_timeline
from kafka_conformance.replication.script_json import load_script, write_script
from kafka_conformance.reports.tables import table
from kafka_conformance.reports.terminal import console, plural
from kafka_reference.cluster.history import ClusterMode, simulate
from kafka_reference.cluster.undetermined import UndeterminedHistory

__all__ = ["check", "command", "play_script"]

_RELEASE = click.option("--kafka", default="newest-that-runs", show_default=True, metavar="RELEASE",
                        help="An exact release, since 3.9.")  # fmt: skip
_MODE = click.option("--zookeeper", "mode", flag_value="zookeeper", default="kraft",
                     help="Play on a cluster with ZooKeeper, of a release of 3.9 (default: KRaft).")  # fmt: skip


@click.argument("script", metavar="SCRIPT", type=options.FILE)
@_RELEASE
@_MODE
def play_script(*, script: Path, kafka: str, mode: ClusterMode) -> int:
    """Play one history, a JSON file, and print its timeline next to the reference's."""
    read, release = load_script(script), playable_release(kafka, mode)
    try:
        simulate(read, release, mode)
    except UndeterminedHistory as error:
        raise BadInput(f"script {script} leaves its outcome to chance: {error}") from error
    check_extra(mode)
    group = HistoryGroup(script.name, (read,))
    with steps("playing", 1) as progress:
        ((checked,),) = check_groups([group], release, timing_of(mode), progress, clusters=1)
    out = console()
    cluster = _name(release, mode)
    print_timeline(out, checked.played, checked.expected, checked.differences, release)
    verdict = "differs from the reference" if checked.differences else "is as the reference predicts"
    out.print(f"{plural(len(read.events), 'event')} on {cluster}: the history {verdict}", markup=False)
    return 1 if checked.differences else 0


@_RELEASE
@_MODE
@options.seed
@click.option("--runs", default=1, type=click.IntRange(1, 1000), show_default=True, metavar="N",
              help="Play all histories this many times.")  # fmt: skip
@click.option("--clusters", default=2, type=click.IntRange(1, 16), show_default=True, metavar="N",
              help="Clusters at a time, each of four JVMs; of five with ZooKeeper.")  # fmt: skip
@click.option("--group", "only", multiple=True, type=click.IntRange(0), metavar="N",
              help="Play this group of histories alone; repeatable (default: all).")  # fmt: skip
@click.option("--keep", default=None, type=options.FILE, metavar="DIR",
              help="Write the script of each history that differs into this folder.")  # fmt: skip
def check(
    *, kafka: str, mode: ClusterMode, seed: int, runs: int, clusters: int, only: Sequence[int], keep: Path | None
) -> int:
    """Play generated histories, a group with the same faults at a time, and compare each with the reference."""
    release = playable_release(kafka, mode)
    check_extra(mode)
    generated = generate_histories(seed)
    if wrong := [number for number in only if number >= len(generated)]:
        raise BadInput(f"unknown group {wrong[0]}: expected 0 to {len(generated) - 1}")
    chosen = [generated[number] for number in sorted(set(only))] if only else list(generated)
    total = runs * sum(len(group.scripts) for group in chosen)
    with steps("playing", total) as progress:
        found = [
            history
            for one in check_groups(chosen * runs, release, timing_of(mode), progress, clusters=clusters)
            for history in one
        ]
    return _report(chosen, found, release, mode, seed, keep)


def _name(release: str, mode: ClusterMode) -> str:
    return f"Kafka {release} with ZooKeeper" if mode == "zookeeper" else f"Kafka {release}"


def _report(
    groups: Sequence[HistoryGroup],
    found: Sequence[CheckedHistory],
    release: str,
    mode: ClusterMode,
    seed: int,
    keep: Path | None,
) -> int:
    out, differing = console(), [one for one in found if one.differences]
    rows = []
    for group in groups:
        played = [one for one in found if one.played.script in group.scripts]
        rows.append((group.title, f"{len(played):,}", f"{sum(not one.differences for one in played):,}"))
    out.print(table("", ("what happens to the brokers", "played", "as predicted"), rows))
    for number, one in enumerate(differing):
        out.print()
        print_timeline(out, one.played, one.expected, one.differences, release)
        if keep is not None:
            file = keep / f"history-{seed}-{number}.json"
            write_report(file, write_script(one.played.script))
            command = f"kafka-conformance cluster play {file} --kafka {release}"
            if mode == "zookeeper":
                command += " --zookeeper"
            out.print(f"play it again: {command}", markup=False, soft_wrap=True)
    shrinks = [shrink.shrink_ms for one in found for shrink in one.played.shrinks]
    if shrinks:
        low, high = timing_of(mode).shrink_bounds_ms
        out.print(
            f"{plural(len(shrinks), 'paused follower')} left the in-sync replicas after {min(shrinks)} to {max(shrinks)} ms"
            f" (expected {low} to {high})",
            markup=False,
        )
    out.print(
        f"{_name(release, mode)}, seed {seed}: {len(found) - len(differing):,} of {len(found):,} histories as predicted"
    )
    return 1 if differing else 0


command = click.Group(
    "cluster", help=__doc__, commands=[click.command("check")(check), click.command("play")(play_script)]
)
