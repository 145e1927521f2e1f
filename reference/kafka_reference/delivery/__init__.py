"""Delivery from an application to the log: which records are lost, doubled or reordered by given faults."""

from kafka_reference.delivery.faults import Fault, InvalidScenario, Kind
from kafka_reference.delivery.messages import InvalidProducer
from kafka_reference.delivery.replicas import PartitionState, ReplicaRecords
from kafka_reference.delivery.scenario import Outcome, RequestOutcome, Scenario
from kafka_reference.delivery.unsent_faults import simulate

__all__ = [
    "Fault", "InvalidProducer", "InvalidScenario", "Kind", "Outcome", "PartitionState", "ReplicaRecords", "RequestOutcome",
    "Scenario", "simulate",
]  # fmt: skip
