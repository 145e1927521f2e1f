"""The plan of a repair, fixed before anything is written, and the data of its report."""

from __future__ import annotations

from typing import Any

import msgspec

from kafka_conformance.audit.isolation import Reading
from kafka_conformance.audit.repair.checksums import Sum
from kafka_conformance.audit.topics import Span, Topics
from kafka_conformance.core.errors import BadInput

__all__ = [
    "Compared",
    "Counted",
    "Gap",
    "Moved",
    "Moves",
    "Repair",
    "RepairPlan",
    "Staged",
    "Totals",
    "check_target",
    "make_plan",
    "resumed_plan",
]  # fmt: skip


class Moves(msgspec.Struct, frozen=True):
    """The records of a partition in each topic; ``arriving`` ones come from another partition."""

    partition: int
    before: int
    after: int
    arriving: int
    keyless: int

    def __add__(self, other: Moves) -> Moves:
        """Return both together."""
        return Moves(self.partition, self.before + other.before, self.after + other.after,
                     self.arriving + other.arriving, self.keyless + other.keyless)  # fmt: skip


class Moved(msgspec.Struct, frozen=True):
    """The moves of a pass by partition; ``spread`` counts records without a key that change partition."""

    moves: tuple[Moves, ...]
    spread: int


class Counted(msgspec.Struct, frozen=True):
    """The sum of the source as it was read. ``largest`` is the size of the largest record in bytes."""

    source: Sum
    largest: int


class Compared(msgspec.Struct, frozen=True):
    """The planned and the written records; ``misplaced`` keyed ones are not where the reference puts them."""

    planned: Sum
    found: Sum
    misplaced: int

    @property
    def same(self) -> bool:
        """Whether the new topic is as planned."""
        return self.planned == self.found and not self.misplaced

    def __add__(self, other: Compared) -> Compared:
        """Return both together."""
        return Compared(self.planned + other.planned, self.found + other.found, self.misplaced + other.misplaced)


class Gap(msgspec.Struct, frozen=True):
    """Offsets of a source partition, from ``first`` up to ``end``, that were deleted before they were copied."""

    partition: int
    first: int
    end: int

    @property
    def offsets(self) -> int:
        """The number of offsets, at least that of the records."""
        return self.end - self.first


class Totals(msgspec.Struct, frozen=True):
    """What the finished passes of a repair have copied. ``spread`` counts records without a key that changed partition."""

    passes: int
    compared: Compared
    moves: tuple[Moves, ...]
    spread: int
    gaps: tuple[Gap, ...] = ()

    @property
    def written(self) -> dict[int, int]:
        """The number of records in each partition of the new topic, which is the offset that the next one gets."""
        return {one.partition: one.after for one in self.moves}

    def __add__(self, other: Totals) -> Totals:
        """Return both together."""
        partitions = {one.partition: one for one in self.moves}
        for one in other.moves:
            partitions[one.partition] = partitions[one.partition] + one if one.partition in partitions else one
        moves = tuple(partitions[number] for number in sorted(partitions))
        return Totals(self.passes + other.passes, self.compared + other.compared, moves, self.spread + other.spread,
                      self.gaps + other.gaps)  # fmt: skip


class RepairPlan(msgspec.Struct, frozen=True, omit_defaults=True):
    """Everything that determines the records that a pass writes.

    ``before`` and ``partitions`` are the old and the new partition count; ``begins`` (inclusive) and ``ends`` (exclusive)
    are the source's offsets, by partition. ``earlier`` is what the passes before it have copied, to the topic
    ``target_id``; None for the first.
    """

    source: str
    source_id: str
    target: str
    before: int
    partitions: int
    replication: int
    settings: dict[str, str]
    begins: dict[int, int]
    ends: dict[int, int]
    target_id: str = ""
    earlier: Totals | None = None

    @property
    def number(self) -> int:
        """The number of the pass, from 0."""
        return self.earlier.passes if self.earlier else 0

    @property
    def bases(self) -> dict[int, int]:
        """The offset of the pass's first record in each partition of the new topic."""
        written = self.earlier.written if self.earlier else {}
        return {number: written.get(number, 0) for number in range(self.partitions)}

    @property
    def offsets(self) -> int:
        """The number of the source's offsets, at least that of the records."""
        return sum(self.ends.values()) - sum(self.begins.values())

    @property
    def spans(self) -> dict[int, Span]:
        """The source's offsets."""
        return {number: Span(first, self.ends[number]) for number, first in self.begins.items()}


def make_plan(topics: Topics, source: str, target: str, partitions: int | None) -> RepairPlan:
    """Return the plan for the source as it is now. Raises BadInput for a missing source or invalid target options."""
    if source == target:
        raise BadInput(f"topic {source} cannot be rewritten to itself: give the name of a new topic")
    topic = topics.require(source)
    if partitions is not None and partitions < 1:
        raise BadInput(f"invalid partition count {partitions}: expected 1 or more")
    spans = topics.spans(source, topic.partitions, committed=True)
    return RepairPlan(
        source, topic.id, target, topic.partitions, partitions or topic.partitions, topic.replication,
        topics.settings(source), {at: span.first for at, span in spans.items()},
        {at: span.end for at, span in spans.items()},
    )  # fmt: skip


def resumed_plan(written: Any, source: str, target: str, partitions: int | None, folder: str) -> RepairPlan:
    """Return the plan in a run's folder. Raises BadInput if it is for other options than the given ones."""
    try:
        plan = msgspec.convert(written, RepairPlan, str_keys=True)
    except msgspec.ValidationError as error:
        raise BadInput(f"{folder} holds another run: give another folder ({error})") from error
    for name, was, now in (("the source", plan.source, source), ("the target", plan.target, target),
                           ("the number of partitions", plan.partitions, partitions or plan.partitions)):  # fmt: skip
        if was != now:
            raise BadInput(f"{folder} holds another run: {name} is {was} there and {now} here; give another folder")
    return plan


def check_target(topics: Topics, plan: RepairPlan) -> None:
    """Check that a new run's target does not exist. Raises BadInput if it does."""
    if topics.find(plan.target) is not None:
        raise BadInput(
            f"topic {plan.target} exists already and was not created by this run: give the name of a new topic"
        )


class Staged(msgspec.Struct, frozen=True):
    """The staged copy of the planned records: its folder, its size in bytes, and whether it is there still."""

    path: str
    bytes: int
    kept: bool


class Repair(msgspec.Struct, frozen=True):
    """A repair, or a dry run if ``written`` is false. ``spread`` counts records without a key that change partition.

    ``records`` and the counts after it are those of all passes. ``copied`` is how many records this run has copied, or
    would copy; ``behind`` how many offsets the source has gained since. ``gaps`` were deleted before they were copied.
    """

    source: str
    target: str
    before: int
    partitions: int
    records: int
    keyless: int
    moved: int
    spread: int
    by_partition: tuple[Moves, ...]
    written: bool
    resumed: bool
    compared: Compared | None
    run: str
    kit: str
    took_s: float
    reading: Reading | None = None
    """Which records were read, and how many offsets gave none."""
    passes: int = 1
    copied: int = 0
    behind: int = 0
    gaps: tuple[Gap, ...] = ()
    staged: Staged | None = None

    @property
    def right(self) -> bool:
        """Whether the new topic is as planned; true for a dry run."""
        return self.compared is None or self.compared.same
