"""What the producer does with a record between ``send`` and the network: batches, their sizes, their order."""

from kafka_reference.accumulator.accumulator import Appended, Failure, RecordAccumulator
from kafka_reference.accumulator.batches import Batch, BatchState
from kafka_reference.accumulator.metadata import Metadata
from kafka_reference.accumulator.readiness import Ready
from kafka_reference.accumulator.sizes import SizedRecord
from kafka_reference.accumulator.state import AccumulatorConfig

__all__ = [
    "AccumulatorConfig",
    "Appended",
    "Batch",
    "BatchState",
    "Failure",
    "Metadata",
    "Ready",
    "RecordAccumulator",
    "SizedRecord",
]
