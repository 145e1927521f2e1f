"""Millions of scripts: generated on the executors, answered there by the real Java, and compared with the reference.

A row is a block of questions. No step runs on the driver:

1. Python generates the questions by Hypothesis, from a seed made of the sweep's, the rule and the number of the block. So
   a block can be generated again alone, and no two blocks are the same.
2. Java answers them, one block at a time in each JVM (``Answers.java`` has the reason), as JSON lines.
3. Python answers them by the reference, or by a mutant, and judges them like every command (``core.pipeline``).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import msgspec

from kafka_conformance.answerers.java import outcome_in
from kafka_conformance.answerers.recorded_outcomes import RecordedBatch
from kafka_conformance.core.errors import OracleFault, WrongRelease
from kafka_conformance.core.pipeline import Comparison, Difference, error_line, tally
from kafka_conformance.core.protocol import Answered, Outcome, Question, to_json
from kafka_conformance.core.sources import Source, collect
from kafka_conformance.rules import RULES
from kafka_conformance.spark.executors import SentRelease
from kafka_conformance.spark.session import Spark
from kafka_conformance.spark.sweep.comparison import BlockComparison
from kafka_conformance.spark.sweep.result import SCHEMA, Block, KeptDifference, kills_among, to_batch
from kafka_conformance.spark.sweep.run import Job
from kafka_conformance.spark.workers import mapped

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["CompareScripts", "Draw", "Scripts", "seed_of"]

_PER_BLOCK = 250
_PER_CHUNK = 64
_PER_TASK = 4
# Errors of a block that are kept.
_ERRORS_KEPT = 5


def seed_of(seed: int, rule_slug: str, block: int) -> int:
    """Return the seed of a block."""
    return int.from_bytes(blake2b(f"{seed} {rule_slug} {block}".encode(), digest_size=8).digest(), "big")


@dataclass(frozen=True)
class Draw:
    """Generates blocks of questions, on an executor: JSON lines for Java."""

    rule_slug: str
    seed: int
    scripts: int

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        """Arrow batches of numbers to batches of numbers and lines."""
        import pyarrow as pa

        for batch in batches:
            numbers = batch.column(0)
            lines = pa.array([self.lines(number) for number in numbers.to_pylist()], pa.binary())
            yield pa.RecordBatch.from_arrays([numbers, lines], ["id", "lines"])

    def lines(self, block: int) -> bytes:
        """Return a block's questions. Raises OracleFault if Hypothesis generates too few."""
        count = min(_PER_BLOCK, self.scripts - block * _PER_BLOCK)
        drawn = collect(RULES[self.rule_slug], count, seed_of(self.seed, self.rule_slug, block))
        if len(drawn) != count:
            raise OracleFault(f"{self.rule_slug} has {len(drawn)} questions where {count} were wanted of a block")
        asked = ({"id": str(number), "rule": self.rule_slug, "question": each} for number, each in enumerate(drawn))
        return b"\n".join(map(msgspec.json.encode, asked))


class _Line(msgspec.Struct):
    id: str
    question: msgspec.Raw


@dataclass(frozen=True)
class CompareScripts(BlockComparison):
    """Compares blocks, on an executor."""

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        """Arrow batches of numbers, lines and answers to batches of rows. Raises WrongRelease, OracleFault."""
        wanted = self.wanted
        for batch in batches:
            blocks = []
            for number, lines, answered in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                blocks.append(self.compare(number, lines, answered, wanted))
                wanted -= len(blocks[-1].questions)
            yield to_batch(blocks)

    def compare(self, number: int, lines: bytes, answered: bytes, wanted: int) -> Block:
        """Compare one block. Raises WrongRelease, OracleFault."""
        questions = [msgspec.json.decode(line.question, type=self.rule.question) for line in _split(lines, _Line)]
        java = self._java(len(questions), answered)
        comparison = Comparison(RecordedBatch("java", java), self.answerer, self.release)
        counts = tally(self.rule, comparison, [Source("", tuple(questions))])
        errors = [
            f"{error_line(each.verdict)}: {to_json(each.question).decode()}" for each in counts.errors[:_ERRORS_KEPT]
        ]
        return Block(
            part=self.part, block=number, asked=len(questions), differing=counts.differ, release=self.version,
            jar_sha256=self.sha256, seen=blake2b(lines, digest_size=16).digest(), errored=len(counts.errors),
            unsupported=counts.unsupported, errors=errors,
            questions=[_kept(difference) for difference in counts.differences[: max(0, wanted)]],
            kills=kills_among(self.rule, self.release, _answered(questions, java)) if self.kills else (),
        )  # fmt: skip

    def _java(self, count: int, answered: bytes) -> list[Outcome]:
        answered_by, _, rest = answered.partition(b"\n")
        self.check_release(answered_by.decode())
        head, *answers = msgspec.json.Decoder().decode_lines(rest)
        if head["release"] != self.version:
            raise WrongRelease(f"asked for release {self.version}, and {head['jar']} says it is {head['release']}")
        if [line["id"] for line in answers] != list(map(str, range(count))):
            raise OracleFault(f"the oracle gave {len(answers)} answers to {count} questions, or in another order")
        return [outcome_in(line) for line in answers]


def _split(lines: bytes, kind: type[_Line]) -> list[_Line]:
    return msgspec.json.Decoder(kind).decode_lines(lines)


def _kept(difference: Difference) -> KeptDifference:
    each = difference.question, difference.expected, difference.actual
    return KeptDifference(*(to_json(part).decode() for part in each))


def _answered(questions: Iterable[Question], outcomes: Iterable[Outcome]) -> Iterator[tuple[Question, Any]]:
    for question, outcome in zip(questions, outcomes, strict=True):
        if isinstance(outcome, Answered):
            yield question, outcome.answer


@dataclass(frozen=True, slots=True)
class Scripts:
    """A number of questions of a rule's strategy, as a part of a sweep."""

    scripts: int
    seed: int

    @property
    def name(self) -> str:
        """The name for people."""
        return "drawn questions"

    @property
    def blocks(self) -> int:
        """How many blocks there are."""
        return -(-self.scripts // _PER_BLOCK)

    @property
    def asked(self) -> int:
        """How many questions there are."""
        return self.scripts

    @property
    def drawn(self) -> bool:
        """They are."""
        return True

    @property
    def per_chunk(self) -> int:
        """Blocks of a chunk."""
        return _PER_CHUNK

    @property
    def per_batch(self) -> int:
        """One: while Java answers it, the next is drawn."""
        return 1

    def plan(self) -> dict[str, Any]:
        """How many, in blocks of how many."""
        return {"scripts": self.scripts, "per_block": _PER_BLOCK}

    def frame(self, spark: Spark, sent: SentRelease, job: Job, first: int, end: int) -> DataFrame:
        """The rows of these blocks."""
        from pyspark.sql import functions as f

        draw = Draw(job.rule_slug, self.seed, self.scripts)
        compare = CompareScripts(
            job.part, job.rule_slug, str(sent.release), sent.sha256, job.actual, job.wanted, job.kills
        )
        blocks = spark.session.range(first, end, 1, -(-(end - first) // _PER_TASK))
        drawn = mapped(blocks, draw, "id long, lines binary")
        answered = f.call_function("kafkaoracle_answers", f.lit(sent.description), "lines").alias("answered")
        return mapped(drawn.select("id", "lines", answered), compare, SCHEMA)
