"""A sweep: the proof at scale, as a run of Spark jobs that resumes.

A sweep has parts: a rule, a release, and the questions. A part has blocks; a job takes many of them at once, which is a
chunk of the run (``runs``). A finished chunk is not asked again.

The result is counted from the Parquet alone: every block of every part must be there once, and no two blocks that were
drawn may have asked the same.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

from kafka_conformance.core.errors import OracleFault
from kafka_conformance.core.progress import Steps
from kafka_conformance.core.rule import Rule
from kafka_conformance.core.version import kit_version
from kafka_conformance.spark.executors import SentRelease, register_java, send
from kafka_conformance.spark.runs import Run
from kafka_conformance.spark.session import Spark
from kafka_conformance.spark.sweep.result import SCHEMA, KeptDifference
from kafka_jars.pins import Pins
from kafka_reference.releases import Release

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["KEPT", "Job", "Part", "PartResult", "SweepPlan", "Work", "chunks_of", "sweep"]

KEPT = 1_000
"""Questions kept of those a part has that were answered otherwise."""


class Work(Protocol):
    """The questions of a part."""

    @property
    def name(self) -> str:
        """The name for people."""
        ...

    @property
    def blocks(self) -> int:
        """How many blocks there are."""
        ...

    @property
    def asked(self) -> int:
        """How many questions there are."""
        ...

    @property
    def per_chunk(self) -> int:
        """Blocks of a chunk: some seconds' work, which is what a run that is ended loses."""
        ...

    @property
    def drawn(self) -> bool:
        """Whether the questions are drawn: then no two blocks may ask the same."""
        ...

    @property
    def per_batch(self) -> int:
        """Blocks that go over to Python at once."""
        ...

    def plan(self) -> dict[str, Any]:
        """Everything that decides what is asked."""
        ...

    def frame(self, spark: Spark, sent: SentRelease, job: Job, first: int, end: int) -> DataFrame:
        """The rows of these blocks."""
        ...


@dataclass(frozen=True, slots=True)
class Part:
    """A rule, a release, and the questions."""

    rule: Rule
    release: Release
    work: Work


@dataclass(frozen=True, slots=True)
class Job:
    """One job of a sweep: its part, the name of the answerer under test, and how many differences are still wanted."""

    part: int
    rule_slug: str
    actual: str
    wanted: int
    kills: bool


@dataclass(frozen=True, slots=True)
class SweepPlan:
    """All that decides the result of a sweep, besides Java."""

    parts: Sequence[Part]
    actual: str
    seed: int
    kills: bool = False

    def document(self, sent: Sequence[SentRelease]) -> dict[str, Any]:
        """Return the plan in the form that is written into the run's folder."""
        parts = [{"rule": part.rule.slug, "release": str(part.release), "jar_sha256": each.sha256, **part.work.plan()}
                 for part, each in zip(self.parts, sent, strict=True)]  # fmt: skip
        return {
            "sweep": 1,
            "kit": kit_version(),
            "who": self.actual,
            "seed": self.seed,
            "kills": self.kills,
            "parts": parts,
        }


@dataclass(slots=True)
class PartResult:
    """The result of a part. ``seconds`` and ``asked_now`` are of this process, without chunks that were finished before."""

    part: Part
    sent: SentRelease
    asked: int = 0
    differing: int = 0
    errored: int = 0
    unsupported: int = 0
    errors: list[str] = field(default_factory=list)
    questions: list[KeptDifference] = field(default_factory=list)
    seconds: float = 0.0
    asked_now: int = 0

    @property
    def matching(self) -> int:
        """Questions whose answers match."""
        return self.asked - self.differing - self.errored - self.unsupported


def chunks_of(parts: Sequence[Part]) -> list[tuple[int, int, int]]:
    """Return each chunk: its part, its first block, and the block after its last."""
    return [
        (number, first, min(first + part.work.per_chunk, part.work.blocks))
        for number, part in enumerate(parts)
        for first in range(0, part.work.blocks, part.work.per_chunk)
    ]


def sweep(spark: Spark, plan: SweepPlan, pins: Pins, folder: str, progress: Steps) -> list[PartResult]:
    """Carry out the plan, or what is left of it. Raises KitError or JarError when Java cannot be asked."""
    spark.check_executors()
    register_java(spark)
    sent = [send(spark, part.rule, part.release, pins) for part in plan.parts]
    results = [PartResult(part, each) for part, each in zip(plan.parts, sent, strict=True)]
    with Run.open(spark, folder, plan.document(sent)) as run:
        _run_chunks(run, plan, results, progress)
        _read(run, plan, results)
    return results


