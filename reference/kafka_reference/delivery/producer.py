"""The reference's producer in a story: an accumulator that puts one record into each batch, and a sender.

It has one partition, led by node 0, whoever that is: a leader that crashed is followed by another one in its place. Retries
do not back off, and nothing but the story moves the clock.
"""

from __future__ import annotations

from kafka_reference.accumulator.accumulator import RecordAccumulator
from kafka_reference.accumulator.backoff import StepDraws
from kafka_reference.accumulator.behaviour import RecordAccumulatorBehaviour
from kafka_reference.accumulator.metadata import Metadata
from kafka_reference.accumulator.state import AccumulatorConfig
from kafka_reference.delivery.messages import Answered, Batch, CutOff, Heard, Send, Settings, Starts, ToProducer, Wait
from kafka_reference.idempotence.outcomes import Numbered
from kafka_reference.idempotence.requests import Reply, Sent
from kafka_reference.idempotence.sender import Sender, SenderConfig
from kafka_reference.partitioning.cluster import Cluster, Node, Partition
from kafka_reference.releases import Release

__all__ = [
    "BATCH_SIZE", "DELIVERY_TIMEOUT_MS", "RECORD_BYTES", "REQUEST_TIMEOUT_MS", "Producer",
]  # fmt: skip

# A record of so many bytes fits into no batch of this size but one that begins with it.
BATCH_SIZE, RECORD_BYTES = 1, 100
DELIVERY_TIMEOUT_MS, REQUEST_TIMEOUT_MS = 120_000, 30_000
_TOPIC, _NODE = "t", 0


class Producer:
    """Whoever produces now."""

    def __init__(self, at: Release) -> None:
        self._at = at
        self._metadata = Metadata(at, Cluster((Node(_NODE),), (Partition(0, _NODE),)), [_TOPIC])
        self._draws = StepDraws((0,) * 1000)
        self._records: list[int] = []

    def hear(self, told: ToProducer) -> Heard:
        """Be told things, then go round. Raises what the sender raises, which is no answer to a story."""
        for one in told.told:
            self._take(one)
        sent: list[Batch] = []
        ended: list[tuple[int, int | str]] = []
        for _ in range(told.rounds):
            self._draws.begin_step()
            self._sender.run()
            sent += (self._batch(batch) for _, batches in self._sender.sent for batch in batches)
            ended += ((self._records[number], what) for number, what in self._sender.ended)
        return Heard(tuple(sent), tuple(ended))

    def _take(self, one: Starts | Send | Answered | CutOff | Wait) -> None:
        self._draws.begin_step()
        match one:
            case Starts(settings, producer_id):
                self._start(settings, producer_id)
            case Send(record):
                number = len(self._records)
                self._records.append(record)
                self._accumulator.append(_TOPIC, 0, Numbered(0, None, RECORD_BYTES, (), number), self._metadata)
            case Answered(error, offset):
                self._sender.network.reply(_NODE, Reply(error, base_offset=max(offset, 0)))
            case CutOff():
                self._sender.network.disconnect(_NODE)
            case Wait(ms):
                self._accumulator.state.now_ms += ms

    def _start(self, settings: Settings, producer_id: int) -> None:
        expires_by_delivery_timeout = RecordAccumulatorBehaviour.of(self._at).expires_by_delivery_timeout
        timeout_ms = DELIVERY_TIMEOUT_MS if expires_by_delivery_timeout else REQUEST_TIMEOUT_MS
        config = AccumulatorConfig(
            batch_size=BATCH_SIZE, linger_ms=0, retry_backoff_ms=0, retry_backoff_max_ms=0,
            delivery_timeout_ms=timeout_ms, buffer_memory=1 << 30, adaptive=False, availability_timeout_ms=0,
        )  # fmt: skip
        sending = SenderConfig(
            settings.acks, settings.retries, settings.max_in_flight, REQUEST_TIMEOUT_MS, DELIVERY_TIMEOUT_MS, 0
        )
        self._accumulator = RecordAccumulator(self._at, config, self._draws)
        self._sender = Sender(self._at, sending, self._accumulator, self._metadata, settings.idempotent)
        self._records = []
        if settings.idempotent:
            self._sender.network.queue_producer_id(Reply("NONE", producer=(producer_id, 0)))
            self._sender.run()

    def _batch(self, sent: Sent) -> Batch:
        return Batch(tuple(self._records[number] for number in sent.records), *sent.producer, sent.sequence)
