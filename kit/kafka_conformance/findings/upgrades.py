"""What a change of a behaviour record means for whom, and what to do about it when a release is upgraded.

``ADVICE`` has an entry for each record, and one for each field whose change is more or less harmful than others of its
record. The command ``changes`` prints them beside the field's own sentence.
"""

from __future__ import annotations

from dataclasses import dataclass

from kafka_conformance.core.events import Severity
from kafka_conformance.findings import Role

__all__ = ["ADVICE", "Advice", "advice_of"]


@dataclass(frozen=True, slots=True)
class Advice:
    """How harmful a change can be, whom it concerns, and what to do, as a sentence."""

    severity: Severity
    roles: tuple[Role, ...]
    action: str


_SPREAD = "Compare how records without a key spread over partitions before and after; records with a key do not move."
_BATCHES = "Compare batch sizes, latency and memory under load; no record is lost by this alone."
_RETRIES = "Test how the application handles errors of send and flush, and retries, before the upgrade."
_SETTINGS = "Set acks, retries, enable.idempotence and max.in.flight.requests.per.connection explicitly."
_GROUP = "Upgrade all members of a group soon after each other; expect that partitions move once."
_SERVER_GROUP = "Expect that partitions of groups with the new protocol move once when the coordinator is upgraded."
_FILES = "Change nothing for Kafka's own brokers; update tools of your own that read or write log directories."
_BATCH_BYTES = "Change nothing for Java clients; test clients and tools of your own that encode or decode batches."
_STATE = "Upgrade brokers one at a time, and watch producers for errors of sequence numbers and epochs."
_CLUSTER = "Check min.insync.replicas and unclean.leader.election.enable before the upgrade; watch the ISR during it."

_PRODUCER: tuple[Role, ...] = ("producer",)
_CONSUMER: tuple[Role, ...] = ("consumer",)
_BROKER: tuple[Role, ...] = ("broker", "operator")

ADVICE: dict[str, Advice] = {
    "BuiltInPartitionerBehaviour": Advice("medium", _PRODUCER, _SPREAD),
    "DefaultPartitionerBehaviour": Advice("medium", _PRODUCER, _SPREAD),
    "PartitionerBehaviour": Advice("medium", _PRODUCER, _SPREAD),
    "RoundRobinPartitionerBehaviour": Advice("medium", _PRODUCER, _SPREAD),
    "UniformStickyPartitionerBehaviour": Advice("medium", _PRODUCER, _SPREAD),
    "ProducerPartitionBehaviour": Advice("medium", _PRODUCER, _SPREAD),
    "ProducerPartitionBehaviour.negative_choice_refused": Advice(
        "high", _PRODUCER, "Make sure that a partitioner of your own returns no negative number."
    ),
    "RecordAccumulatorBehaviour": Advice("medium", _PRODUCER, _BATCHES),
    "BufferPoolBehaviour": Advice("medium", _PRODUCER, _BATCHES),
    "ProducerBatchBehaviour": Advice("medium", _PRODUCER, _BATCHES),
    "MemoryRecordsBuilderBehaviour": Advice("medium", _PRODUCER, _BATCHES),
    "CompressionRatioEstimatorBehaviour": Advice("medium", _PRODUCER, _BATCHES),
    "MetadataSnapshotBehaviour": Advice("medium", _PRODUCER, _BATCHES),
    "ProducerConfigBehaviour": Advice("high", _PRODUCER, _SETTINGS),
    "ProducerConfigBehaviour.check_order": Advice(
        "low", _PRODUCER, "Correct settings that conflict: only the error that is reported first is another."
    ),
    "ProducerDefaultsBehaviour": Advice("medium", _PRODUCER, _SETTINGS),
    "KafkaProducerBehaviour": Advice("medium", _PRODUCER, _RETRIES),
    "SenderBehaviour": Advice("high", _PRODUCER, _RETRIES),
    "TransactionManagerBehaviour": Advice("high", _PRODUCER, _RETRIES),
    "BatchEndBehaviour": Advice("medium", _PRODUCER, _RETRIES),
    "NetworkClientBehaviour": Advice("medium", _PRODUCER, _RETRIES),
    "NodeBehaviour": Advice("low", _PRODUCER, _RETRIES),
    "ErrorsBehaviour": Advice("medium", _PRODUCER, _RETRIES),
    "ProducerStateBehaviour": Advice("high", _BROKER, _STATE),
    "ProducerStateBehaviour.producer_map": Advice("low", _BROKER, _FILES),
    "CooperativeStickyAssignorBehaviour": Advice("medium", _CONSUMER, _GROUP),
    "StickyAssignorBehaviour": Advice("medium", _CONSUMER, _GROUP),
    "RangeAssignorBehaviour": Advice("medium", _CONSUMER, _GROUP),
    "RoundRobinAssignorBehaviour": Advice("medium", _CONSUMER, _GROUP),
    "ServerRangeAssignorBehaviour": Advice("medium", ("consumer", *_BROKER), _SERVER_GROUP),
    "UniformAssignorBehaviour": Advice("medium", ("consumer", *_BROKER), _SERVER_GROUP),
    "TargetAssignmentBuilderBehaviour": Advice("medium", ("consumer", *_BROKER), _SERVER_GROUP),
    "SegmentBehaviour": Advice("low", _BROKER, _FILES),
    "IndexBehaviour": Advice("low", _BROKER, _FILES),
    "RecordBatchBehaviour": Advice("low", ("producer", "consumer", "broker"), _BATCH_BYTES),
    "PartitionBehaviour": Advice("high", _BROKER, _CLUSTER),
    "PartitionChangeBehaviour": Advice("high", _BROKER, _CLUSTER),
    "ZookeeperElectionBehaviour": Advice("high", _BROKER, _CLUSTER),
}


def advice_of(field: str) -> Advice:
    """Return the advice for ``Record.field``: its own, or that of its record."""
    return ADVICE.get(field) or ADVICE[field.partition(".")[0]]