def _run_chunks(run: Run, plan: SweepPlan, results: Sequence[PartResult], progress: Steps) -> None:
    finished = run.finished()
    found = [0] * len(results)
    for number, (part, first, end) in enumerate(chunks_of(plan.parts)):
        result = results[part]
        progress.doing(f"{result.part.rule.slug} in {result.part.release}, {result.part.work.name}")
        begun = time.perf_counter()
        fresh = number not in finished
        if fresh:
            job = Job(part, result.part.rule.slug, plan.actual, max(0, KEPT - found[part]), plan.kills)
            with run.spark.batches_of(result.part.work.per_batch):
                run.do(number, partial(result.part.work.frame, run.spark, result.sent, job, first, end))
        asked, differing = _counts(run, number)
        found[part] += differing
        if fresh:
            result.seconds += time.perf_counter() - begun
            result.asked_now += asked
        progress.advance()


def _counts(run: Run, number: int) -> tuple[int, int]:
    rows = run.chunk(number, SCHEMA).selectExpr("sum(asked) asked", "sum(differing) differing")
    (row,) = run.spark.call(rows.collect, f"reading chunk {number}")
    return int(row.asked or 0), int(row.differing or 0)


def _read(run: Run, plan: SweepPlan, results: Sequence[PartResult]) -> None:
    """Count the results from the run's folder. Raises OracleFault if it is incomplete."""
    rows = run.read(len(chunks_of(plan.parts)), SCHEMA)
    counts = rows.groupBy("part").agg(*_sums()).collect
    for row in run.spark.call(counts, "counting"):
        result = results[row.part]
        result.asked, result.differing = int(row.asked), int(row.differing)
        result.errored, result.unsupported = int(row.errored), int(row.unsupported)
        _check_rows(result, row)
    for result in results:
        if result.asked != result.part.work.asked:
            raise OracleFault(f"{run.folder} says of {_name(result)} that {result.asked:,} of {result.part.work.asked:,}"
                              " questions were asked: nothing is proven")  # fmt: skip
    for number, result in enumerate(results):
        if result.differing or result.errored:
            result.questions, result.errors = _questions(run, rows, number)


def _sums() -> Iterator[Any]:
    from pyspark.sql import functions as f

    for name in ("asked", "differing", "errored", "unsupported"):
        yield f.sum(name).alias(name)
    yield f.count("*").alias("rows")
    yield f.count_distinct("block").alias("blocks")
    yield f.count_distinct("seen").alias("seen")
    yield f.collect_set("release").alias("releases")
    yield f.collect_set("jar_sha256").alias("jars")


def _check_rows(result: PartResult, row: Any) -> None:
    work = result.part.work
    if row.rows != work.blocks or row.blocks != work.blocks:
        raise OracleFault(f"{_name(result)} has {work.blocks} blocks, and {row.blocks} were asked: nothing is proven")
    if work.drawn and row.seen != row.rows:
        raise OracleFault(f"{_name(result)}: only {row.seen} of {row.rows} blocks asked different questions:"
                          " the generator repeats itself, so nothing is proven")  # fmt: skip
    if list(row.releases) != [str(result.part.release)] or list(row.jars) != [result.sent.sha256]:
        raise OracleFault(f"{_name(result)} was answered by {row.releases} {row.jars}: nothing is proven")


def _name(result: PartResult) -> str:
    return f"{result.part.rule.slug} in {result.part.release}, {result.part.work.name},"


def _questions(run: Run, rows: DataFrame, part: int) -> tuple[list[KeptDifference], list[str]]:
    """Return the first differences and the first errors, in the order of blocks."""
    mine = rows.where(f"part = {part}")
    apart = mine.selectExpr("block", "posexplode(questions) as (place, kept)").orderBy("block", "place").limit(KEPT)
    broken = mine.selectExpr("block", "posexplode(errors) as (place, error)").orderBy("block", "place").limit(KEPT)
    kept = run.spark.call(apart.collect, "reading the questions that differ")
    errors = run.spark.call(broken.collect, "reading the errors")
    return [KeptDifference(*row.kept) for row in kept], [row.error for row in errors]
