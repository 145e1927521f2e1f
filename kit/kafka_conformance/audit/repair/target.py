"""The new topic of a repair while it is written: whose it is, and whether anything else arrives in it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread

from kafka_conformance.audit.repair.plan import RepairPlan
from kafka_conformance.audit.repair.topics import MEANWHILE, make
from kafka_conformance.audit.topics import Described, Topics
from kafka_conformance.core.errors import BadInput, KitError
from kafka_conformance.core.progress import Steps

__all__ = ["await_quiet", "own_target", "watched"]

_QUIET_S, _QUIET_LIMIT_S, _LEADERS_LIMIT_S = 3.0, 60.0, 30.0


def own_target(topics: Topics, plan: RepairPlan, known: str | None, *, rewrite: bool) -> tuple[str, bool]:
    """Create the new topic unless this run has; return its id, and whether this run had created it.

    ``known`` is the id of the topic that this run created; a later pass's plan has it. With ``rewrite`` all records of the
    run are available, so that a topic that was deleted is written again. Raises BadInput for another run's topic.
    """
    found = topics.find(plan.target)
    if plan.earlier:
        known, rewrite = plan.target_id, False
    if found is not None and known is not None and found.id == known:
        return found.id, True
    if known is not None and not rewrite:
        raise BadInput(
            f"topic {plan.target} was deleted or recreated since this run wrote it: give another topic and folder"
        )
    if found is None:
        make(topics, plan.target, plan.partitions, plan.replication, plan.settings)
        found = _with_leaders(topics, plan)
    elif not _begun(topics, found):
        raise BadInput(
            f"topic {plan.target} exists already and was not created by this run: delete it, or give another name"
        )
    if found.partitions != plan.partitions:
        raise BadInput(
            f"topic {plan.target} has {found.partitions} partitions, but the plan has {plan.partitions}: delete it"
        )
    return found.id, False


def _with_leaders(topics: Topics, plan: RepairPlan) -> Described:
    limit = time.monotonic() + _LEADERS_LIMIT_S
    while (found := topics.find(plan.target, _LEADERS_LIMIT_S)) is None:
        if time.monotonic() > limit:
            raise KitError(
                f"topic {plan.target} was created, but does not exist after {_LEADERS_LIMIT_S:g} s: run the command again"
            )
        time.sleep(0.1)
    return found


def _begun(topics: Topics, found: Described) -> bool:
    """Whether a topic has the settings that a run creates it with, and no records."""
    as_made = MEANWHILE.items() <= topics.settings(found.name).items()
    return as_made and not _written(topics, found.name, found.partitions)


def _written(topics: Topics, name: str, partitions: int) -> int:
    return sum(span.end for span in topics.spans(name, partitions, committed=True).values())


def await_quiet(topics: Topics, plan: RepairPlan, *, empty: bool = False) -> None:
    """Wait until no more records of a killed run arrive; for an ``empty`` topic as well if that is set.

    Raises BadInput if another producer keeps writing.
    """
    limit, before = time.monotonic() + _QUIET_LIMIT_S, _written(topics, plan.target, plan.partitions)
    since = time.monotonic()
    while (before or empty) and time.monotonic() < since + _QUIET_S:
        time.sleep(0.2)
        if (now := _written(topics, plan.target, plan.partitions)) != before:
            before, since = now, time.monotonic()
        if time.monotonic() > limit:
            raise BadInput(
                f"another producer writes to {plan.target}: stop it, delete the topic and start again in another folder"
            )


@contextmanager
def watched(topics: Topics, plan: RepairPlan, progress: Steps) -> Iterator[None]:
    """Report progress by the records in the new topic that are not of earlier passes."""
    ends, earlier = Event(), sum(plan.bases.values())

    def watch() -> None:
        while not ends.wait(1.0):
            try:
                progress.advance(_written(topics, plan.target, plan.partitions) - earlier - progress.done)
            except KitError:  # the writing reports the error
                continue

    thread = Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ends.set()
        thread.join(_LEADERS_LIMIT_S)
