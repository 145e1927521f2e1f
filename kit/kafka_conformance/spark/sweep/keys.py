"""Billions of keys: on every executor the reference claims the answers to a block, and the real Java answers the same keys.

A row is a block, by its number from ``spark.range``. No step runs on the driver:

1. Python generates the keys, the reference answers the whole column at once (``kafka_reference.bulk``), and the claim is
   the number of keys, the argument, the CRC-32 of the keys, and the CRC-32 of the answers.
2. Java (``KeyBlock.java``) generates the keys by other code, answers them, and makes its own claim. Where the two claims
   differ, all of its answers go with it. (To transfer answers that match took half of all time.)
3. Python compares. The release that was loaded and the sha256 of its jar must be those that were sent, and the keys must
   have the same checksum on both sides. Equal claims prove a block. For any other block the reference answers once more,
   the two columns are compared, and a key where they differ becomes a question.

A checksum of answers is not the answers: what could it hide? A CRC-32 always shows a single answer that differs, however
much, and several that lie next to each other within 32 bits. Several others go unnoticed in one block of four billion, by
chance; and a mistake of an implementation shows in many blocks.

What comes out is a row for each block, with counts that are exact and as many of the questions as are still wanted. Keys
never go through the driver. A mutant claims nothing, so all answers come back and are compared one by one.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from kafka_conformance.answerers.names import REFERENCE
from kafka_conformance.core.errors import OracleFault
from kafka_conformance.core.protocol import Answer, Answered, Question, to_json
from kafka_conformance.core.rule import Columns
from kafka_conformance.rules import RULES
from kafka_conformance.spark.executors import SentRelease
from kafka_conformance.spark.session import Spark
from kafka_conformance.spark.sweep.comparison import BlockComparison
from kafka_conformance.spark.sweep.key_spaces import KeySpace
from kafka_conformance.spark.sweep.result import SCHEMA, Block, KeptDifference, kills_among, to_batch
from kafka_conformance.spark.sweep.run import Job
from kafka_conformance.spark.workers import mapped

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["CLAIM", "ClaimKeys", "CompareKeys", "Keys"]

CLAIM = np.dtype([("count", "<i8"), ("argument", "<i8"), ("keys_sum", "<i8"), ("answers_sum", "<i8")])
"""The claim about a block, in the form that the reference and Java share; ``KeyBlock.java`` describes it too."""

_ANSWERS_AT = CLAIM.itemsize + 8
_PER_CHUNK = 4_096
# A task is a tenth of a second's work or more: Spark needs about as much to get it going.
_PER_TASK = 64


@dataclass(frozen=True)
class ClaimKeys:
    """Claims of blocks, on an executor, what the reference answers: (``id``) in, (``id``, ``claim``, ``seen``) out."""

    space: KeySpace
    rule_slug: str
    claiming: bool

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        """Arrow batches of numbers to batches of claims."""
        for batch in batches:
            numbers = batch.column(0)
            claims, seen = zip(*map(self.claim, numbers.to_pylist()), strict=True) if len(numbers) else ((), ())
            columns = [numbers, pa.array(claims, pa.binary()), pa.array(seen, pa.binary())]
            yield pa.RecordBatch.from_arrays(columns, ["id", "claim", "seen"])

    def claim(self, number: int) -> tuple[bytes | None, bytes]:
        """The claim, None where nothing is claimed; and a digest of the keys if they are drawn."""
        drawn = not self.space.every
        if not self.claiming and not drawn:
            return None, b""
        offsets, data = self.space.column(number)
        seen = blake2b(data, digest_size=16).digest() if drawn else b""
        if not self.claiming:
            return None, seen
        argument = self.space.argument(number)
        answers = _columns(self.rule_slug).reference(offsets, data, argument)
        answers_sum = zlib.crc32(np.ascontiguousarray(answers, "<i4").data)
        made = np.array([(len(answers), argument, _keys_sum(offsets, data), answers_sum)], CLAIM)
        return made.tobytes(), seen


@dataclass(frozen=True)
class CompareKeys(BlockComparison):
    """Compares blocks, on an executor."""

    space: KeySpace

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        """Arrow batches of (``id``, ``claim``, ``seen``, ``cell``) to batches of rows. Raises WrongRelease, OracleFault."""
        wanted = self.wanted
        for batch in batches:
            blocks = []
            for number, claim, seen, cell in zip(*map(pa.Array.to_pylist, batch.columns), strict=True):
                blocks.append(replace(self.compare(number, claim, cell, wanted), seen=seen))
                wanted -= len(blocks[-1].questions)
            yield to_batch(blocks)

    def compare(self, number: int, claim: bytes | None, cell: bytes, wanted: int) -> Block:
        """Compare one block. Raises WrongRelease, OracleFault."""
        java = _JavaBlock(cell)
        self.check_release(java.answered_by)
        block = Block(self.part, number, java.count, 0, self.version, self.sha256)
        if claim == java.claim:
            return block
        return self._compared(_Block(self.space, number, java), claim, block, wanted)

    def _compared(self, asked: _Block, claim: bytes | None, block: Block, wanted: int) -> Block:
        self._check_space(asked)
        places, actual = self._apart(asked)
        if claim is not None and not len(places):
            raise OracleFault(f"block {asked.number}: Java's answers match the reference's, and their claims differ: the"
                              " transfer changed one of them, so nothing is proven")  # fmt: skip
        kept = [self._kept(asked, place, actual(place)) for place in places[:wanted].tolist()] if wanted > 0 else []
        kills = kills_among(self.rule, self.release, self._java_answers(asked)) if self.kills else ()
        return replace(block, differing=len(places), questions=kept, kills=kills)

    @property
    def _columns(self) -> Columns:
        return _columns(self.rule_slug)

    def _check_space(self, block: _Block) -> None:
        same = (
            block.claimed.keys_sum == _keys_sum(block.offsets, block.data) and block.claimed.argument == block.argument
        )
        if not same or not len(block.java) == block.claimed.count == len(block.offsets) - 1:
            raise OracleFault(
                f"block {block.number} has other keys than its space ({self.space.name}): nothing is proven"
            )

    def _apart(self, block: _Block) -> tuple[Any, Any]:
        """Return the places at which the answers differ, and a function from a place to the actual answer."""
        if self.actual == REFERENCE:
            mine = self._columns.reference(block.offsets, block.data, block.argument)
            if len(mine) != len(block.java):
                raise OracleFault(f"{len(block.java)} keys asked, {len(mine)} answers from the reference")
            return np.flatnonzero(block.java != mine), lambda place: self._alone(block, place, int(mine[place]))
        outcomes = self.answerer.answer(
            self.rule, self.release, [self._question(block, at) for at in range(len(block.java))]
        )
        answers = [
            outcome.answer if isinstance(outcome, Answered) else {"failed": str(outcome)} for outcome in outcomes
        ]
        name = self._columns.field
        apart = [at for at, java in enumerate(block.java.tolist()) if answers[at] != {name: java}]
        return np.array(apart, np.int64), answers.__getitem__

    def _alone(self, block: _Block, place: int, bulk: int) -> Answer:
        """Return the reference's answer to one key. If it matches Java's, the bulk code alone is wrong."""
        (outcome,) = self.answerer.answer(self.rule, self.release, [self._question(block, place)])
        answer = outcome.answer if isinstance(outcome, Answered) else {"failed": str(outcome)}
        return {"bulk": bulk} if answer == {self._columns.field: int(block.java[place])} else answer

    def _question(self, block: _Block, place: int) -> Question:
        return self._columns.question(block.key(place), block.argument)

    def _kept(self, block: _Block, place: int, actual: Answer) -> KeptDifference:
        expected = {self._columns.field: int(block.java[place])}
        return KeptDifference(*(to_json(each).decode() for each in (self._question(block, place), expected, actual)))

    def _java_answers(self, block: _Block) -> Iterator[tuple[Question, Answer]]:
        for place, java in enumerate(block.java.tolist()):
            yield self._question(block, place), {self._columns.field: java}


class _JavaBlock:
    """Java's claim about a block, with its answers where they differ (see KeyBlock.java)."""

    def __init__(self, cell: bytes) -> None:
        self.claim = cell[: CLAIM.itemsize]
        ((count, self.argument, self.keys_sum, _),) = np.frombuffer(self.claim, CLAIM).tolist()
        self.count: int = count
        name_at = _ANSWERS_AT + 4 * int.from_bytes(cell[CLAIM.itemsize : _ANSWERS_AT], "little")
        self.answers = np.frombuffer(cell[_ANSWERS_AT:name_at], "<i4")
        self.answered_by = cell[name_at:].decode(errors="replace")


