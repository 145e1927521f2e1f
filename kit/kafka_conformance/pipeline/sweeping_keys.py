"""Keys by the billion: on every executor the real Java makes and answers a block of them, and the reference is held to it.

A row is a block: ``spark.range`` gives its number, Java (``KeyBlock``) makes its keys and gives its answers in one binary
cell. Here, in Python beside that JVM, the cell is read where it lies in Arrow's memory:

1. Who answered: the release that was loaded and the sha256 of its jar are those that were sent.
2. What was asked: the keys are made once more, by other code, and have the checksum of those that Java answered. (To carry
   them over would cost more than to make them: it was half of all time.)
3. The reference answers the whole column at once (``kafka_reference.bulk``), and the two columns of answers are compared.
4. Where they differ, the key becomes a question, which the scalar reference answers again.

What comes out is a row for each block, with counts that are exact and as many of the questions as are still wanted. Keys
never go through the driver.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from functools import cached_property
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from kafka_conformance.answerers import Answerer
from kafka_conformance.answerers.reference import ReferenceAnswerer
from kafka_conformance.errors import OracleFault, WrongRelease
from kafka_conformance.mutants import mutant_answerer
from kafka_conformance.pipeline.executors import SentRelease
from kafka_conformance.pipeline.key_spaces import KeySpace
from kafka_conformance.pipeline.spark_session import Spark
from kafka_conformance.pipeline.sweeping import Asking
from kafka_conformance.pipeline.swept import SCHEMA, Block, Kept, kills_among, to_batch
from kafka_conformance.protocol import Answer, Answered, Question, to_json
from kafka_conformance.rules import RULES, Columns, Rule
from kafka_reference.releases import Release, release

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["JudgeKeys", "Keys"]

_HEADER = 24
_PER_CHUNK = 4_096
# A task is half a second's work or more, wherever it runs: Spark needs a tenth of one to get it going.
_PER_TASK = 512


@dataclass(frozen=True)
class JudgeKeys:
    """Judges blocks, on an executor: ``who`` is the reference or a mutant. At most ``wanted`` questions are kept."""

    part: int
    rule_slug: str
    version: str
    sha256: str
    space: KeySpace
    who: str
    wanted: int
    kills: bool = False

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        """Arrow batches of numbers and cells to batches of rows. Raises WrongRelease, OracleFault."""
        import numpy as np

        wanted = self.wanted
        for batch in batches:
            numbers, column = batch.column(0).to_pylist(), batch.column(1)
            _, offsets, cells = (np.frombuffer(each or b"", np.uint8) for each in column.buffers())
            ends = offsets.view(np.int32)[column.offset :]
            blocks = []
            for place, number in enumerate(numbers):
                blocks.append(self.judge(number, cells[ends[place] : ends[place + 1]], wanted))
                wanted -= len(blocks[-1].questions)
            yield to_batch(blocks)

    def judge(self, number: int, cell: Any, wanted: int) -> Block:
        """One block. Raises WrongRelease, OracleFault."""
        block = _Asked(self.space, number, cell)
        if block.who != f"{self.version} {self.sha256}":
            raise WrongRelease(f"release {self.version} with sha256 {self.sha256} was sent, and {block.who} answered")
        self._hold_to_space(number, block)
        places, actual = self._apart(block)
        kept = [self._kept(block, place, actual(place)) for place in places[:wanted].tolist()] if wanted > 0 else []
        return Block(
            part=self.part, block=number, asked=len(block.java), differing=len(places), release=self.version,
            jar_sha256=self.sha256, seen=b"" if self.space.every else blake2b(block.data, digest_size=16).digest(),
            questions=kept, kills=kills_among(self._rule, self._release, self._said(block)) if self.kills else (),
        )  # fmt: skip

    @cached_property
    def _rule(self) -> Rule:
        return RULES[self.rule_slug]

    @property
    def _columns(self) -> Columns:
        assert self._rule.columns is not None  # noqa: S101  only such rules are swept by keys
        return self._rule.columns

    @cached_property
    def _release(self) -> Release:
        return release(self.version)

    @cached_property
    def _judged(self) -> Answerer:
        return ReferenceAnswerer() if self.who == "reference" else mutant_answerer(self.who.removeprefix("mutant:"))

    def _hold_to_space(self, number: int, block: _Asked) -> None:
        meant = zlib.crc32(block.data, zlib.crc32(block.offsets))
        same = block.sum == meant and len(block.java) == len(block.offsets) - 1
        if not same or block.argument != self.space.argument(number):
            raise OracleFault(f"block {number} was not of the keys it has to be ({self.space.name}): nothing is proven")

    def _apart(self, block: _Asked) -> tuple[Any, Any]:
        """The places at which the one who is judged differs from Java, and what it says at a place."""
        import numpy as np

        if self.who == "reference":
            mine = self._columns.reference(block.offsets, block.data, block.argument)
            if len(mine) != len(block.java):
                raise OracleFault(f"{len(block.java)} keys asked, {len(mine)} answers from the reference")
            return np.flatnonzero(block.java != mine), lambda place: self._alone(block, place, int(mine[place]))
        outcomes = self._judged.answer(
            self._rule, self._release, [self._question(block, at) for at in range(len(block.java))]
        )
        said = [outcome.answer if isinstance(outcome, Answered) else {"failed": str(outcome)} for outcome in outcomes]
        name = self._columns.field
        apart = [at for at, java in enumerate(block.java.tolist()) if said[at] != {name: java}]
        return np.array(apart, np.int64), said.__getitem__

    def _alone(self, block: _Asked, place: int, bulk: int) -> Answer:
        """What the reference says of one key. If it agrees with Java after all, the bulk code alone is wrong."""
        (outcome,) = self._judged.answer(self._rule, self._release, [self._question(block, place)])
        answer = outcome.answer if isinstance(outcome, Answered) else {"failed": str(outcome)}
        return {"bulk": bulk} if answer == {self._columns.field: int(block.java[place])} else answer

    def _question(self, block: _Asked, place: int) -> Question:
        return self._columns.question(block.key(place), block.argument)

    def _kept(self, block: _Asked, place: int, actual: Answer) -> Kept:
        expected = {self._columns.field: int(block.java[place])}
        return Kept(*(to_json(each).decode() for each in (self._question(block, place), expected, actual)))

    def _said(self, block: _Asked) -> Iterator[tuple[Question, Answer]]:
        for place, java in enumerate(block.java.tolist()):
            yield self._question(block, place), {self._columns.field: java}


class _Asked:
    """A block: its keys as the space has them, and what Java says of it (see KeyBlock.java)."""

    def __init__(self, space: KeySpace, number: int, cell: Any) -> None:
        count, self.argument, self.sum = (int(each) for each in cell[:_HEADER].view("<i8"))
        self.offsets, self.data = space.column(number)
        who_at = _HEADER + 4 * count
        self.java = cell[_HEADER:who_at].view("<i4")
        self.who = cell[who_at:].tobytes().decode(errors="replace")

    def key(self, place: int) -> bytes:
        """One of the keys."""
        found: bytes = self.data[self.offsets[place] : self.offsets[place + 1]].tobytes()
        return found


@dataclass(frozen=True, slots=True)
class Keys:
    """The keys of a space, as a part of a sweep."""

    space: KeySpace

    @property
    def name(self) -> str:
        """In words."""
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
        """Some megabytes: to go over costs a millisecond, however little it is."""
        return 16

    def plan(self) -> dict[str, Any]:
        """The space."""
        return {"keys": asdict(self.space)}

    def frame(self, spark: Spark, sent: SentRelease, asking: Asking, first: int, end: int) -> DataFrame:
        """The rows of these blocks."""
        from pyspark.sql import functions as f

        judge = JudgeKeys(asking.part, asking.rule_slug, str(sent.release), sent.sha256, self.space, asking.who,
                          asking.wanted, asking.kills)  # fmt: skip
        blocks = spark.session.range(first, end, 1, -(-(end - first) // _PER_TASK))
        told = map(f.lit, (sent.told, asking.rule_slug, self.space.told()))
        answered = f.call_function("kafkaoracle_key_block", *told, "id").alias("cell")
        return blocks.select("id", answered).mapInArrow(judge, SCHEMA)
