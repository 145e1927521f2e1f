"""A sweep: the differential proof at scale, as a run of Spark jobs that resumes.

A sweep is made of parts: a rule, a release, and what is asked. A part is blocks, which a job takes many of at once: that
is a chunk of the run (``runs``). A chunk that is finished has proven what it says, whatever becomes of the run.

What is claimed at the end is counted from the Parquet alone: every block of every part has to be there once, and no two that
were drawn may have asked the same.
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
from kafka_conformance.spark.sweep.result import SCHEMA, ProcessSupervisor
from kafka_jars.pins import Pins
from kafka_reference.releases import Release

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["KEPT", "Asking", "Part", "Plan", "Swept", "Work", "chunks_of", "sweep"]

KEPT = 1_000
"""Questions kept of those a part has that were answered otherwise."""


class Work(Protocol):
    """What is asked in a part."""

    @property
    def name(self) -> str:
        """In words."""
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

    def frame(self, spark: Spark, sent: SentRelease, asking: Asking, first: int, end: int) -> DataFrame:
        """The rows of these blocks."""
        ...


@dataclass(frozen=True, slots=True)
class Part:
    """A rule, a release, and what is asked."""

    rule: Rule
    release: Release
    work: Work


@dataclass(frozen=True, slots=True)
class Asking:
    """How a job asks: for which part, who is judged, how many questions that differ are still wanted."""

    part: int
    rule_slug: str
    who: str
    wanted: int
    kills: bool


@dataclass(frozen=True, slots=True)
class Plan:
    """What to sweep: everything that decides what comes out, but for Java."""

    parts: Sequence[Part]
    who: str
    seed: int
    kills: bool = False

    def written(self, sent: Sequence[SentRelease]) -> dict[str, Any]:
        """For the run's folder."""
        parts = [{"rule": part.rule.slug, "release": str(part.release), "jar_sha256": each.sha256, **part.work.plan()}
                 for part, each in zip(self.parts, sent, strict=True)]  # fmt: skip
        return {
            "sweep": 1,
            "kit": kit_version(),
            "who": self.who,
            "seed": self.seed,
            "kills": self.kills,
            "parts": parts,
        }


@dataclass(slots=True)
class Swept:
    """What came out for a part. ``seconds`` and ``asked_now`` are of this process, without what was finished before."""

    part: Part
    sent: SentRelease
    asked: int = 0
    differing: int = 0
    errored: int = 0
    unsupported: int = 0
    errors: list[str] = field(default_factory=list)
    questions: list[ProcessSupervisor] = field(default_factory=list)
    seconds: float = 0.0
    asked_now: int = 0

    @property
    def alike(self) -> int:
        """Questions that both answered, in the same way."""
        return self.asked - self.differing - self.errored - self.unsupported


def chunks_of(parts: Sequence[Part]) -> list[tuple[int, int, int]]:
    """Each chunk's part, first block, and where it ends."""
    return [
        (number, first, min(first + part.work.per_chunk, part.work.blocks))
        for number, part in enumerate(parts)
        for first in range(0, part.work.blocks, part.work.per_chunk)
    ]


def sweep(spark: Spark, plan: Plan, pins: Pins, folder: str, progress: Steps) -> list[Swept]:
    """Carry out the plan, or what is left of it. Raises KitError or JarError when nothing can be said."""
    spark.check_executors()
    register_java(spark)
    sent = [send(spark, part.rule, part.release, pins) for part in plan.parts]
    results = [Swept(part, each) for part, each in zip(plan.parts, sent, strict=True)]
    with Run.open(spark, folder, plan.written(sent)) as run:
        _carry_out(run, plan, results, progress)
        _read(run, plan, results)
    return results


