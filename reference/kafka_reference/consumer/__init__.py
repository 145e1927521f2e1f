"""What a consumer makes of a fetch response."""

from kafka_reference.consumer.behaviour import CONSUMER_FETCH, ConsumerFetchBehaviour
from kafka_reference.consumer.completed_fetch import AbortedTransaction, CompletedFetch, FetchOutcome, consume_fetch

__all__ = [
    "CONSUMER_FETCH",
    "AbortedTransaction",
    "CompletedFetch",
    "ConsumerFetchBehaviour",
    "FetchOutcome",
    "consume_fetch",
]
