"""Sender: takes batches from the accumulator, sends them, and settles what comes back. Brokers are played by who asks.

**A round** (:meth:`Sender.run`), of an idempotent producer:

1. Unresolved partitions are looked at (1.0 on). After a fatal error everything that is incomplete is failed with that
   error, and the round ends with a poll.
2. Another epoch begins, if it was asked for (2.5 on).
3. Without a producer id, one is asked for. To 2.4.x the round waits until there is an answer, and goes on; since 2.5.0 a
   poll ends the round. Who asks polls first, to see whether the broker is there, and that answers what there is to
   answer. A retriable error is answered by asking again, after ``retry.backoff.ms``; 0.11 waits for as long
   when it was given an id.

and of any producer:

4. Nodes that are ready and may be sent more are drained. With one request in flight at most, drained partitions are muted
   until they are answered (``max.in.flight.requests.per.connection`` = 1).
5. What has expired fails with a TimeoutException: to 2.0.x in the queues, since 2.1.0 in flight too, *also what was
   drained in this very round, which is sent all the same*. If it had been sent before (its attempts say so), its partition
   is unresolved. In 0.11 the producer is reset for that, and what was drained in this round is never sent.
6. A request for each node, by id; then a poll.

**Answers** go by ``answers``. In one answer the partitions come in the broker's order, in a lost connection in a hash map's,
and in 0.10 always in that. What raises
on the way ends the handling of its request: partitions behind it hear nothing, and it stays muted.

**The clock** of steps 4 and 5 is, to 2.1.x, that of the round's beginning, however long step 3 waited. A partition whose
connection was lost, or whom nobody answered in time, is muted no longer all the same.

**Ended twice.** A batch that expired in flight, or was aborted, is still answered (see ``outcomes``). To 2.0.x it might even
be sent again. Since 3.6.0 only the first end is told to the manager if it is a failure, and what the manager
raises then is nobody's business; before, a failure is told to it each time.

**Giving back memory** twice is an IllegalStateException. To 0.11 that may happen to any batch; from 2.1.0 to 2.3.0 a batch
that was split is still held to be in flight, so when its time is up its records are told a TimeoutException, and the round
ends there: what was drained in it is never sent.

Java source mirrored: ``Sender``, 0.10.0.1 to 4.4.0, ``NetworkClientUtils.sendAndReceive``; without
transactions.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from kafka_reference.accumulator.accumulator import RecordAccumulator
from kafka_reference.accumulator.batches import Batch
from kafka_reference.accumulator.metadata import Metadata
from kafka_reference.errors import IllegalStateException, JavaException
from kafka_reference.idempotence.batch_actions import BatchAction, SideEffect, fate
from kafka_reference.idempotence.errors import ErrorKind, ProduceError, produce_error
from kafka_reference.idempotence.outcomes import MAY_END_AGAIN, Drained, Outcomes
from kafka_reference.idempotence.requests import (
    COORDINATOR,
    End,
    InFlight,
    Reply,
    Request,
    Sent,
    node_hash,
    on_the_wire,
)
from kafka_reference.idempotence.sequence_tracker import TRACKS
from kafka_reference.idempotence.transaction_manager import BUMPS, TransactionManager
from kafka_reference.java.hash_maps import capacity_for, partition_hash, table_order
from kafka_reference.releases import Release, since

__all__ = ["Sender", "SenderConfig"]

SLEEPS_WITH_ITS_ID = since("0.11.0.0", until="0.11.99")
READS_INTO_A_MAP = since("0.10.0.0", until="0.10.99")
RELEASES_ALWAYS = since("0.10.0.0", until="0.11.99")
FORGETS_TO_SETTLE_SPLIT = since("2.1.0", until="2.3.0")
KEEPS_ITS_CLOCK = since("0.10.0.0", until="2.1.99")
ENDS_FIRST = since("3.6.0")
_TIMEOUT, _DROPPED = "TimeoutException", "OutOfOrderSequenceException"
_MOST_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class SenderConfig:
    """``acks`` is -1 for all."""

    acks: int
    retries: int
    max_in_flight: int
    request_timeout_ms: int
    delivery_timeout_ms: int
    retry_backoff_ms: int


class Sender:
    """The sender of a release, over an accumulator. What happened in the last round is in ``sent``, ``ended``, …"""

    def __init__(
        self, at: Release, config: SenderConfig, accumulator: RecordAccumulator, metadata: Metadata, idempotent: bool
    ) -> None:
        self.at, self._config, self.accumulator, self._metadata = at, config, accumulator, metadata
        self.manager = TransactionManager(at) if idempotent else None
        if self.manager is not None:
            accumulator.state.sequences = self.manager
        self.network = InFlight(at, config.max_in_flight, config.request_timeout_ms)
        self._one_at_a_time = config.max_in_flight == 1
        self._drained = Drained()
        self._outcomes = Outcomes(at)
        self._ids: deque[Reply] = deque()
        self._ids_given, self._asked_before = 0, False
        self.sent: list[tuple[int, Sequence[Sent]]] = []
        self.asked, self.uncaught = 0, list[str]()

    @property
    def now_ms(self) -> int:
        """What time it is."""
        return self.accumulator.state.now_ms

    @property
    def ended(self) -> Sequence[tuple[int, int | str]]:
        """Records that ended in the last round: where they are in the log, -1 for unknown, or the exception's name."""
        return self._outcomes.told

    def foresee_id(self, reply: Reply) -> None:
        """A request for a producer id is answered so; without, ids are 1000, 1001, …, of epoch 0.

        Raises NotInThisRelease for an error that this release does not have; nothing has changed then. Who is not
        idempotent asks for none, and nothing is looked at.
        """
        if self.manager is not None:
            produce_error(self.at, reply.error)
        self._ids.append(reply)

    def run(self) -> None:
        """A round. Raises what is raised on the way but for answers; that is in ``uncaught``. Mirrors ``runOnce``."""
        self.sent, self.asked, self.uncaught = [], 0, []
        self._outcomes.told = []
        begun_ms = self.now_ms
        if self.manager is not None and not self._may_go_on(self.manager):
            return
        real_ms = self.now_ms
        if self.at in KEEPS_ITS_CLOCK:
            self.accumulator.state.now_ms = begun_ms
        try:
            self._send()
        finally:
            self.accumulator.state.now_ms = real_ms
        self._poll()

    def _may_go_on(self, manager: TransactionManager) -> bool:
        if self.at in TRACKS:
            manager.resolve()
        if self.at not in BUMPS:
            while not manager.has_id and not manager.is_fatal:
                self._ask_and_wait(manager)
        if manager.is_fatal:
            self._abort(manager.last_error or "")
            self._poll()
            return False
        if manager.state == "ABORTABLE_ERROR":
            self._abort(manager.last_error or "")
            manager.start_again()
            return False
        if self.at in BUMPS:
            return not self._asks(manager)
        return True

    def _ask_and_wait(self, manager: TransactionManager) -> None:
        """Mirrors ``maybeWaitForProducerId``."""
        self._poll()
        reply = self._ask()
        self._poll()
        error = produce_error(self.at, reply.error)
        if error.kind is ErrorKind.NONE:
            manager.take_id(*reply.producer)
        elif error.kind is not ErrorKind.RETRIABLE:
            manager.be_refused_an_id(error.exception)
        if error.kind is ErrorKind.RETRIABLE or (manager.has_id and self.at in SLEEPS_WITH_ITS_ID):
            self.accumulator.state.now_ms += self._config.retry_backoff_ms

    def _asks(self, manager: TransactionManager) -> bool:
        """Whether the round is over, since it asked. Mirrors ``maybeSendAndPollTransactionalRequest``."""
        if manager.bump_required:
            manager.bump()
        if manager.has_id:
            return False
        if manager.state != "INITIALIZING":
            manager.state, self._asked_before = "INITIALIZING", False
        self._poll()
        if self._asked_before:
            self.accumulator.state.now_ms += self._config.retry_backoff_ms
        self._ask()
        self._asked_before = True
        self._poll()
        return True

    def _ask(self) -> Reply:
        self.asked += 1
        reply = self._ids.popleft() if self._ids else Reply("NONE", producer=(1000 + self._ids_given, 0))
        self._ids_given += 1
        self.network.send(Request(COORDINATOR, {}, self.now_ms))
        self.network.reply(COORDINATOR, reply)
        return reply

    def _send(self) -> None:
        """Mirrors ``sendProducerData``."""
        state = self.accumulator.state
        ready = self.accumulator.ready(self._metadata)
        nodes = [
            node
            for node in table_order(ready.node_order, partial(node_hash, self.at), 16)
            if self.network.can_send(node)
        ]
        drained = self.accumulator.drain(self._metadata, nodes, _MOST_BYTES)
        by_node: dict[int, list[Batch]] = {}
        for batch in drained:
            by_node.setdefault(self._metadata.leader(*batch.topic_partition) or 0, []).append(batch)
            self._drained.add(batch)
            if self._one_at_a_time:
                state.mute(batch.topic_partition)
        if not self._expire():
            return
        for node in sorted(by_node):
            self._send_to(node, by_node[node])

    def _send_to(self, node: int, batches: Sequence[Batch]) -> None:
        """Mirrors ``sendProduceRequest``."""
        by_partition = {batch.topic_partition: batch for batch in batches}
        order = table_order(by_partition, partition_hash, capacity_for(len(by_partition)))
        request = Request(node, {of: by_partition[of] for of in order}, self.now_ms, self._config.acks != 0)
        self.network.send(request)
        self.sent.append((node, [on_the_wire(by_partition[of]) for of in sorted(by_partition)]))

    def _expire(self) -> bool:
        """Fail what has expired; false if the producer was reset for it, so that nothing is sent."""
        in_flight: list[Batch] = []
        if self.accumulator.state.behaviour.expires_by_delivery_timeout:
            in_flight = self._drained.take_overdue(self._is_overdue, self._outcomes)
        expired, _ = self.accumulator.expire()
        reset = False
        for batch in [*expired, *in_flight]:
            if self.accumulator.state.behaviour.completes_expired_batches:
                self._outcomes.end(batch, _TIMEOUT, -1)
                continue
            self._fail(batch, _TIMEOUT, False)
            if self.manager is not None and batch.attempts:
                reset = True
                if self.at in TRACKS:
                    self.manager.mark_unresolved(batch)
        if reset and self.manager is not None and self.at not in TRACKS:
            self.manager.become(None, 0)
            return False
        return True

    def _is_overdue(self, batch: Batch) -> bool:
        return self._config.delivery_timeout_ms <= self.now_ms - batch.created_ms

    def _poll(self) -> None:
        for request, end in self.network.poll(self.now_ms):
            try:
                self._end(request, end)
            except JavaException as raised:
                self.uncaught.append(raised.java_name)

    def _end(self, request: Request, end: Reply | End) -> None:
        """Mirrors ``handleProduceResponse``, and since 2.5.0 ``InitProducerIdHandler``."""
        if request.node == COORDINATOR:
            if isinstance(end, Reply) and self.manager is not None and self.at in BUMPS:
                self._identify(self.manager, end)
            return
        if not isinstance(end, Reply):
            name = {End.SENT: "NONE", End.LOST: "NETWORK_EXCEPTION", End.TOO_LATE: "REQUEST_TIMED_OUT"}[end]
            for batch in request.batches.values():
                self._settle(batch, produce_error(self.at, name), -1, -1, throttle_ms=None)
            return
        order = sorted(request.batches)
        for of in table_order(order, partition_hash, 16) if self.at in READS_INTO_A_MAP else order:
            error = produce_error(self.at, end.error if of == order[0] or end.others is None else end.others)
            offset = end.base_offset if error.kind is ErrorKind.NONE else -1
            self._settle(request.batches[of], error, offset, end.log_start)

    def _identify(self, manager: TransactionManager, reply: Reply) -> None:
        error = produce_error(self.at, reply.error)
        if error.kind is ErrorKind.NONE:
            manager.take_id(*reply.producer)
        elif not manager.asks_again(error.kind is ErrorKind.RETRIABLE, error.name == "COORDINATOR_LOAD_IN_PROGRESS"):
            manager.be_refused_an_id(error.exception)

    def _settle(
        self, batch: Batch, error: ProduceError, base_offset: int, log_start: int, throttle_ms: int | None = 0
    ) -> None:
        """A batch is answered. Mirrors ``completeBatch``."""
        found, also = self._decide(batch, error, log_start)
        if self.manager is not None and also is SideEffect.BUMP:
            self.manager.request_bump(batch.topic_partition)
        if self.manager is not None and also is SideEffect.RESTART:
            self.manager.restart(batch.topic_partition)
        match found:
            case BatchAction.COMPLETED:
                self._complete(batch, base_offset)
            case BatchAction.SPLIT:
                self._split(batch)
            case BatchAction.RETRIED:
                if self.manager is not None:
                    self.manager.retry(batch)
                self.accumulator.reenqueue(batch)
                self._drained.settle(batch)
            case BatchAction.DROPPED:
                self._fail(batch, _DROPPED, False)
            case BatchAction.FAILED:
                self._fail(batch, error.exception, batch.attempts < self._config.retries)
        if self._one_at_a_time:
            self.accumulator.state.unmute(batch.topic_partition, throttle_ms)

    def _decide(self, batch: Batch, error: ProduceError, log_start: int) -> tuple[BatchAction, SideEffect]:
        ended = self._outcomes.has(batch)
        return fate(self.at, error, batch, self.manager, log_start, self._may_retry(batch), ended)

    def _may_retry(self, batch: Batch) -> bool:
        if self.at in MAY_END_AGAIN and (self._is_overdue(batch) or self._outcomes.has(batch)):
            return False
        return batch.attempts < self._config.retries

    def _split(self, batch: Batch) -> None:
        if self.manager is not None:
            self.manager.release(batch)
        if batch.aborted:
            raise IllegalStateException
        self.accumulator.split(batch)
        if self.at not in FORGETS_TO_SETTLE_SPLIT:
            self._drained.settle(batch)

    def _complete(self, batch: Batch, base_offset: int) -> None:
        if self.manager is not None:
            self.manager.completed(batch, base_offset)
        if self._outcomes.end(batch, None, base_offset) or self.at in RELEASES_ALWAYS:
            self._release(batch)

    def _fail(self, batch: Batch, exception: str, adjust: bool) -> None:
        """Mirrors ``failBatch``."""
        if self.at in ENDS_FIRST:
            if not self._outcomes.end(batch, exception, -1):
                return
            try:
                if self.manager is not None:
                    self.manager.failed(batch, exception, adjust)
            except JavaException:
                pass
            self._release(batch)
            return
        if self.manager is not None:
            self.manager.failed(batch, exception, adjust)
        if self._outcomes.end(batch, exception, -1) or self.at in RELEASES_ALWAYS:
            self._release(batch)

    def _release(self, batch: Batch) -> None:
        self._drained.settle(batch)
        if batch not in self.accumulator.state.incomplete:
            raise IllegalStateException
        self.accumulator.complete(batch)

    def _abort(self, exception: str) -> None:
        """Mirrors ``maybeAbortBatches``."""
        self._outcomes.abort(self.accumulator.state.incomplete, exception)
        self.accumulator.abort_batches()
