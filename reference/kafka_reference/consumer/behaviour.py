"""What each release does with a fetch response, as one record.

The record covers ``Fetcher`` with ``PartitionRecords`` and ``CompletedFetch``, ``FetchCollector`` and ``SubscriptionState``.
"""

from __future__ import annotations

from kafka_reference.behaviour import Behaviour, behaviour, holds
from kafka_reference.releases import since

__all__ = ["CONSUMER_FETCH", "ConsumerFetchBehaviour"]

CONSUMER_FETCH = since("0.11.0.1")


@behaviour("CompletedFetch", CONSUMER_FETCH)
class ConsumerFetchBehaviour(Behaviour):
    """What a consumer delivers of a fetch response, and what it throws."""

    empty_control_batch_fails: bool = holds(
        since("0.11.0.1", until="2.0.0"),
        "A control batch that compaction has emptied is an InvalidRecordException with read_committed; later it is skipped.",
        "KAFKA-7467",
    )
    position_may_go_back: bool = holds(
        since("0.11.0.1", until="2.2.x"),
        "Batches that end below the fetch offset move the position back, to the offset behind the last batch.",
        "KAFKA-7747",
    )
