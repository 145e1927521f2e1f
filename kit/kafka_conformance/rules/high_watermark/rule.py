"""The rule ``high-watermark``: up to which offset records are committed, on the leader and on a follower.

::

    {"now": 1000, "max_lag_ms": 100, "min_in_sync": 1, "brokers": [{"id": 2, "epoch": 102}, {"id": 3, "epoch": 103}],
     "steps": [
        {"op": "lead", "epoch": 1, "partition_epoch": 1},   {"new": true, "end": 0, "high_watermark": 0, "followers": […]}
        {"op": "append", "records": 5},                         {"offset": 0, "end": 5, "high_watermark": 0, …}
        {"op": "fetch", "replica": 2, "offset": 5, "broker_epoch": 102},    {…, "followers": [[2, 5, 0, 1000], …]}
        {"op": "wait", "ms": 101}, {"op": "shrink"}, {"op": "respond", "partition_epoch": 2},
        {"op": "broker", "id": 3, "epoch": 104, "fenced": true}, {"op": "min_in_sync", "replicas": 2},
        {"op": "follow", "epoch": 2, "partition_epoch": 3},     {"new": true, …, "followers": []}
        {"op": "replicate", "batches": [{"offset": 5, "records": 2, "epoch": 2}]},
        {"op": "follow_high_watermark", "offset": 7},
        {"op": "epoch_end", "epoch": 1},                        {"found": [1, 5], …}
        {"op": "truncate", "offset": 5}]}                       {…, "end": 5, "high_watermark": 5}
"""

from __future__ import annotations

from kafka_conformance.core.rule import Area, Rule, Space
from kafka_conformance.rules.common.partition.harness import HARNESS
from kafka_conformance.rules.common.step_text import plain_steps
from kafka_conformance.rules.high_watermark.adapter import ask
from kafka_conformance.rules.high_watermark.domain import domain
from kafka_conformance.rules.high_watermark.generators import high_watermarks
from kafka_conformance.rules.high_watermark.labels import OPTIONAL_LABELS, REQUIRED_LABELS, labels, path
from kafka_conformance.rules.high_watermark.question import HighWatermarkQuestion
from kafka_conformance.rules.high_watermark.spaces import (
    EVERYDAY,
    every_epoch,
    every_follower,
    every_leader,
    every_shrink,
    every_waiting,
)
from kafka_reference.replication.behaviour import PARTITIONS, PartitionBehaviour

__all__ = ["RULE"]

_ISSUES = "https://issues.apache.org/jira/browse"

RULE = Rule(
    slug="high-watermark",
    title="Partition: the high watermark of leader and follower",
    area=Area.REPLICATION,
    releases=PARTITIONS,
    question=HighWatermarkQuestion,
    ask=ask,
    strategy=high_watermarks,
    spaces=(
        Space("every history of up to 3 of 7 steps after a leader's first batch", every_leader),
        Space("a follower's last two fetches, the removal of followers, and 2 of 4 steps in any order", every_shrink),
        Space(
            "2 followers at 3 offsets each, by in-sync set, lag, broker state and min.insync.replicas", every_waiting
        ),
        Space("a follower's log truncated to each offset, between two high watermarks of its leader", every_follower),
        Space("the end of each epoch in a log of 3 epochs, truncated to each offset", every_epoch),
    ),
    labels=labels,
    path=path,
    explain=plain_steps,
    required_labels=REQUIRED_LABELS,
    domain=domain,
    plain=lambda: (EVERYDAY,),
    optional_labels=OPTIONAL_LABELS,
    java=((PARTITIONS, "kafkaoracle.high_watermark.HighWatermarkRule"),),
    broker=True,
    source="Partition, Replica, UnifiedLog",
    links=(
        "https://github.com/apache/kafka/blob/3.8.0/core/src/main/scala/kafka/cluster/Partition.scala",
        f"{_ISSUES}/KAFKA-15021",
        f"{_ISSUES}/KAFKA-15583",
    ),
    harness=HARNESS,
    behaviours=(PartitionBehaviour,),
)
