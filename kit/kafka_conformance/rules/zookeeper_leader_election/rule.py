"""The rule ``zookeeper-leader-election``: who leads a partition of a cluster on ZooKeeper, and what its ISR becomes.

::

    {"election": "offline", "assignment": [1, 2, 3], "isr": [1, 2, 3], "live": [2, 3], "leader": 1, "leader_epoch": 4,
     "version": 6}

    {"leader": 2, "counted": 0, "election": {
        "state": {"leader": 2, "isr": [2, 3], "leader_epoch": 5, "version": 6, "recovery": "recovered"},
        "replicas": [2, 3]}}

``leader`` is what the algorithm chooses for these live brokers, since 1.1.0; ``election`` is what ``Election`` makes of
them, and of the brokers that shut down, since 2.4.0.
"""

from __future__ import annotations

from kafka_conformance.core.rule import Area, Rule, Space
from kafka_conformance.rules.zookeeper_leader_election.adapter import ask
from kafka_conformance.rules.zookeeper_leader_election.domain import OPTIONAL_LABELS, domain, plain
from kafka_conformance.rules.zookeeper_leader_election.explain import explain, parts
from kafka_conformance.rules.zookeeper_leader_election.generators import elections
from kafka_conformance.rules.zookeeper_leader_election.labels import REQUIRED_LABELS, labels, path
from kafka_conformance.rules.zookeeper_leader_election.question import ZookeeperLeaderElectionQuestion
from kafka_conformance.rules.zookeeper_leader_election.spaces import every_election, every_order, every_state
from kafka_reference.elections.zookeeper_behaviour import ZOOKEEPER_ELECTIONS, ZookeeperElectionBehaviour

__all__ = ["RULE"]

_ISSUES = "https://issues.apache.org/jira/browse"
_QUESTIONS = elections()

RULE = Rule(
    slug="zookeeper-leader-election",
    title="Leader election of a controller on ZooKeeper: offline, reassigned, preferred, controlled shutdown",
    area=Area.REPLICATION,
    releases=ZOOKEEPER_ELECTIONS,
    question=ZookeeperLeaderElectionQuestion,
    ask=ask,
    strategy=lambda: _QUESTIONS,
    spaces=(
        Space(
            "3 replicas: each ISR, set of live brokers and of those that shut down, kind of election", every_election
        ),
        Space("up to 3 replicas and ISRs in each order, some removed", every_order),
        Space("partitions with and without a state, in each state of recovery", every_state),
    ),
    labels=labels,
    path=path,
    required_labels=REQUIRED_LABELS,
    domain=domain,
    plain=plain,
    optional_labels=OPTIONAL_LABELS,
    explain=explain,
    parts=parts,
    java=((ZOOKEEPER_ELECTIONS, "kafkaoracle.zookeeper_leader_election.ZookeeperLeaderElectionRule"),),
    broker=True,
    source="kafka.controller.PartitionLeaderElectionAlgorithms, kafka.controller.Election",
    links=(
        "https://github.com/apache/kafka/blob/3.9.0/core/src/main/scala/kafka/controller/Election.scala",
        "https://github.com/apache/kafka/blob/3.9.0/core/src/main/scala/kafka/controller/PartitionStateMachine.scala",
        f"{_ISSUES}/KAFKA-6752",
        f"{_ISSUES}/KAFKA-13587",
    ),
    harness=(
        "The kit fills the controller's context with the brokers, the assignment and those that shut down, and reads the "
        "count of unclean elections from its metrics. The state of the partition, and whether it is known and may be led "
        "uncleanly, are the question's, in place of ZooKeeper's and the topic's settings. Brokers have no endpoints."
    ),
    behaviours=(ZookeeperElectionBehaviour,),
)
