"""A fetch response, given to aiokafka's Fetcher without tasks or a network, and polled until a poll raises or is empty."""

import asyncio
import logging
from types import SimpleNamespace

from aiokafka import TopicPartition
from aiokafka.consumer.fetcher import READ_COMMITTED, READ_UNCOMMITTED, Fetcher
from aiokafka.consumer.subscription_state import SubscriptionState

TP = TopicPartition("t", 0)
logging.disable()  # each response that is refused is a warning


class Consumer(Fetcher):
    """The Fetcher of a consumer with one partition; its client answers each fetch with the response."""

    def __init__(self, q):
        self._subscriptions, self._records = SubscriptionState(), {}
        self._subscriptions.assign_from_user({TP})
        self.assignment = self._subscriptions.subscription.assignment
        self.state, self.offset = self.assignment.state_value(TP), q.get("fetch_offset", 0)
        self.state.seek(self.offset)
        self._client_rack, self._preferred_read_replica, self._prefetch_backoff = "", {}, 0
        self._key_deserializer = self._value_deserializer = self._wait_consume_future = None
        self._fetch_waiters, self._max_partition_fetch_bytes = set(), 1 << 20
        self._check_crcs = q.get("check_crcs", True)
        self._isolation_level = READ_COMMITTED if q.get("read_committed") else READ_UNCOMMITTED
        partition = (0, 0, -1, -1, [tuple(each) for each in q.get("aborted", ())], bytes.fromhex(q["records"]))
        self.response = SimpleNamespace(API_VERSION=4, topics=[("t", [partition])])
        self._client = SimpleNamespace(send=self.send)

    async def send(self, *_):
        return self.response

    async def polled(self):
        request = SimpleNamespace(API_VERSION=4, topics=[("t", [(0, self.offset, 1 << 20)])])
        await self._proc_fetch_request(self.assignment, 0, request)
        delivered, before = [], None
        try:
            while (now := (len(delivered), self.state.position)) != before:
                before = now
                for records in (await self.fetched_records([])).values():
                    delivered += [record.offset for record in records]
        except Exception as error:
            if "Libraries for" in str(error):
                return {"unsupported": "the library of the codec is not installed"}
            return {"answer": {"delivered": delivered, "raises": type(error).__name__, "position": self.state.position}}
        return {"answer": {"delivered": delivered, "position": self.state.position}}


def answer(q):
    async def asked():
        return await Consumer(q).polled()  # its state wants a running loop

    return asyncio.run(asked())
