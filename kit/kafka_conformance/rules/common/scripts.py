"""Questions that are scripts: a cluster, and steps taken one after another on one and the same object.

A step is a JSON object that says by ``"op"`` what it is; each rule has its own kinds. One kind is everybody's:
``{"op": "cluster", "cluster": C}``: from here on the cluster is another one; the answer to it is ``{}``.

A script's answer is ``{"steps": [...]}``, one answer for each step. A step in which the rule raises is answered by what
it raised, ``{"raises": ...}``, and the script goes on: what state an exception leaves behind is part of the rule.

Making a script must cost next to nothing, so a strategy draws all of it as one string of bytes: each byte names one
symbol of an alphabet, and the first symbol is the simplest, since bytes shrink towards 0 and strings towards nothing.
A cluster mid-script is most often the first one, changed in a way that matters to partitioners (:data:`CHANGES`);
sometimes it is any other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import product
from typing import Any, TypeVar

from hypothesis import strategies as st
from msgspec import structs

from kafka_conformance.core.protocol import Answer, Question, answered
from kafka_conformance.rules.common.clusters import AskedCluster, AskedNode, AskedPartition, clusters, to_reference
from kafka_reference.partitioning.cluster import Cluster

__all__ = [
    "CHANGES", "SMALL_CLUSTERS", "ClusterStep", "cluster_labels", "every_script", "play", "renamed", "spelled", "stages",
]  # fmt: skip

T = TypeVar("T")


class ClusterStep(Question, frozen=True, tag_field="op", tag="cluster"):
    """From here on the cluster is this one."""

    cluster: AskedCluster


def play(cluster: AskedCluster, steps: Sequence[Any], take: Callable[[Any, Cluster], Answer]) -> Answer:
    """Take all steps; ``take`` answers one, given the cluster as it is then."""
    answers: list[Answer] = []
    for step, now in stages(cluster, steps):
        answers.append({} if isinstance(step, ClusterStep) else answered(take, step, now))
    return {"steps": answers}


def stages(cluster: AskedCluster, steps: Iterable[Any]) -> Iterator[tuple[Any, Cluster]]:
    """Each step, and the cluster it meets, as the reference takes it."""
    now = to_reference(cluster)
    for step in steps:
        if isinstance(step, ClusterStep):
            now = to_reference(step.cluster)
        yield step, now


def cluster_labels(cluster: AskedCluster, steps: Iterable[Any]) -> Iterator[str]:
    """What kinds of cluster a script meets."""
    changed = [step.cluster for step in steps if isinstance(step, ClusterStep)]
    for one in (cluster, *changed):
        led = sum(partition.leader is not None for partition in one.partitions)
        yield (
            "no partitions"
            if not one.partitions
            else "no leader"
            if not led
            else "all led"
            if led == len(one.partitions)
            else "some led"
        )
    if changed:
        yield "the cluster changes"


def _led_by(leader_at: Callable[[int, AskedPartition], int | None]) -> Callable[[AskedCluster], AskedCluster]:
    def changed(cluster: AskedCluster) -> AskedCluster:
        partitions = cluster.partitions
        return AskedCluster(
            cluster.nodes, tuple(AskedPartition(p.id, leader_at(place, p)) for place, p in enumerate(partitions))
        )

    return changed


def _reversed(cluster: AskedCluster) -> AskedCluster:
    return AskedCluster(cluster.nodes, cluster.partitions[::-1])


def _grown(cluster: AskedCluster) -> AskedCluster:
    new = max((partition.id for partition in cluster.partitions), default=-1) + 1
    return AskedCluster(cluster.nodes, (*cluster.partitions, AskedPartition(new, cluster.nodes[0].id)))


# What a cluster goes through, by name: every leader lost, all but one lost, half of them, none; partitions gone, in
# another order, one more of them.
CHANGES: dict[str, Callable[[AskedCluster], AskedCluster]] = {
    "leaderless": _led_by(lambda _, __: None),
    "one led": _led_by(lambda place, _: None if place else 0),
    "half led": _led_by(lambda place, _: 0 if place % 2 else None),
    "all led": _led_by(lambda _, partition: partition.leader or 0),
    "empty": lambda cluster: AskedCluster(cluster.nodes, ()),
    "reversed": _reversed,
    "grown": _grown,
}
_ANY = clusters()


def spelled(
    draw: st.DrawFn, cluster: AskedCluster, alphabet: Sequence[Any], letters: st.SearchStrategy[bytes]
) -> list[Any]:
    """A script over ``alphabet``; a name of :data:`CHANGES` in it is that change of ``cluster``, "any" is any cluster."""
    steps: list[Any] = []
    for letter in draw(letters):
        symbol = alphabet[letter % len(alphabet)]
        if isinstance(symbol, str):
            steps.append(ClusterStep(draw(_ANY) if symbol == "any" else CHANGES[symbol](cluster)))
        else:
            steps.append(symbol)
    return steps


def renamed(steps: Iterable[Any]) -> Iterator[Any]:
    """The same script, its topics named t, u and v by first appearance: a script about u alone is one about t."""
    names: dict[str, str] = {}
    for step in steps:
        if not hasattr(step, "topic"):
            yield step
            continue
        if step.topic not in names:
            names[step.topic] = "tuv"[len(names)]
        yield structs.replace(step, topic=names[step.topic])


_NODES = (AskedNode(0, "a"), AskedNode(1, "b"))

# Clusters for spaces: nothing, nothing led, one led, two of three led and ids out of order with gaps, three led.
SMALL_CLUSTERS = tuple(
    AskedCluster(_NODES, tuple(AskedPartition(number, leader) for number, leader in layout))
    for layout in (
        (),
        ((1, None), (0, None)),
        ((1, None), (0, 1)),
        ((5, 0), (0, None), (2, 1)),
        ((0, 0), (1, 1), (2, 0)),
    )
)


def every_script(alphabet: Sequence[T], longest: int) -> Iterator[tuple[T, ...]]:
    """Every script of 1 to ``longest`` steps over ``alphabet``."""
    for length in range(1, longest + 1):
        yield from product(alphabet, repeat=length)
