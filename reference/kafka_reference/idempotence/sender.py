"""The sender: drains batches from the accumulator, sends them, and handles how requests end.

**A round** (:meth:`Sender.run`), of an idempotent producer first:

1. Unresolved partitions are looked at (since 1.0.0). After a fatal error all incomplete batches are aborted, and the round
   ends with a poll; after an abortable one it ends at once (since 3.6.0).
2. Another epoch begins if one was requested (since 2.5.0).
3. Without a producer id, one is requested and the round ends. Up to 2.4.x the round waits for the id and continues. A
   retriable error is answered by another request, after ``retry.backoff.ms``.

and of any producer:

4. Nodes that are ready and may be sent more are drained. With ``max.in.flight.requests.per.connection`` = 1 the drained
   partitions are muted until they are answered.
5. Expired batches fail with a TimeoutException: in the queues, since 2.1.0 in flight too (KIP-91). A batch that expires
   in the round in which it is drained is still sent. If it had been sent before, its partition is unresolved.
6. Each node with drained batches gets one request, nodes in the order of their ids. The round ends with a poll.

Exceptions:

- Step 4 and 5 use the time at which the round began, up to 2.1.x.
- In 0.11 an expired batch that had been sent before resets the producer, and step 6 sends nothing.
- From 2.1.0 to 2.3.0 a batch that was split stays in flight. When it expires its records end again, and the round ends
  with an IllegalStateException: what it drained is never sent (KAFKA-8325).
- An aborted batch stays in flight, and its expiry ends a round in the same way, in 3.6.0 to 3.9.1, 4.0.0, 4.0.1, 4.1.0 and
  4.1.1 (KAFKA-19012). Up to 3.5.x a producer that aborted its batches sends nothing any more.

**A response** is handled partition by partition, in the broker's order (up to 0.10.2.x, and for a lost connection in every
release, in the order of a hash map); the table in ``batch_actions`` decides. An exception ends the handling of its request:
the partitions behind it are not handled, and stay muted. Kafka logs it.

**A second end**: a batch that expired in flight or was aborted may be answered later (see ``outcomes``). Since 3.6.0 the
transaction manager handles only the first failure of a batch, and what it throws is swallowed; before, every failure. Up to
0.11.0.x a batch gives back its memory at every end; the second time is an IllegalStateException.

Java source mirrored: ``clients/src/main/java/org/apache/kafka/clients/producer/internals/Sender.java#runOnce`` (up to 2.1.x
``run``), ``sendProducerData``, ``completeBatch``, ``failBatch``, ``NetworkClientUtils.java#sendAndReceive``, every release,
without transactions.
https://github.com/apache/kafka/blob/4.1.0/clients/src/main/java/org/apache/kafka/clients/producer/internals/Sender.java
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Self

from kafka_reference.accumulator.accumulator import RecordAccumulator
from kafka_reference.accumulator.batches import Batch, BatchState
from kafka_reference.accumulator.metadata import Metadata
from kafka_reference.arguments import SETTINGS, checked, proven_by
from kafka_reference.errors import IllegalStateException, JavaException
from kafka_reference.idempotence.batch_actions import BatchAction, SideEffect, answer_of, decide, situation_of
from kafka_reference.idempotence.behaviour import NodeBehaviour, SenderBehaviour
from kafka_reference.idempotence.config import producer_outcome
from kafka_reference.idempotence.errors import ErrorKind, ProduceError, produce_errors
from kafka_reference.idempotence.in_flight import InFlightBatches
from kafka_reference.idempotence.network import Network, node_hash
from kafka_reference.idempotence.outcomes import Outcomes
from kafka_reference.idempotence.requests import COORDINATOR, End, Reply, Request, Sent, on_the_wire
from kafka_reference.idempotence.transaction_manager import ManagerState, NoTransactionManager, TransactionManager
from kafka_reference.java.hash_maps import capacity_for, partition_hash, table_order
from kafka_reference.producer_config import parse_settings
from kafka_reference.releases import NEWEST, Release, parse_release

__all__ = ["Sender", "SenderConfig"]

_TIMEOUT, _DROPPED = "TimeoutException", "OutOfOrderSequenceException"
_ERROR_NAMES = {End.SENT: "NONE", End.DISCONNECTED: "NETWORK_EXCEPTION", End.TIMED_OUT: "REQUEST_TIMED_OUT"}


@checked(settings=SETTINGS, version=proven_by("producer-sequences"))
@dataclass(frozen=True, slots=True)
class SenderConfig:
    """The configuration of a sender; ``acks`` is -1 for all.

    >>> SenderConfig.of({}).max_in_flight
    5
    """

    acks: int
    retries: int
    max_in_flight: int
    request_timeout_ms: int
    delivery_timeout_ms: int
    retry_backoff_ms: int
    max_request_size: int = 1 << 20

    # unreached: for callers; questions name each value
    @classmethod
    def of(cls, settings: Mapping[str, object], version: str | Release = NEWEST) -> Self:
        """Return what a producer of release ``version`` with these settings, by Kafka's names, gives its sender.

            >>> SenderConfig.of({"retries": 0}).retries, SenderConfig.of({"acks": "1"}).acks
            (0, 1)

        Unset settings have Kafka's defaults. Raises ConfigException, with Kafka's text, for an invalid value, and ValueError
        for a name with underscores.
        """
        outcome = producer_outcome(settings, version)
        values: dict[str, Any] = parse_settings(settings, version)
        return cls(
            acks=outcome.acks,
            retries=outcome.retries,
            max_in_flight=outcome.max_in_flight,
            request_timeout_ms=values["request.timeout.ms"],
            delivery_timeout_ms=values.get("delivery.timeout.ms", values["request.timeout.ms"]),
            retry_backoff_ms=values["retry.backoff.ms"],
            max_request_size=values["max.request.size"],
        )


@checked(config=SETTINGS, version=proven_by("producer-sequences"))
class Sender:
    """The sender of release ``version``, over an accumulator.

    ``config`` has a producer's settings by Kafka's names, None for Kafka's defaults. They decide whether it is
    ``idempotent`` and make its ``accumulator``, unless these are given; a SenderConfig decides neither.

        >>> from kafka_reference.accumulator import SizedRecord
        >>> from kafka_reference.idempotence import Reply
        >>> sender = Sender(config={"acks": "1", "linger.ms": 0})
        >>> sender.accumulator.append("t", 0, SizedRecord(value=100), sender.metadata).new_batch
        True
        >>> sender.run()
        >>> sender.sent
        [(0, [Sent(topic_partition=('t', 0), records=(-1,), producer=(-1, -1), sequence=-1)])]
        >>> sender.network.reply(0, Reply("NONE", base_offset=42))
        >>> sender.run()
        >>> sender.ended
        [(-1, 42)]

    What happened in the last round is in ``sent`` (batches by node), ``ended`` (records), and ``uncaught`` (names of the
    exceptions that were thrown while responses were handled).
    """

    manager_class: ClassVar[type[TransactionManager]] = TransactionManager
    network_class: ClassVar[type[Network]] = Network
    outcomes_class: ClassVar[type[Outcomes]] = Outcomes
    in_flight_class: ClassVar[type[InFlightBatches]] = InFlightBatches

    def __init__(
        self,
        version: str | Release = NEWEST,
        config: SenderConfig | Mapping[str, object] | None = None,
        accumulator: RecordAccumulator | None = None,
        metadata: Metadata | None = None,
        idempotent: bool | None = None,
    ) -> None:
        release = parse_release(version)
        settings = {} if config is None or isinstance(config, SenderConfig) else config
        self._config = config if isinstance(config, SenderConfig) else SenderConfig.of(settings, release)
        accumulator = RecordAccumulator(release, settings) if accumulator is None else accumulator
        metadata = Metadata(release) if metadata is None else metadata
        self.release, self.accumulator, self.metadata = release, accumulator, metadata
        if idempotent is None:  # unreached: questions decide it
            idempotent = producer_outcome(settings, release).idempotent
        self._behaviour = SenderBehaviour.of(release)
        self._errors = produce_errors(release)
        self._node_hash = partial(node_hash, NodeBehaviour.of(release))
        self.manager = self.manager_class(release) if idempotent else NoTransactionManager(release)
        if idempotent:
            accumulator.state.sequences = self.manager
        self.network = self.network_class(release, self._config.max_in_flight, self._config.request_timeout_ms)
        self._mutes_partitions = self._config.max_in_flight == 1
        self._in_flight = self.in_flight_class()
        self._outcomes = self.outcomes_class(release)
        self._repeats_id_request = False
        self.sent: list[tuple[int, Sequence[Sent]]] = []
        self.uncaught: list[str] = []

    def __repr__(self) -> str:  # unreached: for readers
        return (
            f"<Sender {self.release} at {self.now_ms} ms: {len(self.accumulator.state.incomplete)} incomplete batches>"
        )

    @property
    def now_ms(self) -> int:
        """The time, in milliseconds; set it to let time pass."""
        return self.accumulator.now_ms

    # unreached: for callers; questions set the clock of the state
    @now_ms.setter
    def now_ms(self, now_ms: int) -> None:
        self.accumulator.now_ms = now_ms

    @property
    def ended(self) -> Sequence[tuple[int, int | str]]:
        """The records that ended in the last round: number, and offset (-1 for unknown) or the exception's name."""
        return self._outcomes.ended

    def run(self) -> None:
        """Run one round. Raises what Java throws, except while responses are handled. Mirrors ``runOnce``."""
        self.sent, self.uncaught, self._outcomes.ended = [], [], []
        self.network.begin_round()
        begun_ms = self.now_ms
        if not self._prepare_producer():
            return
        real_ms = self.now_ms
        if self._behaviour.keeps_start_time:
            self.accumulator.state.now_ms = begun_ms
        try:
            self._send_produce_requests()
        finally:
            self.accumulator.state.now_ms = real_ms
        self._poll()

    def _prepare_producer(self) -> bool:
        """Do what an idempotent producer needs before it sends, and return whether the round goes on."""
        manager = self.manager
        manager.resolve()
        if self._behaviour.waits_for_producer_id:
            while not manager.has_id and not manager.is_fatal:
                self._wait_for_producer_id()
        if manager.is_fatal:
            self._abort_batches()
            self._poll()
            return False
        if manager.state is ManagerState.ABORTABLE_ERROR:
            self._abort_batches()
            manager.uninitialize()
            return False
        manager.bump_if_required()
        if manager.has_id:
            return True
        self._request_producer_id()
        return False

    def _wait_for_producer_id(self) -> None:
        """Request an id and take the answer. Mirrors ``maybeWaitForProducerId``, 0.11.0.0 to 2.4.x."""
        self.manager.begin_initializing()
        self._poll()
        reply = self.network.request_producer_id(self.now_ms)
        self._poll()
        repeats = self.manager.handle_id_response(self._errors[reply.error], *reply.producer)
        if repeats or (self.manager.has_id and self._behaviour.backs_off_after_producer_id):
            self._back_off()

    def _request_producer_id(self) -> None:
        """Request an id; the answer arrives in the poll. Mirrors ``maybeSendAndPollTransactionalRequest``, since 2.5.0."""
        if self.manager.begin_initializing():
            self._repeats_id_request = False
        self._poll()
        if self._repeats_id_request:
            self._back_off()
        self.network.request_producer_id(self.now_ms)
        self._repeats_id_request = True
        self._poll()

    def _back_off(self) -> None:
        self.accumulator.state.now_ms += self._config.retry_backoff_ms

    def _send_produce_requests(self) -> None:
        """Mirrors ``sendProducerData``."""
        nodes: list[int] = []
        for node in table_order(self.accumulator.ready(self.metadata).node_order, self._node_hash, 16):
            can_send = self.network.can_send(node)
            self.accumulator.update_node_latency(node, can_send)
            nodes += [node] * can_send
        by_node: dict[int, list[Batch]] = {}
        for batch in self.accumulator.drain(self.metadata, nodes, self._config.max_request_size):
            by_node.setdefault(self.metadata.leader(*batch.topic_partition) or 0, []).append(batch)
            self._in_flight.add(batch)
            if self._mutes_partitions:
                self.accumulator.state.mute(batch.topic_partition)
        if not self._expire_batches():
            return
        for node in sorted(by_node):
            self._send_to(node, by_node[node])

    def _send_to(self, node: int, batches: Sequence[Batch]) -> None:
        """Mirrors ``sendProduceRequest``."""
        by_partition = {batch.topic_partition: batch for batch in batches}
        order = table_order(by_partition, partition_hash, capacity_for(len(by_partition)))
        in_order = {topic_partition: by_partition[topic_partition] for topic_partition in order}
        self.network.send(Request(node, in_order, self.now_ms, self._config.acks != 0))
        self.sent.append((node, [on_the_wire(batch) for _, batch in sorted(by_partition.items())]))

    def _expire_batches(self) -> bool:
        """Fail what has expired, and return whether the round goes on."""
        in_flight: list[Batch] = []
        if self._behaviour.expires_in_flight_batches:
            in_flight = self._in_flight.take_expired(
                self._is_overdue, self._outcomes, self._behaviour.expired_partition_breaks_iteration
            )
        expired, _ = self.accumulator.expire()
        resets = False
        for batch in [*expired, *in_flight]:
            if self.accumulator.state.behaviour.completes_expired_batches:
                self._outcomes.end(batch, _TIMEOUT, -1)
                continue
            self._fail(batch, _TIMEOUT, False)
            if batch.attempts and self._behaviour.expiry_resets_producer:
                resets = self.manager.is_idempotent
            elif batch.attempts:
                self.manager.mark_unresolved(batch)
        if resets:
            self.manager.become(None, 0)
        return not resets

    def _is_overdue(self, batch: Batch) -> bool:
        """Mirrors ``ProducerBatch.hasReachedDeliveryTimeout``."""
        return self._config.delivery_timeout_ms <= self.now_ms - batch.created_ms

    def _poll(self) -> None:
        for request, end in self.network.poll(self.now_ms):
            try:
                self._handle_end(request, end)
            except JavaException as thrown:
                self.uncaught.append(thrown.java_name)

    def _handle_end(self, request: Request, end: Reply | End) -> None:
        """Mirrors ``handleProduceResponse``, and since 2.5.0 ``TransactionManager.InitProducerIdHandler``."""
        if request.node == COORDINATOR:
            if isinstance(end, Reply) and not self._behaviour.waits_for_producer_id:
                self.manager.handle_id_response(self._errors[end.error], *end.producer)
        elif isinstance(end, Reply):
            self._handle_reply(request, end)
        else:
            error = self._errors[_ERROR_NAMES[end]]
            for batch in request.batches.values():
                self._complete_batch(batch, error, -1, -1, throttle_ms=None)

    def _handle_reply(self, request: Request, reply: Reply) -> None:
        order = sorted(request.batches)
        in_map_order = self._behaviour.handles_response_in_map_order
        for topic_partition in table_order(order, partition_hash, 16) if in_map_order else order:
            name = reply.error if topic_partition == order[0] or reply.others is None else reply.others
            error = self._errors[name]
            offset = reply.base_offset if error.kind is ErrorKind.NONE else -1
            self._complete_batch(request.batches[topic_partition], error, offset, reply.log_start)

    def _complete_batch(
        self, batch: Batch, error: ProduceError, base_offset: int, log_start: int, throttle_ms: int | None = 0
    ) -> None:
        """Handle the answer to a batch; ``throttle_ms`` is None without a response. Mirrors ``completeBatch``."""
        batch.in_flight = False
        action, side_effect = self._decide(batch, error, log_start)
        match side_effect:
            case SideEffect.BUMP:
                self.manager.request_bump(batch.topic_partition)
            case SideEffect.RESTART:
                self.manager.restart(batch.topic_partition)
        match action:
            case BatchAction.COMPLETED:
                self._complete(batch, base_offset)
            case BatchAction.SPLIT:
                self._split(batch)
            case BatchAction.RETRIED:
                self.manager.retry(batch)
                self.accumulator.reenqueue(batch)
                self._in_flight.remove(batch)
            case BatchAction.DROPPED:
                self._fail(batch, _DROPPED, False)
            case _:
                self._fail(batch, error.exception, batch.attempts < self._config.retries)
        if self._mutes_partitions:
            self.accumulator.state.unmute(batch.topic_partition, throttle_ms)

    def _decide(self, batch: Batch, error: ProduceError, log_start: int) -> tuple[BatchAction, SideEffect]:
        situation = situation_of(
            batch, self.manager, log_start, sender=self._behaviour,
            may_retry=self._may_retry(batch), is_done=self._outcomes.is_done(batch),
        )  # fmt: skip
        return decide(answer_of(error), situation)

    def _may_retry(self, batch: Batch) -> bool:
        """Return whether a batch may be retried. Mirrors ``canRetry`` without its checks of sequences."""
        is_over = self._is_overdue(batch) or self._outcomes.is_done(batch)
        return batch.attempts < self._config.retries and not (self._behaviour.delivery_timeout_ends_retries and is_over)

    def _split(self, batch: Batch) -> None:
        self.manager.release(batch)
        if batch.aborted:
            raise IllegalStateException
        self.accumulator.split(batch)
        if not self._behaviour.split_batch_stays_in_flight:
            self._in_flight.remove(batch)

    def _complete(self, batch: Batch, base_offset: int) -> None:
        self.manager.completed(batch, base_offset)
        if self._outcomes.end(batch, None, base_offset) or self._behaviour.releases_at_every_end:
            self._release(batch)
        else:
            self._return_memory(batch)

    def _fail(self, batch: Batch, exception: str, refused: bool) -> None:
        """Mirrors ``failBatch``."""
        if self._behaviour.ends_failed_batch_first:
            if self._outcomes.end(batch, exception, -1):
                with suppress(JavaException):
                    self.manager.failed(batch, exception, refused)
                self._release(batch)
            else:
                self._return_memory(batch)
            return
        self.manager.failed(batch, exception, refused)
        if self._outcomes.end(batch, exception, -1) or self._behaviour.releases_at_every_end:
            self._release(batch)

    def _release(self, batch: Batch) -> None:
        self._in_flight.remove(batch)
        if batch not in self.accumulator.state.incomplete:
            raise IllegalStateException
        if batch.in_flight:
            self.accumulator.complete_in_flight(batch)
        else:
            self.accumulator.complete(batch)

    def _return_memory(self, batch: Batch) -> None:
        """Return the memory of a batch that ended in flight, now that it is answered (KAFKA-19012)."""
        if batch.state is BatchState.ABORTED_IN_FLIGHT:
            self.accumulator.complete(batch)

    def _abort_batches(self) -> None:
        """Mirrors ``maybeAbortBatches``."""
        self._outcomes.abort(self.accumulator.state.incomplete, self.manager.last_error or "")
        self.accumulator.abort_batches()
        if self._behaviour.abort_clears_in_flight_batches:
            self._in_flight.clear()
