"""What becomes of an application's records, with faults on their way: the story from ``send`` to the log.

**The application** sends records 0, 1, 2, … to one partition, all at once. Each is in a batch of its own, and each batch
is a request.

**The producer** does as its settings say: it numbers its batches if it is idempotent, has so many requests in flight, and
sends again what failed, unless it ran out of retries. Those are its rules, not the story's.

**The leader** writes a request, unless it is a duplicate, or is refused for its sequence; again by its own rules. With
acks all it refuses everything while fewer than ``min_insync_replicas`` are in sync: NOT_ENOUGH_REPLICAS.

**Followers** have written a request before the next one comes, unless a fault says otherwise. With acks all that is before
the response, with acks 1 after it. With acks 0 there is no response, and the producer takes a request for acknowledged
when it was sent: so then it sends the next one only after the network is done with that.

What came of it is read from the log of who leads at the end:

========== ==========================================================================================================
lost       acknowledged, and not there
doubled    there more than once
reordered  there, first behind a record that was sent later
failed     the application was told an error; it may be there all the same
========== ==========================================================================================================

**Time** stands still while requests are answered. A batch that is refused five times in a row would be refused for ever, so
then two minutes go by, which is ``delivery.timeout.ms``. A story ends after 60 requests, whatever is open then.

**Limits.** A producer that is started anew has another id: what the application sends again is new to the leader, and is
written again. Idempotence is for one producer, and for one partition.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias, cast

from kafka_reference.delivery.faults import CRASHES, Fault, InvalidScenario, Kind, by_request
from kafka_reference.delivery.messages import (
    Answered,
    Asks,
    Batch,
    CutOff,
    Heard,
    Leads,
    Refused,
    Reply,
    Send,
    Settings,
    Starts,
    Told,
    ToLeader,
    ToProducer,
    Wait,
    Wrote,
)

__all__ = ["ERRORS", "Outcome", "Passed", "Scenario", "Telling", "outcome"]

ERRORS = {
    "OutOfOrderSequenceException": "OUT_OF_ORDER_SEQUENCE_NUMBER",
    "UnknownProducerIdException": "UNKNOWN_PRODUCER_ID",
    "DuplicateSequenceNumberException": "DUPLICATE_SEQUENCE_NUMBER",
    "DuplicateSequenceException": "DUPLICATE_SEQUENCE_NUMBER",
    "InvalidProducerEpochException": "INVALID_PRODUCER_EPOCH",
    "ProducerFencedException": "INVALID_PRODUCER_EPOCH",
}
_FIRST_ID = 7
_NOT_ASKED_YET = Settings(idempotent=False, acks=-1, retries=0, max_in_flight=1)
_MOST_REQUESTS = 60
_PATIENCE = 20
_A_WHILE_MS = 10_000
# A batch that is refused so often, time after time, is refused until its delivery.timeout.ms is over.
_ENOUGH, _DELIVERY_TIMEOUT_MS = 5, 120_000
_BACK_AFTER = 2


@dataclass(frozen=True, slots=True)
class Passed:
    """A request, and what became of it: ``came`` is "written", "duplicate", "lost", or the error it was answered with."""

    request: int
    batch: Batch
    fault: Fault | None
    came: str
    offset: int | None
    answered: bool


@dataclass(frozen=True, slots=True)
class Outcome:
    """The end of a story: records by the application's numbers. ``unanswered`` were never settled."""

    log: tuple[int, ...]
    acknowledged: tuple[int, ...]
    failed: tuple[tuple[int, str], ...]
    unanswered: tuple[int, ...]
    lost: tuple[int, ...]
    doubled: tuple[int, ...]
    reordered: tuple[int, ...]
    requests: tuple[Passed, ...]


Telling: TypeAlias = Generator[Told, Reply, Outcome | Refused]


def outcome(log: Iterable[Batch], records: int, ended: dict[int, int | str], requests: tuple[Passed, ...]) -> Outcome:
    """What came of ``records`` records, from the log and from what the application was told."""
    written = tuple(record for batch in log for record in batch.records)
    acknowledged = tuple(record for record in range(records) if isinstance(ended.get(record), int))
    first = list(dict.fromkeys(written))
    return Outcome(
        log=written,
        acknowledged=acknowledged,
        failed=tuple((record, told) for record, told in sorted(ended.items()) if isinstance(told, str)),
        unanswered=tuple(record for record in range(records) if record not in ended),
        lost=tuple(record for record in acknowledged if record not in written),
        doubled=tuple(sorted(record for record, times in Counter(written).items() if times > 1)),
        reordered=tuple(sorted(record for at, record in enumerate(first) if any(one > record for one in first[:at]))),
        requests=requests,
    )


