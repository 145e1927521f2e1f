"""``audit --repair-to``: a topic's records, rewritten to a new one at the partition Java would choose.

A dry run, unless ``really``: it reads the topic, tells what would move, and makes nothing. Exit code 0 if the new topic is
as planned (or would be made), 1 if it is not.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from kafka_conformance.core.errors import BadInput
from kafka_conformance.core.progress import steps
from kafka_conformance.core.version import kit_version
from kafka_conformance.reports.terminal import console
from kafka_conformance.spark.audit.repair.plan import (
    Moves,
    Plan,
    Repair,
    check_target,
    make_plan,
    moves_of,
    planned_moves,
    resumed_plan,
)
from kafka_conformance.spark.audit.repair.run import PATIENCE_S, rewrite, staged
from kafka_conformance.spark.audit.repair.topics import client_settings
from kafka_conformance.spark.audit.reports import repair_terminal
from kafka_conformance.spark.audit.sources import topic_frame
from kafka_conformance.spark.audit.topics import Topics
from kafka_conformance.spark.runs import Run

if TYPE_CHECKING:
    from kafka_conformance.cli.commands.audit import Given
    from kafka_conformance.spark.session import Spark

__all__ = ["FOLDER", "repair", "run"]

FOLDER = Path(".kafka-conformance") / "repairs"


def run(*, source: str, target: str, given: Given, really: bool, partitions: int | None, as_json: bool) -> int:
    """Rewrite, or tell what would be, and print it. Raises BadInput, KitError.

    The run's folder, if none is named, is made of both names, so that the same command again resumes.
    """
    from kafka_conformance.cli.commands.audit import opened

    if given.form:
        raise BadInput("--repair-to rewrites a topic: an export's files have nothing to be written")
    client_settings(given.kafka())
    folder = given.folder or str((FOLDER / f"{source}-to-{target}").absolute())
    with opened(given) as spark:
        found = repair(spark, topic=source, target=target, kafka=given.kafka(), folder=folder, partitions=partitions,
                       really=really)  # fmt: skip
    if as_json:
        print(msgspec.json.encode(found).decode())
    else:
        repair_terminal.show(console(), found)
    return 0 if found.right else 1


def repair(
    spark: Spark, *, topic: str, target: str, kafka: Mapping[str, str], folder: str, partitions: int | None, really: bool,
    patience_s: float = PATIENCE_S,
) -> Repair:  # fmt: skip
    """The same in a session that is there. Raises BadInput, KitError, SparkFault."""
    began = time.monotonic()
    client_settings(kafka)
    with Topics(spark, kafka) as topics:
        before = Run.plan(spark, folder) if folder else None
        if before is not None:
            plan = resumed_plan(before, topic, target, partitions, folder)
        else:
            plan = make_plan(topics, topic, target, partitions)
            check_target(topics, plan)
        if really:
            return _written(spark, topics, kafka, plan, folder, patience_s, began)
        read = topic_frame(spark, plan.source, kafka, plan.spans, committed=True)
        with steps(f"reading {plan.source}", 1):
            moves, spread = moves_of(spark, planned_moves(read, plan.partitions))
    return _told(plan, moves, spread, began)


def _written(
    spark: Spark, topics: Topics, kafka: Mapping[str, str], plan: Plan, folder: str, patience_s: float, began: float
) -> Repair:
    total = sum(plan.ends.values()) - sum(plan.begins.values())
    with (
        Run.open(spark, folder, msgspec.to_builtins(plan, str_keys=True)) as run,
        steps(f"reading {plan.source}", total) as progress,
    ):
        result = rewrite(spark, topics, kafka, run, plan, progress, patience_s)
        frame = staged(run).selectExpr("source_partition as partition", "target", "key is null as keyless")
        made = _told(plan, *moves_of(spark, frame), began)
        return msgspec.structs.replace(made, written=True, resumed=run.resumed, compared=result, run=folder)


def _told(plan: Plan, moves: tuple[Moves, ...], spread: int, began: float) -> Repair:
    """The report of a dry run."""
    return Repair(
        source=plan.source, target=plan.target, before=plan.before, partitions=plan.partitions,
        records=sum(one.after for one in moves), keyless=sum(one.keyless for one in moves),
        moved=sum(one.arriving for one in moves), spread=spread, by_partition=moves, written=False, resumed=False,
        compared=None, run="", kit=kit_version(), took_s=time.monotonic() - began,
    )  # fmt: skip
