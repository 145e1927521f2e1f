"""From a record that an application sends to the log: what is lost, doubled, or out of order, fault by fault."""

from kafka_reference.delivery.faults import BadStory, Fault, Kind
from kafka_reference.delivery.story import Outcome, Passed, Story
from kafka_reference.delivery.told import told

__all__ = ["BadStory", "Fault", "Kind", "Outcome", "Passed", "Story", "told"]
