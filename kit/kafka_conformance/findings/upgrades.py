"""What to do about a change that users notice when they upgrade, and the roles that other changes concern.

:data:`NOTES` has the changes of behaviour records (``Record.field``), and of rules that end (their slugs), that ask for
something to be done. The command ``changes`` ranks these together with the findings; it lists every other change without
a rank: its harm has not been judged.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kafka_conformance.core.events import Severity
from kafka_conformance.core.rule import Area, Rule
from kafka_conformance.findings import Role

__all__ = ["NOTES", "Note", "roles_of", "side_of"]


@dataclass(frozen=True, slots=True)
class Note:
    """How harmful a change can be, and what to do, as sentences; ``title`` says the change where its record does not."""

    severity: Severity
    action: str
    title: str = ""


_SPREAD = "Records without a key are spread in another way, so compare the load of partitions; those with a key stay."
_IDEMPOTENCE = "Set `enable.idempotence` to true or to false: what it means if it is unset depends on the release."

NOTES: dict[str, Note] = {
    "zookeeper-leader-election": Note(
        "high",
        "Brokers no longer run with ZooKeeper. Move the cluster to KRaft first.",
        "Brokers that run with ZooKeeper",
    ),
    "ProducerConfigBehaviour.default_acks": Note(
        "high",
        "A producer that leaves `acks` unset waits for all in-sync replicas, and `min.insync.replicas` applies to it. "
        "Set `acks=1` and `enable.idempotence=false` to keep what it did: `acks=1` alone turns idempotence off silently.",
    ),
    "ProducerConfigBehaviour.default_idempotence": Note(
        "high", _IDEMPOTENCE, "The default of `enable.idempotence` is true; 3.0.0 and 3.1.0 ignore it."
    ),
    "ProducerConfigBehaviour.idempotence_on_request": Note(
        "high", _IDEMPOTENCE, "A producer is idempotent only if `enable.idempotence` or `transactional.id` is set."
    ),
    "ProducerConfigBehaviour.default_retries": Note(
        "high",
        "A producer that leaves `retries` unset sends again after an error; without idempotence that can write records "
        "twice, or in another order. Set `retries=0` to keep what it did, or `enable.idempotence=true`.",
    ),
    "ProducerDefaultsBehaviour.default_linger_ms": Note(
        "medium", "A producer that leaves `linger.ms` unset waits for more records. Set it to keep what it did."
    ),
    "ProducerPartitionBehaviour.negative_choice_refused": Note(
        "high", "Check that partitioners of your own return no negative number."
    ),
    "ProducerPartitionBehaviour.keyless_left_to_accumulator": Note("medium", _SPREAD),
    "DefaultPartitionerBehaviour.sticks_without_key": Note("medium", _SPREAD),
    "default-partitioner": Note(
        "high", "A producer that names it in `partitioner.class` cannot find the class. Leave that unset."
    ),
    "uniform-sticky-partitioner": Note(
        "high",
        "A producer that names it in `partitioner.class` cannot find the class. Leave that unset, and set "
        "`partitioner.ignore.keys=true` if records with keys were spread by it.",
    ),
    "PartitionBehaviour.high_watermark_waits_for_min_isr": Note(
        "medium",
        "Consumers receive nothing new while fewer replicas than `min.insync.replicas` are in sync, also of records with "
        "acks=1. Watch that number of partitions, or lower `min.insync.replicas`.",
    ),
    "ServerRangeAssignorBehaviour.keeps_partitions": Note(
        "medium",
        "In groups of the consumer protocol with the range assignor, more partitions move when a member joins or leaves. "
        "Use the uniform assignor, the default, unless topics have to be joined by partition.",
        "A member of a group with the range assignor of brokers keeps its old partitions, up to its share.",
    ),
    "RangeAssignorBehaviour.rack_aware": Note(
        "low", "Partitions move once, at the first rebalance, in groups that set `client.rack`."
    ),
    "RecordAccumulatorBehaviour.exponential_backoff": Note(
        "low",
        "Retries of a batch come later and later, up to `retry.backoff.max.ms`. Set that to `retry.backoff.ms` to keep the "
        "pauses short.",
    ),
}

_PRODUCER: tuple[Role, ...] = ("producer",)
_BROKER: tuple[Role, ...] = ("broker", "operator")
_ROLES: dict[Area, tuple[Role, ...]] = {
    Area.PLACEMENT: _PRODUCER,
    Area.ACCUMULATOR: _PRODUCER,
    Area.IDEMPOTENCE: _PRODUCER,
    Area.DELIVERY: _PRODUCER,
    Area.ASSIGNMENT: ("consumer",),
    Area.BROKER: _BROKER,
    Area.LOG: _BROKER,
    Area.REPLICATION: _BROKER,
}
_ROLES_BY_RULE: dict[str, tuple[Role, ...]] = {
    "consumer-fetch": ("consumer",),
    "record-batch": ("producer", "consumer", "broker"),
    "server-range-assignor": ("consumer", *_BROKER),
    "server-uniform-assignor": ("consumer", *_BROKER),
}


def side_of(roles: Sequence[Role]) -> str:
    """Return the side whose upgrade brings a change: of what concerns operators, the brokers."""
    return "broker" if "operator" in roles else roles[0] if len(roles) == 1 else "client or broker"


def roles_of(rule: Rule) -> tuple[Role, ...]:
    """Return the roles that a change of a rule concerns."""
    return _ROLES_BY_RULE.get(rule.slug, _ROLES[rule.area])
