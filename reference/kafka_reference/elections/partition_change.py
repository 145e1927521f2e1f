"""A change of a partition, as a KRaft controller records it: completed reassignments, leader, ISR, leader epoch.

Java source mirrored: ``org.apache.kafka.controller.PartitionChangeBuilder.build``, since 3.0.0,
https://github.com/apache/kafka/blob/4.3.1/metadata/src/main/java/org/apache/kafka/controller/PartitionChangeBuilder.java
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from kafka_reference.elections import eligible_leader_replicas, leader_election, partition_reassignment
from kafka_reference.elections.leader_election import Candidates, Election
from kafka_reference.elections.metadata_version import MetadataVersion, VersionFeatures, version_features
from kafka_reference.elections.partition_change_behaviour import PartitionChangeBehaviour
from kafka_reference.elections.partition_registration import (
    PartitionChange,
    PartitionRegistration,
    RecoveryState,
    contains,
)
from kafka_reference.errors import IllegalStateException
from kafka_reference.releases import Release

__all__ = ["ChangeRequest", "PartitionChangeBuilder", "change_partition"]


@dataclass(frozen=True, slots=True)
class ChangeRequest:
    """The requested change of a partition, and the brokers that may lead it. A field that is None stays unchanged."""

    acceptable: frozenset[int]
    """The brokers that may lead: alive, and not shutting down."""
    election: Election = "online"
    """The kind of election."""
    isr: tuple[int, ...] | None = None
    """The wanted ISR."""
    replicas: tuple[int, ...] | None = None
    """The wanted replicas."""
    removing: tuple[int, ...] | None = None
    """The replicas that a reassignment removes."""
    adding: tuple[int, ...] | None = None
    """The replicas that a reassignment adds."""
    recovery: RecoveryState | None = None
    """The wanted state of recovery."""
    unclean_allowed: bool = False
    """Whether unclean elections are allowed in a preferred one, up to 3.1.x."""
    metadata_version: MetadataVersion = "newest"
    """The metadata version of the cluster."""
    zookeeper_migration: bool = False
    """Whether the cluster migrates from ZooKeeper."""
    elr_enabled: bool = False
    """Whether the cluster has eligible leader replicas."""
    last_leader_enabled: bool = True
    """Whether the last known leader is noted and may be elected."""
    min_isr: int = 1
    """``min.insync.replicas`` of the topic."""
    unclean_shutdown: tuple[int, ...] = ()
    """The brokers that came back after an unclean shutdown."""
    directories: dict[int, int] = field(default_factory=dict)
    """The directories that are assigned to brokers."""
    default_directory: int | None = None
    """The directory of a broker without one; None: there is none to ask for."""


def change_partition(
    partition: PartitionRegistration, request: ChangeRequest, version: str | Release
) -> tuple[PartitionChange, int] | None:
    """Return the record of a change and its version; None if nothing changes.

    Raises IllegalStateException if directories are recorded and there is no default one (since 3.7.0).
    """
    return PartitionChangeBuilder(PartitionChangeBehaviour.of(version), partition, request).build()


class PartitionChangeBuilder:
    """Builds the record of one change."""

    def __init__(
        self, behaviour: PartitionChangeBehaviour, partition: PartitionRegistration, request: ChangeRequest
    ) -> None:
        if not behaviour.has_elr:
            partition = replace(partition, elr=(), last_known_elr=())
        self.behaviour, self.partition, self.request = behaviour, partition, request
        self.isr = _either(request.isr, partition.isr)
        self.replicas = _either(request.replicas, partition.replicas)
        self.removing = _either(request.removing, partition.removing)
        self.adding = _either(request.adding, partition.adding)
        self.elr, self.last_known_elr = partition.elr, partition.last_known_elr
        self.elr_enabled = behaviour.has_elr and request.elr_enabled
        self.version: VersionFeatures = version_features(request.metadata_version, behaviour)
        self.change = PartitionChange()

    def build(self) -> tuple[PartitionChange, int] | None:
        """Return the record and its version; None if nothing changes."""
        self._complete_reassignment()
        if self.elr_enabled:
            self.elr, self.last_known_elr = eligible_leader_replicas.eligible_replicas(
                self.partition, self.isr, self.request.min_isr, self.request.unclean_shutdown
            )
        if leader_election.needs_election(self.behaviour, self.request.election, self.partition, self.isr):
            self._elect()
        self._raise_epoch_of_removed_replicas()
        if self.behaviour.shrink_counts_unrecorded_isr:
            self._raise_epoch_of_shrink(self.isr)
        if self.behaviour.has_elr:
            self._record_elr()
        self._record_isr()
        if not self.behaviour.shrink_counts_unrecorded_isr and self.change.isr is not None:
            self._raise_epoch_of_shrink(self.change.isr)
        self._record_last_leader()
        self._record_assignment()
        self._record_recovery()
        return None if self._is_no_change() else (self.change, self.version.record_version)

    def _complete_reassignment(self) -> None:
        completed = partition_reassignment.complete_reassignment(
            self.behaviour, self.replicas, self.isr, self.removing, self.adding
        )
        if completed is not None:
            self.isr, self.replicas = completed.isr, completed.replicas
            self.removing = self.adding = ()

    def _elect(self) -> None:
        last_leader_allowed = self.elr_enabled and self.request.last_leader_enabled
        candidates = Candidates(
            self.partition, self.replicas, self.isr, self.elr, self.request.acceptable.__contains__, last_leader_allowed
        )
        elected = leader_election.elect_leader(
            self.behaviour, self.request.election, candidates, unclean_allowed=self.request.unclean_allowed
        )
        if elected.leader == self.partition.leader:
            return
        if elected.leader in self.elr:
            self.isr = (elected.leader,)
            self.elr = tuple(one for one in self.elr if one != elected.leader)
        self.change.leader = elected.leader
        if elected.unclean:
            self.change.isr = (elected.leader,)
            recovers = self.behaviour.has_recovery_state and self.version.leader_recovery
            if recovers and self.partition.recovery != "recovering":
                self.change.recovery = "recovering"

    def _raise_epoch_of_removed_replicas(self) -> None:
        if self.change.leader is None and not contains(self.replicas, self.partition.replicas):
            self.change.leader = self.partition.leader

    def _raise_epoch_of_shrink(self, isr: tuple[int, ...]) -> None:
        migrates = self.behaviour.has_zookeeper_migration and self.request.zookeeper_migration
        if not self.version.shrink_raises_epoch and not migrates:
            return
        if self.change.leader is None and not contains(isr, self.partition.isr):
            self.change.leader = self.partition.leader

    def _record_elr(self) -> None:
        if self.change.isr is not None or not self.elr_enabled:
            self.elr = self.last_known_elr = ()
        if self.elr != self.partition.elr:
            self.change.elr = self.elr
        self.change.last_known_elr = eligible_leader_replicas.recorded_replicas(
            self.behaviour,
            self.partition,
            self.change,
            self.last_known_elr,
            holds_leader=self.request.last_leader_enabled,
        )

    def _record_isr(self) -> None:
        hidden = self.change.isr is None or self.behaviour.target_isr_hides_unclean_isr
        if hidden and (self.isr or self.elr_enabled) and self.isr != self.partition.isr:
            self.change.isr = self.isr

    def _record_last_leader(self) -> None:
        if not self.elr_enabled or not self.request.last_leader_enabled:
            return
        leader = eligible_leader_replicas.last_known_leader(self.behaviour, self.partition, self.change)
        if leader is not None:
            self.change.last_known_elr = leader

    def _record_assignment(self) -> None:
        if self.version.directories:
            self._record_directories()
        if self.replicas != self.partition.replicas:
            self.change.replicas = self.replicas
        if self.removing != self.partition.removing:
            self.change.removing = self.removing
        if self.adding != self.partition.adding:
            self.change.adding = self.adding

    def _record_directories(self) -> None:
        """Record the directory of each replica. The default one is asked for, even if no replica needs it."""
        if self.request.default_directory is None:
            raise IllegalStateException("DefaultDirProvider is not set")
        known = {
            **dict(zip(self.partition.replicas, self.partition.directories, strict=True)),
            **self.request.directories,
        }
        directories = tuple(known.get(replica, self.request.default_directory) for replica in self.replicas)
        if directories != self.partition.directories:
            self.change.directories = directories

    def _record_recovery(self) -> None:
        wanted = self.request.recovery
        if self.behaviour.has_recovery_state and wanted is not None and wanted != self.partition.recovery:
            self.change.recovery = wanted

    def _is_no_change(self) -> bool:
        if self.behaviour.recovery_state_alone_is_no_change:
            return self.change in (PartitionChange(), PartitionChange(recovery=self.change.recovery))
        return self.change == PartitionChange()


def _either(wanted: tuple[int, ...] | None, before: tuple[int, ...]) -> tuple[int, ...]:
    return before if wanted is None else wanted
