"""Write the records of a topic to a new one, placed as Java places them; move its consumer groups.

Without --execute it is a dry run, which writes nothing. Run again, it copies what the topic has gained. Exit code 0: the
new topic is as planned, or it was a dry run; 1: it is not; 2: it could not be written.
"""

from __future__ import annotations

from pathlib import Path

import click
import msgspec

from kafka_conformance.audit.repair.continuous_copy import Following
from kafka_conformance.audit.repair.topics import client_settings
from kafka_conformance.brokers.target_check import check_repairable
from kafka_conformance.cli import options
from kafka_conformance.cli.audit_scope import EngineOptions, spark_options
from kafka_conformance.cli.audit_source import SourceOptions, check, repair_source
from kafka_conformance.core import interrupts
from kafka_conformance.core.errors import BadInput
from kafka_conformance.core.files import working_folder
from kafka_conformance.core.streams import say_json
from kafka_conformance.core.wall_time import elapsed_s
from kafka_conformance.reports.terminal import console

__all__ = ["FOLDER", "run"]

FOLDER = Path(".kafka-conformance") / "repairs"


@click.argument("old", metavar="TOPIC")
@click.argument("new", metavar="NEW-TOPIC")
@repair_source
@click.option("--execute", is_flag=True,
              help="Write the new topic, or with --map-groups the offsets (default: dry run).")  # fmt: skip
@click.option("--target-partitions", default=None, type=click.IntRange(1, 100_000), metavar="N",
              help="Partition count of the new topic (default: as the old one).")  # fmt: skip
@click.option("--follow", is_flag=True, help="Copy new records as they arrive, until Ctrl-C; needs --execute.")
@click.option("--follow-until-idle", default=None, type=click.FloatRange(min=0), metavar="SECONDS",
              help="--follow, and end when no record has arrived for so long.")  # fmt: skip
@click.option("--keep-staged", is_flag=True,
              help="Keep the staged copy (default: removed when the new topic is as planned).")  # fmt: skip
@click.option("--map-groups", is_flag=True,
              help="Map committed offsets of consumer groups to the new topic, which is copied already.")  # fmt: skip
@click.option("--group", "groups", multiple=True, metavar="NAME",
              help="With --map-groups: this group; repeatable (default: all with offsets of the old topic).")  # fmt: skip
@click.option("--folder", default="", metavar="FOLDER",
              help="Folder of the staged copy and the state, where the same command resumes (default: one of both topics' "
              "names in .kafka-conformance/repairs).")  # fmt: skip
@options.as_json
@spark_options
def run(*, old: str, new: str, source: SourceOptions, execute: bool, target_partitions: int | None, follow: bool,
        follow_until_idle: float | None, keep_staged: bool, map_groups: bool, groups: tuple[str, ...], folder: str,
        as_json: bool, engine: EngineOptions) -> int:  # fmt: skip
    """Repair a topic, or map its groups, or do a dry run; print the result. Raises BadInput, KitError."""
    following = Following(follow_until_idle) if follow or follow_until_idle is not None else None
    if following and not execute:
        raise BadInput("--follow writes the new topic: give --execute as well, or leave it out for a dry run")
    chosen = engine.chosen()
    address, _ = source.topics([old, new])
    settings = client_settings(address.kafka)
    check([address])
    if execute:
        check_repairable(settings, old, new)

    from kafka_conformance.audit.engines.choice import open_session
    from kafka_conformance.audit.repair.group_mapping import GroupMapping
    from kafka_conformance.audit.repair.group_mapping import map_groups as map_offsets
    from kafka_conformance.audit.repair.plan import Repair
    from kafka_conformance.audit.repair.repair import repair
    from kafka_conformance.audit.reports import groups_terminal, repair_terminal

    written = folder or str(working_folder() / FOLDER / f"{old}-to-{new}")
    found: Repair | GroupMapping
    with interrupts.explained("run the same command again to resume"), open_session(chosen, address) as spark:
        if map_groups:
            found = map_offsets(spark, topic=old, target=new, kafka=address.kafka, folder=written,
                                             named=groups, execute=execute)  # fmt: skip
        else:
            found = repair(spark, topic=old, target=new, kafka=address.kafka, folder=written,
                           partitions=target_partitions, execute=execute, keep_staged=keep_staged,
                           following=following)  # fmt: skip
    if isinstance(found, GroupMapping):
        say_json(found) if as_json else groups_terminal.show(console(), found)
        return 0
    found = msgspec.structs.replace(found, took_s=elapsed_s())
    say_json(found) if as_json else repair_terminal.show(console(), found)
    return 0 if found.right else 1
