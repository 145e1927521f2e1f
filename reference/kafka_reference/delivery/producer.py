"""The reference's producer in a simulation: an accumulator with one record in each batch, and a sender.

The topic has one partition, led by node 0 throughout: a new leader takes the place of a crashed one. Retries do not back
off, and only the simulation advances the clock.
"""

from __future__ import annotations

from kafka_reference.accumulator.accumulator import RecordAccumulator
from kafka_reference.accumulator.backoff import StepDraws
from kafka_reference.accumulator.behaviour import RecordAccumulatorBehaviour
from kafka_reference.accumulator.metadata import Metadata
from kafka_reference.accumulator.state import AccumulatorConfig
from kafka_reference.delivery.messages import (
    AdvanceClock,
    Batch,
    Disconnect,
    ProducerEvent,
    ProducerResult,
    ProducerTurn,
    Response,
    SendRecord,
    Settings,
    StartProducer,
)
from kafka_reference.idempotence.outcomes import Numbered
from kafka_reference.idempotence.requests import Reply, Sent
from kafka_reference.idempotence.sender import Sender, SenderConfig
from kafka_reference.partitioning.cluster import Cluster, Node, Partition
from kafka_reference.releases import Release

__all__ = [
    "BATCH_SIZE", "DELIVERY_TIMEOUT_MS", "RECORD_BYTES", "REQUEST_TIMEOUT_MS", "Producer",
]  # fmt: skip

# A record of RECORD_BYTES fits into a batch of BATCH_SIZE only as its first record.
BATCH_SIZE, RECORD_BYTES = 1, 100
DELIVERY_TIMEOUT_MS, REQUEST_TIMEOUT_MS = 120_000, 30_000
_TOPIC, _NODE = "t", 0


class Producer:
    """The current producer: an accumulator and a sender, replaced when the producer is restarted."""

    def __init__(self, release: Release) -> None:
        self._release = release
        self._metadata = Metadata(release, Cluster((Node(_NODE),), (Partition(0, _NODE),)), [_TOPIC])
        self._draws = StepDraws((0,) * 1000)
        self._records: list[int] = []

    def handle(self, turn: ProducerTurn) -> ProducerResult:
        """Handle the events of a turn, then run the sender. Raises what the sender raises: no scenario ends that way."""
        for event in turn.events:
            self._handle(event)
        sent: list[Batch] = []
        completed: list[tuple[int, int | str]] = []
        for _ in range(turn.rounds):
            self._draws.begin_step()
            self._sender.run()
            sent += (self._batch(batch) for _, batches in self._sender.sent for batch in batches)
            completed += ((self._records[number], result) for number, result in self._sender.ended)
        return ProducerResult(tuple(sent), tuple(completed))

    def _handle(self, event: ProducerEvent) -> None:
        self._draws.begin_step()
        match event:
            case StartProducer(settings, producer_id):
                self._start(settings, producer_id)
            case SendRecord(record):
                number = len(self._records)
                self._records.append(record)
                self._accumulator.append(_TOPIC, 0, Numbered(0, None, RECORD_BYTES, (), number), self._metadata)
            case Response(error, offset):
                self._sender.network.reply(_NODE, Reply(error, base_offset=max(offset, 0)))
            case Disconnect():
                self._sender.network.disconnect(_NODE)
            case AdvanceClock(ms):  # unreached: there is no other event, so it always matches
                self._accumulator.state.now_ms += ms

    def _start(self, settings: Settings, producer_id: int) -> None:
        expires_by_delivery_timeout = RecordAccumulatorBehaviour.of(self._release).expires_by_delivery_timeout
        timeout_ms = DELIVERY_TIMEOUT_MS if expires_by_delivery_timeout else REQUEST_TIMEOUT_MS
        config = AccumulatorConfig(
            batch_size=BATCH_SIZE, linger_ms=0, retry_backoff_ms=0, retry_backoff_max_ms=0,
            delivery_timeout_ms=timeout_ms, buffer_memory=1 << 30, adaptive=False, availability_timeout_ms=0,
        )  # fmt: skip
        sending = SenderConfig(
            settings.acks, settings.retries, settings.max_in_flight, REQUEST_TIMEOUT_MS, DELIVERY_TIMEOUT_MS, 0
        )
        self._accumulator = RecordAccumulator(self._release, config, self._draws)
        self._sender = Sender(self._release, sending, self._accumulator, self._metadata, settings.idempotent)
        self._records = []
        if settings.idempotent:
            self._sender.network.queue_producer_id(Reply("NONE", producer=(producer_id, 0)))
            self._sender.run()

    def _batch(self, sent: Sent) -> Batch:
        return Batch(tuple(self._records[number] for number in sent.records), *sent.producer, sent.sequence)
