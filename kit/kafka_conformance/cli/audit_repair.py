"""``audit --repair-to``: write the records of a topic to a new one, placed as Java places them.

Without ``execute`` it is a dry run: it reads the topic, reports which records would move, and writes nothing. Exit code 0 if
the new topic is as planned, or in a dry run; 1 if it is not.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from kafka_conformance.cli.audit_source import Given, open_session
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
    from kafka_conformance.spark.session import Spark

__all__ = ["FOLDER", "repair", "run"]

FOLDER = Path(".kafka-conformance") / "repairs"


def run(*, source: str, target: str, given: Given, execute: bool, partitions: int | None, as_json: bool) -> int:
    """Repair a topic, or do a dry run; print the result and return the exit code. Raises BadInput, KitError.

    Without a folder given, the run's folder is named after both topics, so that the same command resumes.
    """
    if given.form:
        raise BadInput("--repair-to needs a topic: files given by --format have no record values to write")
    client_settings(given.kafka())
    folder = given.folder or str((FOLDER / f"{source}-to-{target}").absolute())
    with open_session(given) as spark:
        found = repair(spark, topic=source, target=target, kafka=given.kafka(), folder=folder, partitions=partitions,
                       execute=execute)  # fmt: skip
    if as_json:
        print(msgspec.json.encode(found).decode())
    else:
        repair_terminal.show(console(), found)
    return 0 if found.right else 1


def repair(
    spark: Spark, *, topic: str, target: str, kafka: Mapping[str, str], folder: str, partitions: int | None, execute: bool,
    patience_s: float = PATIENCE_S,
) -> Repair:  # fmt: skip
    """Repair a topic in an open Spark session. Raises BadInput, KitError, SparkFault."""
    began = time.monotonic()
    client_settings(kafka)
    with Topics(spark, kafka) as topics:
        before = Run.plan(spark, folder) if folder else None
        if before is not None:
            plan = resumed_plan(before, topic, target, partitions, folder)
        else:
            plan = make_plan(topics, topic, target, partitions)
            check_target(topics, plan)
        if execute:
            return _written(spark, topics, kafka, plan, folder, patience_s, began)
        read = topic_frame(spark, plan.source, kafka, plan.spans, committed=True)
        with steps(f"reading {plan.source}", 1):
            moves, spread = moves_of(spark, planned_moves(read, plan.partitions))
    return _dry_run(plan, moves, spread, began)


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
        made = _dry_run(plan, *moves_of(spark, frame), began)
        return msgspec.structs.replace(made, written=True, resumed=run.resumed, compared=result, run=folder)


def _dry_run(plan: Plan, moves: tuple[Moves, ...], spread: int, began: float) -> Repair:
    """Return the report of a dry run."""
    return Repair(
        source=plan.source, target=plan.target, before=plan.before, partitions=plan.partitions,
        records=sum(one.after for one in moves), keyless=sum(one.keyless for one in moves),
        moved=sum(one.arriving for one in moves), spread=spread, by_partition=moves, written=False, resumed=False,
        compared=None, run="", kit=kit_version(), took_s=time.monotonic() - began,
    )  # fmt: skip
