"""Scripts by the million: questions drawn on the executors, answered by the real Java beside them, held to the reference.

A row is a block of questions. It goes through three hands, none of which is the driver's:

1. Python draws the questions: Hypothesis' search for a rule's strategy, from a seed made of the sweep's, the rule and the
   block's number. So a block can be drawn again by itself, and no two blocks draw the same.
2. Java answers them, one block at a time in each JVM (``Answers.java`` says why), as JSON lines.
3. Python answers them by the reference, or by a mutant, and compares as everything else does (``protocol.judge``).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import msgspec

from kafka_conformance.answerers.java import outcome_in
from kafka_conformance.core.errors import OracleFault, WrongRelease
from kafka_conformance.core.protocol import Answered, Differs, Errored, Outcome, Question, Unsupported, judge, to_json
from kafka_conformance.core.sources import collect
from kafka_conformance.rules import RULES
from kafka_conformance.spark.executors import SentRelease
from kafka_conformance.spark.session import Spark
from kafka_conformance.spark.sweep.comparison import Judging
from kafka_conformance.spark.sweep.result import SCHEMA, Block, ProcessSupervisor, kills_among, to_batch
from kafka_conformance.spark.sweep.run import Asking
from kafka_conformance.spark.workers import mapped

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["Draw", "JudgeScripts", "Scripts", "seed_of"]

_PER_BLOCK = 250
_PER_CHUNK = 64
_PER_TASK = 4
# The errors of a block that are told.
_ERRORS_KEPT = 5


def seed_of(seed: int, rule_slug: str, block: int) -> int:
    """The seed of a block's search."""
    return int.from_bytes(blake2b(f"{seed} {rule_slug} {block}".encode(), digest_size=8).digest(), "big")


@dataclass(frozen=True)
class Draw:
    """Draws blocks of questions, on an executor: JSON lines for Java."""

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
        """A block's questions. Raises OracleFault if there are not as many as there have to be."""
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
class JudgeScripts(Judging):
    """Judges blocks, on an executor."""

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        """Arrow batches of numbers, lines and answers to batches of rows. Raises WrongRelease, OracleFault."""
        wanted = self.wanted
        for batch in batches:
            blocks = []
            for number, lines, said in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                blocks.append(self.judge(number, lines, said, wanted))
                wanted -= len(blocks[-1].questions)
            yield to_batch(blocks)

    def judge(self, number: int, lines: bytes, said: bytes, wanted: int) -> Block:
        """One block. Raises WrongRelease, OracleFault."""
        questions = [msgspec.json.decode(line.question, type=self.rule.question) for line in _split(lines, _Line)]
        java = self._java(len(questions), said)
        mine = self.judged.answer(self.rule, self.release, questions)
        names = f"java {self.version}", f"{self.who} {self.version}"
        verdicts = [judge(left, right, names) for left, right in zip(java, mine, strict=True)]
        judged = list(zip(questions, verdicts, strict=True))
        apart = [(question, verdict) for question, verdict in judged if isinstance(verdict, Differs)]
        errors = [f"{verdict.who}: {verdict.what}: {to_json(question).decode()}"
                  for question, verdict in judged if isinstance(verdict, Errored)]  # fmt: skip
        return Block(
            part=self.part, block=number, asked=len(questions), differing=len(apart), release=self.version,
            jar_sha256=self.sha256, seen=blake2b(lines, digest_size=16).digest(), errored=len(errors),
            unsupported=sum(isinstance(verdict, Unsupported) for verdict in verdicts), errors=errors[:_ERRORS_KEPT],
            questions=[_kept(question, verdict) for question, verdict in apart[: max(0, wanted)]],
            kills=kills_among(self.rule, self.release, _answered(questions, java)) if self.kills else (),
        )  # fmt: skip

    def _java(self, count: int, said: bytes) -> list[Outcome]:
        who, _, rest = said.partition(b"\n")
        self.hold_to_release(who.decode())
        head, *answers = msgspec.json.Decoder().decode_lines(rest)
        if head["release"] != self.version:
            raise WrongRelease(f"asked for release {self.version}, and {head['jar']} says it is {head['release']}")
        if [line["id"] for line in answers] != list(map(str, range(count))):
            raise OracleFault(f"the oracle gave {len(answers)} answers to {count} questions, or in another order")
        return [outcome_in(line) for line in answers]


def _split(lines: bytes, kind: type[_Line]) -> list[_Line]:
    return msgspec.json.Decoder(kind).decode_lines(lines)


def _kept(question: Question, verdict: Differs) -> ProcessSupervisor:
    return ProcessSupervisor(*(to_json(each).decode() for each in (question, verdict.expected, verdict.actual)))


def _answered(questions: Iterable[Question], outcomes: Iterable[Outcome]) -> Iterator[tuple[Question, Any]]:
    for question, outcome in zip(questions, outcomes, strict=True):
        if isinstance(outcome, Answered):
            yield question, outcome.answer


@dataclass(frozen=True, slots=True)
class Scripts:
    """So many questions of a rule's strategy, as a part of a sweep."""

    scripts: int
    seed: int

    @property
    def name(self) -> str:
        """In words."""
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

    def frame(self, spark: Spark, sent: SentRelease, asking: Asking, first: int, end: int) -> DataFrame:
        """The rows of these blocks."""
        from pyspark.sql import functions as f

        draw = Draw(asking.rule_slug, self.seed, self.scripts)
        judge = JudgeScripts(asking.part, asking.rule_slug, str(sent.release), sent.sha256, asking.who, asking.wanted,
                             asking.kills)  # fmt: skip
        blocks = spark.session.range(first, end, 1, -(-(end - first) // _PER_TASK))
        drawn = mapped(blocks, draw, "id long, lines binary")
        said = f.call_function("kafkaoracle_answers", f.lit(sent.told), "lines").alias("said")
        return mapped(drawn.select("id", "lines", said), judge, SCHEMA)
