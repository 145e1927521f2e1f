"""Known mistakes of a controller in changes of a partition: reassignments, eligible replicas, epochs, directories."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from kafka_conformance.core.mutant import Mutant, replaced
from kafka_conformance.rules.common.server_assignors.mutations import PULL, Mutations
from kafka_conformance.rules.leader_election.rule import RULE
from kafka_reference.elections import eligible_leader_replicas as eligible
from kafka_reference.elections import partition_change, partition_reassignment, partition_registration
from kafka_reference.elections.partition_change import PartitionChangeBuilder
from kafka_reference.elections.partition_change_behaviour import PartitionChangeBehaviour
from kafka_reference.elections.partition_reassignment import CompletedReassignment
from kafka_reference.elections.partition_registration import PartitionChange
from kafka_reference.releases import NEWEST, Release, parse_release

__all__ = ["MUTANTS"]

_RULE = Mutations(RULE)
_SHRINK, _ELR, _TARGETS, _ADDING, _USELESS, _MIGRATING, _LAST = (
    f"{PULL}13765", f"{PULL}14312", f"{PULL}15359", f"{PULL}21114", f"{PULL}15810", f"{PULL}16118", f"{PULL}20629",
)  # fmt: skip
_MERGE, _COMPLETE = partition_registration.merge, partition_reassignment.complete_reassignment
_EITHER = partition_change._either  # noqa: SLF001
_BUILDER_COMPLETES = PartitionChangeBuilder._complete_reassignment  # noqa: SLF001
_RECORD_ISR, _RECORD_DIRECTORIES = PartitionChangeBuilder._record_isr, PartitionChangeBuilder._record_directories  # noqa: SLF001


def _completes_without_isr(*arguments: Any) -> CompletedReassignment | None:
    behaviour, replicas, isr, removing, adding = arguments
    left = tuple(one for one in replicas if one not in removing)
    if removing and left and not set(isr) - set(removing) and set(adding) <= set(isr):
        return CompletedReassignment(left, ())
    return _COMPLETE(behaviour, replicas, isr, removing, adding)


def _completes_at_once(*arguments: Any) -> CompletedReassignment | None:
    behaviour, replicas, isr, removing, adding = arguments
    return _COMPLETE(
        behaviour, replicas, (*isr, *(one for one in (*replicas, *adding) if one not in isr)), removing, adding
    )


def _keeps_removed_in_isr(*arguments: Any) -> CompletedReassignment | None:
    done = _COMPLETE(*arguments)
    return None if done is None else replace(done, isr=arguments[2])


def _keeps_lists(self: PartitionChangeBuilder) -> None:
    lists = self.removing, self.adding
    _BUILDER_COMPLETES(self)
    self.removing, self.adding = lists


def _never_completes(_: PartitionChangeBuilder) -> None:
    return None


def _sorted_set(first: tuple[int, ...], added: Any) -> list[int]:
    return sorted({*first, *added})


def _set_in_order(first: tuple[int, ...], added: Any) -> list[int]:
    return list(dict.fromkeys((*first, *added)))


def _only_new_members(partition: Any, isr: Any, min_isr: int, unclean_shutdown: Any) -> Any:
    return _ELIGIBLE(replace(partition, elr=()), isr, min_isr, unclean_shutdown)


def _at_the_minimum(partition: Any, isr: Any, min_isr: int, unclean_shutdown: Any) -> Any:
    return _ELIGIBLE(partition, isr, min_isr + 1, unclean_shutdown)


def _never_cleared(behaviour: Any, partition: Any, change: PartitionChange) -> tuple[int, ...] | None:
    leader = _LAST_LEADER(behaviour, partition, change)
    return leader or None


def _new_leader_is_last(behaviour: Any, partition: Any, change: PartitionChange) -> tuple[int, ...] | None:
    leader = _LAST_LEADER(behaviour, partition, change)
    return (change.leader,) if leader and change.leader is not None else leader


_ELIGIBLE, _LAST_LEADER = eligible.eligible_replicas, eligible.last_known_leader


def _turned(replicas: Any, wanted: Any) -> bool:
    return partition_registration.contains(wanted, replicas)


def _same_set(self: PartitionChangeBuilder) -> None:
    if set(self.isr) != set(self.partition.isr):
        _RECORD_ISR(self)


def _empty_too(self: PartitionChangeBuilder) -> None:
    _RECORD_ISR(self)
    if self.change.isr is None and not self.isr and self.partition.isr:
        self.change.isr = ()


def _nothing(*_: Any) -> None:
    return None


def _default_where_needed(self: PartitionChangeBuilder) -> None:
    if self.request.default_directory is None and set(self.replicas) <= set(self.partition.replicas):
        self.request = replace(self.request, default_directory=1)
    _RECORD_DIRECTORIES(self)


def _assigned_forgotten(self: PartitionChangeBuilder) -> None:
    self.request = replace(self.request, directories={})
    _RECORD_DIRECTORIES(self)


def _epoch_stays(partition: Any, change: PartitionChange, behaviour: Any) -> Any:
    after = _MERGE(partition, change, behaviour)
    return after if after.leader != partition.leader else replace(after, leader_epoch=partition.leader_epoch)


def _epoch_always(partition: Any, change: PartitionChange, behaviour: Any) -> Any:
    return replace(_MERGE(partition, change, behaviour), leader_epoch=partition.leader_epoch + 1)


def _partition_epoch_stays(partition: Any, change: PartitionChange, behaviour: Any) -> Any:
    after = _MERGE(partition, change, behaviour)
    return after if change.leader is not None else replace(after, partition_epoch=partition.partition_epoch)


def _behaving(slug: str, description: str, *references: str, release: Release = NEWEST, **fields: Any) -> Mutant:
    return Mutant(slug, RULE.slug, description, _RULE.behaving(PartitionChangeBehaviour, **fields), release, references)


def _replacing(
    slug: str, description: str, target: Any, *references: str, release: Release = NEWEST, **mistakes: Any
) -> Mutant:
    return Mutant(slug, RULE.slug, description, _RULE.replaced(target, **mistakes), release, references)


def _asked(
    slug: str, description: str, change: Callable[[Any], Any], *references: str, release: Release = NEWEST
) -> Mutant:
    return Mutant(slug, RULE.slug, description, _RULE.asked(change), release, references)


_BUILDER = PartitionChangeBuilder
MUTANTS = (
    _behaving(
        "reassignment-of-added-replicas",
        "a reassignment that lowers the number of replicas waits for added ones only",
        _TARGETS,
        adding_replicas_complete=True,
    ),
    _behaving(
        "reassignment-waits-for-all", "every reassignment waits for all that stay", _ADDING, every_target_completes=True
    ),
    _behaving(
        "reassignment-old-waits-for-all",
        "in 3.7.x a reassignment waits for all that stay",
        _TARGETS,
        release=parse_release("3.7.2"),
        adding_replicas_complete=False,
        every_target_completes=True,
    ),
    _replacing(
        "reassignment-without-isr",
        "a reassignment completes though nobody that stays is in sync",
        partition_reassignment,
        complete_reassignment=_completes_without_isr,
    ),
    _replacing(
        "reassignment-at-once",
        "a reassignment completes before added replicas are in sync",
        partition_reassignment,
        complete_reassignment=_completes_at_once,
    ),
    _replacing(
        "reassignment-removed-in-isr",
        "a removed replica stays in the ISR",
        partition_reassignment,
        complete_reassignment=_keeps_removed_in_isr,
    ),
    _replacing(
        "reassignment-goes-on",
        "a completed reassignment is still recorded as going on",
        _BUILDER,
        _complete_reassignment=_keeps_lists,
    ),
    _replacing(
        "reassignment-never-completes", "no reassignment completes", _BUILDER, _complete_reassignment=_never_completes
    ),
    _replacing("elr-sorted", "eligible replicas are sorted", eligible, _ELR, _hash_set=_sorted_set),
    _replacing(
        "elr-in-order-of-leaving",
        "eligible replicas are in the order in which they became so",
        eligible,
        _ELR,
        _hash_set=_set_in_order,
    ),
    _replacing(
        "elr-only-new-members", "who was eligible is not any more", eligible, _ELR, eligible_replicas=_only_new_members
    ),
    _replacing(
        "elr-at-the-minimum",
        "replicas are eligible though the ISR has its minimum",
        eligible,
        _ELR,
        eligible_replicas=_at_the_minimum,
    ),
    _asked(
        "elr-after-unclean-shutdown",
        "a replica stays eligible after an unclean shutdown",
        lambda asked: replaced(asked, unclean_shutdown=None),
        f"{PULL}14706",
    ),
    _asked(
        "elr-always-enabled",
        "replicas are eligible though the feature is off",
        lambda asked: replaced(asked, elr_enabled=True),
    ),
    _asked(
        "elr-never-enabled",
        "no replica is eligible though the feature is on",
        lambda asked: replaced(asked, elr_enabled=False),
    ),
    _behaving(
        "last-leader-by-isr",
        "the last known leader is noted when the ISR becomes empty",
        _LAST,
        last_leader_follows="isr",
    ),
    _behaving(
        "last-leader-among-replicas",
        "the field of the last known leader gets last known replicas",
        f"{PULL}14706",
        release=parse_release("3.9.2"),
        last_leader_follows="isr and replicas",
    ),
    _replacing(
        "last-leader-never-cleared",
        "the last known leader is still noted when there is a leader",
        eligible,
        _LAST,
        last_known_leader=_never_cleared,
    ),
    _replacing(
        "last-leader-is-the-new-one",
        "the new leader is noted as the last known one",
        eligible,
        last_known_leader=_new_leader_is_last,
    ),
    _behaving(
        "epoch-rises-with-every-shrink",
        "the leader epoch rises with every smaller ISR",
        _SHRINK,
        isr_shrink_raises_epoch=True,
    ),
    _behaving(
        "epoch-stays-with-a-shrink",
        "in 3.5.x the leader epoch does not rise with a smaller ISR",
        _SHRINK,
        release=parse_release("3.5.2"),
        isr_shrink_raises_epoch=False,
    ),
    _behaving(
        "epoch-ignores-migration",
        "the leader epoch does not rise in a migration from ZooKeeper",
        f"{PULL}13890",
        release=parse_release("3.9.2"),
        has_zookeeper_migration=False,
    ),
    _behaving(
        "epoch-of-an-unrecorded-isr",
        "the leader epoch rises with a smaller ISR that is not recorded",
        _USELESS,
        shrink_counts_unrecorded_isr=True,
    ),
    _replacing(
        "epoch-rises-with-growth",
        "the leader epoch rises with more replicas, not with fewer",
        partition_change,
        contains=_turned,
    ),
    _replacing(
        "epoch-stays-with-removed-replicas",
        "the leader epoch does not rise when replicas are removed",
        _BUILDER,
        _raise_epoch_of_removed_replicas=_nothing,
    ),
    _replacing(
        "epoch-only-of-another-leader",
        "a record that names the same leader does not raise the leader epoch",
        partition_registration,
        merge=_epoch_stays,
    ),
    _replacing(
        "epoch-rises-always", "every change raises the leader epoch", partition_registration, merge=_epoch_always
    ),
    _replacing(
        "partition-epoch-with-leader-only",
        "the partition epoch rises with the leader epoch only",
        partition_registration,
        merge=_partition_epoch_stays,
    ),
    _replacing("isr-is-a-set", "an ISR in another order is no change", _BUILDER, _record_isr=_same_set),
    _replacing(
        "isr-empty-without-elr",
        "an empty ISR is recorded without eligible replicas",
        _BUILDER,
        _ELR,
        _record_isr=_empty_too,
    ),
    _behaving(
        "recovery-alone-is-dropped",
        "a change of the state of recovery alone is dropped",
        f"{PULL}12073",
        recovery_state_alone_is_no_change=True,
    ),
    _replacing(
        "recovery-not-recorded",
        "the wanted state of recovery is not recorded",
        _BUILDER,
        f"{PULL}11733",
        _record_recovery=_nothing,
    ),
    _behaving(
        "directories-of-new-replicas",
        "a record without directories leaves new replicas unassigned",
        _MIGRATING,
        new_replicas_are_unassigned=True,
    ),
    _replacing("directories-not-recorded", "directories are not recorded", _BUILDER, _record_directories=_nothing),
    _replacing(
        "directories-default-where-needed",
        "the default directory is asked for only where a replica needs it",
        _BUILDER,
        _record_directories=_default_where_needed,
    ),
    _replacing(
        "directories-assigned-are-lost",
        "directories that are assigned with the change are lost",
        _BUILDER,
        _record_directories=_assigned_forgotten,
    ),
)
