"""The network between a producer and the leader of a partition: forwards requests one by one and injects faults.

The network contains no rule of Kafka's producer or producer state. It decides what lies between them:

- *Acks.* Followers that fetch have a request before the next one arrives: with acks all before the response, with acks 1
  after it. With acks 0 there is no response; the producer completes a request when it is sent, and sends the next one after
  the network has handled it. With acks all, a request that is not committed while the leader waits is answered with
  REQUEST_TIMED_OUT, although time stands still for the producer. What is refused and what is committed is decided by
  :mod:`.replicas`.
- *The log.* Without a producer id the leader has nothing to check, and the batch is appended at the end.
- *Time* stands still while requests are answered. After five refusals of a batch in a row the clock advances by two
  minutes, which is ``delivery.timeout.ms``; without a request in flight it advances by 10 s at a time.
- *The end.* A scenario ends when every record is completed, after 60 requests, or after 20 waits without a request.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence
from typing import TypeAlias, cast

from kafka_reference.delivery.faults import CRASHES, REFUSALS, Fault, InvalidScenario, Kind, of_followers
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
from kafka_reference.delivery.replicas import PartitionState, Replicas
from kafka_reference.delivery.scenario import Outcome, RequestOutcome, Scenario
from kafka_reference.releases import Release
from kafka_reference.replication.produce_acks import waits

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

    def __init__(
        self, scenario: Scenario, release: Release, create_replicas: Callable[..., Replicas] = Replicas
    ) -> None:  # fmt: skip
        self._scenario, self._release, self._create_replicas = scenario, release, create_replicas
        self._settings = Settings(idempotent=False, acks=-1, retries=0, max_in_flight=1)
        self._completed: dict[int, int | str] = {}
        self._requests: list[RequestOutcome] = []
        self._in_flight: list[Batch] = []
        self._recovers_at: dict[int, int] = {}
        self._started_epoch = -1
        self._producers = 0

    def run(self) -> Exchange:
        """Run the scenario: yield messages and receive replies. Raises InvalidScenario."""
        scenario = self._scenario
        faults, of_each_request = scenario.validate(), of_followers(scenario.faults)
        self._replicas = self._create_replicas(
            self._release, scenario.replicas, scenario.min_insync_replicas,
            unclean_election=scenario.unclean_leader_election,
        )  # fmt: skip
        configured = yield Configure(tuple(scenario.config.items()))
        if isinstance(configured, InvalidProducer):
            return configured
        self._settings = cast("Settings", configured)
        yield from self._start_leader()
        yield from self._start_producer(range(scenario.records))
        pauses = 0
        while self._is_open() and len(self._requests) < _MOST_REQUESTS and pauses < _MOST_WAITS:
            if not self._in_flight:
                pauses += 1
                yield from self._producer_turn(AdvanceClock(_WAIT_MS))
                continue
            pauses = 0
            number = len(self._requests) + 1
            yield from self._change_replicas(number, of_each_request.get(number, ()))
            shrinks = any(one.kind is Kind.SHRINK_ISR_AFTER_APPEND for one in of_each_request.get(number, ()))
            yield from self._forward(self._in_flight.pop(0), faults.get(number), shrinks=shrinks)
        return Outcome.from_log(
            self._replicas.leader_log.batches, scenario.records, self._completed, self._requests, self._state()
        )

    def _state(self) -> PartitionState | None:
        return self._replicas.state() if self._scenario.shows_replicas else None

    def _is_open(self) -> bool:
        return bool(self._in_flight) or any(record not in self._completed for record in range(self._scenario.records))

    def _start_leader(self) -> Generator[Message, Reply, None]:
        """Start the producer state of the leader, if another one leads now than before."""
        replicas = self._replicas
        if self._settings.idempotent and replicas.leader is not None and self._started_epoch != replicas.leader_epoch:
            self._started_epoch = replicas.leader_epoch
            yield LeaderTurn(StartLeader(replicas.history()))

    def _change_replicas(self, number: int, faults: Sequence[Fault]) -> Generator[Message, Reply, None]:
        """Start the brokers that are back at this request, and apply the faults of followers before it."""
        for broker in [broker for broker, request in self._recovers_at.items() if request <= number]:
            del self._recovers_at[broker]
            self._replicas.recover(broker)
        for fault in faults:
            match fault.kind, fault.replica:
                case Kind.STOP_FOLLOWER, int(replica):
                    self._replicas.stop_follower(replica)
                case Kind.RESUME_FOLLOWER, int(replica):
                    self._replicas.resume_follower(replica)
                case Kind.SHRINK_ISR, _:
                    self._replicas.shrink()
        yield from self._start_leader()

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

    def _forward(self, batch: Batch, fault: Fault | None, *, shrinks: bool) -> Generator[Message, Reply, None]:
        number = len(self._requests) + 1
        kind = None if fault is None else fault.kind
        has_leader = self._replicas.leader is not None
        result, offset = "lost", None
        error = None if fault is None else fault.error
        follows_append = fault is not None and self._follows_append(fault)
        if has_leader and error is not None and not follows_append:
            result = error
        elif has_leader and kind not in (Kind.LOSE_REQUEST, Kind.CRASH_BEFORE):
            result, offset = yield from self._append(batch)
        if has_leader and kind in CRASHES:
            yield from self._crash(number, kind)
        elif has_leader:
            result = self._replicate(result, offset, shrinks=shrinks)
        if error is not None and offset is not None:
            result = error
        answered = has_leader and self._is_answered(kind)
        self._requests.append(RequestOutcome(number, batch, fault, result, offset, answered, self._state()))
        if kind is Kind.RESTART_PRODUCER:
            self._in_flight.clear()
            unanswered = [record for record in range(self._scenario.records) if record not in self._completed]
            yield from self._start_producer(unanswered)
            return
        closes = not has_leader or (kind is not None and kind not in REFUSALS)
        yield from self._respond(result, offset, answered, closes=closes)

    def _follows_append(self, fault: Fault) -> bool:
        return fault.follows_append

    def _crash(self, number: int, kind: Kind | None) -> Generator[Message, Reply, None]:
        if kind is Kind.CRASH_REPLICATED:
            self._replicas.fetch()
        self._recovers_at[self._replicas.crash_leader()] = number + _REQUESTS_UNTIL_RECOVERY
        yield from self._start_leader()

    def _replicate(self, result: str, offset: int | None, *, shrinks: bool) -> str:
        """Let the followers fetch, and return the result of the request once the leader has waited for them."""
        replicas = self._replicas
        replicas.settle()
        if shrinks:
            replicas.shrink()
        if offset is None or not waits(self._settings.acks):
            return result
        completion = replicas.check_completion(offset + 1)
        if not completion.done:
            return "REQUEST_TIMED_OUT"
        return result if completion.error == "NONE" else completion.error

    def _is_answered(self, kind: Kind | None) -> bool:
        if kind in (Kind.CRASH_UNREPLICATED, Kind.CRASH_REPLICATED):
            return self._settings.acks == 1
        return (kind is None or kind in REFUSALS) and self._settings.acks != 0

    def _append(self, batch: Batch) -> Generator[Message, Reply, tuple[str, int | None]]:
        error = self._replicas.error_before_append(self._settings.acks)
        if error:
            return error, None
        appended = AppendResult(self._replicas.leader_log.end_offset)
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
        self._replicas.append(batch)
        return "written", appended.offset

    def _respond(
        self, result: str, offset: int | None, answered: bool, *, closes: bool
    ) -> Generator[Message, Reply, None]:  # fmt: skip
        events: list[ProducerEvent] = []
        if answered:
            error = "NONE" if result in ("written", "duplicate") else result
            events.append(Response(error, -1 if offset is None else offset))
        last = self._requests[-_REFUSALS_UNTIL_TIMEOUT:]
        repeated = all(one.batch == last[0].batch and one.is_refused for one in last)
        if len(last) == _REFUSALS_UNTIL_TIMEOUT and repeated:
            events.append(AdvanceClock(DELIVERY_TIMEOUT_MS))
        if closes:
            self._in_flight.clear()
            events.append(Disconnect())
        yield from self._producer_turn(*events)
