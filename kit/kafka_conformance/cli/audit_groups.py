"""``audit --repair-to TOPIC --map-groups``: map committed offsets of consumer groups to the new topic.

Without ``execute`` it is a dry run, which commits nothing. Exit code 0 unless the groups cannot be mapped.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from kafka_conformance.audit.repair.group_mapping import GroupMapping, map_groups
from kafka_conformance.audit.repair.plan import resumed_plan
from kafka_conformance.audit.reports import groups_terminal
from kafka_conformance.audit.topics import Topics
from kafka_conformance.cli.audit_source import Given, open_session
from kafka_conformance.cli.repair_options import RepairOptions
from kafka_conformance.core import interrupts
from kafka_conformance.core.errors import BadInput
from kafka_conformance.core.streams import say_json
from kafka_conformance.reports.terminal import console
from kafka_conformance.spark.runs import Run

if TYPE_CHECKING:
    from kafka_conformance.spark.session import Spark

__all__ = ["map_all", "run"]


def run(*, source: str, folder: str, given: Given, options: RepairOptions, as_json: bool) -> int:
    """Map the groups, print the result and return the exit code. Raises BadInput, KitError."""
    with interrupts.explained("run the same command again"), open_session(given) as spark:
        found = map_all(spark, topic=source, target=options.repair_to, kafka=given.kafka(), folder=folder,
                        named=options.groups, execute=options.execute)  # fmt: skip
    if as_json:
        say_json(found)
    else:
        groups_terminal.show(console(), found)
    return 0


def map_all(
    spark: Spark, *, topic: str, target: str, kafka: Mapping[str, str], folder: str, named: Sequence[str], execute: bool
) -> GroupMapping:
    """Map groups in an open Spark session. Raises BadInput, KitError, SparkFault."""
    if (written := Run.plan(spark, folder)) is None:
        raise BadInput(f"{folder} holds no repair: copy {topic} to {target} first, or give its folder")
    first = resumed_plan(written, topic, target, None, folder)
    with Topics(spark, kafka) as topics:
        return map_groups(spark, topics, kafka, folder, first, named, execute=execute)
