"""A fetch response, given to kafka-python's Fetcher without a network, and polled until it is used up or a poll raises."""

import logging
from types import SimpleNamespace

from kafka import TopicPartition
from kafka.consumer.fetcher import CompletedFetch, Fetcher
from kafka.consumer.subscription_state import SubscriptionState
from polls import Endless, polled, within_limit

TP = TopicPartition("t", 0)
MOST_ROUNDS = 1_000  # no response of a question has as many batches
logging.disable()  # each batch that is refused is a warning


class Consumer(Fetcher):
    """The Fetcher of a consumer with one partition, its response, and the rounds of a poll."""

    def __init__(self, q):
        self.state, offset = SubscriptionState("none"), q.get("fetch_offset", 0)
        self.state.assign_from_user([TP])
        self.state.seek(TP, offset)
        manager = SimpleNamespace(_net=None, broker_version=(4, 0))
        level = "read_committed" if q.get("read_committed") else "read_uncommitted"
        client = SimpleNamespace(_manager=manager)
        super().__init__(client, self.state, isolation_level=level, check_crcs=q.get("check_crcs", True))
        listed = [SimpleNamespace(producer_id=producer, first_offset=first) for producer, first in q.get("aborted", ())]
        data = SimpleNamespace(
            error_code=0, high_watermark=-1, records=bytes.fromhex(q["records"]), aborted_transactions=listed,
            diverging_epoch=None, preferred_read_replica=-1,
        )  # fmt: skip
        self._completed_fetches.append(CompletedFetch(TP, offset, 11, data, None))

    def _append(self, *arguments):
        self.rounds += 1
        if self.rounds > MOST_ROUNDS:
            raise Endless
        return super()._append(*arguments)

    @property
    def offset(self):
        return self.state.position(TP).offset

    def poll(self):
        self.rounds = 0
        records, _ = self.fetched_records()
        return [record.offset for found in records.values() for record in found]


def answer(q):
    return within_limit(lambda q: polled(Consumer(q)), q)
