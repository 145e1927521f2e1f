"""What a metadata version of the cluster means for changes of a partition.

Java source mirrored: ``org.apache.kafka.server.common.MetadataVersion``, since 3.2.0: ``isLeaderRecoverySupported``,
``isLeaderEpochBumpRequiredOnIsrShrink``, ``isDirectoryAssignmentSupported``, ``partitionChangeRecordVersion``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from kafka_reference.elections.partition_change_behaviour import PartitionChangeBehaviour

__all__ = ["MetadataVersion", "VersionFeatures", "version_features"]

MetadataVersion: TypeAlias = Literal["3.1", "3.5", "3.6", "3.7", "newest"]
"""The last metadata version of a minor release, or the newest that a release has, even if it is not yet in production.

A release that lacks the version has its oldest or newest one in its place: 3.3-IV3 is the oldest since 4.0.0. Up to 3.1.x
there are no metadata versions.
"""


@dataclass(frozen=True, slots=True)
class VersionFeatures:
    """What a metadata version allows and asks for."""

    leader_recovery: bool
    """The state of recovery can be recorded: since 3.2-IV0."""
    shrink_raises_epoch: bool
    """The leader epoch has to rise if the ISR loses a replica: before 3.6-IV0 (KAFKA-15021)."""
    directories: bool
    """Records name directories: since 3.7-IV2."""
    record_version: int
    """The version of the record: 1 since 3.7-IV2, and 2 from the version on that has eligible leader replicas."""


def version_features(version: MetadataVersion, behaviour: PartitionChangeBehaviour) -> VersionFeatures:
    """Return what ``version`` means in a release."""
    directories = behaviour.has_directories and version in ("3.7", "newest")
    return VersionFeatures(
        leader_recovery=version != "3.1" or behaviour.oldest_version_has_recovery,
        shrink_raises_epoch=behaviour.isr_shrink_raises_epoch or version in ("3.1", "3.5"),
        directories=directories,
        record_version=directories + (directories and version == "newest"),
    )
