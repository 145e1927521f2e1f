"""The timeline of a partitioner's script: the partitioner's state after each step, and the reasons for it.

A partitioner is described by a :class:`Watched`: how it takes a step, its state, how many draws it has used, and,
if it notes them, the branches it took. What a step kept or changed follows from the state before and after.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from kafka_conformance.core.step import Step
from kafka_conformance.core.timeline import NOTHING, Box, Explained, Lane
from kafka_conformance.rules.common.clusters import to_reference
from kafka_conformance.rules.common.scripts import ClusterStep, Take
from kafka_conformance.rules.common.step_text import (
    answer_in_words,
    bytes_in_words,
    cluster_in_words,
    count_of,
    plain_step_in_words,
    raised,
)
from kafka_reference.errors import JavaException
from kafka_reference.partitioning.cluster import Cluster

__all__ = ["Held", "Watched", "explain_script"]

# State by name (a topic; None is all of them): the kind of thing, and its value.
Held: TypeAlias = dict[str | None, tuple[str, int | str]]


@dataclass(frozen=True, slots=True)
class Watched:
    """A partitioner whose steps are explained."""

    take: Take
    held: Callable[[], Held]
    drawn: Callable[[], int] = lambda: 0
    notes: list[str] = field(default_factory=list)
    keys_matter: bool = False


def explain_script(question: Any, answers: Sequence[Any], watched: Watched) -> Iterator[Explained]:
    """Return every step with its answer of ``answers``, and the state of ``watched`` after it."""
    taken = zip(_stages(question), answers, strict=True)
    for (step, cluster), answer in taken:
        before, drawn = watched.held(), watched.drawn()
        watched.notes.clear()
        if not isinstance(step, ClusterStep):
            with suppress(JavaException):  # the answer says so
                watched.take(step, cluster)
        held = watched.held()
        yield Explained(
            time_ms=None,
            step=_step_words(step),
            answer=_answer_words(answer),
            mark=f"{_mark(step)}{_came_of(answer)}",
            reasons=(
                *_by_the_step(step, cluster, before, watched),
                *_by_what_changed(step, cluster, before, held, watched.drawn() - drawn),
            ),
            state=tuple((_name(name), f"{what} {which}") for name, (what, which) in held.items()),
            lanes=tuple(
                Lane(_name(name), (Box(str(which), "held", f"{what} {which}"),))
                for name, (what, which) in held.items()
                if isinstance(which, int)
            ),
        )


def _stages(question: Any) -> Iterator[tuple[Any, Cluster]]:
    """Return each step with the cluster at that point, in the reference's form."""
    asked = question.cluster
    cluster = to_reference(asked)
    for step in question.steps:
        changed = step.cluster_after(asked) if isinstance(step, Step) else getattr(step, "cluster", asked)
        if changed is not asked:
            asked, cluster = changed, to_reference(changed)
        yield step, cluster


def _name(name: str | None) -> str:
    return "every topic" if name is None else name


def _step_words(step: Any) -> str:
    if isinstance(step, Step):
        return step.words()
    match step:
        case ClusterStep(cluster):
            return f"the cluster becomes\n{cluster_in_words(cluster)}"
    match step.__struct_config__.tag:
        case "partition":
            key = "no key" if step.key is None else f"key {bytes_in_words(step.key)}"
            return f"a record to {step.topic}, {key}"
        case "new_batch":
            return f"a new batch is needed for {step.topic}-{step.previous}"
        case "peek":
            return "the current partition?"
        case "append" if hasattr(step, "enable_switch"):
            return f"{step.bytes} B are appended, with {'the' if step.enable_switch else 'no'} switch allowed"
        case "send":
            return f"a record of {step.bytes} B is sent" + ("" if step.enable_switch else ", with no switch allowed")
        case "load":
            return _load_words(step)
    return plain_step_in_words(step)


def _mark(step: Any) -> str:
    """Return the step in few words."""
    if isinstance(step, Step):
        return step.mark()
    match step.__struct_config__.tag:
        case "partition":
            return f"{step.topic}, keyed" if step.key is not None else str(step.topic)
        case "new_batch":
            return f"new batch, {step.topic}-{step.previous}"
        case "append" if hasattr(step, "enable_switch"):
            return f"append {step.bytes} B" + ("" if step.enable_switch else ", stay")
        case "send":
            return f"send {step.bytes} B" + ("" if step.enable_switch else ", stay")
    return str(step.__struct_config__.tag)


def _load_words(step: Any) -> str:
    if step.queue_sizes is None:
        return "load: queue sizes unknown"
    racks = "" if step.racks is None else f" in racks {list(step.racks)}"
    sizes, ids = list(step.queue_sizes), list(step.partition_ids)
    return f"load queue sizes {sizes} of partitions {ids}{racks}, the first {step.length} of them"


def _answer_words(answer: Any) -> str:
    return answer_in_words(answer).replace("drawn ", "draws so far ") if answer else NOTHING


def _came_of(answer: Any) -> str:
    if not isinstance(answer, dict):
        return ""
    result = raised(answer).partition(":")[0] or answer.get("partition", answer.get("range_end"))
    return "" if result is None else f" → {result}"


def _by_the_step(step: Any, cluster: Cluster, before: Held, watched: Watched) -> Iterator[str]:
    yield from watched.notes
    if watched.keys_matter and getattr(step, "key", None) is not None:
        yield f"its key decides, by its hash, among {count_of(len(cluster.partitions), 'partition')}"
    what, which = before.get(getattr(step, "topic", None), ("", ""))
    previous = getattr(step, "previous", None)
    if what == "partition" and previous is not None:
        yield f"{step.topic} is at {which}" + (", whose batch it was" if which == previous else f", not at {previous}")


def _by_what_changed(step: Any, cluster: Cluster, before: Held, after: Held, drawn: int) -> Iterator[str]:
    if drawn:
        among = f"{len(cluster.available)} of {count_of(len(cluster.partitions), 'partition')} led"
        yield f"{count_of(drawn, 'draw')}, {among}"
    for name, (what, which) in after.items():
        if name not in before:
            yield f"{_name(name)} had none → {what} {which}"
        elif before[name] != (what, which):
            yield f"{_name(name)}: {what} {before[name][1]} → {which}"
    for name in before:
        if name not in after:
            yield f"{_name(name)} is forgotten"
    topic = getattr(step, "topic", None)
    if topic in after and before.get(topic) == after[topic] and not drawn:
        yield f"{topic} keeps {after[topic][0]} {after[topic][1]}, nothing is drawn"
