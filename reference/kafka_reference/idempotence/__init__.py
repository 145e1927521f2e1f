"""The idempotent producer: its effective configuration, its sender, and the sequences, ids and epochs of its batches."""

from kafka_reference.idempotence.config import ProducerOutcome, producer_outcome
from kafka_reference.idempotence.outcomes import Numbered
from kafka_reference.idempotence.requests import Reply, Sent
from kafka_reference.idempotence.sender import Sender, SenderConfig

__all__ = [
    "Numbered",
    "ProducerOutcome",
    "Reply",
    "Sender",
    "SenderConfig",
    "Sent",
    "producer_outcome",
]
