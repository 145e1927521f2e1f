"""The rule ``delivery``: which records an application loses, duplicates or reorders, with given faults.

::

    {"producer": {"acks": "1", "retries": "3", "max.in.flight.requests.per.connection": "5", "enable.idempotence": "false"},
     "partition": {"replicas": 3, "min_insync_replicas": 1}, "records": 3,
     "faults": [{"op": "lose_response", "request": 2}, {"op": "refuse", "request": 4, "error": "NOT_ENOUGH_REPLICAS"}]}

    {"log": [0, 1, 1, 2], "acknowledged": [0, 1, 2], "failed": [], "unanswered": [], "lost": [], "doubled": [1],
     "reordered": [], "requests": [{"request": 1, "records": [0], "producer_id": -1, "epoch": -1, "sequence": -1,
                                    "came": "written", "offset": 0, "answered": true}, …]}
    {"raises": "ConfigException", "message": …}: the producer cannot be constructed

With a fault of a follower, or ``"unclean_leader_election": true``, the answer and each of its requests have all replicas::

    {…, "faults": [{"op": "stop_follower", "request": 2, "replica": 1}, {"op": "shrink_isr_after_append", "request": 2}]}

    {…, "partition": {"leader": 0, "in_sync": [0], "high_watermark": 1,
                      "replicas": [{"log": [0], "log_end_offset": 1, "high_watermark": 1}, …]}}

Records are numbered in the order in which the application sends them; each is a batch and a request. Java answers in parts,
as questions of ``idempotence-config``, ``producer-sequences`` and ``broker-producer-state``.
"""

from __future__ import annotations

from kafka_conformance.core.rule import Area, Rule, Space
from kafka_conformance.rules.broker_producer_state.rule import RULE as _LEADER
from kafka_conformance.rules.delivery.adapter import ask
from kafka_conformance.rules.delivery.domain import domain
from kafka_conformance.rules.delivery.generators import scenarios
from kafka_conformance.rules.delivery.java_parts import answer_by_parts
from kafka_conformance.rules.delivery.labels import REQUIRED_LABELS, labels
from kafka_conformance.rules.delivery.question import DeliveryQuestion
from kafka_conformance.rules.delivery.spaces import (
    every_error,
    every_fault,
    every_fault_of_followers,
    every_minimum,
    every_pair_of_errors,
    every_pair_of_faults,
    every_return,
)
from kafka_conformance.rules.idempotence_config.rule import RULE as _CONFIG
from kafka_conformance.rules.producer_sequences.rule import RULE as _PRODUCER
from kafka_reference.releases import since

__all__ = ["RULE"]

RULE = Rule(
    slug="delivery",
    title="from the application to the log: what is lost, doubled, reordered",
    area=Area.DELIVERY,
    releases=since("0.10.0.0"),
    question=DeliveryQuestion,
    ask=ask,
    strategy=scenarios,
    spaces=(
        Space("four records, 12 producers: every fault at each of the first three requests", every_fault),
        Space(
            "four records, 6 producers: request 1 or 2 refused with each of 25 errors, or after the append", every_error
        ),
        Space("two records, 5 producers: 1 to 3 replicas, min.insync.replicas 1 to 4", every_minimum),
        Space("eight records, idempotent: request 1 refused, then request 2 or 3: 7 errors", every_pair_of_errors),
        Space(
            "three records, 2 producers, all replicas needed: every two faults at requests next to each other",
            every_pair_of_faults,
        ),
        Space(
            "five records, 5 producers: one or two followers stop, leave the in-sync replicas, and the leader crashes",
            every_fault_of_followers,
        ),
        Space(
            "six records, 5 producers: a crashed leader or a follower that fell behind is back and leads", every_return
        ),
    ),
    labels=labels,
    required_labels=REQUIRED_LABELS,
    domain=domain,
    java=(),
    share=0.25,
    by_parts=answer_by_parts,
    source="KafkaProducer's configuration, Sender, ProducerStateManager, one after another",
    links=("https://kafka.apache.org/documentation/#semantics",),
    harness=(
        "The network is the kit's on both sides (kafka_reference.delivery.network): the order of messages, the faults, the "
        "clock, the log and its offsets, and the protocol error of an exception of the leader. So are the replicas "
        "(kafka_reference.delivery.replicas): what followers fetch and truncate, who leads, the in-sync replicas, the high "
        "watermark, NOT_ENOUGH_REPLICAS and REQUEST_TIMED_OUT; up to 3.2.x as in 3.3.0, without eligible leader replicas. "
        "Java's are the producer's effective settings, everything its Sender sends and completes, and which batches of an "
        "idempotent producer a leader appends, recognises or refuses, after what its log went through."
    ),
    behaviours=tuple(dict.fromkeys(record for part in (_CONFIG, _PRODUCER, _LEADER) for record in part.behaviours)),
)
