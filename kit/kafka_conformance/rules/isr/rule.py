"""The rule ``isr``: which followers are in sync, and what the leader asks of the controller.

::

    {"now": 1000, "max_lag_ms": 100, "min_in_sync": 1, "brokers": [{"id": 2, "epoch": 102}, {"id": 3, "epoch": 103}],
     "steps": [
        {"op": "lead", "epoch": 1, "partition_epoch": 1, "in_sync": [1, 2]},
        {"op": "append", "records": 2},
        {"op": "fetch", "replica": 3, "offset": 2, "broker_epoch": 103},
            {"in_sync": [1, 2], "maximal": [1, 2, 3], "in_flight": true, "high_watermark": 0,
             "sent": [{"in_sync": [[1, 100], [2, -1], [3, 103]], "leader_epoch": 1, "partition_epoch": 1}]}
        {"op": "respond", "partition_epoch": 2},    {"in_sync": [1, 2, 3], "in_flight": false, …}
        {"op": "wait", "ms": 101}, {"op": "shrink"}, {"op": "respond", "error": "INELIGIBLE_REPLICA"},
        {"op": "broker", "id": 3, "epoch": 103, "fenced": true}, {"op": "unregister", "id": 3},
        {"op": "follow", "epoch": 2, "partition_epoch": 3}]}
"""

from __future__ import annotations

from kafka_conformance.core.rule import Area, Rule, Space
from kafka_conformance.rules.common.partition.harness import HARNESS
from kafka_conformance.rules.common.step_text import plain_steps
from kafka_conformance.rules.isr.adapter import ask
from kafka_conformance.rules.isr.domain import domain
from kafka_conformance.rules.isr.generators import in_sync_histories
from kafka_conformance.rules.isr.labels import OPTIONAL_LABELS, REQUIRED_LABELS, labels, path
from kafka_conformance.rules.isr.question import InSyncQuestion
from kafka_conformance.rules.isr.spaces import EVERYDAY, every_answer, every_candidate, every_history, every_lag
from kafka_reference.replication.behaviour import PARTITIONS, PartitionBehaviour

__all__ = ["RULE"]

_ISSUES = "https://issues.apache.org/jira/browse"

RULE = Rule(
    slug="isr",
    title="Partition: in-sync replicas, and AlterPartition requests",
    area=Area.REPLICATION,
    releases=PARTITIONS,
    question=InSyncQuestion,
    ask=ask,
    strategy=in_sync_histories,
    spaces=(
        Space("every history of up to 3 of 7 steps of a leader with one follower in sync", every_history),
        Space("a follower's last two fetches, and each time around the lag limit", every_lag),
        Space("a follower at each offset, by the state of its broker and its broker epoch", every_candidate),
        Space("each answer of the controller to an expansion and to a shrink", every_answer),
    ),
    labels=labels,
    path=path,
    explain=plain_steps,
    required_labels=REQUIRED_LABELS,
    domain=domain,
    plain=lambda: (EVERYDAY,),
    optional_labels=OPTIONAL_LABELS,
    java=((PARTITIONS, "kafkaoracle.isr.InSyncRule"),),
    broker=True,
    source="Partition, Replica",
    links=(
        "https://github.com/apache/kafka/blob/3.8.0/core/src/main/scala/kafka/cluster/Partition.scala",
        f"{_ISSUES}/KAFKA-14617",
    ),
    harness=HARNESS,
    behaviours=(PartitionBehaviour,),
    unobservable=frozenset({"PartitionBehaviour.refuses_newer_epochs"}),
)
