"""The producer state that a broker keeps for a partition, and what it appends and refuses."""

from kafka_reference.broker.append_checks import Origin
from kafka_reference.broker.batches import DataBatch, Marker
from kafka_reference.broker.log import AppendResult, ProducerState
from kafka_reference.broker.producer_state import Appended, Duplicate, ProducerStateManager

__all__ = [
    "AppendResult",
    "Appended",
    "DataBatch",
    "Duplicate",
    "Marker",
    "Origin",
    "ProducerState",
    "ProducerStateManager",
]
