"""The result of a sweep, for keys and scripts: a row for each block of questions, as Parquet.

``seen`` is a digest of the questions, where they were drawn: no two blocks may ask the same. ``questions`` are the first
that differ, ``kills`` (if wanted) the smallest that kill a mutant. Questions and answers are JSON as in the protocol, so
that any of them can be asked again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from typing import Any

from kafka_conformance.answerers.recorded_outcomes import RecordedAnswerer
from kafka_conformance.answerers.reference import ReferenceAnswerer
from kafka_conformance.cases.mutation import to_size
from kafka_conformance.core.mutant import Mutant
from kafka_conformance.core.pipeline import Comparison
from kafka_conformance.core.protocol import Answer, Answered, Differs, Outcome, Question, to_json
from kafka_conformance.core.rule import Rule
from kafka_conformance.core.sources import Source
from kafka_conformance.rules.mutants import written_mutants
from kafka_reference.releases import Release

__all__ = ["SCHEMA", "Block", "KeptDifference", "Kill", "kills_among", "to_batch"]

KILLS_KEPT = 3
"""Questions of a block that are kept for each mutant."""
_BATCH = 50

SCHEMA = (
    "part int, block long, asked long, differing long, errored long, unsupported long, seen binary,"
    " release string, jar_sha256 string, errors array<string>,"
    " questions array<struct<question:string,expected:string,actual:string>>,"
    " kills array<struct<mutant:string,question:string>>"
)


@dataclass(frozen=True, slots=True)
class KeptDifference:
    """A question that differs and both answers, as JSON."""

    question: str
    expected: str
    actual: str


@dataclass(frozen=True, slots=True)
class Kill:
    """A mutant, and a question that kills it."""

    mutant: str
    question: str


@dataclass(frozen=True, slots=True)
class Block:
    """A row."""

    part: int
    block: int
    asked: int
    differing: int
    release: str
    jar_sha256: str
    seen: bytes = b""
    errored: int = 0
    unsupported: int = 0
    errors: Sequence[str] = ()
    questions: Sequence[KeptDifference] = ()
    kills: Sequence[Kill] = ()


def to_batch(blocks: Sequence[Block]) -> Any:
    """Return rows as an Arrow batch, in the types of :data:`SCHEMA`."""
    import pyarrow as pa

    text, number = pa.string(), pa.int64()
    kept = pa.struct([("question", text), ("expected", text), ("actual", text)])
    types = {
        "part": pa.int32(), "block": number, "asked": number, "differing": number, "errored": number,
        "unsupported": number, "seen": pa.binary(), "release": text, "jar_sha256": text, "errors": pa.list_(text),
        "questions": pa.list_(kept), "kills": pa.list_(pa.struct([("mutant", text), ("question", text)])),
    }  # fmt: skip
    return pa.RecordBatch.from_pylist(list(map(asdict, blocks)), pa.schema(list(types.items())))


def kills_among(rule: Rule, release: Release, java: Iterable[tuple[Question, Answer]]) -> list[Kill]:
    """Return for each mutant the smallest questions whose answer differs from Java's.

    A mutant that fails to answer is not killed.
    """
    outcomes: dict[Question, Outcome] = {question: Answered(answer) for question, answer in java}
    smallest = Source("block", tuple(sorted(outcomes, key=to_size)))

    def kills(mutant: Mutant) -> Iterator[Kill]:
        actual = ReferenceAnswerer(mutant.slug, mutant.ask)
        for each in Comparison(RecordedAnswerer("java", outcomes), actual, release).judgements(rule, smallest, _BATCH):
            if isinstance(each.verdict, Differs):
                yield Kill(mutant.slug, to_json(each.question).decode())

    return [kill for mutant in written_mutants(rule) for kill in islice(kills(mutant), KILLS_KEPT)]