def _carry_out(run: Run, plan: Plan, results: Sequence[Swept], progress: Steps) -> None:
    finished = run.finished()
    found = [0] * len(results)
    for number, (part, first, end) in enumerate(chunks_of(plan.parts)):
        swept = results[part]
        progress.doing(f"{swept.part.rule.slug} in {swept.part.release}, {swept.part.work.name}")
        begun = time.perf_counter()
        fresh = number not in finished
        if fresh:
            asking = Asking(part, swept.part.rule.slug, plan.who, max(0, KEPT - found[part]), plan.kills)
            with run.spark.batches_of(swept.part.work.per_batch):
                run.do(number, partial(swept.part.work.frame, run.spark, swept.sent, asking, first, end))
        asked, differing = _counts(run, number)
        found[part] += differing
        if fresh:
            swept.seconds += time.perf_counter() - begun
            swept.asked_now += asked
        progress.advance()


def _counts(run: Run, number: int) -> tuple[int, int]:
    rows = run.chunk(number, SCHEMA).selectExpr("sum(asked) asked", "sum(differing) differing")
    (row,) = run.spark.call(rows.collect, f"reading chunk {number}")
    return int(row.asked or 0), int(row.differing or 0)


def _read(run: Run, plan: Plan, results: Sequence[Swept]) -> None:
    """Fill in the results, from what is in the folder. Raises OracleFault if that is not the whole of it."""
    rows = run.read(len(chunks_of(plan.parts)), SCHEMA)
    counts = rows.groupBy("part").agg(*_sums()).collect
    for row in run.spark.call(counts, "counting"):
        swept = results[row.part]
        swept.asked, swept.differing = int(row.asked), int(row.differing)
        swept.errored, swept.unsupported = int(row.errored), int(row.unsupported)
        _hold_to_plan(swept, row)
    for swept in results:
        if swept.asked != swept.part.work.asked:
            raise OracleFault(f"{run.folder} says of {_called(swept)} that {swept.asked:,} of {swept.part.work.asked:,}"
                              " questions were asked: nothing is proven")  # fmt: skip
    for number, swept in enumerate(results):
        if swept.differing or swept.errored:
            swept.questions, swept.errors = _questions(run, rows, number)


def _sums() -> Iterator[Any]:
    from pyspark.sql import functions as f

    for name in ("asked", "differing", "errored", "unsupported"):
        yield f.sum(name).alias(name)
    yield f.count("*").alias("rows")
    yield f.count_distinct("block").alias("blocks")
    yield f.count_distinct("seen").alias("seen")
    yield f.collect_set("release").alias("releases")
    yield f.collect_set("jar_sha256").alias("jars")


def _hold_to_plan(swept: Swept, row: Any) -> None:
    work = swept.part.work
    if row.rows != work.blocks or row.blocks != work.blocks:
        raise OracleFault(f"{_called(swept)} has {work.blocks} blocks, and {row.blocks} were asked: nothing is proven")
    if work.drawn and row.seen != row.rows:
        raise OracleFault(f"{_called(swept)}: only {row.seen} of {row.rows} blocks asked something of their own:"
                          " what draws the questions repeats itself, so nothing is proven")  # fmt: skip
    if list(row.releases) != [str(swept.part.release)] or list(row.jars) != [swept.sent.sha256]:
        raise OracleFault(f"{_called(swept)} was answered by {row.releases} {row.jars}: nothing is proven")


def _called(swept: Swept) -> str:
    return f"{swept.part.rule.slug} in {swept.part.release}, {swept.part.work.name},"


def _questions(run: Run, rows: DataFrame, part: int) -> tuple[list[ProcessSupervisor], list[str]]:
    """The first that differ, and the first errors, in the order of blocks."""
    mine = rows.where(f"part = {part}")
    apart = mine.selectExpr("block", "posexplode(questions) as (place, kept)").orderBy("block", "place").limit(KEPT)
    broken = mine.selectExpr("block", "posexplode(errors) as (place, error)").orderBy("block", "place").limit(KEPT)
    kept = run.spark.call(apart.collect, "reading the questions that differ")
    errors = run.spark.call(broken.collect, "reading the errors")
    return [ProcessSupervisor(*row.kept) for row in kept], [row.error for row in errors]
