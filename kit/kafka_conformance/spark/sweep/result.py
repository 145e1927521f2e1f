"""What a sweep leaves behind, for keys and scripts alike: a row for each block of questions, as Parquet.

``seen`` is a digest of what was asked, where that was drawn: two blocks that asked the same prove half of what they claim.
``questions`` are the first that were answered otherwise, ``kills`` (where that was wanted) the smallest that show a mutant.
Questions and answers are JSON, in the form everything else has them in: so any of them can be asked again by anyone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from typing import Any

from kafka_conformance.answerers.reference import outcome_of
from kafka_conformance.cases.mutation import to_size
from kafka_conformance.core.mutant import Mutant
from kafka_conformance.core.protocol import Answer, Answered, Question, to_json
from kafka_conformance.core.rule import Rule
from kafka_conformance.rules.mutants import MUTANTS
from kafka_reference.releases import Release

__all__ = ["SCHEMA", "Block", "Kill", "ProcessSupervisor", "kills_among", "mutants_of", "to_batch"]

KILLS_KEPT = 3
"""Questions of a block that are kept for each mutant."""

SCHEMA = (
    "part int, block long, asked long, differing long, errored long, unsupported long, seen binary,"
    " release string, jar_sha256 string, errors array<string>,"
    " questions array<struct<question:string,expected:string,actual:string>>,"
    " kills array<struct<mutant:string,question:string>>"
)


@dataclass(frozen=True, slots=True)
class ProcessSupervisor:
    """A question that was answered otherwise, and both answers; as JSON."""

    question: str
    expected: str
    actual: str


@dataclass(frozen=True, slots=True)
class Kill:
    """A mutant, and a question that it answers otherwise than Java."""

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
    questions: Sequence[ProcessSupervisor] = ()
    kills: Sequence[Kill] = ()


def to_batch(blocks: Sequence[Block]) -> Any:
    """Rows for Arrow, in the types of :data:`SCHEMA`."""
    import pyarrow as pa

    text, number = pa.string(), pa.int64()
    kept = pa.struct([("question", text), ("expected", text), ("actual", text)])
    types = {
        "part": pa.int32(), "block": number, "asked": number, "differing": number, "errored": number,
        "unsupported": number, "seen": pa.binary(), "release": text, "jar_sha256": text, "errors": pa.list_(text),
        "questions": pa.list_(kept), "kills": pa.list_(pa.struct([("mutant", text), ("question", text)])),
    }  # fmt: skip
    return pa.RecordBatch.from_pylist(list(map(asdict, blocks)), pa.schema(list(types.items())))


def mutants_of(rule: Rule) -> list[Mutant]:
    """The mutants of a rule."""
    return [mutant for mutant in MUTANTS if mutant.rule == rule.slug]


def kills_among(rule: Rule, at: Release, said: Iterable[tuple[Question, Answer]]) -> list[Kill]:
    """For each mutant the smallest questions that it answers otherwise than Java ``said``.

    A mutant that breaks down has not answered, so nothing caught it.
    """
    sized = ((to_size(question), question, to_json(answer)) for question, answer in said)
    smallest = sorted(sized, key=lambda each: each[0])

    def caught(mutant: Mutant) -> Iterator[Kill]:
        for (_, text), question, java in smallest:
            outcome = outcome_of(mutant.ask, question, at)
            if isinstance(outcome, Answered) and to_json(outcome.answer) != java:
                yield Kill(mutant.slug, text.decode())

    return [kill for mutant in mutants_of(rule) for kill in islice(caught(mutant), KILLS_KEPT)]
