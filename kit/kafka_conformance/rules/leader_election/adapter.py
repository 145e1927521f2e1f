"""Questions of ``leader-election`` to the reference."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from kafka_conformance.core.protocol import Answer
from kafka_conformance.rules.leader_election.question import AskedPartition, LeaderElectionQuestion
from kafka_reference.elections import partition_change, partition_registration
from kafka_reference.elections.partition_change import ChangeRequest
from kafka_reference.elections.partition_change_behaviour import PartitionChangeBehaviour
from kafka_reference.elections.partition_registration import MIGRATING, PartitionRegistration
from kafka_reference.errors import QuestionError
from kafka_reference.releases import Release

__all__ = ["ask", "registration_of", "request_of"]

_SINCE_ELR = ("elr", "last_known_elr", "directories")


def ask(question: LeaderElectionQuestion, release: Release) -> Answer:
    """Return the record of the change, and the partition after it."""
    behaviour = PartitionChangeBehaviour.of(release)
    partition = registration_of(question.partition)
    made = partition_change.change_partition(partition, request_of(question), release)
    if made is None:
        return {"change": None}
    change, version = made
    after = partition_registration.merge(partition, change, behaviour)
    return {
        "change": {name: _listed(value) for name, value in asdict(change).items() if value is not None},
        "version": version,
        "after": {name: _listed(value) for name, value in asdict(after).items() if _has(behaviour, name)},
    }


def registration_of(asked: AskedPartition) -> PartitionRegistration:
    """Return the partition of a question. Raises QuestionError if a replica is there twice, or a directory missing."""
    if len(set(asked.replicas)) < len(asked.replicas):
        raise QuestionError("a replica is assigned twice: name each broker once in partition.replicas")
    directories = (MIGRATING,) * len(asked.replicas) if asked.directories is None else asked.directories
    if len(directories) != len(asked.replicas):
        raise QuestionError(
            "partition.directories has another length than partition.replicas: name one for each replica"
        )
    return PartitionRegistration(
        asked.replicas, asked.isr, asked.leader, asked.removing, asked.adding, asked.elr, asked.last_known_elr,
        asked.leader_epoch, asked.partition_epoch, asked.recovery, directories,
    )  # fmt: skip


def request_of(question: LeaderElectionQuestion) -> ChangeRequest:
    """Return the change that a question asks for."""
    return ChangeRequest(
        acceptable=frozenset(question.acceptable),
        election=question.election,
        isr=question.isr,
        replicas=question.replicas,
        removing=question.removing,
        adding=question.adding,
        recovery=question.recovery,
        unclean_allowed=question.unclean_allowed,
        metadata_version=question.metadata_version,
        zookeeper_migration=question.zookeeper_migration,
        elr_enabled=question.elr_enabled,
        last_leader_enabled=question.last_leader_enabled,
        min_isr=question.min_isr,
        unclean_shutdown=question.unclean_shutdown or (),
        directories={one.broker: one.directory for one in question.directories},
        default_directory=question.default_directory,
    )


def _has(behaviour: PartitionChangeBehaviour, field: str) -> bool:
    if field == "recovery":
        return behaviour.has_recovery_state
    return behaviour.has_elr or field not in _SINCE_ELR


def _listed(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value
