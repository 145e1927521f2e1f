"""The network between a producer and the leader of a partition: forwards requests one by one and injects faults.

The network contains no rule of Kafka's producer or producer state. It decides what lies between them:

- *Acks.* With acks all, every request is refused with NOT_ENOUGH_REPLICAS while fewer than ``min_insync_replicas`` replicas
  are in sync. Followers have a request before the next one arrives: with acks all before the response, with acks 1 after
  it. With acks 0 there is no response; the producer completes a request when it is sent, and sends the next one after the
  network has handled it.
- *The log.* Without a producer id the leader has nothing to check, and the batch is appended at the end.
- *Time* stands still while requests are answered. After five refusals of a batch in a row the clock advances by two
  minutes, which is ``delivery.timeout.ms``; without a request in flight it advances by 10 s at a time.
- *The end.* A scenario ends when every record is completed, after 60 requests, or after 20 waits without a request.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable
from typing import TypeAlias, cast

from kafka_reference.delivery.faults import CRASHES, Fault, InvalidScenario, Kind
from kafka_reference.delivery.messages import (
    AdvanceClock,
    AppendResult,
    Batch,
    Configure,
    Disconnect,
    InvalidProducer,
    LeaderTurn,
    Message,
    ProducerEvent,
    ProducerResult,
    ProducerTurn,
    Reply,
    Response,
    SendRecord,
    Settings,
    StartLeader,
    StartProducer,
)
from kafka_reference.delivery.producer import DELIVERY_TIMEOUT_MS
from kafka_reference.delivery.scenario import Outcome, RequestOutcome, Scenario

__all__ = ["FIRST_PRODUCER_ID", "Exchange", "Network"]

Exchange: TypeAlias = Generator[Message, Reply, Outcome | InvalidProducer]
"""Yields messages, receives their replies, and returns the outcome."""

FIRST_PRODUCER_ID = 7
_PROTOCOL_ERRORS = {
    "OutOfOrderSequenceException": "OUT_OF_ORDER_SEQUENCE_NUMBER",
    "UnknownProducerIdException": "UNKNOWN_PRODUCER_ID",
    "DuplicateSequenceNumberException": "DUPLICATE_SEQUENCE_NUMBER",
    "DuplicateSequenceException": "DUPLICATE_SEQUENCE_NUMBER",
    "InvalidProducerEpochException": "INVALID_PRODUCER_EPOCH",
    "ProducerFencedException": "INVALID_PRODUCER_EPOCH",
}
_MOST_REQUESTS = 60
_MOST_WAITS, _WAIT_MS = 20, 10_000
_REFUSALS_UNTIL_TIMEOUT = 5
_REQUESTS_UNTIL_RECOVERY = 2
# Rounds that the sender needs to obtain a producer id.
_ROUNDS_FOR_PRODUCER_ID = 2


class Network:
    """The state of one scenario between the producer and the leader."""

    def __init__(self, scenario: Scenario) -> None:
        self._scenario = scenario
        self._settings = Settings(idempotent=False, acks=-1, retries=0, max_in_flight=1)
        self._completed: dict[int, int | str] = {}
        self._log: list[Batch] = []
        self._requests: list[RequestOutcome] = []
        self._in_flight: list[Batch] = []
        self._recovered_at: list[int] = []
        self._producers = 0

    def run(self) -> Exchange:
        """Run the scenario: yield messages and receive replies. Raises InvalidScenario."""
        scenario = self._scenario
        faults = scenario.validate()
        configured = yield Configure(tuple(scenario.config.items()))
        if isinstance(configured, InvalidProducer):
            return configured
        self._settings = cast("Settings", configured)
        yield from self._start_leader()
        yield from self._start_producer(range(scenario.records))
        waits = 0
        while self._is_open() and len(self._requests) < _MOST_REQUESTS and waits < _MOST_WAITS:
            if not self._in_flight:
                waits += 1
                yield from self._producer_turn(AdvanceClock(_WAIT_MS))
                continue
            waits = 0
            yield from self._forward(self._in_flight.pop(0), faults.get(len(self._requests) + 1))
        return Outcome.from_log(self._log, scenario.records, self._completed, self._requests)

    def _is_open(self) -> bool:
        return bool(self._in_flight) or any(record not in self._completed for record in range(self._scenario.records))

    def _start_leader(self) -> Generator[Message, Reply, None]:
        if self._settings.idempotent:
            yield LeaderTurn(StartLeader(tuple(self._log)))

    def _start_producer(self, records: Iterable[int]) -> Generator[Message, Reply, None]:
        start = StartProducer(self._settings, FIRST_PRODUCER_ID + self._producers)
        self._producers += 1
        yield from self._producer_turn(start, *map(SendRecord, records))

    def _producer_turn(self, *events: ProducerEvent) -> Generator[Message, Reply, None]:
        """Give the producer as many rounds as it can use; with acks 0 one, since a sent request completes at once."""
        rounds = 1 if self._settings.acks == 0 else min(self._settings.max_in_flight, self._scenario.records) + 2
        if any(isinstance(one, StartProducer) for one in events) and self._settings.idempotent:
            rounds += _ROUNDS_FOR_PRODUCER_ID
        result = cast("ProducerResult", (yield ProducerTurn(tuple(events), rounds)))
        self._in_flight += result.sent
        self._completed.update(result.completed)

    def _forward(self, batch: Batch, fault: Fault | None) -> Generator[Message, Reply, None]:
        number = len(self._requests) + 1
        self._recovered_at = [request for request in self._recovered_at if request > number]
        kind = None if fault is None else fault.kind
        result, offset = "lost", None
        if fault is not None and fault.error is not None:
            result = fault.error
        elif kind not in (Kind.LOSE_REQUEST, Kind.CRASH_BEFORE):
            result, offset = yield from self._append(batch)
        answered = self._is_answered(kind)
        self._requests.append(RequestOutcome(number, batch, fault, result, offset, answered))
        if kind is Kind.CRASH_UNREPLICATED and result == "written":
            self._log.pop()
        if kind in CRASHES:
            self._recovered_at.append(number + _REQUESTS_UNTIL_RECOVERY)
            yield from self._start_leader()
        if kind is Kind.RESTART_PRODUCER:
            self._in_flight.clear()
            unanswered = [record for record in range(self._scenario.records) if record not in self._completed]
            yield from self._start_producer(unanswered)
            return
        yield from self._respond(result, offset, answered, closes=kind is not None and kind is not Kind.REFUSE)

    def _is_answered(self, kind: Kind | None) -> bool:
        if kind in (Kind.CRASH_UNREPLICATED, Kind.CRASH_REPLICATED):
            return self._settings.acks == 1
        return kind in (None, Kind.REFUSE) and self._settings.acks != 0

    def _append(self, batch: Batch) -> Generator[Message, Reply, tuple[str, int | None]]:
        in_sync = self._scenario.replicas - len(self._recovered_at)
        if self._settings.acks == -1 and in_sync < self._scenario.min_insync_replicas:
            return "NOT_ENOUGH_REPLICAS", None
        appended = AppendResult(sum(len(one.records) for one in self._log))
        if self._settings.idempotent:
            appended = cast("AppendResult", (yield LeaderTurn(batch)))
        if appended.error is not None:
            if appended.error not in _PROTOCOL_ERRORS:
                raise InvalidScenario(
                    f"the leader raised {appended.error}, which has no error for producers: report this scenario as a bug"
                )
            return _PROTOCOL_ERRORS[appended.error], None
        if appended.duplicate:
            return "duplicate", appended.offset
        self._log.append(batch)
        return "written", appended.offset

    def _respond(
        self, result: str, offset: int | None, answered: bool, *, closes: bool
    ) -> Generator[Message, Reply, None]:  # fmt: skip
        events: list[ProducerEvent] = []
        if answered:
            error = "NONE" if result in ("written", "duplicate") else result
            events.append(Response(error, -1 if offset is None else offset))
        last = self._requests[-_REFUSALS_UNTIL_TIMEOUT:]
        repeated = all(one.batch == last[0].batch and one.offset is None for one in last)
        if len(last) == _REFUSALS_UNTIL_TIMEOUT and repeated:
            events.append(AdvanceClock(DELIVERY_TIMEOUT_MS))
        if closes:
            self._in_flight.clear()
            events.append(Disconnect())
        yield from self._producer_turn(*events)
