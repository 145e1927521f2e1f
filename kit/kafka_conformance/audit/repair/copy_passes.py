"""Copy a source in passes, and follow it until a cut-over.

The first pass is a run in the repair's folder. A later pass is a run in ``pass-000001`` and so on there; its plan says what
the passes before it have copied, so that a finished pass's folder is removed when the next pass has a plan.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING

import msgspec

from kafka_conformance.audit.repair.plan import RepairPlan, Staged, Totals
from kafka_conformance.audit.repair.remainder import Reached, rest_plan
from kafka_conformance.audit.repair.run import (
    finished_pass,
    is_staged,
    rewrite,
    settle_once,
    staged_copy,
    staged_path,
    target_id,
    unsettle,
)
from kafka_conformance.audit.topics import Topics
from kafka_conformance.core.notices import note
from kafka_conformance.core.progress import steps
from kafka_conformance.spark.runs import Run, names_in, remove_folder

if TYPE_CHECKING:
    from kafka_conformance.spark.session import Spark

__all__ = ["Copying", "last_pass", "next_plan", "reached_by"]

_PASS = re.compile(r"pass-(\d{6})")


def pass_folder(folder: str, number: int) -> str:
    """Return the folder of a pass, from 0."""
    return f"{folder.rstrip('/')}/pass-{number:06d}" if number else folder.rstrip("/")


def last_pass(spark: Spark, folder: str, first: RepairPlan) -> RepairPlan:
    """Return the plan of the last pass in a repair's folder, whose first pass has the plan ``first``."""
    numbers = sorted(
        (int(found[1]) for name in names_in(spark, folder) if (found := _PASS.fullmatch(name))), reverse=True
    )
    for number in numbers:  # a killed run may have made a folder without a plan
        if (written := Run.plan(spark, pass_folder(folder, number))) is not None:
            return msgspec.convert(written, RepairPlan, str_keys=True)
    return first


def reached_by(spark: Spark, folder: str, first: RepairPlan) -> tuple[RepairPlan, Reached | None]:
    """Return the plan of the last pass, and how far the finished passes have come; None if there is none.

    It reads only what is finished, so another process may be copying at the same time.
    """
    plan = last_pass(spark, folder, first)
    done = finished_pass(Run(spark, pass_folder(folder, plan.number), resumed=True))
    if done is None and not plan.earlier:
        return plan, None
    return plan, _reached(plan, done, first, plan.target_id or target_id(Run(spark, folder, resumed=True)))


def _reached(plan: RepairPlan, done: Totals | None, first: RepairPlan, written: str) -> Reached:
    """Return how far it has come, from what the last pass has ``done`` and the id of the topic that is ``written``."""
    earlier = plan.earlier
    if done is not None:
        return Reached(plan, plan.ends, earlier + done if earlier else done, first.begins, written)
    assert earlier is not None  # noqa: S101
    return Reached(plan, plan.begins, earlier, first.begins, written, finished=False)


def next_plan(topics: Topics, reached: Reached) -> RepairPlan:
    """Return the plan of the next pass, from the source as it is now. Raises BadInput, SparkFault."""
    plan = reached.plan
    source = topics.require(plan.source)
    return rest_plan(reached, source, topics.spans(plan.source, source.partitions, committed=True))


class Copying:
    """A repair that is under way in its folder, which this process has claimed. Made by :meth:`open`.

    ``resumed`` says whether the folder held the run before; ``staged`` is the last staged copy that was removed or kept.
    """

    def __init__(
        self,
        run: Run,
        topics: Topics,
        kafka: Mapping[str, str],
        first: RepairPlan,
        patience_s: float,
        *,
        keep_staged: bool,
    ) -> None:
        self.resumed = run.resumed
        self._spark, self._run, self._topics, self._kafka = run.spark, run, topics, kafka
        self._first, self._patience_s, self._keep_staged = first, patience_s, keep_staged
        self.plan, self.reached = reached_by(run.spark, run.folder, first)
        self.staged: Staged | None = None
        self._noted = False

    @staticmethod
    @contextmanager
    def open(
        spark: Spark, topics: Topics, kafka: Mapping[str, str], folder: str, first: RepairPlan, patience_s: float, *,
        keep_staged: bool,
    ) -> Iterator[Copying]:  # fmt: skip
        """Begin or resume the repair with the plan ``first`` of its first pass. Raises BadInput, SparkFault."""
        with Run.open(spark, folder, msgspec.to_builtins(first, str_keys=True)) as run:
            yield Copying(run, topics, kafka, first, patience_s, keep_staged=keep_staged)

    def finish_pass(self) -> Totals:
        """Finish the last pass if it is unfinished; return the totals, which are wrong if the new topic is not as planned.

        A later pass that has staged nothing yet is left: the next one takes its place, with the source as it is then.
        """
        if self.plan.earlier and not is_staged(self._run_of(self.plan)):
            remove_folder(self._spark, pass_folder(self._run.folder, self.plan.number))
            return self.plan.earlier
        return self._copy(self.plan)

    def copy_rest(self) -> Totals:
        """Copy what the source has gained since the last pass, which is finished; return the totals, as above."""
        assert self.reached is not None  # noqa: S101
        plan = next_plan(self._topics, self.reached)
        if plan.offsets:
            unsettle(self._run)
            return self._copy(plan)
        assert plan.earlier is not None  # noqa: S101
        self.reached = msgspec.structs.replace(self.reached, ends=plan.begins, totals=plan.earlier)
        return plan.earlier

    @property
    def records(self) -> int:
        """The number of records that finished passes have copied."""
        return self.reached.totals.compared.planned.records if self.reached else 0

    def behind(self) -> tuple[int, int]:
        """Return how many offsets of the source are to be copied, and how many open transactions hold back."""
        assert self.reached is not None  # noqa: S101
        source = self._topics.require(self.plan.source)
        spans = self._topics.readable(source.name, source.partitions, committed=True)
        return self.reached.behind(spans), sum(span.open for span in spans.values())

    def settle(self) -> None:
        """Give the new topic its final settings: nothing more is copied for now. Raises SparkFault."""
        settle_once(self._topics, self._run, self._first)

    def _copy(self, plan: RepairPlan) -> Totals:
        folder = pass_folder(self._run.folder, plan.number)
        written = msgspec.to_builtins(plan, str_keys=True)
        opened = Run.open(self._spark, folder, written) if plan.number else nullcontext(self._run)
        with opened as run, steps(f"reading {plan.source}", plan.offsets) as progress:
            self.plan = plan
            self._remove_before(plan.number)
            if not is_staged(run) and not self._noted:
                self._noted = True
                note(f"the records are staged in {staged_path(run)} until {plan.target} is as planned")
            done = rewrite(self._spark, self._topics, self._kafka, run, plan, progress, self._patience_s)
            if done.compared.same:
                self.staged = staged_copy(run, keep=self._keep_staged) or self.staged
        self.reached = _reached(plan, done, self._first, target_id(self._run))
        return self.reached.totals

    def _remove_before(self, number: int) -> None:
        """Remove the folder of the pass before: the plan of this one says what it has copied."""
        if number > 1 and not self._keep_staged:
            remove_folder(self._spark, pass_folder(self._run.folder, number - 1))

    def _run_of(self, plan: RepairPlan) -> Run:
        return Run(self._spark, pass_folder(self._run.folder, plan.number), resumed=True)
