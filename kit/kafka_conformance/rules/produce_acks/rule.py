"""The rule ``produce-acks``: when a broker answers a produce request, and with which error.

::

    {"now": 1000, "max_lag_ms": 100, "min_in_sync": 2, "brokers": [{"id": 2, "epoch": 102}, {"id": 3, "epoch": 103}],
     "steps": [
        {"op": "lead", "epoch": 1, "partition_epoch": 1},
        {"op": "produce", "acks": -1, "records": 2},            {"end": 2, "high_watermark": 0, "responses": []}: it waits
        {"op": "fetch", "replica": 2, "offset": 2, "broker_epoch": 102},
        {"op": "fetch", "replica": 3, "offset": 2, "broker_epoch": 103},    {…, "responses": [[0, "NONE", 0]]}
        {"op": "produce", "acks": 1},                           {…, "responses": [[1, "NONE", 2]]}
        {"op": "produce", "acks": 2},                           {…, "responses": [[2, "INVALID_REQUIRED_ACKS", -1]]}
        {"op": "check", "offset": 3},                           {"checked": [false, "NONE"], …}
        {"op": "wait", "ms": 101}, {"op": "shrink"}, {"op": "respond", "partition_epoch": 2},
        {"op": "min_in_sync", "replicas": 3}, {"op": "broker", "id": 3, "epoch": 103, "fenced": true},
        {"op": "expire"}, {"op": "follow", "epoch": 2, "partition_epoch": 3}]}
"""

from __future__ import annotations

from kafka_conformance.core.rule import Area, Rule, Space
from kafka_conformance.rules.common.partition.harness import HARNESS
from kafka_conformance.rules.common.step_text import plain_steps
from kafka_conformance.rules.produce_acks.adapter import ask
from kafka_conformance.rules.produce_acks.domain import domain
from kafka_conformance.rules.produce_acks.generators import produce_histories
from kafka_conformance.rules.produce_acks.labels import OPTIONAL_LABELS, REQUIRED_LABELS, labels, path
from kafka_conformance.rules.produce_acks.question import ProduceQuestion
from kafka_conformance.rules.produce_acks.spaces import EVERYDAY, every_acks, every_check, every_history
from kafka_reference.replication.behaviour import PARTITIONS, PartitionBehaviour

__all__ = ["RULE"]

_ISSUES = "https://issues.apache.org/jira/browse"

RULE = Rule(
    slug="produce-acks",
    title="ReplicaManager: what acks of a produce request means",
    area=Area.REPLICATION,
    releases=PARTITIONS,
    question=ProduceQuestion,
    ask=ask,
    strategy=produce_histories,
    spaces=(
        Space("acks from -3 to 3, by in-sync replicas, assigned replicas and min.insync.replicas", every_acks),
        Space("each offset around a high watermark, by in-sync replicas and min.insync.replicas", every_check),
        Space("every history of up to 3 of 8 steps with a request that waits", every_history),
    ),
    labels=labels,
    path=path,
    explain=plain_steps,
    required_labels=REQUIRED_LABELS,
    domain=domain,
    plain=lambda: (EVERYDAY,),
    optional_labels=OPTIONAL_LABELS,
    java=((PARTITIONS, "kafkaoracle.produce_acks.ProduceAcksRule"),),
    broker=True,
    source="ReplicaManager, DelayedProduce, Partition",
    links=(
        "https://github.com/apache/kafka/blob/3.8.0/core/src/main/scala/kafka/server/ReplicaManager.scala",
        f"{_ISSUES}/KAFKA-15583",
    ),
    harness=(
        f"{HARNESS} Kafka's ReplicaManager and DelayedProduce handle the requests; the kit makes the ReplicaManager without "
        "its constructor, which starts threads, and lets it complete its actions, follow and expire where a broker does so."
    ),
    behaviours=(PartitionBehaviour,),
    unobservable=frozenset({"PartitionBehaviour.refuses_newer_epochs"}),
)
