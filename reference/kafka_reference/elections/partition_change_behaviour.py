"""What each release's ``PartitionChangeBuilder`` does, as one record."""

from __future__ import annotations

from typing import Final, Literal

from kafka_reference.behaviour import Behaviour, behaviour, holds, varies
from kafka_reference.releases import since

__all__ = ["PARTITION_CHANGES", "PartitionChangeBehaviour"]

PARTITION_CHANGES: Final = since("3.0.0")
"""The releases that have ``PartitionChangeBuilder``."""


@behaviour("PartitionChangeBuilder", PARTITION_CHANGES)
class PartitionChangeBehaviour(Behaviour):
    """What changed in a change of a partition, oldest change first."""

    leader_in_isr_stays: bool = holds(
        since("3.0.0", until="3.1.x"),
        "No election takes place while the leader is in the ISR, even if it is not acceptable, unless a preferred election "
        "is asked for and another replica leads. Later every change looks for an acceptable leader.",
        "KAFKA-13682",
    )
    current_leader_has_no_precedence: bool = holds(
        since("3.0.0", until="3.1.x"),
        "An election takes the first acceptable replica of the ISR. Later the leader stays if it may, except in a preferred "
        "election whose first replica may lead.",
        "KAFKA-13682",
    )
    target_isr_hides_unclean_isr: bool = holds(
        since("3.0.0", until="3.1.x"),
        "If the change names an ISR, an unclean election's ISR of the new leader alone is overwritten by it.",
        "KAFKA-13682",
    )
    unclean_counts_in_preferred_election: bool = holds(
        since("3.0.0", until="3.1.x"),
        "Unclean elections are allowed by a switch of their own, which also counts in a preferred election.",
        "KAFKA-13682",
    )
    has_recovery_state: bool = holds(
        since("3.2.0"), "The leader of an unclean election is recovering (KIP-704).", "KAFKA-13587"
    )
    recovery_state_alone_is_no_change: bool = holds(
        since("3.2.0", until="3.2.x"),
        "A record that only changes the state of recovery counts as no change, and is dropped.",
    )
    isr_shrink_raises_epoch: bool = holds(
        since("3.0.0", until="3.5.x"),
        "The leader epoch rises if the ISR loses a replica. Later only with a metadata version before 3.6-IV0, up to 3.9.x "
        "also in a migration from ZooKeeper.",
        "KAFKA-15021",
    )
    has_zookeeper_migration: bool = holds(
        since("3.6.0", until="3.9.x"),
        "In a migration from ZooKeeper, the leader epoch rises if the ISR loses a replica.",
        "KAFKA-15109",
    )
    has_directories: bool = holds(
        since("3.7.0"), "A change of replicas names their directories, from metadata version 3.7-IV2 on.", "KAFKA-15886"
    )
    has_elr: bool = holds(
        since("3.7.0"),
        "There are eligible leader replicas: those that left an ISR below its minimum (KIP-966). Without one in sync, one "
        "of them is elected.",
        "KAFKA-15584",
    )
    new_replicas_are_unassigned: bool = holds(
        since("3.7.0", until="3.7.0"),
        "A record without directories leaves new replicas with an unassigned one; later all remain migrating.",
        "KAFKA-16583",
    )
    shrink_counts_unrecorded_isr: bool = holds(
        since("3.0.0", until="3.7.x"),
        "The leader epoch rises if the ISR that was asked for loses a replica, even if the record does not set it, as when "
        "it is empty.",
        "KAFKA-16624",
    )
    last_leader_follows: Literal["isr and replicas", "isr", "leader"] | None = varies(
        "When the last known leader is noted: when the ISR becomes empty, beside the last known eligible replicas, which go "
        "to the same field; when the ISR becomes empty, and cleared by every change with a leader; or when the "
        "leader goes without one being known, and cleared by every election of a leader.",
        (since("3.7.0", until="3.7.x"), "isr and replicas"),
        (since("3.8.0", until="4.1.0"), "isr"),
        (since("4.1.1"), "leader"),
        ticket="KAFKA-15586",
    )
    adding_replicas_complete: bool = holds(
        since("3.0.0", until="3.7.x"),
        "A reassignment completes when every added replica is in sync.",
        "KAFKA-15665",
    )
    every_target_completes: bool = holds(
        since("3.8.0", until="4.2.x"),
        "A reassignment completes when every replica that stays is in sync; later only where it lowers the number of "
        "replicas, besides those that are added.",
        "KAFKA-19975",
    )
    oldest_version_has_recovery: bool = holds(
        since("4.0.0"),
        "The oldest metadata version is 3.3-IV3, so the state of recovery is always recorded.",
    )
    elects_fenced_last_leader: bool = holds(
        since("3.7.0", until="4.0.x"),
        "The last known leader is elected even if it is not acceptable.",
        "KAFKA-19522",
    )
