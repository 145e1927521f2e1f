"""From a record that an application sends to the log: what is lost, doubled, or out of order, fault by fault."""

from kafka_reference.delivery.faults import Fault, InvalidScenario, Kind
from kafka_reference.delivery.scenario import Outcome, Passed, Scenario
from kafka_reference.delivery.simulation import simulate

__all__ = ["Fault", "InvalidScenario", "Kind", "Outcome", "Passed", "Scenario", "simulate"]
