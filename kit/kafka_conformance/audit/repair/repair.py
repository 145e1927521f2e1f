"""Repair a topic: write its records to a new one, placed as Java places them, or do a dry run; and all passes that follow.

Without ``execute`` it is a dry run: it reads the topic, reports which records would move, and writes nothing. Run again, it
copies what the topic has gained; with ``following``, again and again.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING

from kafka_conformance.audit.engines.spark.sources import topic_frame
from kafka_conformance.audit.isolation import READ_COMMITTED, Reading
from kafka_conformance.audit.repair.checksums import NOTHING
from kafka_conformance.audit.repair.continuous_copy import Following, ended_by_interrupt, follow
from kafka_conformance.audit.repair.copy_passes import Copying, next_plan, reached_by
from kafka_conformance.audit.repair.moves import moves_of, planned_moves
from kafka_conformance.audit.repair.plan import (
    Compared,
    Repair,
    RepairPlan,
    Staged,
    Totals,
    check_target,
    make_plan,
    resumed_plan,
)
from kafka_conformance.audit.repair.run import PATIENCE_S
from kafka_conformance.audit.repair.topics import client_settings
from kafka_conformance.audit.topics import Topics
from kafka_conformance.core.notices import note
from kafka_conformance.core.progress import steps
from kafka_conformance.core.version import kit_version
from kafka_conformance.reports.terminal import plural
from kafka_conformance.spark.runs import Run

if TYPE_CHECKING:
    from kafka_conformance.spark.session import Spark

__all__ = ["repair"]


def repair(
    spark: Spark, *, topic: str, target: str, kafka: Mapping[str, str], folder: str, partitions: int | None, execute: bool,
    patience_s: float = PATIENCE_S, following: Following | None = None, keep_staged: bool = False,
) -> Repair:  # fmt: skip
    """Repair a topic in an open Spark session. Raises BadInput, KitError, SparkFault."""
    began = time.monotonic()
    client_settings(kafka)
    with Topics(spark, kafka) as topics:
        before = Run.plan(spark, folder) if folder else None
        if before is not None:
            first = resumed_plan(before, topic, target, partitions, folder)
        else:
            first = make_plan(topics, topic, target, partitions)
            check_target(topics, first)
        if not execute:
            return _dry_run(spark, topics, kafka, first, folder if before else "", began)
        with Copying.open(spark, topics, kafka, folder, first, patience_s, keep_staged=keep_staged) as copying:
            had = copying.records
            totals = copying.finish_pass()
            if following and totals.compared.same:
                totals = _followed(copying, first, following)
            elif copying.resumed and totals.compared.same:
                totals = copying.copy_rest()
            if totals.compared.same:
                copying.settle()
            behind, open_offsets = copying.behind()
            assert copying.reached is not None  # noqa: S101
            offsets = copying.reached.offsets
            reading = Reading(READ_COMMITTED, offsets, offsets - copying.records, open_offsets)
            return _report(
                copying.plan, totals, began, reading, written=True, resumed=copying.resumed, compared=totals.compared,
                run=folder, copied=copying.records - had, behind=behind, staged=copying.staged,
            )  # fmt: skip


def _followed(copying: Copying, first: RepairPlan, following: Following) -> Totals:
    """Copy what the source gains, until the user ends it or nothing arrives any more."""
    reported = -1

    def ends() -> None:
        note("ends after this pass; Ctrl-C again ends it now, and the same command resumes")

    def copy_rest() -> int | None:
        nonlocal reported
        before = copying.records
        totals = copying.copy_rest()
        if not totals.compared.same:
            return None
        if copied := copying.records - before:
            note(
                f"pass {totals.passes}: {plural(copied, 'record')} of {first.source} copied, {copying.records:,} in all"
            )
        elif reported != copying.records:
            reported = copying.records
            waiting = f", {more:,} offsets of open transactions to wait for" if (more := copying.behind()[1]) else ""
            note(f"{first.source} has no more records{waiting}; {copying.records:,} copied in all")
        return copied

    limit = "" if following.until_idle_s is None else f", or until it gains no record for {following.until_idle_s:g} s"
    note(f"{copying.records:,} records copied; following {first.source} until Ctrl-C{limit}")
    with ended_by_interrupt(ends) as ending:
        follow(copy_rest, lambda: sum(copying.behind()), ending, following.until_idle_s)
    assert copying.reached is not None  # noqa: S101
    return copying.reached.totals


def _dry_run(
    spark: Spark, topics: Topics, kafka: Mapping[str, str], first: RepairPlan, folder: str, began: float
) -> Repair:
    """Count what a run in this folder would copy now: nothing is in it yet if it is empty."""
    plan, reached = reached_by(spark, folder, first) if folder else (first, None)
    if reached is not None and reached.finished:
        plan = next_plan(topics, reached)
    read = topic_frame(spark, plan.source, kafka, plan.spans, committed=True)
    with steps(f"reading {plan.source}", 1):
        moves, spread = moves_of(spark, planned_moves(read, plan.partitions))
    gaps = plan.earlier.gaps if plan.earlier else ()
    totals = Totals(plan.number, Compared(NOTHING, NOTHING, 0), moves, spread, gaps)
    copied = sum(one.after for one in moves)
    now = topics.readable(plan.source, topics.require(plan.source).partitions, committed=True)
    reading = Reading(READ_COMMITTED, plan.offsets, plan.offsets - copied, sum(span.open for span in now.values()))
    return _report(plan, totals, began, reading, copied=copied, run=folder)


def _report(
    plan: RepairPlan, totals: Totals, began: float, reading: Reading, *, copied: int, written: bool = False,
    resumed: bool = False, compared: Compared | None = None, run: str = "", behind: int = 0, staged: Staged | None = None,
) -> Repair:  # fmt: skip
    moves = totals.moves
    return Repair(
        source=plan.source, target=plan.target, before=plan.before, partitions=plan.partitions,
        records=sum(one.after for one in moves), keyless=sum(one.keyless for one in moves),
        moved=sum(one.arriving for one in moves), spread=totals.spread, by_partition=moves, written=written,
        resumed=resumed, compared=compared, run=run, kit=kit_version(), took_s=time.monotonic() - began,
        passes=totals.passes, copied=copied, behind=behind, gaps=totals.gaps, staged=staged,
        reading=reading,
    )  # fmt: skip
