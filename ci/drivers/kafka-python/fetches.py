"""A fetch response, given to the fetcher of kafka-python or of aiokafka, and polled like Java's: their code, no network."""

import asyncio
from importlib import import_module
from types import SimpleNamespace

MOST_POLLS = 100
MOST_ROUNDS = 1_000


class EndlessPoll(Exception):
    """A poll that reads the same response again and again, and never returns."""


class KafkaPython:
    """kafka-python's Fetcher, with a completed fetch."""

    def __init__(self, records, question):
        fetcher = import_module("kafka.consumer.fetcher")
        self.tp = import_module("kafka").TopicPartition("t", 0)
        self.state = import_module("kafka.consumer.subscription_state").SubscriptionState("none")
        self.state.assign_from_user([self.tp])
        self.state.seek(self.tp, question.get("fetch_offset", 0))
        network = SimpleNamespace(_manager=SimpleNamespace(_net=None, broker_version=(4, 0)))
        level = "read_committed" if question.get("read_committed") else "read_uncommitted"
        self.fetcher = fetcher.Fetcher(
            network, self.state, isolation_level=level, check_crcs=question.get("check_crcs", True)
        )
        aborted = [
            SimpleNamespace(producer_id=producer, first_offset=first) for producer, first in question.get("aborted", ())
        ]
        data = SimpleNamespace(
            error_code=0, high_watermark=-1, records=records, aborted_transactions=aborted, diverging_epoch=None,
            preferred_read_replica=-1,
        )  # fmt: skip
        fetch = fetcher.CompletedFetch(self.tp, question.get("fetch_offset", 0), 11, data, None)
        self.fetcher._completed_fetches.append(fetch)
        self.rounds, self.append = 0, self.fetcher._append
        self.fetcher._append = self.counted

    def counted(self, *arguments):
        self.rounds += 1
        if self.rounds > MOST_ROUNDS:  # no response has as many batches
            raise EndlessPoll
        return self.append(*arguments)

    async def poll(self):
        self.rounds = 0
        records, _ = self.fetcher.fetched_records()
        return [record.offset for found in records.values() for record in found]

    @property
    def position(self):
        return self.state.position(self.tp).offset


class AioKafka:
    """aiokafka's Fetcher without its tasks; what it does with a response is in a task's loop, and repeated here."""

    def __init__(self, records, question):
        fetcher = import_module("aiokafka.consumer.fetcher")
        subscription = import_module("aiokafka.consumer.subscription_state").SubscriptionState()
        self.tp, offset = import_module("aiokafka").TopicPartition("t", 0), question.get("fetch_offset", 0)
        subscription.assign_from_user({self.tp})
        assignment = subscription.subscription.assignment
        self.state = assignment.state_value(self.tp)
        self.state.seek(offset)
        self.fetcher = fetcher.Fetcher.__new__(fetcher.Fetcher)
        self.fetcher._subscriptions, self.fetcher._records = subscription, {}
        self.fetcher._wait_consume_future = None
        memory = import_module("aiokafka.record.memory_records").MemoryRecords(records)
        if memory.has_next():
            level = fetcher.READ_COMMITTED if question.get("read_committed") else fetcher.READ_UNCOMMITTED
            read = fetcher.PartitionRecords(
                self.tp, memory, [tuple(each) for each in question.get("aborted", ())], offset, None, None,
                question.get("check_crcs", True), level,
            )  # fmt: skip
            result = fetcher.FetchResult(self.tp, partition_records=read, assignment=assignment, backoff=0)
            self.fetcher._records[self.tp] = result
        elif memory.size_in_bytes() > 0:
            self.fetcher._records[self.tp] = fetcher.FetchError(error=fetcher.RecordTooLargeError(), backoff=0)
            self.state.consumed_to(offset + 1)

    async def poll(self):
        found = await self.fetcher.fetched_records([])
        return [record.offset for records in found.values() for record in records]

    @property
    def position(self):
        return self.state.position


async def polled(consumer):
    """All polls until the response is used up, or one raises; then one more."""
    delivered = []
    for _ in range(MOST_POLLS):
        before = consumer.position
        try:
            found = await consumer.poll()
        except Exception as error:
            raised = {"raises": type(error).__name__, "again": await again(consumer)}
            return {"delivered": delivered, "position": consumer.position, **raised}
        delivered += found
        if not found and consumer.position == before:
            return {"delivered": delivered, "position": before}
    raise RuntimeError(f"the response is not used up after {MOST_POLLS} polls")


async def again(consumer):
    try:
        await consumer.poll()
    except Exception as error:
        return type(error).__name__
    return None


async def asked(library, question):
    consumer = {"kafka": KafkaPython, "aiokafka": AioKafka}[library](bytes.fromhex(question["records"]), question)
    return await polled(consumer)


def answer(library, question):
    found = asyncio.run(asked(library, question))
    if "UnsupportedCodecError" in str(found):
        return {"unsupported": "the library of the codec is not installed"}
    return {"answer": found}
