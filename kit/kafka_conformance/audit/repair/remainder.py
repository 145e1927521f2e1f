"""What a source has gained since a repair's last pass, and the plan of the pass that copies it.

A repair copies in *passes*. The first has every record up to its plan's ends. Each later one begins at the offsets where
the pass before it ended, and its records come after all records of that pass in every partition of the new topic.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from kafka_conformance.audit.repair.plan import Gap, RepairPlan, Totals
from kafka_conformance.audit.topics import Described, Span
from kafka_conformance.core.errors import BadInput

__all__ = ["Reached", "check_beginning", "rest_plan"]


class Reached(msgspec.Struct, frozen=True):
    """How far the finished passes of a repair have come.

    ``plan`` is that of the last pass, ``finished`` or not; ``ends`` are the source's offsets up to which records are
    copied, by partition; ``begins`` those at which the first pass began. ``target_id`` is the new topic's id.
    """

    plan: RepairPlan
    ends: dict[int, int]
    totals: Totals
    begins: dict[int, int]
    target_id: str
    finished: bool = True

    @property
    def offsets(self) -> int:
        """The number of offsets that were read, from the beginning of the first pass."""
        read = sum(end - self.begins.get(number, 0) for number, end in self.ends.items())
        return read - sum(gap.offsets for gap in self.totals.gaps)

    def behind(self, spans: Mapping[int, Span]) -> int:
        """Return how many of the source's offsets are not copied."""
        return sum(max(0, span.end - max(span.first, self.ends.get(number, 0))) for number, span in spans.items())


def rest_plan(reached: Reached, source: Described, spans: Mapping[int, Span]) -> RepairPlan:
    """Return the plan of the next pass, which has no offsets if the source has gained none.

    ``spans`` are the source's offsets now. Offsets that were deleted before they were copied are added to the plan's gaps.
    Raises BadInput if the source is another topic than before, or lost its end.
    """
    name = reached.plan.source
    if source.id != reached.plan.source_id:
        raise BadInput(f"{name} was deleted or recreated since this run began: start a new run in another folder")
    begins, ends, gaps = {}, {}, []
    for partition, span in sorted(spans.items()):
        end = reached.ends.get(partition, 0)
        if span.end < end:
            raise BadInput(
                f"partition {partition} of {name} ends at offset {span.end}, but {end} were copied: it was truncated or"
                " recreated; start a new run in another folder"
            )
        begins[partition] = max(end, span.first)
        ends[partition] = span.end
        if span.first > end:
            gaps.append(Gap(partition, end, span.first))
    if missing := sorted(reached.ends.keys() - spans.keys()):
        raise BadInput(f"partition {missing[0]} of {name} is gone: start a new run in another folder")
    totals = msgspec.structs.replace(reached.totals, gaps=(*reached.totals.gaps, *gaps))
    return msgspec.structs.replace(
        reached.plan, before=source.partitions, begins=begins, ends=ends, target_id=reached.target_id, earlier=totals
    )


def check_beginning(plan: RepairPlan, planned: Mapping[int, int], ends: Mapping[int, int]) -> None:
    """Check that the new topic holds what the earlier passes wrote, and of this pass's records no more than planned.

    ``planned`` counts the pass's records, ``ends`` are the new topic's end offsets, by partition. Raises BadInput.
    """
    for partition, base in plan.bases.items():
        end, most = ends[partition], base + planned.get(partition, 0)
        if end < base:
            raise BadInput(
                f"partition {partition} of {plan.target} ends at offset {end}, but {base} records were copied to it: it was"
                " truncated or recreated; repair to another topic, in another folder"
            )
        if end > most:
            raise BadInput(
                f"partition {partition} of {plan.target} ends at offset {end}, but this pass ends at {most}: another"
                f" producer writes to {plan.target} already, and more of {plan.source} cannot be copied to it in order"
            )
