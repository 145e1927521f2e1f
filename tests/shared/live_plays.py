"""Playing a script on a real cluster, again if the machine was too slow."""

from __future__ import annotations

from kafka_conformance.core.errors import TooSlow
from kafka_conformance.replication.live.cluster import LiveCluster
from kafka_conformance.replication.live.player import PlayedHistory, play
from kafka_reference.cluster.observation import Answer
from kafka_reference.cluster.script import ClusterScript

__all__ = ["played"]

_TRIES = 3


def played(cluster: LiveCluster, script: ClusterScript, expected: tuple[Answer, ...]) -> PlayedHistory:
    """Play a script on a cluster that is made whole before."""
    for _ in range(_TRIES - 1):
        cluster.recover()
        try:
            return play(cluster, [script], [expected])[0]
        except TooSlow:
            continue
    cluster.recover()
    return play(cluster, [script], [expected])[0]
