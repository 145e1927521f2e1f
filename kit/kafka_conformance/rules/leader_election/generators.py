"""The Hypothesis strategy of ``leader-election``: partitions in all states, and changes of every field together.

Brokers 16 and 33 share buckets of Java's hash sets with 0 and 1: eligible replicas are in the order of a set. No set has
more than 8 members, so that JDK 17 and 21 make it of the same size.
"""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from kafka_conformance.rules.leader_election.question import AskedDirectory, AskedPartition, LeaderElectionQuestion

__all__ = ["partition_changes"]

_BROKERS = (1, 2, 3, 4, 5, 16, 33, 0)
_RECOVERY = st.sampled_from(("recovered", "recovering"))
_DIRECTORY = st.sampled_from((7, 0, 8, 1, 2))
_VERSIONS = st.sampled_from(("newest", "3.7", "3.6", "3.5", "3.1"))


@st.composite
def _partitions(draw: Any) -> AskedPartition:
    """Draw a partition: mostly one that a controller can have."""
    replicas = draw(st.lists(st.sampled_from(_BROKERS), min_size=1, max_size=5, unique=True))
    strange = draw(st.integers(0, 9)) == 9
    among = st.sampled_from(_BROKERS if strange else replicas)
    isr = draw(st.lists(among, max_size=4, unique=True))
    others = [one for one in replicas if one not in isr]
    elr = draw(st.lists(st.sampled_from(others), max_size=3, unique=True)) if others and draw(st.booleans()) else []
    known = draw(st.lists(among, max_size=2, unique=True)) if draw(st.booleans()) else []
    leader = draw(st.sampled_from((*isr, -1, *(replicas if strange else ()))))
    some = st.lists(among, max_size=2, unique=True).map(tuple)
    moves = draw(st.integers(0, 2)) == 2
    directories = draw(st.none() | st.tuples(*[_DIRECTORY] * len(replicas)))
    return AskedPartition(
        replicas=tuple(replicas),
        isr=tuple(isr),
        leader=leader,
        removing=draw(some) if moves else (),
        adding=draw(some) if moves else (),
        elr=tuple(elr),
        last_known_elr=tuple(known),
        leader_epoch=draw(st.integers(0, 9)),
        partition_epoch=draw(st.integers(0, 9)),
        recovery=draw(_RECOVERY),
        directories=directories,
    )


@st.composite
def partition_changes(draw: Any) -> LeaderElectionQuestion:
    """Draw a question."""
    partition = draw(_partitions())
    near = st.sampled_from((*partition.replicas, *_BROKERS[:4]))
    brokers = st.lists(near, max_size=4, unique=True).map(tuple)
    twice = st.lists(near, max_size=4).map(tuple)
    moves = draw(st.integers(0, 2)) == 2
    wanted = st.none() | brokers
    targets = st.none() | st.lists(near, min_size=1, max_size=5, unique=True).map(tuple)
    return LeaderElectionQuestion(
        partition=partition,
        acceptable=draw(st.just(partition.replicas) | brokers),
        election=draw(st.sampled_from(("online", "preferred", "unclean"))),
        isr=draw(wanted | twice),
        replicas=draw(targets) if moves else None,
        removing=draw(wanted) if moves else None,
        adding=draw(wanted) if moves else None,
        recovery=draw(st.none() | _RECOVERY),
        unclean_allowed=draw(st.booleans()),
        metadata_version=draw(_VERSIONS),
        zookeeper_migration=draw(st.booleans()),
        elr_enabled=draw(st.booleans()),
        last_leader_enabled=draw(st.integers(0, 3)) > 0,
        min_isr=draw(st.integers(1, 3)),
        unclean_shutdown=draw(wanted),
        directories=tuple(AskedDirectory(one, draw(_DIRECTORY)) for one in draw(brokers)) if moves else (),
        default_directory=draw(st.sampled_from((1, 1, 7, None))) if moves else 1,
    )