class _Block:
    """A block: its keys, generated by the space, and Java's claim and answers."""

    def __init__(self, space: KeySpace, number: int, claimed: _JavaBlock) -> None:
        self.number, self.claimed, self.java = number, claimed, claimed.answers
        self.argument = space.argument(number)
        self.offsets, self.data = space.column(number)

    def key(self, place: int) -> bytes:
        """One of the keys."""
        found: bytes = self.data[self.offsets[place] : self.offsets[place + 1]].tobytes()
        return found


def _columns(rule_slug: str) -> Columns:
    columns = RULES[rule_slug].columns
    assert columns is not None  # noqa: S101  only such rules are swept by keys
    return columns


def _keys_sum(offsets: Any, data: Any) -> int:
    return zlib.crc32(data, _OFFSETS.sum_of(offsets))


class _OneSum:
    """The CRC-32 of an array. Blocks of short keys share their offsets, so the last one's is kept."""

    def __init__(self) -> None:
        self._last: tuple[Any, int] = (None, 0)

    def sum_of(self, array: Any) -> int:
        last, found = self._last
        if array is not last:
            found = zlib.crc32(array)
            self._last = array, found
        return found


_OFFSETS = _OneSum()


@dataclass(frozen=True, slots=True)
class Keys:
    """The keys of a space, as a part of a sweep."""

    space: KeySpace

    @property
    def name(self) -> str:
        """The name for people."""
        return self.space.name

    @property
    def blocks(self) -> int:
        """How many blocks there are."""
        return self.space.blocks

    @property
    def asked(self) -> int:
        """How many keys are asked about."""
        return self.space.asked

    @property
    def drawn(self) -> bool:
        """Whether they are random ones."""
        return not self.space.every

    @property
    def per_chunk(self) -> int:
        """Blocks of a chunk."""
        return _PER_CHUNK

    @property
    def per_batch(self) -> int:
        """Some milliseconds' work: to go over costs one, however little it is. With all its answers a block is 263 KB."""
        return 64

    def plan(self) -> dict[str, Any]:
        """The space."""
        return {"keys": asdict(self.space)}

    def frame(self, spark: Spark, sent: SentRelease, job: Job, first: int, end: int) -> DataFrame:
        """The rows of these blocks."""
        from pyspark.sql import functions as f

        compare = CompareKeys(job.part, job.rule_slug, str(sent.release), sent.sha256, job.actual, job.wanted,
                          job.kills, self.space)  # fmt: skip
        claim = ClaimKeys(self.space, job.rule_slug, job.actual == REFERENCE and not job.kills)
        blocks = spark.session.range(first, end, 1, min(-(-(end - first) // _PER_TASK), 2 * spark.cores))
        claimed = mapped(blocks, claim, "id long, claim binary, seen binary")
        arguments = map(f.lit, (sent.description, job.rule_slug, self.space.as_json()))
        answered = f.call_function("kafkaoracle_key_block", *arguments, "id", "claim").alias("cell")
        return mapped(claimed.select("id", "claim", "seen", answered), compare, SCHEMA)
