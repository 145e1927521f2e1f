"""Ways to make a mutant of a rule's reference: a question is changed on the way."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kafka_conformance.core.mutant import Ask, replaced
from kafka_conformance.rules import RULES
from kafka_conformance.rules.common.clusters import AskedPartition

__all__ = ["all_led", "on", "on_clusters", "only_led", "renumbered"]

AskedPartitions = tuple[AskedPartition, ...]


def on(rule: str, change: Callable[[Any], Any]) -> Ask:
    """Answer as the reference does for a changed question."""
    return lambda question, release: RULES[rule].ask(change(question), release)


def on_clusters(rule: str, change: Callable[[AskedPartitions], AskedPartitions]) -> Ask:
    """Answer as the reference does for a question whose clusters have other partitions."""

    def changed(holder: Any) -> Any:
        cluster = getattr(holder, "cluster", None)
        if cluster is None:
            return holder
        return replaced(holder, cluster=replaced(cluster, partitions=change(cluster.partitions)))

    return on(rule, lambda question: replaced(changed(question), steps=tuple(map(changed, question.steps))))


def renumbered(partitions: AskedPartitions) -> AskedPartitions:
    """Return the partitions with their indexes as ids."""
    return tuple(replaced(partition, id=place) for place, partition in enumerate(partitions))


def all_led(partitions: AskedPartitions) -> AskedPartitions:
    """Return the partitions, each with a leader."""
    return tuple(replaced(partition, leader=0) for partition in partitions)


def only_led(partitions: AskedPartitions) -> AskedPartitions:
    """Return the partitions that have a leader."""
    return tuple(partition for partition in partitions if partition.leader is not None)
