"""The rule ``leader-election``: who leads a partition of a KRaft cluster, and what its in-sync set becomes.

::

    {"partition": {"replicas": [1, 2, 3], "isr": [1, 2, 3], "leader": 1, "leader_epoch": 4, "partition_epoch": 6},
     "acceptable": [2, 3], "isr": [2, 3]}

    {"change": {"leader": 2, "isr": [2, 3]}, "version": 2,
     "after": {"replicas": [1, 2, 3], "isr": [2, 3], "leader": 2, "leader_epoch": 5, "partition_epoch": 7, …}}

The partition is as the controller has it. ``acceptable`` are the brokers that may lead; the other fields are what the
controller asks for. ``change`` is the record that it writes, null if nothing changes; ``after`` is the partition after it.
A directory is a number that stands for a directory id.
"""

from __future__ import annotations

from kafka_conformance.core.rule import Area, Rule, Space
from kafka_conformance.rules.leader_election.adapter import ask
from kafka_conformance.rules.leader_election.domain import OPTIONAL_LABELS, domain, plain
from kafka_conformance.rules.leader_election.explain import explain, parts
from kafka_conformance.rules.leader_election.generators import partition_changes
from kafka_conformance.rules.leader_election.labels import REQUIRED_LABELS, labels, path
from kafka_conformance.rules.leader_election.question import LeaderElectionQuestion
from kafka_conformance.rules.leader_election.spaces import (
    every_directory,
    every_election,
    every_eligible,
    every_last_leader,
    every_reassignment,
    every_shrink,
)
from kafka_reference.elections.partition_change_behaviour import PARTITION_CHANGES, PartitionChangeBehaviour

__all__ = ["RULE"]

_ISSUES = "https://issues.apache.org/jira/browse"
_QUESTIONS = partition_changes()

RULE = Rule(
    slug="leader-election",
    title="PartitionChangeBuilder: leader, ISR, eligible leader replicas and reassignments of a KRaft controller",
    area=Area.REPLICATION,
    releases=PARTITION_CHANGES,
    question=LeaderElectionQuestion,
    ask=ask,
    strategy=lambda: _QUESTIONS,
    spaces=(
        Space(
            "3 replicas: each ISR, leader, wanted ISR, set of acceptable brokers and kind of election", every_election
        ),
        Space("replicas that leave an ISR around its minimum: each eligible, lost and acceptable", every_eligible),
        Space("a leader that goes, stays, returns or never was, with each last known leader", every_last_leader),
        Space("reassignments of 4 replicas with each ISR; replicas in each order", every_reassignment),
        Space("10 ISRs in each metadata version, with each state of recovery", every_shrink),
        Space("changes of directories in each metadata version", every_directory),
    ),
    labels=labels,
    path=path,
    required_labels=REQUIRED_LABELS,
    domain=domain,
    plain=plain,
    optional_labels=OPTIONAL_LABELS,
    explain=explain,
    parts=parts,
    java=((PARTITION_CHANGES, "kafkaoracle.leader_election.LeaderElectionRule"),),
    share=2,
    broker=True,
    source="PartitionChangeBuilder.build, PartitionRegistration.merge",
    links=(
        "https://github.com/apache/kafka/blob/4.3.1/metadata/src/main/java/org/apache/kafka/controller/PartitionChangeBuilder.java",
        "https://cwiki.apache.org/confluence/display/KAFKA/KIP-704%3A+Send+a+hint+to+the+partition+leader+to+recover+the+partition",
        "https://cwiki.apache.org/confluence/display/KAFKA/KIP-966%3A+Eligible+Leader+Replicas",
        f"{_ISSUES}/KAFKA-15021",
        f"{_ISSUES}/KAFKA-15665",
        f"{_ISSUES}/KAFKA-16624",
        f"{_ISSUES}/KAFKA-19522",
        f"{_ISSUES}/KAFKA-19975",
    ),
    harness=(
        "The kit passes the kind of election to releases up to 3.1.x as two flags, and the metadata version to 3.2.0 to "
        "3.5.x as whether it has a state of recovery; where a release lacks the metadata version, it passes the release's "
        "oldest or newest one. Which brokers may lead and min.insync.replicas are the question's, in place of "
        "ReplicationControlManager's; the topic has one id."
    ),
    behaviours=(PartitionChangeBehaviour,),
)