@dataclass(slots=True)
class Scenario:
    """One story, to be told once. ``config`` is what a user sets, by Kafka's names; what is left alone is not there."""

    config: Mapping[str, str]
    records: int
    faults: Sequence[Fault] = ()
    replicas: int = 3
    min_insync_replicas: int = 1
    ended: dict[int, int | str] = field(default_factory=dict)
    log: list[Batch] = field(default_factory=list)
    settings: Settings = field(default=_NOT_ASKED_YET)
    passed: list[Passed] = field(default_factory=list)
    _wire: list[Batch] = field(default_factory=list)
    _away: list[int] = field(default_factory=list)
    _producers: int = 0

    def told(self) -> Telling:
        """Yields what is told to whom, and is sent what they say. Raises InvalidScenario."""
        faults = self.checked()
        configured = yield Asks(tuple(self.config.items()))
        if isinstance(configured, Refused):
            return configured
        self.settings = cast("Settings", configured)
        yield from self._lead()
        yield from self._start(range(self.records))
        waited = 0
        while self._open() and len(self.passed) < _MOST_REQUESTS and waited < _PATIENCE:
            if not self._wire:
                waited += 1
                yield from self._tell(Wait(_A_WHILE_MS))
                continue
            waited = 0
            yield from self._pass(self._wire.pop(0), faults.get(len(self.passed) + 1))
        return outcome(self.log, self.records, self.ended, tuple(self.passed))

    def checked(self) -> dict[int, Fault]:
        """The faults by their requests. Raises InvalidScenario if this cannot be played."""
        if not 1 <= self.min_insync_replicas <= self.replicas:
            raise InvalidScenario(f"{self.min_insync_replicas} of {self.replicas} replicas in sync: that can never be")
        crashes = sum(fault.kind in CRASHES for fault in self.faults)
        if crashes >= self.replicas:
            raise InvalidScenario(
                f"{crashes} crashes want {crashes + 1} replicas at least, and there are {self.replicas}"
            )
        return by_request(self.faults)

    def _open(self) -> bool:
        return bool(self._wire) or any(record not in self.ended for record in range(self.records))

    def _lead(self) -> Generator[Told, Reply, None]:
        """Without a producer id a leader has nothing to look at, and writes what comes."""
        if self.settings.idempotent:
            yield ToLeader(Leads(tuple(self.log)))

    def _start(self, records: Iterable[int]) -> Generator[Told, Reply, None]:
        begins = Starts(self.settings, _FIRST_ID + self._producers)
        self._producers += 1
        yield from self._tell(begins, *map(Send, records))

    def _tell(self, *told: Starts | Send | Answered | CutOff | Wait) -> Generator[Told, Reply, None]:
        """With acks 0 a round sends a request that is done with at once: the network plays it before the next one."""
        rounds = 1 if self.settings.acks == 0 else min(self.settings.max_in_flight, self.records) + 2
        if any(isinstance(one, Starts) for one in told) and self.settings.idempotent:
            rounds += 2  # to get an id
        heard = cast("Heard", (yield ToProducer(tuple(told), rounds)))
        self._wire += heard.sent
        for record, what in heard.ended:
            self.ended[record] = what

    def _pass(self, batch: Batch, fault: Fault | None) -> Generator[Told, Reply, None]:
        number = len(self.passed) + 1
        self._away = [back for back in self._away if back > number]
        kind = None if fault is None else fault.kind
        came, offset = "lost", None
        if fault is not None and fault.error is not None:
            came = fault.error
        elif kind not in (Kind.LOSE_REQUEST, Kind.CRASH_BEFORE):
            came, offset = yield from self._write(batch)
        answers = self.settings.acks != 0
        if kind in (Kind.CRASH_UNREPLICATED, Kind.CRASH_REPLICATED):
            answers = self.settings.acks == 1
        elif kind is not None and kind is not Kind.REFUSE:
            answers = False
        self.passed.append(Passed(number, batch, fault, came, offset, answers))
        if kind is Kind.CRASH_UNREPLICATED and came == "written":
            self.log.pop()
        if kind in CRASHES:
            self._away.append(number + _BACK_AFTER)
            yield from self._lead()
        if kind is Kind.RESTART_PRODUCER:
            self._wire.clear()
            yield from self._start([record for record in range(self.records) if record not in self.ended])
            return
        yield from self._answer(came, offset, answers, cut=kind is not None and kind is not Kind.REFUSE)

    def _write(self, batch: Batch) -> Generator[Told, Reply, tuple[str, int | None]]:
        if self.settings.acks == -1 and self.replicas - len(self._away) < self.min_insync_replicas:
            return "NOT_ENOUGH_REPLICAS", None
        wrote = Wrote(sum(len(one.records) for one in self.log))
        if self.settings.idempotent:
            wrote = cast("Wrote", (yield ToLeader(batch)))
        if wrote.error is not None:
            if wrote.error not in ERRORS:
                raise InvalidScenario(
                    f"the leader raised {wrote.error}, which no client is told: report this, with the story"
                )
            return ERRORS[wrote.error], None
        if wrote.duplicate:
            return "duplicate", wrote.offset
        self.log.append(batch)
        return "written", wrote.offset

    def _answer(self, came: str, offset: int | None, answers: bool, *, cut: bool) -> Generator[Told, Reply, None]:
        told: list[Answered | CutOff | Wait] = []
        if answers:
            error = "NONE" if came in ("written", "duplicate") else came
            told.append(Answered(error, -1 if offset is None else offset))
        last = self.passed[-_ENOUGH:]
        if len(last) == _ENOUGH and all(one.batch == last[0].batch and one.offset is None for one in last):
            told.append(Wait(_DELIVERY_TIMEOUT_MS))
        if cut:
            self._wire.clear()
            told.append(CutOff())
        yield from self._tell(*told)
