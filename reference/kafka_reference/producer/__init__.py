"""``KafkaProducer``: what ``send``, ``flush`` and the sender's rounds do together."""

from kafka_reference.producer.kafka_producer import KafkaProducer, Placement, Record
from kafka_reference.producer.settings import ProducerSettings

__all__ = [
    "KafkaProducer",
    "Placement",
    "ProducerSettings",
    "Record",
]
