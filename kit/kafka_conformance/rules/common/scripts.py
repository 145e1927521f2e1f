"""Questions that are scripts: a cluster, and steps taken one after another on one and the same object.

A step is a JSON object whose ``"op"`` names its kind; each rule has its own kinds. All share one: ``{"op": "cluster",
"cluster": C}`` replaces the cluster, and its answer is ``{}``.

A script's answer is ``{"steps": [...]}``, one answer for each step. A step that throws is answered by its exception,
``{"raises": ...}``, and the script goes on: the state that an exception leaves behind is part of the rule.

Generating a script must be cheap, so a strategy draws all of it as one string of bytes: each byte selects a symbol of an
alphabet, and the first symbol is the simplest, since bytes shrink towards 0 and strings towards nothing. A new cluster is
most often the first one, changed in a way that matters to partitioners (:data:`CHANGES`), and sometimes any other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import product
from typing import Any, TypeAlias, TypeVar

from hypothesis import strategies as st
from msgspec import structs

from kafka_conformance.core.protocol import Answer, Question, answered
from kafka_conformance.rules.common.clusters import AskedCluster, AskedNode, AskedPartition, clusters, to_reference
from kafka_reference.partitioning.cluster import Cluster

__all__ = [
    "CHANGES", "SMALL_CLUSTERS", "ClusterStep", "Take", "cluster_labels", "every_script", "play", "renamed", "spelled",
    "stages",
]  # fmt: skip

T = TypeVar("T")

Take: TypeAlias = Callable[[Any, Cluster], Answer]
"""Takes one step, given the cluster at that point, and returns its answer. Raises JavaException."""


class ClusterStep(Question, frozen=True, tag_field="op", tag="cluster"):
    """Replace the cluster from here on."""

    cluster: AskedCluster
    """The new cluster."""


def play(cluster: AskedCluster, steps: Sequence[Any], take: Take) -> Answer:
    """Take all steps and return their answers."""
    answers: list[Answer] = []
    for step, now in stages(cluster, steps):
        answers.append({} if isinstance(step, ClusterStep) else answered(take, step, now))
    return {"steps": answers}


def stages(cluster: AskedCluster, steps: Iterable[Any]) -> Iterator[tuple[Any, Cluster]]:
    """Return each step with the cluster at that point, in the reference's form."""
    now = to_reference(cluster)
    for step in steps:
        if isinstance(step, ClusterStep):
            now = to_reference(step.cluster)
        yield step, now


def cluster_labels(cluster: AskedCluster, steps: Iterable[Any]) -> Iterator[str]:
    """Return the kinds of the clusters in a script."""
    changed = [step.cluster for step in steps if isinstance(step, ClusterStep)]
    for one in (cluster, *changed):
        led = sum(partition.leader is not None for partition in one.partitions)
        if not one.partitions:
            yield "no partitions"
        elif not led:
            yield "no leader"
        else:
            yield "all led" if led == len(one.partitions) else "some led"
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


# Changes of a cluster, by name: no leader left, one left, every other one, all; no partitions, in reverse order, one more.
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
    """Return a script over ``alphabet``; a name of :data:`CHANGES` stands for that change of ``cluster``, "any" for any."""
    steps: list[Any] = []
    for letter in draw(letters):
        symbol = alphabet[letter % len(alphabet)]
        if isinstance(symbol, str):
            steps.append(ClusterStep(draw(_ANY) if symbol == "any" else CHANGES[symbol](cluster)))
        else:
            steps.append(symbol)
    return steps


def renamed(steps: Iterable[Any]) -> Iterator[Any]:
    """Yield the steps with topics named t, u and v in order of appearance, so that equivalent scripts become equal."""
    names: dict[str, str] = {}
    for step in steps:
        if not hasattr(step, "topic"):
            yield step
            continue
        if step.topic not in names:
            names[step.topic] = "tuv"[len(names)]
        yield structs.replace(step, topic=names[step.topic])


_NODES = (AskedNode(0, "a"), AskedNode(1, "b"))

# Clusters for spaces: no partitions, no leader, one leader, two leaders of three with ids out of order, three leaders.
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
    """Return every script of 1 to ``longest`` steps over ``alphabet``."""
    for length in range(1, longest + 1):
        yield from product(alphabet, repeat=length)
